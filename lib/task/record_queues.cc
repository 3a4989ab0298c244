#include "task/record_queues.h"

namespace kstream::task {

size_t RecordQueues::AddPartition() {
  queues_.emplace_back();
  return queues_.size() - 1;
}

void RecordQueues::Push(size_t partition, const Record& record, std::shared_ptr<const void> owner) {
  Queue& queue = queues_[partition];
  queue.records.push_back({record, std::move(owner)});
  queue.at_end = false;
}

std::optional<size_t> RecordQueues::Next() const {
  std::optional<size_t> next;
  for (size_t i = 0; i < queues_.size(); i++) {
    const Queue& queue = queues_[i];
    if (queue.records.empty()) {
      if (!queue.at_end && !queue.done) return std::nullopt;
    } else if (!next || OrderTime(queue.records.front().record) <
                            OrderTime(queues_[*next].records.front().record)) {
      next = i;
    }
  }
  return next;
}

}  // namespace kstream::task
