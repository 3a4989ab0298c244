// Runtime: runs a topology in this process, on files or on Kafka, until its end or until it is
// stopped.
#ifndef KSTREAM_RUNTIME_H_
#define KSTREAM_RUNTIME_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/grouper.h"
#include "kstream/location.h"
#include "kstream/properties.h"
#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "kstream/topology.h"

namespace kstream {

enum class OnError { kFail, kSkip, kDeadLetter };

// kAtLeastOnce: a failure may repeat outputs. kExactlyOnce: outputs, stores and positions change
// together, in transactions; all outputs must be topics at home, and there must be an app.
enum class Guarantee : uint8_t { kAtLeastOnce, kExactlyOnce };
KSTREAM_EXPORT std::string_view ToString(Guarantee guarantee);

// Configuration; each member is the flag of the same name.
struct KSTREAM_EXPORT RuntimeOptions {
  // Sets the member that flag `name` (without dashes, in any of its spellings) stands for, as the
  // command line would: "threads", "commit-interval" ("10s"), "X" ("in.fetch.min.bytes=1"),
  // "config" (a file of properties), "cluster" ("NAME=LIST|FILE"), "s" ("key=SERDE"); switches are
  // set to "true". A later call wins; "dead-letter" needs brokers and clusters to be set before, to
  // tell a topic from a file, and makes dead letters the policy where none was asked for. kUsage
  // with the words of the tools: an unknown name, a value that is none.
  Status Set(std::string_view name, std::string_view value);

  // What is given, or else 1 s, and 200 ms under exactly-once, whose readers wait for commits.
  std::chrono::milliseconds CommitInterval() const;
  // What is given, or else $XDG_STATE_HOME/kstream, or else ~/.local/state/kstream. kUsage: none
  // of them is known.
  Result<std::string> StateDir() const;

  ClusterOptions home;                             // --brokers, -X, -F
  std::map<std::string, ClusterOptions> clusters;  // --cluster
  std::string app;                                 // --app; empty: no group, no commits
  std::string from = "beginning";                  // --from
  bool from_given = false;   // whether the user said --from: then it answers lost offsets too
  bool exit_at_end = false;  // --exit-at-end
  // --close-at-end: at the end of a run with an app, too, nothing waits for more, and later runs
  // find stream time past it.
  bool close_at_end = false;
  // --idle-advance: when all inputs of a task have been at their ends for so long, its stream time
  // goes on at the pace of the wall clock, never past it.
  std::optional<std::chrono::milliseconds> idle_advance;
  std::optional<int64_t> limit;                      // --limit, output records
  std::optional<std::chrono::milliseconds> timeout;  // --timeout
  int partitions = 1;                                // --partitions, of files
  SerdeNames serdes;                                 // -s
  int threads = 1;                                   // --threads
  Guarantee guarantee = Guarantee::kAtLeastOnce;     // --guarantee, --eos
  // --commit-interval; nullopt: CommitInterval says it
  std::optional<std::chrono::milliseconds> commit_interval;
  std::string state_dir;  // --state-dir; empty: StateDir says it
  // --store-type, for stores that do not say it themselves; kDefault: RocksDB where state is kept
  // (with an app), else in memory.
  StoreSpec::Engine store_type = StoreSpec::Engine::kDefault;
  // --memory, bytes: what all stores of the process together may hold in memory (blocks, write
  // buffers, rows not yet written). The same on every machine, so that what runs in one place runs
  // in another; enough for the hot rows of millions of keys, and little beside what fetching takes.
  int64_t memory = int64_t{256} << 20;
  // --standby: how many other instances keep the stores of each task warm, so that whoever of them
  // takes it over restores the last moments alone; kAllStandbys: all of them. With an app alone,
  // and stores that have changelogs.
  int standby = 0;
  static constexpr int kAllStandbys = std::numeric_limits<int>::max();
  std::string instance_id;  // --instance-id; empty: a dynamic member; "auto": kept in the state dir
  std::string grouper = "default";                    // --grouper
  Grouper custom_grouper;                             // instead of it
  std::chrono::milliseconds max_idle{0};              // --max-idle
  std::optional<std::chrono::milliseconds> max_skew;  // --max-skew
  int64_t version = 0;                  // of the topology: members with a larger one take over
  OnError on_error = OnError::kFail;    // --on-error
  std::optional<Location> dead_letter;  // --dead-letter: with kDeadLetter, and never without
  std::optional<int64_t> max_errors;    // --max-errors
  std::string partitioner = "murmur2";  // --partitioner
  std::optional<std::pair<int, int>>
      create_output;     // --create-output: partitions, replication factor
  bool dry_run = false;  // --dry-run: everything but writing and committing
};

// What passed. Sums over all threads; a record is counted where it leaves.
struct Counts {
  int64_t read = 0;          // records taken from inputs
  int64_t written = 0;       // records handed to outputs, dead letters apart
  int64_t skipped = 0;       // bad records left out by --on-error skip
  int64_t dead_letters = 0;  // bad records sent to --dead-letter
};

// The life of a runtime:
//
//   kCreated -> kRebalancing <-> kRunning -> kPendingShutdown -> kNotRunning
//                     |             |                |
//                     +-------------+----------------+--> kPendingError -> kError
//
// kRebalancing: some thread waits for its tasks. Without a group that is over at once.
// kPendingShutdown begins with Close, or, after Stop and at an end of its own, with what is left to
// do then; kPendingError follows it when that fails.
enum class RuntimeState : uint8_t {
  kCreated,
  kRebalancing,
  kRunning,
  kPendingShutdown,
  kNotRunning,
  kPendingError,
  kError
};
KSTREAM_EXPORT std::string_view ToString(RuntimeState state);

// Called at every change, from the thread that made it, one call at a time. Wait and Close fail in
// it, as in the runtime's own threads: Stop ends the run from there.
using StateListener = std::function<void(RuntimeState now, RuntimeState before)>;

// What to do about a thread that ended with an error that no policy took: end the run with it, or,
// in a run with an app, go on with a fresh thread, which takes up the tasks where they were last
// committed.
enum class ErrorResponse : uint8_t { kShutdown, kReplaceThread };
// Called from the thread that failed, which has committed what was done and left its group.
using ErrorHandler = std::function<ErrorResponse(const Status& error, int thread)>;

// One run of one topology. Threads: Stop, Pause, Resume, paused, state, counts, Metrics,
// MetricsText, StatusJson, StoreNames and Store may be called from any; the rest from one, which is
// none of the runtime's own, where processors, the error handler and the state listener are called:
// those would wait for themselves. Wait and Close are kUsage there, at once, and nothing happens.
class KSTREAM_EXPORT Runtime {
 public:
  // Checks the configuration: kUsage, kCluster or kRefused with one line. Connects to no broker
  // yet.
  static Result<std::unique_ptr<Runtime>> Create(Topology topology, RuntimeOptions options);
  // Closes without a limit.
  virtual ~Runtime();

  // Both before Start. The default handler shuts down.
  virtual void SetStateListener(StateListener listener) = 0;
  virtual void SetErrorHandler(ErrorHandler handler) = 0;

  // Begins to run in threads of its own; once. kUsage a second time.
  virtual Status Start() = 0;
  // Waits until the inputs end, a limit is met, Stop is called or something fails; by then
  // everything done is flushed and, with an app, committed. Ok only if so.
  virtual Status Wait() = 0;
  // Stop and Wait, for `limit` at most: kTimeLimit when that is not enough, and the run goes on
  // ending.
  virtual Status Close(std::chrono::milliseconds limit) = 0;
  // Start and Wait.
  Status Run();

  // Asks for a normal end: finish, commit, close. Only sets a flag: may be called in a signal
  // handler.
  virtual void Stop() = 0;

  // From the next turn of each thread on nothing is processed and no timer fires. What was done is
  // committed, the membership in the group is kept, stores can be read. A paused run comes to no
  // end of its own, but Stop and --timeout end it. Again is nothing. A thread that is there shows
  // the state `paused` in the metrics.
  virtual void Pause() = 0;
  virtual void Resume() = 0;
  virtual bool paused() const = 0;

  virtual RuntimeState state() const = 0;
  virtual Counts counts() const = 0;
  // Everything that the run says about itself, in Prometheus' text format 0.0.4 (see
  // share/doc/kstream/metrics.md).
  virtual std::string Metrics() const = 0;
  // The same for people, in a few lines: what passed and how fast since the last call, lag, the
  // partitions.
  virtual std::string MetricsText() = 0;

  // How the run stands, as one line of JSON: its state, counts and rates, lag, threads, tasks with
  // their partitions, stores (see share/doc/kstream/live.md).
  virtual std::string StatusJson() = 0;

  // The stores that the runtime keeps, by their places in the topology.
  virtual std::vector<std::string> StoreNames() const = 0;
  // The store `name` as far as it is in this process now: an instance for each task that runs here
  // and has its store restored, by task. A key that none of them has may be in a task that is
  // elsewhere: how many there are in all, the partitions of the store's changelog tell. Of two
  // calls the answers differ, since tasks move; an instance says itself when it is not here any
  // more. kUsage: the topology has no such store, or one that the runtime does not keep.
  virtual Result<std::vector<StoreInstance>> Store(std::string_view name) const = 0;
};

}  // namespace kstream

#endif  // KSTREAM_RUNTIME_H_
