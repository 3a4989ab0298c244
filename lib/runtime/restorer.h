// Restorer: brings stores to where their changelogs end, while the other tasks of the thread run.
//
// The order is what makes it right (engine.md, section 3): first the positions of the task are
// taken from its group, *then* the end of the changelog, open transactions included; and the
// changelog is read, as committed, until there. So no change that belongs to the positions is
// missed. The last stable offset would not do: an update may be committed whose marker is still on
// its way. The end is a position, never a record: what lies before it may be markers, or compacted
// away.
//
// Which part of its changelog a store lacks, and how it takes that, is ChangelogReads'. Tested by
// tests/unit/testdriver/stateful_test.cc.
#ifndef KSTREAM_RUNTIME_RESTORER_H_
#define KSTREAM_RUNTIME_RESTORER_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/changelog_reads.h"
#include "runtime/run_shared.h"
#include "runtime/task_stores.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// Belongs to one thread.
class Restorer {
 public:
  // `thread`: the number of the thread.
  Restorer(RunShared* shared, int thread);
  ~Restorer();

  // Begins to restore the stores of a task, which outlive it here. Its positions have been taken
  // before. `incarnation` is the application's. kCluster, kState.
  Status Add(TaskId id, TaskStores* stores, const std::string& incarnation);
  // Forgets a task.
  Status Remove(TaskId id);

  // Reads for `wait` at most. Gives the tasks whose stores are restored. kCluster, kState.
  Result<std::vector<TaskId>> Turn(std::chrono::milliseconds wait);

 private:
  Status Begin(TaskId id, TaskStores::Store* store, transport::Admin::Watermarks log,
               const std::string& incarnation);
  Result<std::vector<TaskId>> Finished();

  // A task that waits for its stores.
  struct Waiting {
    size_t logs = 0;  // that are being read
    metrics::State state;
  };

  RunShared* const shared_;
  const int thread_;
  std::unique_ptr<transport::Consumer> consumer_;
  std::unique_ptr<transport::Batch> batch_;
  ChangelogReads reads_;
  std::map<TaskId, Waiting> waiting_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_RESTORER_H_
