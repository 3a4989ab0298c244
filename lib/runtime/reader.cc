#include "runtime/reader.h"

#include <algorithm>
#include <set>

namespace kstream::runtime {

using transport::PartitionOffset;
using transport::TopicPartition;

Status Reader::Poll(std::chrono::milliseconds wait, size_t most) {
  // Queued records keep the batch they point into alive.
  if (!owned_ || owned_.use_count() > 1) {
    owned_ = std::make_shared<OwnedBatch>();
    owned_->batch = consumer_->NewBatch();
  }
  owned_->arena.Reset();
  return consumer_->Poll(wait, owned_->batch.get(), most);
}

Status Reader::Add(StageTask* task, size_t first) {
  last_topic_ = nullptr;
  std::map<TopicPartition, int64_t> assign;
  std::set<TopicPartition> again;
  for (size_t i = first; i < task->partitions().size(); i++) {
    const TaskPartition& p = task->partitions()[i];
    if (p.input.cluster != cluster_) continue;
    const TopicPartition name = p.topic_partition();
    Partition& partition = partitions_[name];
    // Read already: it is assigned anew in any case, or the new taker would not hear of its end.
    if (!partition.takers.empty() && !assign.contains(name)) again.insert(name);
    partition.takers.push_back({task, i});
    partition.paused = false;
    int64_t furthest_back = p.next;
    for (const Taker& other : partition.takers) {
      furthest_back = std::min(furthest_back, other.task->partitions()[other.partition].next);
    }
    assign[name] = furthest_back;
  }
  if (!again.empty()) {
    KSTREAM_RETURN_IF_ERROR(
        consumer_->Unassign(std::vector<TopicPartition>(again.begin(), again.end())));
  }
  std::vector<PartitionOffset> offsets;
  for (const auto& [partition, offset] : assign) offsets.push_back({partition, offset, ""});
  return offsets.empty() ? Status::Ok() : consumer_->Assign(offsets);
}

std::vector<TopicPartition> Reader::Remove(const StageTask* task) {
  last_topic_ = nullptr;
  std::vector<TopicPartition> left;
  for (auto& [partition, entry] : partitions_) {
    const size_t taken =
        std::erase_if(entry.takers, [&](const Taker& taker) { return taker.task == task; });
    if (taken > 0 && entry.takers.empty()) left.push_back(partition);
  }
  for (const TopicPartition& partition : left) partitions_.erase(partition);
  return left;
}

const Reader::Takers* Reader::TakersOf(const Record& record) {
  if (record.topic.data() != last_topic_ || record.partition != last_partition_) {
    last_takers_ = TakersOf(TopicPartition{std::string(record.topic), record.partition});
    last_topic_ = record.topic.data();
    last_partition_ = record.partition;
  }
  return last_takers_;
}

const Reader::Takers* Reader::TakersOf(const TopicPartition* partition) {
  if (partition != last_topic_) {
    last_takers_ = TakersOf(*partition);
    last_topic_ = partition;
  }
  return last_takers_;
}

const Reader::Takers* Reader::TakersOf(const TopicPartition& partition) const {
  const auto found = partitions_.find(partition);
  return found == partitions_.end() ? nullptr : &found->second.takers;
}

Status Reader::PauseAndResume(const std::function<Wish(const Taker&)>& wish) {
  std::vector<TopicPartition> pause, resume;
  for (auto& [partition, entry] : partitions_) {
    const Wish wanted = entry.paused ? Wish::kResume : Wish::kPause;
    if (!std::all_of(entry.takers.begin(), entry.takers.end(),
                     [&](const Taker& taker) { return wish(taker) == wanted; }))
      continue;
    (entry.paused ? resume : pause).push_back(partition);
    entry.paused = !entry.paused;
  }
  if (!pause.empty()) KSTREAM_RETURN_IF_ERROR(consumer_->Pause(pause));
  if (!resume.empty()) KSTREAM_RETURN_IF_ERROR(consumer_->Resume(resume));
  return Status::Ok();
}

size_t Reader::paused() const {
  return static_cast<size_t>(std::count_if(partitions_.begin(), partitions_.end(),
                                           [](auto& entry) { return entry.second.paused; }));
}

}  // namespace kstream::runtime
