#include "runtime/stage_task.h"

#include <algorithm>

#include "base/log.h"

namespace kstream::runtime {

StageTask::StageTask(const Env& env, std::string name, std::vector<TaskPartition> partitions)
    : env_(env),
      partitions_(std::move(partitions)),
      task_(env.state->topology, std::move(name),
            [&](const TopologyNode& node) { return env.outputs->SinkOf(node); }) {
  for (const TaskPartition& partition : partitions_) {
    const size_t number = queues_.AddPartition();
    refused_.emplace_back();
    if (partition.done()) queues_.MarkDone(number);
  }
}

bool StageTask::done() const {
  return std::all_of(partitions_.begin(), partitions_.end(), [](auto& p) { return p.done(); });
}

void StageTask::Advance(size_t partition, int64_t position) {
  TaskPartition& p = partitions_[partition];
  p.position = std::max(p.position, position);
  if (p.done()) queues_.MarkDone(partition);
}

Status StageTask::Add(size_t partition, const Record& record,
                      const std::shared_ptr<OwnedBatch>& owner) {
  TaskPartition& p = partitions_[partition];
  if (p.end && record.offset >= *p.end) {
    // Past the end of this run. With nothing queued before it, the partition is done.
    if (queues_.Size(partition) == 0) Advance(partition, *p.end);
    return Status::Ok();
  }
  if (!merges()) {
    scratch_.Reset();
    return Process(partition, record, &scratch_);
  }
  Record copy = record;
  if (!env_.ingest->trivial()) {
    env_.cache->Reset();
    copy.cache = env_.cache;
    const Status status = env_.ingest->Apply(&copy, &owner->arena);
    copy.cache = nullptr;
    if (!status.ok()) {
      if (status.code() != StatusCode::kData) return status;
      // It waits for its turn as it was read, so that what comes before it is done when it may end
      // the stage.
      copy = record;
      refused_[partition].push_back({record.offset, status});
    }
  }
  queues_.Push(partition, copy, owner);
  return Status::Ok();
}

void StageTask::AtEnd(size_t partition, int64_t position) {
  TaskPartition& p = partitions_[partition];
  queues_.MarkAtEnd(partition);
  // Records between the end of the run and the end of the log were left alone.
  p.seen_end = p.end ? std::min(position, *p.end) : position;
  if (queues_.Size(partition) == 0) Advance(partition, p.seen_end);
}

Status StageTask::Drain() {
  for (std::optional<size_t> next = queues_.Next(); next; next = queues_.Next()) {
    Record& record = queues_.Head(*next);
    KSTREAM_RETURN_IF_ERROR(Process(*next, record, nullptr));
    if (env_.outputs->cut()) break;
    queues_.Pop(*next);
    // Behind the last record there may be markers of transactions: they are passed as well.
    if (queues_.Size(*next) == 0) Advance(*next, partitions_[*next].seen_end);
    if (env_.state->limit_reached()) break;
  }
  return Status::Ok();
}

// `arena` null: the record has been ingested already.
Status StageTask::Process(size_t partition, Record record, Arena* arena) {
  env_.cache->Reset();
  record.cache = env_.cache;
  Record as_processed = record;
  Status status;
  if (auto& refused = refused_[partition];
      !refused.empty() && refused.front().offset == record.offset) {
    status = std::move(refused.front().why);
    refused.pop_front();
  } else {
    status = Run(&as_processed, arena);
  }
  if (!status.ok()) {
    if (status.code() != StatusCode::kData) return status;
    std::string message;
    KSTREAM_RETURN_IF_ERROR(
        env_.bad_records->Handle(record, task::PlaceOf(record), status, &message));
    if (!message.empty()) Log(LogLevel::kWarning, message);
  }
  // A record of which an output was left out by --limit is not done.
  if (!env_.outputs->cut()) Advance(partition, record.offset + 1);
  return Status::Ok();
}

Status StageTask::Run(Record* record, Arena* arena) {
  if (arena && !env_.ingest->trivial()) KSTREAM_RETURN_IF_ERROR(env_.ingest->Apply(record, arena));
  return task_.Process(0, *record);
}

}  // namespace kstream::runtime
