// Requests about consumer groups, as plain calls; each is as Admin says. Any handle can send them.
#ifndef KSTREAM_TRANSPORT_KAFKA_GROUP_REQUESTS_H_
#define KSTREAM_TRANSPORT_KAFKA_GROUP_REQUESTS_H_

#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "transport/admin.h"
#include "transport/kafka/handle.h"

namespace kstream::transport::kafka {

Result<GroupDescription> DescribeGroup(Handle* handle, const std::string& group);
Result<std::vector<PartitionOffset>> GroupOffsets(Handle* handle, const std::string& group);
Status SetGroupOffsets(Handle* handle, const std::string& group,
                       std::span<const PartitionOffset> offsets);
Status DeleteGroupOffsets(Handle* handle, const std::string& group,
                          std::span<const TopicPartition> partitions);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_GROUP_REQUESTS_H_
