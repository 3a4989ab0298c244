// Standbys: the stores of tasks that run in other instances, kept warm here.
//
// A standby is a restore without an end: it reads the task's changelogs, as committed, into stores
// that nobody journals. When a thread of this process adopts the task, it takes over the open
// stores and restores their tail as it would those of a directory; when the task leaves, its stores
// are closed, and opened here again if this instance is to follow it. Whom an instance follows is
// StandbyChoice's; it is looked at again every so often, and soon after a rebalance.
//
// A directory has one user at a time. Threads say so by Take, and the stores that it gives hold a
// claim until they are gone: what is claimed is not followed. Take waits for no broker and no
// record: while the thread of the standbys waits for records it holds no lock, and what was taken
// from it meanwhile it finds gone. It waits for a task's own store if that is just being opened.
//
// All of this is help, and never in the way: what fails is told once, let go, and tried again
// later; the process and its own tasks go on. Tested by tests/unit/runtime/standbys_test.cc and, on
// a broker, tests/broker/standby.bats.
#ifndef KSTREAM_RUNTIME_STANDBYS_H_
#define KSTREAM_RUNTIME_STANDBYS_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "kstream/status.h"
#include "metrics/registry.h"
#include "runtime/changelog_reads.h"
#include "runtime/run_shared.h"
#include "runtime/task_stores.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// Start, Stop and Turn belong to one thread; the rest may be called from any.
class Standbys {
 public:
  // `shared` outlives it. The run has a group and changelogs.
  explicit Standbys(RunShared* shared);
  // Stops.
  ~Standbys();

  // Follows in a thread of its own until Stop, which closes all stores that stand by.
  void Start();
  void Stop();

  // The same in steps: looks whom to follow if it is time for that, and reads for `wait` at most.
  void Turn(std::chrono::milliseconds wait);

  // The stores of a task for a thread that runs it, warm or freshly opened, without journals; null:
  // it has none. They are to be restored. Until they are gone nobody follows the task here. kState.
  Result<std::unique_ptr<TaskStores>> Take(TaskId id);

  // The group has settled a new assignment: whom to follow is looked at again soon.
  void Rebalanced();

  // Those that stand by.
  std::set<TaskId> tasks() const;

 private:
  struct Warm {
    std::unique_ptr<TaskStores> stores;
    metrics::State state;
    bool is_told = false;  // that it has caught up
  };

  using Logs = std::map<transport::TopicPartition, transport::Admin::Watermarks>;
  using Reads = std::vector<ChangelogReads::Read>;

  // Of the thread that follows.
  Status Step(std::chrono::milliseconds wait);
  Status Look();
  Status Follow(const std::set<TaskId>& chosen);
  Status Open(TaskId id, const Logs& logs);
  Result<Reads> Begin(TaskId id, const Logs& logs, Warm* warm) const;
  Status Read(std::chrono::milliseconds wait);
  std::map<TaskId, Status> TakeBatch();
  Status KeepYoung(const ChangelogReads::Read& read);
  void TellWarm();
  void GiveUp(TaskId id, const Status& why);
  void Close(TaskId id);
  void CloseAll();
  void Pause(std::chrono::milliseconds wait);
  bool MakeBusy(TaskId id);
  void EndBusy();

  // Of any thread.
  void Release(TaskId id);
  void LookBy(Clock::Instant when);
  bool is_stopping() const;
  Clock::Instant Now() const { return shared_->state->clock->Steady(); }

  RunShared* const shared_;
  std::unique_ptr<transport::Admin> admin_;  // of its own: threads wait for no answer of its
  std::unique_ptr<transport::Consumer> consumer_;
  std::unique_ptr<transport::Batch> batch_;
  std::map<TaskId, Clock::Instant> put_off_;  // what has failed, until then
  Clock::Instant next_show_;
  bool has_warned_ = false;  // that the group cannot be described

  mutable std::mutex mutex_;  // guards all below; never held while a broker is asked
  std::condition_variable changed_;
  std::map<TaskId, Warm> warm_;
  ChangelogReads reads_;
  std::multiset<TaskId> claimed_;  // by threads that run them
  std::optional<TaskId> busy_;     // its stores are being opened or closed
  Clock::Instant next_look_;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STANDBYS_H_
