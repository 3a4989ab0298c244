#include "runtime/restorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/changelogs.h"
#include "runtime/safeguards.h"
#include "store/changelog_hash.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

std::string Named(const TopicPartition& name) {
  return fmt::format("{}[{}]", name.topic, name.partition);
}

}  // namespace

Restorer::Restorer(RunShared* shared, int thread) : shared_(shared), thread_(thread) {}
Restorer::~Restorer() = default;

Status Restorer::Add(TaskId id, TaskStores* stores, const std::string& incarnation) {
  incarnation_ = incarnation;
  if (!consumer_) {
    transport::ConsumerOptions options;
    // As much as one that reads inputs, though there may be one of those beside it: a changelog is
    // taken faster than any input, and each time that the queue is full costs a second.
    options.threads = shared_->threads;
    KSTREAM_ASSIGN_OR_RETURN(consumer_, shared_->state->clusters.at("")->NewConsumer(options));
    batch_ = consumer_->NewBatch();
  }
  std::vector<TopicPartition> names;
  for (const TaskStores::Store& store : stores->stores()) {
    if (store.changelog) names.push_back(*store.changelog);
  }
  KSTREAM_ASSIGN_OR_RETURN(const auto logs, shared_->admins.Ask("", [&](transport::Admin* admin) {
    return admin->Offsets(names);
  }));
  metrics::Registry* const registry = &shared_->state->registry;
  const std::string task = id.ToString();
  metrics::Labels labels{.thread = thread_, .task = task};
  waiting_[id] = {0, registry->NewState("kstream_task_state", labels)};
  waiting_[id].state.Set("restoring");
  for (TaskStores::Store& store : stores->stores()) {
    if (!store.changelog) continue;
    labels.store = store.kept->name();
    store.restored = registry->NewCounter("kstream_restore_records_total", labels);
    store.remaining = registry->NewGauge("kstream_restore_remaining_records", labels);
    KSTREAM_RETURN_IF_ERROR(Begin(id, &store, logs.at(*store.changelog)));
  }
  return Status::Ok();
}

Status Restorer::Begin(TaskId id, TaskStores::Store* store,
                       transport::Admin::Watermarks watermarks) {
  const TopicPartition& name = *store->changelog;
  store::Engine* const engine = store->kept->engine();
  const store::Checkpoint at = engine->checkpoint();
  ChangelogRead log{.task = id, .store = store, .low = watermarks.low, .end = watermarks.high};
  KSTREAM_RETURN_IF_ERROR(CheckReaches(at, incarnation_, name, store->kept->name(), watermarks,
                                       shared_->state->options.app));
  std::string why;
  if (at.incarnation.empty()) {
    log.position = log.low;
  } else {
    why = WhyAnew(at, incarnation_, watermarks, shared_->state->clock->WallMs());
    log.check = at.last >= log.low;
    log.position = log.check ? at.last : at.offset;
  }
  if (!why.empty()) KSTREAM_RETURN_IF_ERROR(StartAnew(name, &log, why));
  log.ShowRemaining();
  if (log.position >= log.end) return Status::Ok();
  if (log.end - log.position > (log.check ? 1 : 0)) {
    Log(LogLevel::kInfo,
        fmt::format("restoring store {} of task {} from {}: offsets {} to {}",
                    log.store->kept->name(), id.ToString(), Named(name), log.position, log.end));
  }
  const PartitionOffset from[] = {{name, log.position, ""}};
  KSTREAM_RETURN_IF_ERROR(consumer_->Assign(from));
  logs_.emplace(name, log);
  waiting_[id].logs++;
  return Status::Ok();
}

Status Restorer::StartAnew(const TopicPartition& name, ChangelogRead* log, const std::string& why) {
  Log(LogLevel::kWarning,
      fmt::format("store {} of task {} is rebuilt from {}: {}", log->store->kept->name(),
                  log->task.ToString(), Named(name), why));
  log->check = false;
  log->position = log->low;
  return log->store->kept->engine()->Clear();
}

Status Restorer::Remove(TaskId id) {
  waiting_.erase(id);
  std::vector<TopicPartition> names;
  for (const auto& [name, log] : logs_) {
    if (log.task == id) names.push_back(name);
  }
  if (names.empty()) return Status::Ok();
  for (const TopicPartition& name : names) logs_.erase(name);
  return consumer_->Unassign(names);
}

Result<std::vector<TaskId>> Restorer::Turn(milliseconds wait) {
  if (!logs_.empty()) {
    KSTREAM_RETURN_IF_ERROR(consumer_->Poll(wait, batch_.get()));
    KSTREAM_RETURN_IF_ERROR(Take(*batch_));
  }
  return Finished();
}

Status Restorer::Take(const transport::Batch& batch) {
  for (auto& [name, log] : logs_) log.anew = false;
  // Records come in runs of one partition.
  for (size_t first = 0, last = 0; first < batch.records.size(); first = last) {
    const Record& head = batch.records[first];
    for (last = first + 1; last < batch.records.size(); last++) {
      const Record& record = batch.records[last];
      if (record.partition != head.partition || record.topic != head.topic) break;
    }
    const auto log = logs_.find({std::string(head.topic), head.partition});
    if (log == logs_.end()) continue;
    KSTREAM_RETURN_IF_ERROR(Apply(&*log, std::span(batch.records).subspan(first, last - first)));
  }
  for (const PartitionOffset& end : batch.ends) {
    const auto found = logs_.find(end.partition);
    if (found == logs_.end()) continue;
    ChangelogRead& log = found->second;
    if (log.anew) continue;
    log.position = std::max(log.position, end.offset);
    if (!safeguards.restore_to_watermark) log.end = log.position;
  }
  for (const auto& [name, log] : logs_) log.ShowRemaining();
  return Status::Ok();
}

Status Restorer::Apply(Logs::value_type* entry, std::span<const Record> records) {
  auto& [name, log] = *entry;
  // Read before it was begun anew.
  if (records.front().offset < log.position) return Status::Ok();
  store::Checkpoint at = log.store->kept->engine()->checkpoint();
  if (std::exchange(log.check, false) && records.front().offset == at.last) {
    const Record& same = records.front();
    if (store::ChangelogHash(same.key.value_or(""), same.value) != at.last_hash) {
      KSTREAM_RETURN_IF_ERROR(StartAnew(
          name, &log, fmt::format("the record at offset {} is another than it was", at.last)));
      log.anew = true;
      const TopicPartition names[] = {name};
      KSTREAM_RETURN_IF_ERROR(consumer_->Unassign(names));
      const PartitionOffset from[] = {{name, log.position, ""}};
      return consumer_->Assign(from);
    }
    records = records.subspan(1);
  }
  std::vector<store::Change> changes;
  changes.reserve(records.size());
  for (const Record& record : records) {
    log.position = std::min(record.offset + 1, log.end);
    if (record.offset >= log.end) break;
    if (!record.key) continue;
    store::Change& change = changes.emplace_back();
    change.key = *record.key;
    if (record.value) change.value = *record.value;
    change.timestamp = RowTimeOf(record);
    at.last = record.offset;
  }
  if (changes.empty()) return Status::Ok();
  at.last_hash = store::ChangelogHash(changes.back().key, changes.back().value);
  log.records += static_cast<int64_t>(changes.size());
  log.store->restored.Add(static_cast<int64_t>(changes.size()));
  at.incarnation = incarnation_;
  at.offset = log.position;
  at.written = shared_->state->clock->WallMs();
  return log.store->kept->engine()->Load(changes, at);
}

Result<std::vector<TaskId>> Restorer::Finished() {
  std::vector<TopicPartition> done;
  for (auto& [name, log] : logs_) {
    if (log.position < log.end) continue;
    if (log.records > 0) {
      Log(LogLevel::kInfo, fmt::format("restored store {} of task {}: {} records",
                                       log.store->kept->name(), log.task.ToString(), log.records));
    }
    waiting_[log.task].logs--;
    done.push_back(name);
  }
  if (!done.empty()) KSTREAM_RETURN_IF_ERROR(consumer_->Unassign(done));
  for (const TopicPartition& name : done) logs_.erase(name);
  std::vector<TaskId> finished;
  for (const auto& [id, waiting] : waiting_) {
    if (waiting.logs == 0) finished.push_back(id);
  }
  for (const TaskId id : finished) waiting_.erase(id);
  // Nothing more to restore: the connections are given back.
  if (waiting_.empty()) {
    batch_.reset();
    consumer_.reset();
  }
  return finished;
}

}  // namespace kstream::runtime
