// StageTask: one task of a stage in its thread: its partitions, their positions, and its
// processors.
//
// A task with one partition processes each record as it comes. A task with several queues them and
// takes them in task time. Tested by tests/unit/runtime/stage_task_test.cc.
#ifndef KSTREAM_RUNTIME_STAGE_TASK_H_
#define KSTREAM_RUNTIME_STAGE_TASK_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/partition_plan.h"
#include "task/bad_records.h"
#include "task/ingest.h"
#include "task/record_queues.h"
#include "task/task.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// What a poll brought, with the memory that ingestion made of it.
struct OwnedBatch {
  std::unique_ptr<transport::Batch> batch;
  Arena arena;
};

// A partition of a task.
struct TaskPartition {
  InputPartition input;
  int64_t position = 0;        // offset of the next record to process
  int64_t given_out = -1;      // position of the last commit
  std::optional<int64_t> end;  // where the run ends here
  int64_t seen_end = 0;        // position at which the partition last was at its end
  bool paused = false;

  bool done() const { return end && position >= *end; }
};

// Belongs to one thread.
class StageTask {
 public:
  // The parts of its thread that a task works with.
  struct Env {
    RunState* state;
    ThreadOutputs* outputs;
    task::Ingest* ingest;
    task::BadRecords* bad_records;
    json::ValueCache* cache;
  };

  StageTask(const Env& env, std::string name, std::vector<TaskPartition> partitions);

  Status Init() { return task_.Init(); }

  // Takes a record of partition number `partition`. Records at or after its end are left alone.
  Status Add(size_t partition, const Record& record, const std::shared_ptr<OwnedBatch>& owner);
  // The partition is at its end, at `position`.
  void AtEnd(size_t partition, int64_t position);
  // Processes what is queued, as far as task time allows.
  Status Drain();

  std::vector<TaskPartition>& partitions() { return partitions_; }
  size_t Queued(size_t partition) const { return queues_.Size(partition); }
  bool merges() const { return partitions_.size() > 1; }
  bool done() const;

 private:
  Status Process(size_t partition, Record record, Arena* arena);
  Status Run(Record* record, Arena* arena);
  void Advance(size_t partition, int64_t position);

  // A queued record that could not be given its key or time.
  struct Refused {
    int64_t offset;
    Status why;
  };

  Env env_;
  std::vector<TaskPartition> partitions_;
  task::Task task_;
  task::RecordQueues queues_;
  std::vector<std::deque<Refused>> refused_;  // by partition
  Arena scratch_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STAGE_TASK_H_
