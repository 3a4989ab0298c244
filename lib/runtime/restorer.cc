#include "runtime/restorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::TopicPartition;
using Read = ChangelogReads::Read;

void ShowRemaining(const Read& read) {
  const int64_t remaining = std::max<int64_t>(0, read.end - read.position);
  read.store->lag.Set(static_cast<double>(remaining));
}

}  // namespace

Restorer::Restorer(RunShared* shared, int thread)
    : shared_(shared), thread_(thread), reads_(shared) {}
Restorer::~Restorer() = default;

Status Restorer::Add(TaskId id, TaskStores* stores, const std::string& incarnation) {
  if (!consumer_) {
    KSTREAM_ASSIGN_OR_RETURN(consumer_, ChangelogReads::NewConsumer(shared_));
    batch_ = consumer_->NewBatch();
  }
  const std::vector<TopicPartition> names = TaskStores::ChangelogsOf(*shared_->state, id);
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
    store.loaded = registry->NewCounter("kstream_restore_records_total", labels);
    store.lag = registry->NewGauge("kstream_restore_remaining_records", labels);
    KSTREAM_RETURN_IF_ERROR(Begin(id, &store, logs.at(*store.changelog), incarnation));
  }
  return reads_.TakeMoves().Make(consumer_.get());
}

Status Restorer::Begin(TaskId id, TaskStores::Store* store, transport::Admin::Watermarks log,
                       const std::string& incarnation) {
  KSTREAM_ASSIGN_OR_RETURN(const Read read, reads_.Begin(id, store, log, incarnation));
  ShowRemaining(read);
  if (read.position >= read.end) return Status::Ok();
  if (read.end - read.position > (read.check ? 1 : 0)) {
    const TopicPartition& name = *store->changelog;
    Log(LogLevel::kInfo, fmt::format("restoring store {} of task {} from {}[{}]: offsets {} to {}",
                                     store->kept->name(), id.ToString(), name.topic, name.partition,
                                     read.position, read.end));
  }
  reads_.Add(read);
  waiting_[id].logs++;
  return Status::Ok();
}

Status Restorer::Remove(TaskId id) {
  waiting_.erase(id);
  reads_.Remove(id);
  return consumer_ ? reads_.TakeMoves().Make(consumer_.get()) : Status::Ok();
}

Result<std::vector<TaskId>> Restorer::Turn(milliseconds wait) {
  if (!reads_.reads().empty()) {
    KSTREAM_RETURN_IF_ERROR(consumer_->Poll(wait, batch_.get()));
    for (const auto& [id, failure] : reads_.Take(*batch_)) return failure;
    for (const auto& [name, read] : reads_.reads()) ShowRemaining(read);
  }
  return Finished();
}

Result<std::vector<TaskId>> Restorer::Finished() {
  std::vector<TopicPartition> done;
  for (auto& [name, read] : reads_.reads()) {
    if (read.position < read.end) continue;
    if (read.records > 0) {
      Log(LogLevel::kInfo,
          fmt::format("restored store {} of task {}: {} records", read.store->kept->name(),
                      read.task.ToString(), read.records));
    }
    waiting_[read.task].logs--;
    done.push_back(name);
  }
  for (const TopicPartition& name : done) reads_.Remove(name);
  if (consumer_) KSTREAM_RETURN_IF_ERROR(reads_.TakeMoves().Make(consumer_.get()));
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
