#include "transport/memory/broker.h"

#include <fmt/format.h>

namespace kstream::transport::memory {

bool Broker::Create(const std::string& topic, int32_t partitions,
                    const std::map<std::string, std::string>& config) {
  if (topics.contains(topic)) return false;
  names.insert(topic);
  topics[topic].config = config;
  return Grow(topic, partitions);
}

bool Broker::Grow(const std::string& topic, int32_t total) {
  const auto found = topics.find(topic);
  if (found == topics.end()) return false;
  auto& partitions = found->second.partitions;
  for (auto i = static_cast<int32_t>(partitions.size()); i < total; i++) {
    partitions.emplace_back(i);
  }
  Changed();
  return true;
}

PartitionLog* Broker::Find(const TopicPartition& partition) {
  const auto topic = topics.find(partition.topic);
  const auto number = static_cast<size_t>(partition.partition);
  if (topic == topics.end() || number >= topic->second.partitions.size()) return nullptr;
  return &topic->second.partitions[number];
}

void Broker::End(Transaction transaction, bool commit) {
  for (auto& [topic_name, topic] : topics) {
    for (PartitionLog& log : topic.partitions) log.End(transaction, commit);
  }
}

void Broker::Changed() {
  activity++;
  std::vector<TopicPartition> all;
  for (const auto& [topic_name, topic] : topics) {
    for (size_t i = 0; i < topic.partitions.size(); i++) {
      all.push_back({topic_name, static_cast<int32_t>(i)});
    }
  }
  for (auto& [group_name, group] : groups) group.Rebalance(all);
  changed.notify_all();
}

void Broker::Wait(std::unique_lock<std::mutex>* lock, std::chrono::milliseconds limit) {
  if (idle == nullptr) {
    changed.wait_for(*lock, limit);
    return;
  }
  const std::function<void()> turn = idle;
  lock->unlock();
  turn();
  lock->lock();
}

Status TopicMissing(std::string_view topic, bool output) {
  return Status::Cluster(fmt::format(
      "topic {} does not exist: {}", topic,
      output ? "create it, or pass --create-output" : "create it, or check its name and -b"));
}

Status PartitionMissing(const TopicPartition& partition) {
  return Status::Cluster(
      fmt::format("{}[{}] does not exist: the topic was deleted, or has fewer "
                  "partitions: check its name and -b",
                  partition.topic, partition.partition));
}

}  // namespace kstream::transport::memory
