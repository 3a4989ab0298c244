// ThreadMetrics and TaskMetrics: what a thread and its tasks say about themselves (metrics/names.h
// has the table).
//
// A thread's belong to the run (RunState::MetricsOf), so that its last state and its counts can be
// read after it, and a thread that takes its place counts on. A task's go with the task: where it
// has moved to, there they are. Nothing here is paid by the record: the thread counts in plain
// numbers and adds them once a turn; what is a level (lag, positions, buffers) is shown once a
// second. Tested by tests/unit/runtime/run_metrics_test.cc.
#ifndef KSTREAM_RUNTIME_THREAD_METRICS_H_
#define KSTREAM_RUNTIME_THREAD_METRICS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/grouper.h"
#include "metrics/registry.h"
#include "task/bad_records.h"

namespace kstream::runtime {

enum class ThreadState : uint8_t {
  kStarting,     // opens what it reads and writes
  kRebalancing,  // waits for its tasks
  kRunning,
  kPaused,    // has its tasks, and does nothing with them: see Runtime::Pause
  kStopping,  // finishes, commits and closes
  kStopped,
  kFailed,
};
std::string_view ToString(ThreadState state);

struct CommitMetrics {
  metrics::Counter done, failed;
  metrics::Histogram latency;  // from the seal to the answer
};

// Belongs to one thread at a time.
struct ThreadMetrics {
  ThreadMetrics(metrics::Registry* registry, int thread);

  // Shows the state, and logs (debug) that it has changed.
  void Enter(ThreadState now);
  // Adds what was written, and what bad records there were, since the last call.
  void Count(int64_t now_written, const task::BadRecords::Decided& bad);

  const int thread;
  metrics::State state;
  metrics::Gauge tasks;
  metrics::Counter rebalances, assigned, revoked, lost;
  metrics::Counter read, written, skipped, dead_letters, punctuations;
  metrics::Histogram poll_records, process_latency;
  metrics::Gauge paused;
  CommitMetrics commits;
};

// Belongs to one thread, and is to go with the task.
class TaskMetrics {
 public:
  // Where a partition ends, as last heard; nullopt: not known.
  using EndOf = std::function<std::optional<int64_t>(const InputPartition&)>;

  TaskMetrics(metrics::Registry* registry, int thread, std::string task);

  // One of the states of kstream_task_state.
  void Enter(std::string_view state) { state_.Set(state); }
  // Again for the same partition is nothing.
  void AddPartition(const InputPartition& partition);

  // Shows where the task stands. Of several positions in one partition the lowest counts.
  void SetPosition(const InputPartition& partition, int64_t position);
  void Show(size_t buffered, std::optional<int64_t> stream_time_ms, const EndOf& end_of);

 private:
  static constexpr int64_t kNotSet = std::numeric_limits<int64_t>::max();
  struct Partition {
    metrics::Gauge position, lag;
    int64_t lowest = kNotSet;  // of those set since the last Show
  };

  metrics::Registry* const registry_;
  const int thread_;
  const std::string task_;
  metrics::State state_;
  metrics::Gauge buffered_, stream_time_;
  std::map<InputPartition, Partition> partitions_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_THREAD_METRICS_H_
