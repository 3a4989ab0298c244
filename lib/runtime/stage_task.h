// StageTask: one task of a stage in its thread: its partitions, their positions, and its
// processors.
//
// A task with one partition, or whose records come merged already (files), processes each record as
// it comes. A task with several queues them and takes them in task time. What is committed for it
// are the offsets of its partitions at home and, with the lead partition, the metadata that holds
// its stream time and the positions that no offset of the group can hold. Tested by
// tests/unit/runtime/stage_task_test.cc.
#ifndef KSTREAM_RUNTIME_STAGE_TASK_H_
#define KSTREAM_RUNTIME_STAGE_TASK_H_

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kstream/grouper.h"
#include "kstream/status.h"
#include "runtime/run_state.h"
#include "runtime/thread_metrics.h"
#include "runtime/thread_outputs.h"
#include "task/bad_records.h"
#include "task/commit_metadata.h"
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

// A partition of a task, as one of the stage's sources reads it: a topic that two sources read has
// two.
struct TaskPartition {
  static constexpr int64_t kNeverGivenOut = -1;

  InputPartition input;
  size_t source = 0;      // its place in TopologyStage::sources
  bool by_offset = true;  // committed as an offset of the group, else in the lead's metadata
  int64_t position = 0;   // offset of the next record to process
  int64_t next = 0;       // offset of the next record to take
  // Position of the last commit; kNoOffset: of none, and none is due before it has moved.
  int64_t given_out = kNeverGivenOut;
  std::optional<int64_t> end;  // where the run ends here
  int64_t seen_end = 0;        // position at which the partition last was at its end
  bool at_end = false;         // nothing was taken since then
  int64_t time = -1;           // the largest timestamp extracted
  bool twice = false;          // another source of the task reads it too
  // Among how many its keys have chosen this one, and should have by murmur2; 0: that is no matter.
  int32_t chosen_among = 0;

  bool is_file() const { return input.cluster == kFiles; }
  bool done() const { return end && position >= *end; }
  transport::TopicPartition topic_partition() const { return {input.topic, input.partition}; }
};

// Which task of which stage.
struct TaskId {
  size_t stage = 0;
  int32_t number = 0;
  std::string ToString() const;  // "0_3"
  auto operator<=>(const TaskId&) const = default;
};

// Belongs to one thread.
class StageTask {
 public:
  // The parts of its thread that a task works with.
  struct Env {
    RunState* state;
    int thread;
    ThreadOutputs* outputs;
    task::TaskHost* host;
    task::BadRecords* bad_records;
    json::ValueCache* cache;
    std::vector<task::Ingest*> ingests;  // of the stage's sources
  };
  // Where a task begins.
  struct Start {
    std::vector<TaskPartition> partitions;
    std::optional<transport::TopicPartition> lead;  // with a group: whose commit has the metadata
    std::string metadata;                           // as it was committed
    std::optional<int64_t> stream_time;
  };

  StageTask(const Env& env, TaskId id, Start start);

  Status Init(const task::Task::KeptStores& kept = {});
  Status Close() { return task_.Close(); }

  // Reads one more partition from now on.
  size_t AddPartition(TaskPartition partition);
  // These are read by other tasks as well from now on: their positions go into the metadata.
  void KeepApart(const std::set<InputPartition>& shared);

  // A record as it comes.
  struct Arrival {
    int64_t offset;                // in its partition
    const Record* read = nullptr;  // as it was read, when it has its key and time already
    const Status* bad = nullptr;   // what was read is no record, and why
    const void* source = nullptr;  // the SourceSpec it was decoded for; null: good for any
  };
  // Takes a record of partition number `partition`. One before the position, or at or after the end
  // of the run, is left alone. The cache of `record` is set or reset.
  Status Add(size_t partition, Record& record, const Arrival& arrival,
             const std::shared_ptr<OwnedBatch>& owner);
  // The partition is at its end, at `position`.
  void AtEnd(size_t partition, int64_t position);
  // It will bring nothing more.
  void Finish(size_t partition);
  // The run ends here.
  void SetEnd(size_t partition, int64_t end);
  // Processes what is queued, as far as task time allows, until `until`: true when there is more.
  Result<bool> Drain(Clock::Instant until);
  // Fires what is due by the wall clock.
  Status Punctuate();
  // RuntimeOptions::idle_advance: moves stream time on if all partitions have been at their ends
  // for so long.
  void PassIdly(std::chrono::milliseconds after);
  // See task::Task.
  Status Flush();
  Status EndInput();
  void MarkAtEnd() { task_.MarkAtEnd(); }
  void Committed(int64_t stream_time) { task_.Committed(stream_time); }
  int64_t next_punctuation() const { return task_.next_wall_clock_punctuation(); }

  // Positions that have changed since they were last given out (`all`: every one), with metadata.
  Status Positions(bool all, std::vector<transport::PartitionOffset>* positions);

  TaskMetrics& metrics() { return metrics_; }
  // Shows where it stands.
  void Show(const TaskMetrics::EndOf& end_of);
  int64_t TakePunctuations() { return task_.TakePunctuations(); }

  const TaskId& id() const { return id_; }
  const std::vector<TaskPartition>& partitions() const { return partitions_; }
  const task::Task& task() const { return task_; }
  task::RecordQueues& queues() { return queues_; }
  bool merges() const { return merges_; }
  // Whether a record (or a punctuation, or a flush) that failed had sent or stored something
  // before.
  bool torn() const { return torn_; }
  bool done() const;

 private:
  // How much the task has sent and stored so far.
  struct Effects {
    uint64_t sent = 0, stored = 0;
    bool operator==(const Effects&) const = default;
  };
  Effects effects() const;
  // Takes note of what a failure leaves behind.
  Status Whole(const Effects& before, Status status);

  Status Process(size_t partition, Record& record, const Arrival& arrival);
  Status Run(size_t partition, Record& record, const Record* read);
  // The error policy's say about a record, or a punctuation, that failed with `why`; what fails
  // afterwards as well. Anything but kData is passed on.
  Status Decide(const TaskPartition* partition, int64_t offset, const Record* read, Status why);
  const SourceSpec& SourceOf(const TaskPartition& partition) const;
  void Advance(size_t partition, int64_t position);
  int64_t Committable(const TaskPartition& partition) const;

  // Since when all partitions are at their ends, and the stream time of then.
  struct Idle {
    Clock::Instant since;
    int64_t stream_time;
  };
  // What goes with a queued record.
  struct Queued {
    int64_t offset;
    const Record* read;  // in its batch
    Status bad;
  };

  Env env_;
  const TaskId id_;
  TaskMetrics metrics_;
  const std::optional<transport::TopicPartition> lead_;
  std::string metadata_;  // as it was last given out
  std::vector<TaskPartition> partitions_;
  bool merges_ = false;
  bool torn_ = false;
  std::optional<Idle> idle_;
  std::vector<const store::KeptStore*> stores_;
  task::Task task_;
  task::RecordQueues queues_;
  std::vector<std::deque<Queued>> queued_;  // by partition, parallel to queues_
  Arena scratch_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STAGE_TASK_H_
