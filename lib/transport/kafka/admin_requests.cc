#include "transport/kafka/admin_requests.h"

#include <fmt/format.h>

#include "transport/kafka/ask.h"

namespace kstream::transport::kafka {
namespace {

using ConfigResource =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;
using DeletedRecords =
    std::unique_ptr<rd_kafka_DeleteRecords_t, Destroy<rd_kafka_DeleteRecords_destroy>>;
using DeletedTopic = std::unique_ptr<rd_kafka_DeleteTopic_t, Destroy<rd_kafka_DeleteTopic_destroy>>;
using NewPartitions =
    std::unique_ptr<rd_kafka_NewPartitions_t, Destroy<rd_kafka_NewPartitions_destroy>>;
using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;

// What became of the one topic that was asked for.
Status TopicOutcome(const rd_kafka_topic_result_t* const* topics, size_t count,
                    const std::string& what) {
  if (count != 1) return Status::Cluster(what + ": no answer");
  const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(topics[0]);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
  const char* why = rd_kafka_topic_result_error_string(topics[0]);
  return Status::Cluster(
      fmt::format("{}: {}", what, why != nullptr ? why : rd_kafka_err2str(error)));
}

}  // namespace

Result<std::map<std::string, std::string>> DescribeTopicConfig(Handle* handle,
                                                               const std::string& topic,
                                                               std::chrono::milliseconds limit) {
  const std::string what = "asking for the configuration of topic " + topic;
  ConfigResource resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  KSTREAM_ASSIGN_OR_RETURN(
      Event event,
      Ask(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, what, limit, [&](auto* options, auto* queue) {
        rd_kafka_ConfigResource_t* resources[] = {resource.get()};
        rd_kafka_DescribeConfigs(handle->get(), resources, 1, options, queue);
      }));
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event.get());
  const auto* const* resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return Status::Cluster(what + ": no answer");
  const rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(resources[0]);
  if (IsMissing(error)) return TopicMissing(topic, true);
  KSTREAM_RETURN_IF_ERROR(ClusterError(error, what));
  const auto* const* entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  std::map<std::string, std::string> config;
  for (size_t i = 0; i < count; i++) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) config[rd_kafka_ConfigEntry_name(entries[i])] = value;
  }
  return config;
}

Result<bool> CreateTopic(Handle* handle, const std::string& name, int32_t partitions,
                         int16_t replication_factor,
                         const std::map<std::string, std::string>& config) {
  const std::string what = "creating topic " + name;
  char text[512];
  NewTopic topic(
      rd_kafka_NewTopic_new(name.c_str(), partitions, replication_factor, text, sizeof text));
  if (topic == nullptr) return Status::Usage(fmt::format("{}: {}", what, text));
  for (const auto& [property, value] : config) {
    rd_kafka_NewTopic_set_config(topic.get(), property.c_str(), value.c_str());
  }
  KSTREAM_ASSIGN_OR_RETURN(Event event, Ask(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS, what,
                                            handle->deadline(), [&](auto* options, auto* queue) {
                                              rd_kafka_NewTopic_t* topics[] = {topic.get()};
                                              rd_kafka_CreateTopics(handle->get(), topics, 1,
                                                                    options, queue);
                                            }));
  size_t count = 0;
  const auto* result = rd_kafka_event_CreateTopics_result(event.get());
  const auto* const* topics = rd_kafka_CreateTopics_result_topics(result, &count);
  const Status status = TopicOutcome(topics, count, what);
  if (status.ok()) return true;
  if (count == 1 &&
      rd_kafka_topic_result_error(topics[0]) == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
    return false;
  return status;
}

Status CreatePartitions(Handle* handle, const std::string& topic, int32_t total) {
  const std::string what = fmt::format("growing topic {} to {} partitions", topic, total);
  char text[512];
  NewPartitions grown(
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<size_t>(total), text, sizeof text));
  if (grown == nullptr) return Status::Usage(fmt::format("{}: {}", what, text));
  KSTREAM_ASSIGN_OR_RETURN(Event event, Ask(handle, RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, what,
                                            handle->deadline(), [&](auto* options, auto* queue) {
                                              rd_kafka_NewPartitions_t* all[] = {grown.get()};
                                              rd_kafka_CreatePartitions(handle->get(), all, 1,
                                                                        options, queue);
                                            }));
  size_t count = 0;
  const auto* result = rd_kafka_event_CreatePartitions_result(event.get());
  const auto* const* topics = rd_kafka_CreatePartitions_result_topics(result, &count);
  return TopicOutcome(topics, count, what);
}

Status DeleteTopic(Handle* handle, const std::string& topic) {
  const std::string what = "deleting topic " + topic;
  const DeletedTopic deleted(rd_kafka_DeleteTopic_new(topic.c_str()));
  KSTREAM_ASSIGN_OR_RETURN(Event event, Ask(handle, RD_KAFKA_ADMIN_OP_DELETETOPICS, what,
                                            handle->deadline(), [&](auto* options, auto* queue) {
                                              rd_kafka_DeleteTopic_t* all[] = {deleted.get()};
                                              rd_kafka_DeleteTopics(handle->get(), all, 1, options,
                                                                    queue);
                                            }));
  size_t count = 0;
  const auto* result = rd_kafka_event_DeleteTopics_result(event.get());
  const auto* const* topics = rd_kafka_DeleteTopics_result_topics(result, &count);
  if (count == 1 && IsMissing(rd_kafka_topic_result_error(topics[0]))) return Status::Ok();
  return TopicOutcome(topics, count, what);
}

Status DeleteRecords(Handle* handle, const std::map<TopicPartition, int64_t>& before) {
  const std::string what = "deleting records";
  const PartitionList list = NewPartitionList(before.size());
  for (const auto& [partition, offset] : before) Add(list, partition, offset);
  const DeletedRecords deleted(rd_kafka_DeleteRecords_new(list.get()));
  KSTREAM_ASSIGN_OR_RETURN(Event event, Ask(handle, RD_KAFKA_ADMIN_OP_DELETERECORDS, what,
                                            handle->deadline(), [&](auto* options, auto* queue) {
                                              rd_kafka_DeleteRecords_t* all[] = {deleted.get()};
                                              rd_kafka_DeleteRecords(handle->get(), all, 1, options,
                                                                     queue);
                                            }));
  const auto* result = rd_kafka_event_DeleteRecords_result(event.get());
  for (const auto& element : Elements(rd_kafka_DeleteRecords_result_offsets(result))) {
    KSTREAM_RETURN_IF_ERROR(ClusterError(
        element.err, fmt::format("{} of {}[{}]", what, element.topic, element.partition)));
  }
  return Status::Ok();
}

}  // namespace kstream::transport::kafka
