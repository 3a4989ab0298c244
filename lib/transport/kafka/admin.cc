#include "transport/kafka/admin.h"

#include <fmt/format.h>

#include <thread>

#include "transport/kafka/admin_requests.h"
#include "transport/kafka/errors.h"
#include "transport/kafka/group_requests.h"
#include "transport/kafka/raii.h"
#include "transport/pattern.h"

namespace kstream::transport::kafka {
namespace {

std::string Where(const TopicPartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

Status PartitionError(rd_kafka_resp_err_t error, const TopicPartition& partition) {
  if (IsMissing(error)) return TopicMissing(partition.topic, false);
  return ClusterError(error, "asking for the offsets of " + Where(partition));
}

}  // namespace

Result<std::unique_ptr<Admin>> KafkaAdmin::New(const Options& options) {
  KSTREAM_ASSIGN_OR_RETURN(Conf conf, AdminConf(options));
  KSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<Handle> handle,
                           Handle::New(RD_KAFKA_CONSUMER, std::move(conf), options, nullptr));
  return std::unique_ptr<Admin>(new KafkaAdmin(std::move(handle)));
}

Result<std::string> KafkaAdmin::ClusterId() {
  struct FreedByLibrary {
    rd_kafka_t* client;
    void operator()(char* text) const { rd_kafka_mem_free(client, text); }
  };
  std::unique_ptr<char, FreedByLibrary> id(nullptr, {handle_->get()});
  // It comes with any metadata; asked for first, so that a cluster that is not there is an error.
  KSTREAM_RETURN_IF_ERROR(handle_->Try("asking for the id of the cluster", [&](int ms) {
    const rd_kafka_metadata_t* answer = nullptr;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(handle_->get(), false, nullptr, &answer, ms);
    const Metadata freed(answer);
    return error;
  }));
  id.reset(rd_kafka_clusterid(handle_->get(), 0));
  return id ? std::string(id.get()) : std::string();
}

Result<std::map<std::string, int32_t>> KafkaAdmin::Topics(const std::string& name_or_pattern) {
  if (name_or_pattern.starts_with('^')) return Matching(name_or_pattern);
  KSTREAM_ASSIGN_OR_RETURN(int32_t partitions, Partitions(name_or_pattern));
  if (partitions == 0) return TopicMissing(name_or_pattern, false);
  return std::map<std::string, int32_t>{{name_or_pattern, partitions}};
}

Result<std::optional<int32_t>> KafkaAdmin::FindTopic(const std::string& name) {
  KSTREAM_ASSIGN_OR_RETURN(const int32_t partitions, Partitions(name));
  return partitions == 0 ? std::nullopt : std::optional(partitions);
}

// How many partitions the topic has; 0 when it does not exist.
Result<int32_t> KafkaAdmin::Partitions(const std::string& topic) {
  TopicHandle probe(rd_kafka_topic_new(handle_->get(), topic.c_str(), nullptr));
  if (probe == nullptr) return Status::Usage(fmt::format("\"{}\" is not a topic name", topic));
  KSTREAM_ASSIGN_OR_RETURN(Metadata metadata, handle_->Describe(probe.get()));
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const rd_kafka_metadata_topic_t& found = metadata->topics[i];
    if (topic != found.topic || IsMissing(found.err)) continue;
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR && !IsTransient(found.err)) {
      return ClusterError(found.err, "asking for topic " + topic);
    }
    return found.partition_cnt;
  }
  return 0;
}

Result<std::map<std::string, int32_t>> KafkaAdmin::Matching(const std::string& pattern) {
  KSTREAM_ASSIGN_OR_RETURN(const TopicPattern compiled, TopicPattern::Parse(pattern));
  KSTREAM_ASSIGN_OR_RETURN(Metadata metadata, handle_->Describe(nullptr));
  std::map<std::string, int32_t> topics;
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const rd_kafka_metadata_topic_t& topic = metadata->topics[i];
    if (topic.partition_cnt > 0 && compiled.Matches(topic.topic)) {
      topics[topic.topic] = topic.partition_cnt;
    }
  }
  return topics;
}

Result<std::map<TopicPartition, Admin::Watermarks>> KafkaAdmin::Offsets(
    std::span<const TopicPartition> partitions) {
  std::map<TopicPartition, Watermarks> result;
  for (const TopicPartition& partition : partitions) {
    Watermarks marks;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    const Status status =
        handle_->Try("asking for the offsets of " + Where(partition), [&](int ms) {
          error =
              rd_kafka_query_watermark_offsets(handle_->get(), partition.topic.c_str(),
                                               partition.partition, &marks.low, &marks.high, ms);
          return error;
        });
    if (IsMissing(error)) return TopicMissing(partition.topic, false);
    KSTREAM_RETURN_IF_ERROR(status);
    result[partition] = marks;
  }
  return result;
}

Result<std::map<TopicPartition, int64_t>> KafkaAdmin::OffsetsForTime(
    std::span<const TopicPartition> partitions, int64_t timestamp) {
  PartitionList list;
  KSTREAM_RETURN_IF_ERROR(handle_->Try("asking for offsets by time", [&](int ms) {
    list = ToList(partitions);
    for (int i = 0; i < list->cnt; i++) list->elems[i].offset = timestamp;
    return rd_kafka_offsets_for_times(handle_->get(), list.get(), ms);
  }));
  std::map<TopicPartition, int64_t> result;
  std::vector<TopicPartition> none;
  for (const auto& element : Elements(list.get())) {
    const TopicPartition partition{element.topic, element.partition};
    KSTREAM_RETURN_IF_ERROR(PartitionError(element.err, partition));
    if (element.offset >= 0) {
      result[partition] = element.offset;
    } else {
      none.push_back(partition);
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(auto ends, Offsets(none));
  for (const auto& [partition, marks] : ends) result[partition] = marks.high;
  return result;
}

Result<std::map<std::string, std::string>> KafkaAdmin::TopicConfig(const std::string& topic) {
  return DescribeTopicConfig(handle_.get(), topic, handle_->deadline());
}

Result<bool> KafkaAdmin::CreateTopic(const std::string& name, int32_t partitions,
                                     int16_t replication_factor,
                                     const std::map<std::string, std::string>& config) {
  KSTREAM_ASSIGN_OR_RETURN(const bool made, kafka::CreateTopic(handle_.get(), name, partitions,
                                                               replication_factor, config));
  KSTREAM_RETURN_IF_ERROR(AwaitPartitions(name, 1));
  return made;
}

// The controller answers before all brokers have heard: a partition is made when it is seen.
Status KafkaAdmin::AwaitPartitions(const std::string& topic, int32_t least) {
  const Clock::time_point end = Clock::now() + handle_->deadline();
  for (;;) {
    KSTREAM_ASSIGN_OR_RETURN(int32_t seen, Partitions(topic));
    if (seen >= least) return Status::Ok();
    if (handle_->stopped()) return handle_->Stopped("waiting for topic " + topic);
    if (Clock::now() >= end) {
      return Status::Cluster(fmt::format("topic {} was made but does not appear", topic));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status KafkaAdmin::CreatePartitions(const std::string& topic, int32_t total) {
  KSTREAM_ASSIGN_OR_RETURN(const int32_t partitions, Partitions(topic));
  if (partitions == 0) return TopicMissing(topic, false);
  if (partitions >= total) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(kafka::CreatePartitions(handle_.get(), topic, total));
  return AwaitPartitions(topic, total);
}

Status KafkaAdmin::DeleteTopic(const std::string& topic) {
  return kafka::DeleteTopic(handle_.get(), topic);
}

Status KafkaAdmin::DeleteRecords(const std::map<TopicPartition, int64_t>& before) {
  return before.empty() ? Status::Ok() : kafka::DeleteRecords(handle_.get(), before);
}

Result<GroupDescription> KafkaAdmin::DescribeGroup(const std::string& group) {
  return kafka::DescribeGroup(handle_.get(), group);
}

Result<std::vector<PartitionOffset>> KafkaAdmin::GroupOffsets(const std::string& group) {
  return kafka::GroupOffsets(handle_.get(), group);
}

Status KafkaAdmin::SetGroupOffsets(const std::string& group,
                                   std::span<const PartitionOffset> offsets) {
  return kafka::SetGroupOffsets(handle_.get(), group, offsets);
}

Status KafkaAdmin::DeleteGroupOffsets(const std::string& group,
                                      std::span<const TopicPartition> partitions) {
  return kafka::DeleteGroupOffsets(handle_.get(), group, partitions);
}

}  // namespace kstream::transport::kafka
