// StreamThread's stores: restored before their task begins, sealed and kept with each commit.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;

// How long a turn reads changelogs: the other tasks of the thread go on in between.
constexpr milliseconds kRestoreWait{20};

}  // namespace

Status StreamThread::FlushTasks() {
  for (auto& [id, task] : tasks_) KSTREAM_RETURN_IF_ERROR(task->Flush());
  return Status::Ok();
}

Status StreamThread::SealStores() {
  if (outputs_.transactional()) sealed_bad_ += bad_records_->Take();
  for (auto& [id, stores] : stores_) KSTREAM_RETURN_IF_ERROR(stores->Seal());
  return Status::Ok();
}

Result<std::vector<PartitionOffset>> StreamThread::Positions(bool all) {
  std::vector<PartitionOffset> positions;
  // Output that nobody could read is not done.
  if (!state_->grouped() || shared_->files->closed()) return positions;
  for (auto& [id, task] : tasks_) KSTREAM_RETURN_IF_ERROR(task->Positions(all, &positions));
  return positions;
}

std::function<void()> StreamThread::WhenCommitted() {
  std::vector<std::pair<TaskId, int64_t>> times;
  for (const auto& [id, task] : tasks_) {
    if (const auto time = task->task().stream_time()) times.emplace_back(id, *time);
  }
  return [this, times = std::move(times)] {
    for (const auto& [id, time] : times) {
      if (const auto task = tasks_.find(id); task != tasks_.end()) task->second->Committed(time);
    }
  };
}

Result<bool> StreamThread::KeepStores(bool wait) {
  committed_bad_ += std::exchange(sealed_bad_, {});
  bool kept = true;
  for (auto& [id, stores] : stores_) {
    KSTREAM_ASSIGN_OR_RETURN(const bool ended, stores->Keep(plan_->incarnation, wait));
    kept = kept && ended;
  }
  return kept;
}

// What is not kept yet is memory: beyond its share it is sealed before its time. What is sealed
// goes only when it is acknowledged, however long that takes: with twice the share nothing more is
// read.
void StreamThread::RelieveStores() {
  size_t dirty = 0;
  for (const auto& [id, stores] : stores_) dirty += stores->dirty_bytes();
  const auto share = static_cast<size_t>(state_->options.memory / 8 / shared_->threads);
  if (dirty > share) committer_->Request();
  const bool full = stores_full_ ? dirty > share : dirty > 2 * share;
  if (full && !stores_full_) {
    Log(LogLevel::kDebug,
        fmt::format("thread {}: stores hold {} bytes that are not acknowledged: waiting", index_,
                    dirty));
  }
  stores_full_ = full;
}

// Reads changelogs for a moment, and begins with the tasks whose stores are restored.
Status StreamThread::Restore() {
  if (restoring_.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<TaskId> restored, restorer_.Turn(kRestoreWait));
  for (const TaskId id : restored) {
    auto found = restoring_.extract(id);
    if (found.empty()) continue;
    Restoring& waited = found.mapped();
    KSTREAM_RETURN_IF_ERROR(AdoptRestored(id, std::move(waited.start), std::move(waited.stores)));
  }
  return Status::Ok();
}

// State whose positions are gone would take in again what it contains.
Status StreamThread::CheckState(TaskId id, StageTask::Start* start, const TaskStores& stores) {
  if (!state_->grouped() || !stores.journaled()) return Status::Ok();
  auto& partitions = start->partitions;
  const bool known = std::any_of(partitions.begin(), partitions.end(), [](const TaskPartition& p) {
    return p.given_out != transport::kNoOffset;
  });
  if (known) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const bool empty, stores.Empty());
  if (!empty && !state_->options.from_given) {
    return Status(
        StatusCode::kState,
        fmt::format("task {} has state, but its group {} has no committed offsets (brokers forget "
                    "them): reading again would count twice: reset the application with "
                    "kstream-inspect-state reset, or say with --from where to go on",
                    id.ToString(), state_->options.app));
  }
  if (state_->options.dry_run) return Status::Ok();
  // From here on there will be state, so there must be positions first; or, in a transaction,
  // together with it.
  if (outputs_.transactional()) {
    for (TaskPartition& p : partitions) p.given_out = TaskPartition::kNeverGivenOut;
    return Status::Ok();
  }
  std::vector<PartitionOffset> begin;
  for (const TaskPartition& p : partitions) {
    if (p.by_offset) begin.push_back({p.topic_partition(), p.position, ""});
  }
  if (begin.empty()) return Status::Ok();
  return home()->consumer()->CommitSync(std::move(begin));
}

Status StreamThread::CloseStores(TaskId id) {
  const auto found = stores_.extract(id);
  return found.empty() ? Status::Ok() : found.mapped()->Close();
}

}  // namespace kstream::runtime
