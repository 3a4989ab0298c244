// TaskStores: the stores of one task that the runtime keeps, with the changelogs that journal them.
//
// Partition n of a store's changelog is the journal of its instance in task n. Before the first
// record a Restorer brings each store to where its changelog ends; from then on the stores change
// in epochs (store/kept_store.h), which the Committer seals and keeps. Those of a task that runs in
// another instance may stand by, without journals: see standbys.h. Tested by
// tests/unit/testdriver/stateful_test.cc.
#ifndef KSTREAM_RUNTIME_TASK_STORES_H_
#define KSTREAM_RUNTIME_TASK_STORES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/status.h"
#include "metrics/registry.h"
#include "runtime/run_shared.h"
#include "runtime/stage_task.h"
#include "runtime/thread_outputs.h"
#include "store/kept_store.h"
#include "task/task.h"
#include "transport/types.h"

namespace kstream::runtime {

// Belongs to one thread.
class TaskStores {
 public:
  struct Store {
    std::unique_ptr<store::KeptStore> kept;
    std::optional<transport::TopicPartition> changelog;  // nullopt: nothing journals it
    std::unique_ptr<Changelog> journal;                  // where there is one
    // Of what is read from the changelog: set by who reads it.
    metrics::Counter loaded;
    metrics::Gauge lag;
  };

  // What there is to restore the stores of a task from; empty: nothing.
  static std::vector<transport::TopicPartition> ChangelogsOf(const RunState& state, TaskId id);
  // Opens the engines of the task's stores, without journals; null: it has none. kState.
  static Result<std::unique_ptr<TaskStores>> Open(RunShared* shared, TaskId id);
  ~TaskStores();

  std::vector<Store>& stores() { return stores_; }
  // Whether there is a changelog to restore from.
  bool journaled() const;
  // Whether a store holds anything.
  Result<bool> Empty() const;

  task::Task::KeptStores kept() const;
  // Lets other threads read them, until Close. What they hold now is whole.
  void Offer(TaskId id) const;
  void SetEventTime(const std::function<int64_t()>& event_time);

  // Epochs: see CommitHost.
  Status Seal();
  // Whether what was sealed is kept by now; always, with `wait`. `incarnation`: of the application.
  Result<bool> Keep(const std::string& incarnation, bool wait);
  // What is not kept yet, in bytes.
  size_t dirty_bytes() const;

  // Forgets what is not kept: the stores are to be restored from where they stand. There are no
  // journals then until OpenJournals, with outputs that were opened anew.
  void Drop();
  // kCluster: a changelog is missing.
  Status OpenJournals(ThreadOutputs* outputs);

  // Says in the directories whose the stores are.
  void ShowStandby(TaskId id, bool stands_by) const;
  // Makes the engines show what was loaded. kState.
  Status EndLoad();
  // Keeps something for as long as the engines may be open.
  void Hold(std::shared_ptr<void> claim) { claim_ = std::move(claim); }

  // Forgets what is not kept, and closes the engines.
  Status Close();

 private:
  explicit TaskStores(RunShared* shared) : shared_(shared) {}

  RunShared* const shared_;
  std::shared_ptr<void> claim_;  // goes after the stores
  std::vector<Store> stores_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_TASK_STORES_H_
