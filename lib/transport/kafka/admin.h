// KafkaAdmin: a consumer handle that reads nothing, so that it can ask for watermarks; it is
// read_uncommitted, so that the high one counts open transactions too.
// Tested by tests/unit/transport/kafka/broker_test.cc and admin_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_ADMIN_H_
#define KSTREAM_TRANSPORT_KAFKA_ADMIN_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "transport/admin.h"
#include "transport/kafka/handle.h"

namespace kstream::transport::kafka {

class KafkaAdmin : public Admin {
 public:
  static Result<std::unique_ptr<Admin>> New(const Options& options);

  Result<std::string> ClusterId() override;
  Result<std::map<std::string, int32_t>> Topics(const std::string& name_or_pattern) override;
  Result<std::optional<int32_t>> FindTopic(const std::string& name) override;
  Result<std::map<TopicPartition, Watermarks>> Offsets(
      std::span<const TopicPartition> partitions) override;
  Result<std::map<TopicPartition, int64_t>> OffsetsForTime(
      std::span<const TopicPartition> partitions, int64_t timestamp) override;
  Result<std::map<std::string, std::string>> TopicConfig(const std::string& topic) override;
  Result<bool> CreateTopic(const std::string& name, int32_t partitions, int16_t replication_factor,
                           const std::map<std::string, std::string>& config) override;
  Status CreatePartitions(const std::string& topic, int32_t total) override;
  Status DeleteTopic(const std::string& topic) override;
  Status DeleteRecords(const std::map<TopicPartition, int64_t>& before) override;
  Result<GroupDescription> DescribeGroup(const std::string& group) override;
  Result<std::vector<PartitionOffset>> GroupOffsets(const std::string& group) override;
  Status SetGroupOffsets(const std::string& group,
                         std::span<const PartitionOffset> offsets) override;
  Status DeleteGroupOffsets(const std::string& group,
                            std::span<const TopicPartition> partitions) override;

 private:
  explicit KafkaAdmin(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
  Result<std::map<std::string, int32_t>> Matching(const std::string& pattern);
  Result<int32_t> Partitions(const std::string& topic);
  // Waits until the topic has `least` partitions.
  Status AwaitPartitions(const std::string& topic, int32_t least);

  std::unique_ptr<Handle> handle_;
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_ADMIN_H_
