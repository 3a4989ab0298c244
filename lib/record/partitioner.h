// The default partitioner of Kafka's Java client (murmur2), so that keys written by both meet.
//
// Source: org.apache.kafka.common.utils.Utils#murmur2 and BuiltInPartitioner; the values in the
// test were made with the Java client. Tested by tests/unit/record/partitioner_test.cc.
#ifndef KSTREAM_RECORD_PARTITIONER_H_
#define KSTREAM_RECORD_PARTITIONER_H_

#include <cstdint>
#include <string_view>

#include "kstream/record.h"

namespace kstream {

// 32-bit murmur2 with Kafka's seed.
uint32_t Murmur2(std::string_view bytes);

// The partition of a key among `partitions`; an empty key is a key. A record without one goes to
// partition `unkeyed` modulo `partitions`.
int32_t PartitionOfKey(const Bytes& key, int32_t partitions, int64_t unkeyed);

}  // namespace kstream

#endif  // KSTREAM_RECORD_PARTITIONER_H_
