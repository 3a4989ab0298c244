// Requests about topics to librdkafka's admin API, which answers through an event queue, as plain
// calls. Any handle can send them.
#ifndef KSTREAM_TRANSPORT_KAFKA_ADMIN_REQUESTS_H_
#define KSTREAM_TRANSPORT_KAFKA_ADMIN_REQUESTS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "kstream/status.h"
#include "transport/admin.h"
#include "transport/kafka/handle.h"

namespace kstream::transport::kafka {

// The topic's configuration, defaults included. kCluster with what to do when it cannot be told, or
// is not within `limit`.
Result<std::map<std::string, std::string>> DescribeTopicConfig(Handle* handle,
                                                               const std::string& topic,
                                                               std::chrono::milliseconds limit);

// The rest is as Admin says. What was made may take a moment to be seen.
Result<bool> CreateTopic(Handle* handle, const std::string& name, int32_t partitions,
                         int16_t replication_factor,
                         const std::map<std::string, std::string>& config);
Status CreatePartitions(Handle* handle, const std::string& topic, int32_t total);
Status DeleteTopic(Handle* handle, const std::string& topic);
Status DeleteRecords(Handle* handle, const std::map<TopicPartition, int64_t>& before);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_ADMIN_REQUESTS_H_
