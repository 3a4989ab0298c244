#include "transport/consumer.h"

#include <fmt/format.h>

#include "record/json_document.h"

namespace kstream::transport {

Status CheckMetadata(std::span<const PartitionOffset> offsets) {
  for (const auto& [partition, offset, metadata] : offsets) {
    const std::string_view text = metadata;
    if (text.size() > kMaxCommitMetadata) {
      return Status::Cluster(
          fmt::format("committing offsets: {}[{}] has {} bytes of metadata, brokers take {}",
                      partition.topic, partition.partition, text.size(), kMaxCommitMetadata));
    }
    if (text.find('\0') != text.npos || !json::IsUtf8(text)) {
      return Status::Cluster(
          fmt::format("committing offsets: the metadata of {}[{}] is not UTF-8 text",
                      partition.topic, partition.partition));
    }
  }
  return Status::Ok();
}

}  // namespace kstream::transport
