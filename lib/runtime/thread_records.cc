// StreamThread's records: what a turn reads, and what its tasks make of it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/pace.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr milliseconds kPollWait{50};
constexpr milliseconds kSharedPollWait{5};  // with several consumers in turn
// What one turn should take at most.
constexpr milliseconds kTurn{500};
// A queue that holds so much while others hold the task stops being fetched. As a pause throws away
// what has been prefetched, it goes on only when there is room again.
constexpr size_t kPauseAbove = 100'000, kResumeBelow = 25'000;  // records of a partition
constexpr size_t kMostBytes = 256 << 20;  // of what a thread queues; each task has its share,
constexpr size_t kLeastShare = 1 << 20;   // but this at least
constexpr size_t kPerRecord = 256;        // bytes that a queued record takes beside its own

}  // namespace

milliseconds StreamThread::WaitOf(size_t readers) const {
  if (more_ || !restoring_.empty()) return milliseconds(0);
  milliseconds wait = readers > 1 ? kSharedPollWait : kPollWait;
  if (paused_) return wait;
  int64_t next = INT64_MAX;
  for (const auto& [id, task] : tasks_) next = std::min(next, task->next_punctuation());
  if (next != INT64_MAX) {
    wait = std::clamp(milliseconds(next - state_->clock->WallMs()), milliseconds(0), wait);
  }
  return wait;
}

Status StreamThread::Read(Reader* reader, milliseconds wait) {
  // What a task is given must not depend on what its thread has had before.
  KSTREAM_RETURN_IF_ERROR(reader->Poll(wait, let_ ? SIZE_MAX : most_));
  KSTREAM_RETURN_IF_ERROR(Awake());
  const size_t records = reader->batch().records.size();
  metrics_->poll_records.Observe(static_cast<double>(records));
  metrics_->read.Add(static_cast<int64_t>(records));
  const Clock::Instant begin = state_->clock->Steady();
  KSTREAM_RETURN_IF_ERROR(TakeRecords(reader));
  if (state_->limit_reached()) return Status::Ok();  // the rest of the batch is not done
  KSTREAM_RETURN_IF_ERROR(TakeEnds(reader));
  // So many as would have taken as long as a turn should; the transport has a limit of its own.
  const auto took = state_->clock->Steady() - begin;
  if (records > 0) busy_ = busy_.value_or(std::chrono::nanoseconds(0)) + took;
  if (took > kTurn) {
    most_ = std::max<size_t>(1, records * kTurn / took);
  } else if (most_ != SIZE_MAX && records >= most_ && took < kTurn / 2) {
    most_ = most_ > SIZE_MAX / 2 ? SIZE_MAX : most_ * 2;
  }
  return Status::Ok();
}

Status StreamThread::TakeRecords(Reader* reader) {
  transport::Batch& batch = reader->batch();
  auto bad = batch.bad.begin();
  const bool settles = reader->cluster() == kFiles && readers_.size() > 1;
  Pace pace(*state_->clock);
  Clock::Instant alive = pace.now();
  for (size_t i = 0; i < batch.records.size(); i++) {
    Record& record = batch.records[i];
    StageTask::Arrival arrival{.offset = record.offset};
    const Reader::Takers* takers = nullptr;
    if (batch.origins.empty()) {
      takers = reader->TakersOf(record);
    } else {
      takers = reader->TakersOf(batch.origins[i].partition);
      arrival.offset = batch.origins[i].offset;
      arrival.source = batch.origins[i].source;
      if (!batch.as_read.empty()) arrival.read = &batch.as_read[i];
    }
    if (bad != batch.bad.end() && bad->index == i) arrival.bad = &bad++->why;
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) {
      KSTREAM_RETURN_IF_ERROR(taker.task->Add(taker.partition, record, arrival, reader->owned()));
    }
    if (state_->options.limit && state_->limit_reached()) return Status::Ok();
    // What one record of a file leads to is done before the next, whatever came with it in one
    // batch: so a run on files is the same every time.
    if (settles) KSTREAM_RETURN_IF_ERROR(Settle());
    if (!pace.Step()) continue;
    KSTREAM_RETURN_IF_ERROR(Awake());
    if (seen_ - alive < kTurn) continue;
    alive = seen_;
    home()->consumer()->KeepAlive();
    outputs_.Poll();
  }
  return Status::Ok();
}

Status StreamThread::TakeEnds(Reader* reader) {
  transport::Batch& batch = reader->batch();
  for (const PartitionOffset& end : batch.ends) {
    const Reader::Takers* const takers = reader->TakersOf(end.partition);
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) {
      taker.task->AtEnd(taker.partition, end.offset);
      const TaskPartition& p = taker.task->partitions()[taker.partition];
      if (p.end && end.offset < *p.end) {
        Log(LogLevel::kInfo,
            fmt::format("{}[{}]: waiting at offset {} for an open transaction to end",
                        end.partition.topic, end.partition.partition, end.offset));
      }
    }
  }
  for (const TopicPartition& finished : batch.finished) {
    const Reader::Takers* const takers = reader->TakersOf(finished);
    if (takers == nullptr) continue;
    for (const Reader::Taker& taker : *takers) taker.task->Finish(taker.partition);
  }
  return Status::Ok();
}

// Processes what is in the topics of this process, until there is nothing: no more is read before,
// so they stay short. Other threads may fill them all the while: then a turn of it is enough.
Status StreamThread::Settle() {
  Reader* const reader = ReaderOf(kInProcess);
  if (reader == nullptr) return Status::Ok();
  const Clock::Instant until = state_->clock->Steady() + kTurn;
  do {
    outputs_.Poll(reader->cluster());
    KSTREAM_RETURN_IF_ERROR(reader->Poll(milliseconds(0), SIZE_MAX));
    KSTREAM_RETURN_IF_ERROR(TakeRecords(reader));
    if (state_->limit_reached()) return Status::Ok();
    KSTREAM_RETURN_IF_ERROR(TakeEnds(reader));
    KSTREAM_RETURN_IF_ERROR(DrainTasks());
  } while ((more_ || !reader->batch().records.empty()) && !Over() &&
           (shared_->threads == 1 || state_->clock->Steady() < until));
  return Status::Ok();
}

Status StreamThread::DrainTasks() {
  const Clock::Instant begin = state_->clock->Steady();
  const auto merging = static_cast<size_t>(std::count_if(
      tasks_.begin(), tasks_.end(), [](auto& entry) { return entry.second->merges(); }));
  more_ = false;
  if (merging == 0 || stores_full_ || paused_) return PauseAndResume(std::max<size_t>(1, merging));
  // Each has its share of the turn, so that a backlog of one does not starve the others.
  for (auto& [id, task] : tasks_) {
    if (!task->merges() || (let_ && !let_(id))) continue;
    KSTREAM_ASSIGN_OR_RETURN(const bool more, task->Drain(state_->clock->Steady() +
                                                          kTurn / static_cast<int64_t>(merging)));
    more_ |= more;
  }
  if (busy_) *busy_ += state_->clock->Steady() - begin;
  return PauseAndResume(merging);
}

Status StreamThread::Punctuate() {
  if (paused_) return Status::Ok();
  const int64_t now = state_->clock->WallMs();
  for (auto& [id, task] : tasks_) {
    if (let_ && !let_(id)) continue;
    if (const auto after = state_->options.idle_advance) task->PassIdly(*after);
    if (task->next_punctuation() <= now) KSTREAM_RETURN_IF_ERROR(task->Punctuate());
  }
  return Status::Ok();
}

Status StreamThread::PauseAndResume(size_t merging) {
  const size_t share = std::max(kMostBytes / merging, kLeastShare);
  for (auto& reader : readers_) {
    // Files wait by not being read: what is queued of them is what was merged.
    const bool is_file = reader->cluster() == kFiles;
    KSTREAM_RETURN_IF_ERROR(reader->PauseAndResume([&](const Reader::Taker& taker) {
      if (stores_full_ || paused_) return Reader::Wish::kPause;
      if (is_file) return Reader::Wish::kResume;
      const TaskPartition& p = taker.task->partitions()[taker.partition];
      const task::RecordQueues& queues = taker.task->queues();
      const size_t queued = queues.Size(taker.partition);
      // Nothing after the end of the run is wanted, and a paused partition costs nothing.
      if (p.done() || queues.TooFar(taker.partition)) return Reader::Wish::kPause;
      // One that holds the task is read, whatever the others have.
      if (queued == 0) return Reader::Wish::kResume;
      const size_t bytes = queues.bytes() + queues.size() * kPerRecord;
      // The larger queues wait first; with twice the share, all.
      const bool heavy =
          bytes > 2 * share ||
          (bytes > share && queued > queues.size() / taker.task->partitions().size());
      if (queued > kPauseAbove || heavy) return Reader::Wish::kPause;
      return queued < kResumeBelow && bytes < share / 4 ? Reader::Wish::kResume
                                                        : Reader::Wish::kNone;
    }));
  }
  return Status::Ok();
}

// The polls go on, as the group expects them, and bring nothing.
Status StreamThread::FollowPause() {
  const bool paused = state_->paused.load(std::memory_order_relaxed);
  if (std::exchange(paused_, paused) != paused && paused) committer_->Request();
  if (thread_state_ == ThreadState::kRunning || thread_state_ == ThreadState::kPaused) {
    SetState(AtWork());
  }
  // Tasks may have come since the last turn.
  return paused_ ? PauseAndResume(1) : Status::Ok();
}

}  // namespace kstream::runtime
