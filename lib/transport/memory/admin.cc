// MemoryAdmin: answers from the broker's own state, as a read_uncommitted client sees it.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "transport/memory/clients.h"
#include "transport/pattern.h"

namespace kstream::transport::memory {
namespace {

class MemoryAdmin final : public Admin {
 public:
  explicit MemoryAdmin(std::shared_ptr<Broker> broker) : broker_(std::move(broker)) {}

  Result<std::string> ClusterId() override { return broker_->id; }

  Result<std::map<std::string, int32_t>> Topics(const std::string& name_or_pattern) override {
    const std::lock_guard lock(broker_->mutex);
    std::map<std::string, int32_t> found;
    if (name_or_pattern.starts_with('^')) {
      KSTREAM_ASSIGN_OR_RETURN(const TopicPattern pattern, TopicPattern::Parse(name_or_pattern));
      for (const auto& [name, topic] : broker_->topics) {
        if (pattern.Matches(name)) found[name] = static_cast<int32_t>(topic.partitions.size());
      }
      return found;
    }
    const std::optional<int32_t> partitions = PartitionsOf(name_or_pattern);
    if (!partitions) return TopicMissing(name_or_pattern, false);
    found[name_or_pattern] = *partitions;
    return found;
  }

  Result<std::optional<int32_t>> FindTopic(const std::string& name) override {
    const std::lock_guard lock(broker_->mutex);
    return PartitionsOf(name);
  }

  Result<std::map<TopicPartition, Watermarks>> Offsets(
      std::span<const TopicPartition> partitions) override {
    return Ask<Watermarks>(partitions, [](const PartitionLog& log) {
      return Watermarks{.low = log.low(), .high = log.high()};
    });
  }

  Result<std::map<TopicPartition, int64_t>> OffsetsForTime(
      std::span<const TopicPartition> partitions, int64_t timestamp) override {
    return Ask<int64_t>(partitions,
                        [&](const PartitionLog& log) { return log.OffsetFor(timestamp); });
  }

  Result<std::map<std::string, std::string>> TopicConfig(const std::string& topic) override {
    const std::lock_guard lock(broker_->mutex);
    const auto found = broker_->topics.find(topic);
    if (found == broker_->topics.end()) return TopicMissing(topic, false);
    return found->second.config;
  }

  Result<bool> CreateTopic(const std::string& name, int32_t partitions, int16_t,
                           const std::map<std::string, std::string>& config) override {
    const std::lock_guard lock(broker_->mutex);
    return broker_->Create(name, partitions, config);
  }

  Status CreatePartitions(const std::string& topic, int32_t total) override {
    const std::lock_guard lock(broker_->mutex);
    return broker_->Grow(topic, total) ? Status::Ok() : TopicMissing(topic, false);
  }

  Status DeleteTopic(const std::string& topic) override {
    const std::lock_guard lock(broker_->mutex);
    if (broker_->topics.erase(topic) > 0) broker_->Changed();
    return Status::Ok();
  }

  Status DeleteRecords(const std::map<TopicPartition, int64_t>& before) override {
    const std::lock_guard lock(broker_->mutex);
    for (const auto& [partition, offset] : before) {
      PartitionLog* const log = broker_->Find(partition);
      if (log == nullptr) return PartitionMissing(partition);
      const auto& config = broker_->topics.find(partition.topic)->second.config;
      if (const auto policy = config.find("cleanup.policy");
          policy != config.end() && policy->second == "compact") {
        return Status::Cluster(
            fmt::format("deleting records of topic {}: it is only compacted (cleanup.policy)",
                        partition.topic));
      }
      if (offset > log->high()) {
        return Status::Cluster(fmt::format("deleting records below {} of {}[{}]: it ends at {}",
                                           offset, partition.topic, partition.partition,
                                           log->high()));
      }
      log->RaiseLow(offset);
    }
    return Status::Ok();
  }

  Result<GroupDescription> DescribeGroup(const std::string& group) override {
    const std::lock_guard lock(broker_->mutex);
    const auto found = broker_->groups.find(group);
    return found == broker_->groups.end() ? GroupDescription() : found->second.Describe();
  }

  Result<std::vector<PartitionOffset>> GroupOffsets(const std::string& group) override {
    const std::lock_guard lock(broker_->mutex);
    std::vector<PartitionOffset> offsets;
    const auto found = broker_->groups.find(group);
    if (found == broker_->groups.end()) return offsets;
    for (const auto& [partition, offset] : found->second.committed()) offsets.push_back(offset);
    return offsets;
  }

  Status SetGroupOffsets(const std::string& group,
                         std::span<const PartitionOffset> offsets) override {
    const std::lock_guard lock(broker_->mutex);
    Group& changed = broker_->groups[group];
    if (!changed.members().empty()) return GroupInUse(group);
    for (const PartitionOffset& offset : offsets) changed.committed()[offset.partition] = offset;
    return Status::Ok();
  }

  Status DeleteGroupOffsets(const std::string& group,
                            std::span<const TopicPartition> partitions) override {
    const std::lock_guard lock(broker_->mutex);
    const auto found = broker_->groups.find(group);
    if (found == broker_->groups.end()) return Status::Ok();
    if (!found->second.members().empty()) return GroupInUse(group);
    for (const TopicPartition& partition : partitions) found->second.committed().erase(partition);
    return Status::Ok();
  }

 private:
  std::optional<int32_t> PartitionsOf(const std::string& name) const {
    const auto topic = broker_->topics.find(name);
    if (topic == broker_->topics.end()) return std::nullopt;
    return static_cast<int32_t>(topic->second.partitions.size());
  }

  template <typename T, typename F>
  Result<std::map<TopicPartition, T>> Ask(std::span<const TopicPartition> partitions, F answer) {
    const std::lock_guard lock(broker_->mutex);
    std::map<TopicPartition, T> result;
    for (const TopicPartition& partition : partitions) {
      const PartitionLog* const log = broker_->Find(partition);
      if (log == nullptr) return PartitionMissing(partition);
      result[partition] = answer(*log);
    }
    return result;
  }

  const std::shared_ptr<Broker> broker_;
};

}  // namespace

std::unique_ptr<Admin> NewMemoryAdmin(std::shared_ptr<Broker> broker) {
  return std::make_unique<MemoryAdmin>(std::move(broker));
}

}  // namespace kstream::transport::memory
