// Owners of librdkafka's C objects, and its lists of partitions from ours.
#ifndef KSTREAM_TRANSPORT_KAFKA_RAII_H_
#define KSTREAM_TRANSPORT_KAFKA_RAII_H_

#include <librdkafka/rdkafka.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "transport/types.h"

namespace kstream::transport::kafka {

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

using Error = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using HeaderList = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                      Destroy<rd_kafka_topic_partition_list_destroy>>;

inline PartitionList NewPartitionList(size_t size = 0) {
  return PartitionList(rd_kafka_topic_partition_list_new(static_cast<int>(size)));
}

inline rd_kafka_topic_partition_t* Add(const PartitionList& list, const TopicPartition& partition,
                                       int64_t offset = RD_KAFKA_OFFSET_INVALID) {
  auto* element =
      rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
  element->offset = offset;
  return element;
}

inline PartitionList ToList(std::span<const TopicPartition> partitions) {
  PartitionList list = NewPartitionList(partitions.size());
  for (const TopicPartition& partition : partitions) Add(list, partition);
  return list;
}

// With their metadata, as a commit sends them.
inline PartitionList ToCommit(std::span<const PartitionOffset> offsets) {
  PartitionList list = NewPartitionList(offsets.size());
  for (const PartitionOffset& offset : offsets) {
    auto* element = Add(list, offset.partition, offset.offset);
    if (offset.metadata.empty()) continue;
    element->metadata = std::malloc(offset.metadata.size());  // the list frees it
    element->metadata_size = offset.metadata.size();
    std::memcpy(element->metadata, offset.metadata.data(), offset.metadata.size());
  }
  return list;
}

inline std::span<const rd_kafka_topic_partition_t> Elements(
    const rd_kafka_topic_partition_list_t* list) {
  return {list->elems, static_cast<size_t>(list->cnt)};
}

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_RAII_H_
