#include "task/record_queues.h"

#include <algorithm>
#include <utility>

namespace kstream::task {
namespace {

size_t BytesOf(const Record& record) {
  size_t bytes = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
  for (const Header& header : record.headers) {
    bytes += header.name.size() + (header.value ? header.value->size() : 0);
  }
  return bytes;
}

}  // namespace

size_t RecordQueues::AddPartition(int rank) {
  queues_.emplace_back();
  queues_.back().rank = rank;
  unknown_++;
  return queues_.size() - 1;
}

void RecordQueues::Push(size_t partition, const Record& record, std::shared_ptr<const void> owner) {
  Queue& queue = queues_[partition];
  unknown_ -= queue.unknown();
  const size_t bytes = BytesOf(record);
  queue.records.push_back({record, std::move(owner), bytes});
  queue.at_end = false;
  size_++;
  bytes_ += bytes;
  if (queue.records.size() > 1) return;
  queue.idled = false;
  queue.idle_since.reset();
  fronts_.push_back({OrderTime(record), queue.rank, partition});
  SiftUp(fronts_.size() - 1);
}

void RecordQueues::MarkAtEnd(size_t partition) {
  Queue& queue = queues_[partition];
  unknown_ -= queue.unknown();
  queue.at_end = true;
  if (queue.records.empty()) RanEmpty(partition);
}

void RecordQueues::MarkDone(size_t partition) {
  Queue& queue = queues_[partition];
  unknown_ -= queue.unknown();
  queue.done = true;
}

void RecordQueues::Pop(size_t partition) {
  Queue& queue = queues_[partition];
  size_--;
  bytes_ -= queue.records.front().bytes;
  queue.records.pop_front();
  if (queue.records.empty()) {
    fronts_.front() = fronts_.back();
    fronts_.pop_back();
    RanEmpty(partition);
  } else {
    fronts_.front().time = OrderTime(queue.records.front().record);
  }
  SiftDown(0);
}

// It is unknown now, or at its end and, with max_idle, holds the task for a while.
void RecordQueues::RanEmpty(size_t partition) {
  Queue& queue = queues_[partition];
  unknown_ += queue.unknown();
  if (options_.max_idle.count() > 0 && queue.waits() && !std::exchange(queue.listed, true)) {
    waiting_.push_back(partition);
  }
}

std::optional<size_t> RecordQueues::Next(Clock::Instant now) {
  idle_until_.reset();
  if (fronts_.empty()) return std::nullopt;
  const bool held = !waiting_.empty() && HeldByIdle(now);
  if (unknown_ > 0) idle_until_.reset();
  if (held || unknown_ > 0) return std::nullopt;
  task_time_ = std::max(task_time_, fronts_.front().time);
  return fronts_.front().partition;
}

bool RecordQueues::HeldByIdle(Clock::Instant now) {
  std::erase_if(waiting_, [&](size_t partition) {
    Queue& queue = queues_[partition];
    if (queue.waits()) {
      if (!queue.idle_since) queue.idle_since = now;
      const Clock::Instant until = *queue.idle_since + options_.max_idle;
      if (now < until) {
        idle_until_ = std::max(idle_until_.value_or(until), until);
        return false;
      }
      queue.idled = true;
    }
    queue.listed = false;
    return true;
  });
  return !waiting_.empty();
}

bool RecordQueues::TooFar(size_t partition) const {
  const Queue& queue = queues_[partition];
  if (!options_.max_skew || queue.records.empty() || fronts_.front().partition == partition) {
    return false;
  }
  // What is next may move task time on; before it has, nothing is later than it.
  const int64_t time = std::max(task_time_, fronts_.front().time);
  if (time == INT64_MIN) return false;
  int64_t latest;
  if (__builtin_add_overflow(time, options_.max_skew->count(), &latest)) return false;
  return OrderTime(queue.records.front().record) > latest;
}

std::optional<int64_t> RecordQueues::task_time() const {
  if (task_time_ == INT64_MIN) return std::nullopt;
  return task_time_;
}

bool RecordQueues::Earlier(const Front& a, const Front& b) {
  if (a.time != b.time) return a.time < b.time;
  return a.rank != b.rank ? a.rank < b.rank : a.partition < b.partition;
}

void RecordQueues::SiftUp(size_t at) {
  const Front front = fronts_[at];
  for (; at > 0 && Earlier(front, fronts_[(at - 1) / 2]); at = (at - 1) / 2) {
    fronts_[at] = fronts_[(at - 1) / 2];
  }
  fronts_[at] = front;
}

void RecordQueues::SiftDown(size_t at) {
  const size_t size = fronts_.size();
  if (size < 2) return;
  const Front front = fronts_[at];
  for (size_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && Earlier(fronts_[child + 1], fronts_[child])) child++;
    if (!Earlier(fronts_[child], front)) break;
    fronts_[at] = fronts_[child];
  }
  fronts_[at] = front;
}

}  // namespace kstream::task
