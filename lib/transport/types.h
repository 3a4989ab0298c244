// The words shared by all transports.
#ifndef KSTREAM_TRANSPORT_TYPES_H_
#define KSTREAM_TRANSPORT_TYPES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kstream::transport {

struct TopicPartition {
  std::string topic;
  int32_t partition = -1;
  auto operator<=>(const TopicPartition&) const = default;
};

// Offsets as the Kafka protocol writes them.
inline constexpr int64_t kOffsetBeginning = -2;
inline constexpr int64_t kOffsetEnd = -1;
inline constexpr int64_t kNoOffset = -1001;

// What a broker takes with a commit, unless its offset.metadata.max.bytes says otherwise.
inline constexpr size_t kMaxCommitMetadata = 4096;

struct PartitionOffset {
  TopicPartition partition;
  int64_t offset = kNoOffset;
  std::string metadata;  // of a commit: UTF-8, at most kMaxCommitMetadata bytes
};

// librdkafka properties, later ones win.
using Properties = std::vector<std::pair<std::string, std::string>>;

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_TYPES_H_
