// The table of everything that kstream says about itself: one row for each family of metrics.
//
// Name, type, labels, help, buckets and states stand here and nowhere else. Code names a family by
// the literal of its name, which the compiler looks up here: a name that is not in the table, or is
// of another type, does not compile, and a search for a name finds the row and every use. The table
// of share/doc/kstream/metrics.md is held equal to this one by tests/unit/metrics/names_test.cc,
// and the rules of the house for a row by a static_assert in names.cc.
//
// Names follow Prometheus: base units in the name (seconds, records), _total for counters alone.
// A label tells where, never what happened. Every family has `app` too, when there is one.
#ifndef KSTREAM_METRICS_NAMES_H_
#define KSTREAM_METRICS_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace kstream::metrics {

enum class Type : uint8_t {
  kCounter,    // only grows; counts from the start of the process
  kGauge,      // a number that goes up and down
  kHistogram,  // how often a value fell in each bucket, and the sum
  // One gauge for each state it can have, 1 for the one it has and 0 for the others, as OpenMetrics
  // has it: "how many tasks are restoring" is a sum, and no dashboard holds a list of numbers.
  kState,
};

struct Family {
  Type type;
  std::string_view name;
  std::string_view labels;  // a space between; the order in which they are shown and sorted
  std::string_view help;    // one sentence
  std::span<const double> buckets = {};  // of a histogram: upper bounds, rising
  std::string_view states = {};          // of a state: a space between
};

inline constexpr double kSecondsBuckets[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                             0.01,   0.025,   0.05,   0.1,   0.25,   0.5,
                                             1,      2.5,     5,      10};
inline constexpr double kRecordsBuckets[] = {0, 1, 10, 100, 1000, 10000, 100000};

inline constexpr Family kFamilies[] = {
    {.type = Type::kState,
     .name = "kstream_runtime_state",
     .labels = "",
     .help = "The state of the run: 1 for the one it is in.",
     .states = "created rebalancing running pending_shutdown not_running pending_error error"},
    {.type = Type::kState,
     .name = "kstream_thread_state",
     .labels = "thread",
     .help = "The state of a thread: 1 for the one it is in.",
     .states = "starting rebalancing running paused stopping stopped failed"},
    {.type = Type::kState,
     .name = "kstream_task_state",
     .labels = "thread task",
     .help = "The state of a task: 1 for the one it is in.",
     .states = "created restoring running suspended standby"},
    {Type::kGauge, "kstream_tasks", "thread", "Tasks that the thread has."},
    {Type::kCounter, "kstream_rebalances_total", "thread",
     "Rebalances in which the thread got, gave back or lost a task."},
    {Type::kCounter, "kstream_tasks_assigned_total", "thread", "Tasks given to the thread."},
    {Type::kCounter, "kstream_tasks_revoked_total", "thread",
     "Tasks that the thread finished, committed and gave back."},
    {Type::kCounter, "kstream_tasks_lost_total", "thread",
     "Tasks dropped without a commit, since they belonged to another member already."},

    {Type::kCounter, "kstream_records_read_total", "thread", "Records taken from inputs."},
    {Type::kCounter, "kstream_records_written_total", "thread",
     "Records handed to outputs, dead letters apart."},
    {Type::kCounter, "kstream_records_skipped_total", "thread",
     "Bad records left out by --on-error skip."},
    {Type::kCounter, "kstream_dead_letters_total", "thread", "Bad records sent to --dead-letter."},
    {Type::kHistogram, "kstream_poll_records", "thread", "Records that one poll brought.",
     kRecordsBuckets},
    {Type::kHistogram, "kstream_process_latency_seconds", "thread",
     "Time to process the records of one poll.", kSecondsBuckets},
    {Type::kCounter, "kstream_punctuations_total", "thread",
     "Timers that fired, on stream time and on wall clock."},
    {Type::kGauge, "kstream_buffered_records", "thread task",
     "Records fetched for the task that wait for their turn."},
    {Type::kGauge, "kstream_paused_partitions", "thread",
     "Partitions not fetched at the moment, since enough of their records wait."},

    {Type::kGauge, "kstream_partition_position", "thread task cluster topic partition",
     "Offset of the next record to process."},
    {Type::kGauge, "kstream_partition_lag_records", "thread task cluster topic partition",
     "Offsets from the position to the end of the partition as last heard from its broker."},
    {Type::kGauge, "kstream_task_stream_time_seconds", "thread task",
     "The largest timestamp that the task has processed, in seconds since 1970."},

    {Type::kCounter, "kstream_commits_total", "thread", "Commits of positions that succeeded."},
    {Type::kCounter, "kstream_commit_failures_total", "thread", "Commits that failed."},
    {Type::kHistogram, "kstream_commit_latency_seconds", "thread",
     "Time from the seal of a commit to the broker's answer, acknowledgements of outputs included.",
     kSecondsBuckets},

    {Type::kCounter, "kstream_restore_records_total", "thread task store",
     "Changelog records read back into the store."},
    {Type::kGauge, "kstream_restore_remaining_records", "thread task store",
     "Changelog offsets that the store still lacks."},
    {Type::kCounter, "kstream_standby_records_total", "task store",
     "Changelog records taken into the store of a task that runs in another instance."},
    {Type::kGauge, "kstream_standby_lag_records", "task store",
     "Offsets from what the warm store contains to the end of the changelog as last heard."},
};

// A row of the table, by its name. From a literal of the right type only, at compile time.
template <Type type>
class Name {
 public:
  consteval Name(const char* name)  // NOLINT(google-explicit-constructor): literals are the use
      : index_(Find(name)) {}

  constexpr size_t index() const { return index_; }  // in kFamilies

 private:
  static consteval size_t Find(std::string_view name) {
    for (size_t i = 0; i < std::size(kFamilies); i++) {
      if (kFamilies[i].name == name && kFamilies[i].type == type) return i;
    }
    throw "no family of this name and type: see kFamilies";
  }

  size_t index_;
};

// The parts of a list such as Family::labels.
template <typename Take>
constexpr void ForEachWord(std::string_view words, Take take) {
  while (!words.empty()) {
    const size_t end = words.find(' ');
    take(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
}

}  // namespace kstream::metrics

#endif  // KSTREAM_METRICS_NAMES_H_
