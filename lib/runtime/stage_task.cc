#include "runtime/stage_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/file_cluster.h"
#include "runtime/pace.h"

namespace kstream::runtime {
std::string TaskId::ToString() const { return fmt::format("{}_{}", stage, number); }

StageTask::StageTask(const Env& env, TaskId id, Start start)
    : env_(env),
      id_(id),
      metrics_(&env.state->registry, env.thread, id.ToString()),
      lead_(std::move(start.lead)),
      metadata_(std::move(start.metadata)),
      task_(env.state->topology, id.stage, id.ToString(), env.host),
      queues_({.max_idle = env.state->options.max_idle, .max_skew = env.state->options.max_skew}) {
  task_.set_stream_time(start.stream_time);
  for (TaskPartition& partition : start.partitions) AddPartition(std::move(partition));
}

size_t StageTask::AddPartition(TaskPartition partition) {
  const size_t number = queues_.AddPartition(SourceOf(partition).table ? 0 : 1);
  queued_.emplace_back();
  partition.next = partition.position;
  metrics_.AddPartition(partition.input);
  for (TaskPartition& other : partitions_) {
    if (other.input == partition.input) other.twice = partition.twice = true;
  }
  partitions_.push_back(std::move(partition));
  // Files are merged as they are read.
  merges_ = partitions_.size() > 1 && std::any_of(partitions_.begin(), partitions_.end(),
                                                  [](auto& p) { return !p.is_file(); });
  if (partitions_[number].done()) queues_.MarkDone(number);
  return number;
}

void StageTask::KeepApart(const std::set<InputPartition>& shared) {
  for (TaskPartition& p : partitions_) p.by_offset = p.by_offset && !shared.contains(p.input);
}

const SourceSpec& StageTask::SourceOf(const TaskPartition& partition) const {
  const TopologyGraph& graph = env_.state->graph();
  return graph.nodes[graph.stages[id_.stage].sources[partition.source]].source;
}

bool StageTask::done() const {
  return std::all_of(partitions_.begin(), partitions_.end(), [](auto& p) { return p.done(); });
}

void StageTask::Advance(size_t partition, int64_t position) {
  TaskPartition& p = partitions_[partition];
  p.position = std::max(p.position, position);
  if (p.done()) queues_.MarkDone(partition);
}

Status StageTask::Add(size_t partition, Record& record, const Arrival& arrival,
                      const std::shared_ptr<OwnedBatch>& owner) {
  TaskPartition& p = partitions_[partition];
  if (arrival.source && arrival.source != &SourceOf(p)) return Status::Ok();
  if (arrival.offset < p.next) return Status::Ok();  // another task reads it from further back
  if (p.end && arrival.offset >= *p.end) {
    // Past the end of this run. With nothing queued before it, the partition is done.
    if (queues_.Size(partition) == 0) Advance(partition, *p.end);
    return Status::Ok();
  }
  p.next = arrival.offset + 1;
  p.at_end = false;
  if (p.chosen_among > 0 && env_.state->placement.Check(p.input, p.chosen_among, record)) {
    p.chosen_among = 0;
  }
  if (!merges_) return Process(partition, record, arrival);

  // It waits for its turn with its key and time, and with it what was read, which the batch keeps.
  // What is bad waits as well, so that what comes before it is done when it may end the stage.
  Record ingested = record;
  Queued queued{arrival.offset, arrival.read ? arrival.read : &record, {}};
  if (arrival.bad) queued.bad = *arrival.bad;
  task::Ingest* const ingest = env_.ingests[p.source];
  if (queued.bad.ok() && !p.is_file() && !ingest->trivial()) {
    env_.cache->Reset();
    ingested.cache = env_.cache;
    queued.bad = ingest->Apply(&ingested, &owner->arena, &p.time);
    ingested.cache = nullptr;
    if (!queued.bad.ok()) {
      if (queued.bad.code() != StatusCode::kData) return queued.bad;
      ingested = record;
    }
  }
  queued_[partition].push_back(std::move(queued));
  queues_.Push(partition, ingested, owner);
  return Status::Ok();
}

void StageTask::AtEnd(size_t partition, int64_t position) {
  TaskPartition& p = partitions_[partition];
  queues_.MarkAtEnd(partition);
  // Records between the end of the run and the end of the log were left alone.
  p.seen_end = p.end ? std::min(position, *p.end) : position;
  p.next = std::max(p.next, p.seen_end);
  p.at_end = true;
  if (queues_.Size(partition) == 0) Advance(partition, p.seen_end);
}

void StageTask::Finish(size_t partition) { SetEnd(partition, partitions_[partition].next); }

void StageTask::SetEnd(size_t partition, int64_t end) {
  TaskPartition& p = partitions_[partition];
  p.end = end;
  if (p.done()) queues_.MarkDone(partition);
}

Result<bool> StageTask::Drain(Clock::Instant until) {
  Pace pace(*env_.state->clock);
  for (auto next = queues_.Next(pace.now()); next; next = queues_.Next(pace.now())) {
    const Queued& head = queued_[*next].front();
    KSTREAM_RETURN_IF_ERROR(Process(*next, queues_.Head(*next),
                                    {.offset = head.offset, .read = head.read, .bad = &head.bad}));
    if (env_.outputs->cut()) return false;
    queues_.Pop(*next);
    queued_[*next].pop_front();
    // Behind the last record there may be markers of transactions: they are passed as well.
    if (queues_.Size(*next) == 0) Advance(*next, partitions_[*next].seen_end);
    if (env_.state->limit_reached()) return false;
    if (pace.Step() && pace.now() >= until) return true;
  }
  return false;
}

Status StageTask::Process(size_t partition, Record& record, const Arrival& arrival) {
  if (record.cache == nullptr || record.cache == env_.cache) {
    record.cache = env_.cache;
    record.cache->Reset();
  } else {
    record.cache->Freshen();  // it came with the record of a file, and may have been parsed
  }
  const bool bad = arrival.bad && !arrival.bad->ok();
  const Effects before = effects();
  if (Status status = bad ? *arrival.bad : Run(partition, record, arrival.read); !status.ok()) {
    KSTREAM_RETURN_IF_ERROR(
        Whole(before, Decide(&partitions_[partition], arrival.offset,
                             arrival.read ? arrival.read : &record, std::move(status))));
  }
  // A record of which an output was left out by --limit is not done.
  if (!env_.outputs->cut()) Advance(partition, arrival.offset + 1);
  return Status::Ok();
}

Status StageTask::Run(size_t partition, Record& record, const Record* read) {
  TaskPartition& p = partitions_[partition];
  if (read) return task_.Process(p.source, record, *read);
  task::Ingest* const ingest = env_.ingests[p.source];
  if (p.is_file() || ingest->trivial()) return task_.Process(p.source, record, record);
  scratch_.Reset();
  Record ingested = record;
  KSTREAM_RETURN_IF_ERROR(ingest->Apply(&ingested, &scratch_, &p.time));
  return task_.Process(p.source, ingested, record);
}

Status StageTask::Decide(const TaskPartition* partition, int64_t offset, const Record* read,
                         Status why) {
  for (; !why.ok(); why = task_.Punctuate()) {
    if (why.code() != StatusCode::kData) return why;
    const Record* failed = task_.failed_punctuation();
    std::string place = "task " + id_.ToString();
    if (failed == nullptr) {
      failed = read;
      const transport::TopicPartition at = partition->topic_partition();
      place = partition->is_file() ? PlaceOf({&at, offset}) : task::PlaceOf(*read);
    }
    std::string message;
    KSTREAM_RETURN_IF_ERROR(env_.bad_records->Handle(*failed, place, why, &message));
    if (!message.empty()) Log(LogLevel::kWarning, message);
  }
  return Status::Ok();
}

Status StageTask::Punctuate() {
  const Effects before = effects();
  return Whole(before, Decide(nullptr, -1, nullptr, task_.Punctuate()));
}

void StageTask::PassIdly(std::chrono::milliseconds after) {
  const std::optional<int64_t> stream_time = task_.stream_time();
  const bool idle = stream_time && std::ranges::all_of(partitions_, [](const TaskPartition& p) {
                      return p.at_end && p.position >= p.next;
                    });
  if (!idle) return idle_.reset();
  const Clock::Instant now = env_.state->clock->Steady();
  if (!idle_) idle_ = {now, *stream_time};
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - idle_->since);
  if (passed <= after) return;
  task_.AdvanceStreamTime(
      std::min(idle_->stream_time + (passed - after).count(), env_.state->clock->WallMs()));
}

Status StageTask::Flush() {
  const Effects before = effects();
  return Whole(before, task_.Flush());
}

Status StageTask::EndInput() {
  const Effects before = effects();
  return Whole(before, task_.EndInput());
}

Status StageTask::Init(const task::Task::KeptStores& kept) {
  for (const auto& [name, store] : kept) {
    stores_.push_back(dynamic_cast<const store::KeptStore*>(store));
  }
  return task_.Init(kept);
}

StageTask::Effects StageTask::effects() const {
  Effects effects{.sent = env_.outputs->sent_ever()};
  for (const store::KeptStore* const store : stores_) effects.stored += store->meter().changes();
  return effects;
}

Status StageTask::Whole(const Effects& before, Status status) {
  torn_ = torn_ || (!status.ok() && effects() != before);
  return status;
}

void StageTask::Show(const TaskMetrics::EndOf& end_of) {
  for (const TaskPartition& p : partitions_) metrics_.SetPosition(p.input, p.position);
  metrics_.Show(queues_.size(), task_.stream_time(), end_of);
}

// A topic that two sources read is done as far as both have come.
int64_t StageTask::Committable(const TaskPartition& partition) const {
  int64_t position = partition.position;
  if (!partition.twice) return position;
  for (const TaskPartition& other : partitions_) {
    if (other.input == partition.input) position = std::min(position, other.position);
  }
  return position;
}

Status StageTask::Positions(bool all, std::vector<transport::PartitionOffset>* positions) {
  task::CommitMetadata kept{.stream_time = task_.stream_time(), .positions = {}};
  for (const TaskPartition& p : partitions_) {
    if (!p.by_offset) kept.positions[p.input] = Committable(p);
  }
  KSTREAM_ASSIGN_OR_RETURN(std::string metadata, kept.Encode());
  const bool news = all ? !metadata.empty() : metadata != metadata_;
  bool told = false;
  std::set<InputPartition> given;  // of those that are read twice
  for (TaskPartition& p : partitions_) {
    if (!p.by_offset || (p.twice && !given.insert(p.input).second)) continue;
    const bool with_news = news && lead_ == p.topic_partition();
    const int64_t position = Committable(p);
    if (!all && !with_news && position == p.given_out) continue;
    // Nothing to say yet; but an end at 0 would be elsewhere for the next owner.
    if (!with_news && p.given_out == transport::kNoOffset && position == 0 &&
        env_.state->from.kind == FromSpec::Kind::kBeginning)
      continue;
    p.given_out = position;
    told |= with_news;
    positions->push_back(
        {p.topic_partition(), position, lead_ == p.topic_partition() ? metadata : ""});
  }
  // A lead that holds no records of its own keeps the metadata all the same.
  if (news && !told && lead_) positions->push_back({*lead_, 0, metadata});
  metadata_ = std::move(metadata);
  return Status::Ok();
}

}  // namespace kstream::runtime
