#include "runtime/file_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "runtime/file_consumer.h"
#include "transport/file/chunk_reader.h"

namespace kstream::runtime {
namespace {

using transport::TopicPartition;

class FileAdmin final : public transport::Admin {
 public:
  explicit FileAdmin(std::shared_ptr<const std::vector<FileTopic>> topics)
      : topics_(std::move(topics)) {}

  Result<std::string> ClusterId() override { return std::string(); }

  Result<std::map<std::string, int32_t>> Topics(const std::string& name) override {
    const auto found = Find(name);
    if (found == topics_->end()) return Status::Cluster(fmt::format("{} is no input", name));
    return std::map<std::string, int32_t>{{name, static_cast<int32_t>(found->partitions.size())}};
  }

  Result<std::optional<int32_t>> FindTopic(const std::string& name) override {
    const auto found = Find(name);
    if (found == topics_->end()) return std::optional<int32_t>();
    return std::optional(static_cast<int32_t>(found->partitions.size()));
  }

  Result<std::map<TopicPartition, Watermarks>> Offsets(
      std::span<const TopicPartition> partitions) override {
    std::map<TopicPartition, Watermarks> offsets;
    for (const TopicPartition& partition : partitions) offsets[partition] = {0, kUntilEnd};
    return offsets;
  }

  Result<std::map<TopicPartition, int64_t>> OffsetsForTime(std::span<const TopicPartition> /*of*/,
                                                           int64_t /*timestamp*/) override {
    return Refused();
  }
  Result<std::map<std::string, std::string>> TopicConfig(const std::string& /*topic*/) override {
    return std::map<std::string, std::string>();
  }
  Result<bool> CreateTopic(const std::string& /*name*/, int32_t /*partitions*/,
                           int16_t /*replication_factor*/,
                           const std::map<std::string, std::string>& /*config*/) override {
    return Refused();
  }
  Status CreatePartitions(const std::string& /*topic*/, int32_t /*total*/) override {
    return Refused();
  }
  Status DeleteTopic(const std::string& /*topic*/) override { return Refused(); }
  Status DeleteRecords(const std::map<TopicPartition, int64_t>& /*before*/) override {
    return Refused();
  }
  Result<transport::GroupDescription> DescribeGroup(const std::string& /*group*/) override {
    return Refused();
  }
  Result<std::vector<transport::PartitionOffset>> GroupOffsets(
      const std::string& /*group*/) override {
    return Refused();
  }
  Status SetGroupOffsets(const std::string& /*group*/,
                         std::span<const transport::PartitionOffset> /*offsets*/) override {
    return Refused();
  }
  Status DeleteGroupOffsets(const std::string& /*group*/,
                            std::span<const TopicPartition> /*partitions*/) override {
    return Refused();
  }

 private:
  std::vector<FileTopic>::const_iterator Find(const std::string& path) const {
    return std::find_if(topics_->begin(), topics_->end(),
                        [&](const FileTopic& topic) { return topic.path == path; });
  }

  static Status Refused() {
    return Status::Usage("files are read as they are, from beginning to end");
  }

  const std::shared_ptr<const std::vector<FileTopic>> topics_;
};

// The inputs as topics, and the number of the topic of each.
std::vector<FileTopic> TopicsOf(std::span<const FileInput> inputs, int32_t partitions,
                                std::vector<size_t>* topic_of) {
  std::vector<FileTopic> topics;
  for (const FileInput& input : inputs) {
    const auto found = std::find_if(topics.begin(), topics.end(), [&](const FileTopic& topic) {
      return topic.path == input.path;
    });
    topic_of->push_back(static_cast<size_t>(found - topics.begin()));
    if (found != topics.end()) continue;
    FileTopic& topic = topics.emplace_back();
    topic.path = input.path;
    for (int32_t i = 0; i < partitions; i++) topic.partitions.push_back({input.path, i});
  }
  return topics;
}

}  // namespace

std::string PlaceOf(const transport::Batch::Origin& origin) {
  return LinePlace{origin.partition->topic, origin.offset}.ToString();
}

Result<std::unique_ptr<FileCluster>> FileCluster::Open(std::span<const FileInput> inputs,
                                                       int32_t partitions,
                                                       const kstream::Clock* clock,
                                                       const std::atomic<bool>& stop) {
  std::unique_ptr<FileCluster> cluster(new FileCluster());
  cluster->stop_ = &stop;
  cluster->topics_ = std::make_shared<const std::vector<FileTopic>>(
      TopicsOf(inputs, partitions, &cluster->topic_of_));
  for (size_t i = 0; i < inputs.size(); i++) {
    // The topics' copy of the path lives as long as any record.
    const std::string& path = (*cluster->topics_)[cluster->topic_of_[i]].path;
    KSTREAM_ASSIGN_OR_RETURN(auto reader, transport::ChunkReader::Open(path, stop));
    KSTREAM_ASSIGN_OR_RETURN(auto lines, LineSource::Create(*inputs[i].source, inputs[i].serdes,
                                                            partitions, clock, path));
    cluster->cursors_.push_back(
        std::make_unique<FileCursor>(std::move(reader), std::move(lines), inputs[i].source, &stop));
  }
  return cluster;
}

Result<std::unique_ptr<transport::Consumer>> FileCluster::NewConsumer(
    const transport::ConsumerOptions& options) {
  if (!options.group.empty()) return Status::Usage("files are read without a group");
  if (cursors_.empty()) return Status::Usage("files are read by one consumer");
  return std::unique_ptr<transport::Consumer>(
      std::make_unique<FileConsumer>(topics_, topic_of_, std::exchange(cursors_, {}), stop_));
}

Result<std::unique_ptr<transport::Producer>> FileCluster::NewProducer(
    const transport::ProducerOptions&) {
  return Status::Usage("files that are read are not written");
}

Result<std::unique_ptr<transport::Admin>> FileCluster::NewAdmin() {
  return std::unique_ptr<transport::Admin>(std::make_unique<FileAdmin>(topics_));
}

}  // namespace kstream::runtime
