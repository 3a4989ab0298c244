#include "runtime/changelog_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/changelogs.h"
#include "runtime/safeguards.h"
#include "store/changelog_hash.h"

namespace kstream::runtime {

using transport::PartitionOffset;
using transport::TopicPartition;

Status ChangelogReads::Moves::Make(transport::Consumer* consumer) const {
  if (!leave.empty()) KSTREAM_RETURN_IF_ERROR(consumer->Unassign(leave));
  return read.empty() ? Status::Ok() : consumer->Assign(read);
}

Result<std::unique_ptr<transport::Consumer>> ChangelogReads::NewConsumer(RunShared* shared) {
  transport::ConsumerOptions options;
  // As much as one that reads inputs, though there may be one of those beside it: a changelog is
  // taken faster than any input, and each time that the queue is full costs a second.
  options.threads = shared->threads;
  return shared->state->clusters.at("")->NewConsumer(options);
}

Result<ChangelogReads::Read> ChangelogReads::Begin(TaskId id, TaskStores::Store* store,
                                                   transport::Admin::Watermarks log,
                                                   const std::string& incarnation) const {
  const store::Checkpoint at = store->kept->engine()->checkpoint();
  Read read{.task = id,
            .store = store,
            .incarnation = incarnation,
            .low = log.low,
            .position = log.low,
            .end = log.high};
  KSTREAM_RETURN_IF_ERROR(CheckReaches(at, incarnation, *store->changelog, store->kept->name(), log,
                                       shared_->state->options.app));
  if (at.incarnation.empty()) return read;
  const std::string why = WhyAnew(at, incarnation, log, shared_->state->clock->WallMs());
  if (!why.empty()) {
    KSTREAM_RETURN_IF_ERROR(StartAnew(&read, why));
    return read;
  }
  read.check = at.last >= log.low;
  read.position = read.check ? at.last : at.offset;
  return read;
}

Status ChangelogReads::StartAnew(Read* read, const std::string& why) const {
  const TopicPartition& name = *read->store->changelog;
  Log(LogLevel::kWarning,
      fmt::format("store {} of task {} is rebuilt from {}[{}]: {}", read->store->kept->name(),
                  read->task.ToString(), name.topic, name.partition, why));
  read->check = false;
  read->position = read->low;
  return read->store->kept->engine()->Clear();
}

void ChangelogReads::Add(const Read& read) {
  const TopicPartition& name = *read.store->changelog;
  reads_.insert_or_assign(name, read);
  moves_.read.push_back({name, read.position, ""});
}

void ChangelogReads::Leave(const TopicPartition& name) {
  // What the consumer has not been told of it needs not leave.
  const auto untold = std::erase_if(
      moves_.read, [&](const PartitionOffset& read) { return read.partition == name; });
  if (untold == 0) moves_.leave.push_back(name);
}

void ChangelogReads::Remove(const TopicPartition& name) {
  if (reads_.erase(name) > 0) Leave(name);
}

void ChangelogReads::Remove(TaskId id) {
  for (auto read = reads_.begin(); read != reads_.end();) {
    if (read->second.task == id) Leave(read->first);
    read = read->second.task == id ? reads_.erase(read) : std::next(read);
  }
}

ChangelogReads::Moves ChangelogReads::TakeMoves() { return std::exchange(moves_, {}); }

std::map<TaskId, Status> ChangelogReads::Take(const transport::Batch& batch) {
  for (auto& [name, read] : reads_) read.anew = false;
  std::map<TaskId, Status> failed;
  // Records come in runs of one partition.
  for (size_t first = 0, last = 0; first < batch.records.size(); first = last) {
    const Record& head = batch.records[first];
    for (last = first + 1; last < batch.records.size(); last++) {
      const Record& record = batch.records[last];
      if (record.partition != head.partition || record.topic != head.topic) break;
    }
    const auto found = reads_.find({std::string(head.topic), head.partition});
    if (found == reads_.end() || failed.contains(found->second.task)) continue;
    Status taken = Apply(&found->second, std::span(batch.records).subspan(first, last - first));
    if (!taken.ok()) failed.emplace(found->second.task, std::move(taken));
  }
  for (const PartitionOffset& end : batch.ends) {
    const auto found = reads_.find(end.partition);
    if (found == reads_.end()) continue;
    Read& read = found->second;
    if (read.anew || failed.contains(read.task)) continue;
    read.position = std::max(read.position, end.offset);
    read.reached = true;
    if (!safeguards.restore_to_watermark) read.end = read.position;
  }
  return failed;
}

Status ChangelogReads::Apply(Read* read, std::span<const Record> records) {
  // Read before it was begun anew.
  if (read->anew || records.front().offset < read->position) return Status::Ok();
  const store::Checkpoint at = read->store->kept->engine()->checkpoint();
  if (std::exchange(read->check, false) && records.front().offset == at.last) {
    const Record& same = records.front();
    if (store::ChangelogHash(same.key.value_or(""), same.value) != at.last_hash) {
      KSTREAM_RETURN_IF_ERROR(
          StartAnew(read, fmt::format("the record at offset {} is another than it was", at.last)));
      read->anew = true;
      const TopicPartition& name = *read->store->changelog;
      moves_.leave.push_back(name);
      moves_.read.push_back({name, read->position, ""});
      return Status::Ok();
    }
    records = records.subspan(1);
  }
  return Load(read, records, at);
}

Status ChangelogReads::Load(Read* read, std::span<const Record> records, store::Checkpoint at) {
  std::vector<store::Change> changes;
  changes.reserve(records.size());
  for (const Record& record : records) {
    read->position = std::min(record.offset + 1, read->end);
    if (record.offset >= read->end) break;
    if (!record.key) continue;
    store::Change& change = changes.emplace_back();
    change.key = *record.key;
    if (record.value) change.value = *record.value;
    change.timestamp = RowTimeOf(record);
    at.last = record.offset;
  }
  if (changes.empty()) return Status::Ok();
  at.last_hash = store::ChangelogHash(changes.back().key, changes.back().value);
  read->records += static_cast<int64_t>(changes.size());
  read->store->loaded.Add(static_cast<int64_t>(changes.size()));
  at.incarnation = read->incarnation;
  at.offset = read->position;
  at.written = shared_->state->clock->WallMs();
  return read->store->kept->engine()->Load(changes, at);
}

}  // namespace kstream::runtime
