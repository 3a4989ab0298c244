// TestDriver: runs a topology in a test: on topics in memory, by a clock that the test moves, in
// the test's own thread.
//
//   TestDriverOptions options;
//   options.partitions = {{"words", 4}};
//   auto driver = *TestDriver::Create(topology, options);
//   driver->Pipe("words", {.key = "tea", .value = "1"});
//   driver->Advance(std::chrono::seconds(10));
//   const std::vector<TestRecord> counts = *driver->Read("counts");
//
// Everything but the cluster is what runs in production: tasks, groups, commits, rebalances. The
// application has RuntimeOptions::threads threads, each a member of its group, and they take turns.
//
// One rule for all calls: whatever a test does, the call returns when the application has come to
// rest: no record is left that it could process, nothing is on its way but what HoldAcks holds
// back, and no time passes but by Advance. Tasks take their turns in the order of their names,
// whichever threads they are in, so the same calls write the same bytes whatever the number of
// threads.
//
// Under exactly-once a record shows when what wrote it is committed, to Read as to the next stage,
// so a topology that repartitions needs a commit for each of its stages, one Advance by
// CommitInterval each, before its results show.
//
// Nothing sleeps. A call costs some microseconds for each task and thread.
#ifndef KSTREAM_TEST_DRIVER_H_
#define KSTREAM_TEST_DRIVER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/grouper.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

// A record as a plain value. What is nullopt is null, or for Pipe to fill in.
struct TestRecord {
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> value = std::nullopt;
  std::optional<int64_t> timestamp = std::nullopt;  // ms since the epoch; Pipe: the clock's time
  std::vector<std::pair<std::string, std::optional<std::string>>> headers = {};
  // Pipe: by the key (murmur2), or in turn without one.
  std::optional<int32_t> partition = std::nullopt;
  int64_t offset = -1;  // set by Read; Pipe pays no heed to it
};

struct TestDriverOptions {
  // As of a real run, and refused as there; of clusters only the names are looked at. `app` is
  // "test" when empty, and topics that sinks or processors name as they go are made unless
  // create_output says otherwise. Stores are in memory unless store_type says otherwise; without a
  // state_dir the driver has one of its own, which is gone with it.
  RuntimeOptions runtime = {};
  // Partitions of topics, by "topic" or "cluster:topic". All of them are made at the start, as is
  // every other topic that the topology names, with `default_partitions`.
  std::map<std::string, int32_t> partitions = {};
  int32_t default_partitions = 1;
  // Of the clock, ms since the epoch: 2020 begins. From 0 up to kLastTime.
  int64_t start_time = 1'577'836'800'000;
  // As of Runtime::SetErrorHandler; called within a call of the driver, and must make none itself.
  ErrorHandler on_error = {};
};

// A task of the running application.
struct TestTask {
  std::string name;                    // "<stage>_<number>"
  int thread = 0;                      // who runs it
  std::optional<int64_t> stream_time;  // ms since the epoch; nullopt before the first record
  std::map<InputPartition, int64_t> positions;  // offsets of the next records to process
};

// An entry of a key-value store, and whose it is.
struct TestEntry {
  std::string task;
  std::string key;
  std::string value;
  bool operator==(const TestEntry&) const = default;
};

// A row of a key-value store as it is shown to people: of a store of windows, whose keys have a
// form of their own, by group and window.
struct TestRow {
  std::string task;
  std::string key;
  std::string value;
  int64_t timestamp = 0;                                      // ms since the epoch
  std::optional<int64_t> window_start = {}, window_end = {};  // ms since the epoch
};

// A thread that ended with an error which no policy took.
struct TestFailure {
  int thread = 0;
  Status error;
};

// One application on a cluster of its own. Belongs to one thread. A topic is given as "topic", or
// as "cluster:topic" where it is not at home.
//
// What runs the application (Pipe, Advance, the events) returns the error that has ended it, in
// this call or before; kTimeLimit when it does not come to rest. Ok: it runs, or its end was none
// of a failure (--exit-at-end, --limit, the last thread crashed or was removed), which running()
// tells apart; what is piped then waits for Restart. What the test itself gets wrong (no such
// topic, partition, thread or store) is kUsage, and nothing happens.
class KSTREAM_EXPORT TestDriver {
 public:
  // As far as the clock goes: the year 2255. Sums of times stay within what holds them.
  static constexpr int64_t kLastTime = 9'000'000'000'000;

  // Makes the topics and starts the application. kUsage: a configuration that a real run would
  // refuse too, or a file among the inputs and outputs; otherwise the error that ended it.
  static Result<std::unique_ptr<TestDriver>> Create(Topology topology,
                                                    TestDriverOptions options = {});
  // Ends the application as Crash does: nothing more is committed.
  virtual ~TestDriver();

  // A record in.
  virtual Status Pipe(const std::string& topic, TestRecord record) = 0;
  // All of them are in the topic before the first is processed, so that a task with several inputs
  // has a choice; with Hold, those of several topics are.
  virtual Status PipeAll(const std::string& topic, std::vector<TestRecord> records) = 0;
  // From now on nothing is processed: what is piped waits, until Release. Events in between act at
  // once all the same.
  virtual void Hold() = 0;
  virtual Status Release() = 0;

  // Moves the clock (by 0: nothing), in one step: schedules that it passes several times fire once.
  // kUsage, and nothing moves: backwards, or past kLastTime.
  virtual Status Advance(std::chrono::milliseconds by) = 0;
  virtual int64_t now() const = 0;  // ms since the epoch

  // Records out, by partition and offset: those that the last Read of this topic has not given; and
  // all there are.
  virtual Result<std::vector<TestRecord>> Read(const std::string& topic) = 0;
  virtual Result<std::vector<TestRecord>> ReadAll(const std::string& topic) const = 0;

  // What the application is at. Tasks come by stage and number.
  virtual std::vector<TestTask> tasks() const = 0;
  virtual std::vector<int> threads() const = 0;
  virtual Counts counts() const = 0;  // since Create
  // The entries of a key-value store of all tasks: by task, then by key.
  virtual Result<std::vector<TestEntry>> Entries(const std::string& store) const = 0;
  // The same, with what the keys stand for.
  virtual Result<std::vector<TestRow>> Rows(const std::string& store) const = 0;
  // The value in the first task that has the key; nullopt: in none.
  virtual Result<std::optional<std::string>> Get(const std::string& store,
                                                 const std::string& key) const = 0;
  // The group's committed offset; nullopt: none.
  virtual Result<std::optional<int64_t>> Committed(const std::string& topic,
                                                   int32_t partition = 0) const = 0;
  // Whether any thread runs. False after its end, good or not.
  virtual bool running() const = 0;
  // Threads that failed, in order.
  virtual const std::vector<TestFailure>& failures() const = 0;
  // Turns of threads since Create: what a call has cost, without a clock.
  virtual int64_t turns() const = 0;

  // Events. Threads are known by the numbers that threads() gives.
  //
  // The thread is gone without a word: nothing more is committed, what was not acknowledged is
  // lost, and the group learns of it at once. (Its processors are still closed, by their
  // destruction.)
  virtual Status Crash(int thread) = 0;
  // The thread's session runs out: it has lost its tasks, hears so late, and joins again.
  virtual Status Evict(int thread) = 0;
  // One more thread, with the lowest number that is free (kUsage: none runs); one less, which ends
  // in good order. One that fails at that has failed as any other: on_error is asked, and the
  // application ends of it unless the thread is replaced.
  virtual Status AddThread() = 0;
  virtual Status RemoveThread(int thread) = 0;
  // Ends all threads in good order, if there are any, and starts as at Create, on the same cluster;
  // with `changed`, as another topology under the same app. The first thread that fails as it ends
  // is the error returned, as of Runtime::Close; it starts all the same, and running() says whether
  // that went well.
  virtual Status Restart(std::optional<Topology> changed = std::nullopt) = 0;

  // Restarts it as with --exit-at-end and --close-at-end: what its inputs hold now is their end, so
  // all windows close, and the application ends. The next Restart is one as of before.
  virtual Status EndInput() = 0;

  // From now on nothing sent is acknowledged or written, so nothing new is committed, until
  // Release. What must wait for it (a clean end, a task that moves to another thread) ends the
  // hold.
  virtual void HoldAcks() = 0;
  virtual Status ReleaseAcks() = 0;
  // The next deliveries (`most` of them) fail so, until a thread has ended of it.
  virtual void FailDelivery(Status error, int64_t most = INT64_MAX) = 0;
  // Commits fail so from now on; ok: they work again.
  virtual void FailCommits(Status error) = 0;
  // Under exactly-once: the next transaction fails so. `committed`: it is committed all the same,
  // as when the broker's answer is lost.
  virtual void FailTransaction(Status error, bool committed) = 0;
  // The transaction that this thread has begun outlives its timeout and is aborted.
  virtual Status ExpireTransaction(int thread) = 0;

  // Makes a topic, for an input that is a pattern or a record that names its topic (again, with as
  // many partitions: nothing; with another number: kUsage); makes one larger. The application looks
  // for what is new every topic.metadata.refresh.interval.ms (5 min).
  virtual Status CreateTopic(const std::string& topic, int32_t partitions) = 0;
  virtual Status GrowTopic(const std::string& topic, int32_t partitions) = 0;
};

}  // namespace kstream

#endif  // KSTREAM_TEST_DRIVER_H_
