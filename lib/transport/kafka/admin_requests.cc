#include "transport/kafka/admin_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/kafka/errors.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {
namespace {

using ConfigResource =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;
using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;

// Sends one request and waits for its event; `send` gets the options and the queue of the answer.
template <typename F>
Result<Event> Ask(Handle* handle, rd_kafka_admin_op_t op, const std::string& what,
                  std::chrono::milliseconds wait, F send) {
  Queue queue(rd_kafka_queue_new(handle->get()));
  AdminOptions options(rd_kafka_AdminOptions_new(handle->get(), op));
  const int limit = static_cast<int>(std::max<int64_t>(wait.count(), 1));
  char text[256];
  const rd_kafka_resp_err_t refused =
      rd_kafka_AdminOptions_set_request_timeout(options.get(), limit, text, sizeof text);
  if (refused != RD_KAFKA_RESP_ERR_NO_ERROR) return ClusterError(refused, what);
  send(options.get(), queue.get());
  Event event(rd_kafka_queue_poll(queue.get(), limit + 1000));
  if (event == nullptr) return ClusterError(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
  const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    handle->Heard();
    return event;
  }
  rd_kafka_poll(handle->get(), 0);
  if (!handle->fatal().ok()) return handle->fatal();
  if (IsTransient(error)) {
    return handle->silent() ? handle->Unreachable() : ClusterError(error, what);
  }
  return Status::Cluster(fmt::format("{}: {}", what, rd_kafka_event_error_string(event.get())));
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

Status CreateTopic(Handle* handle, const std::string& name, int32_t partitions,
                   int16_t replication_factor, const std::map<std::string, std::string>& config) {
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
  if (count != 1) return Status::Cluster(what + ": no answer");
  const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(topics[0]);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
    return Status::Ok();
  }
  const char* why = rd_kafka_topic_result_error_string(topics[0]);
  return Status::Cluster(
      fmt::format("{}: {}", what, why != nullptr ? why : rd_kafka_err2str(error)));
}

}  // namespace kstream::transport::kafka
