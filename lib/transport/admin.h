// Admin: questions to a cluster, and the creation of topics. Calls block up to the request timeout.
#ifndef KSTREAM_TRANSPORT_ADMIN_H_
#define KSTREAM_TRANSPORT_ADMIN_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "transport/types.h"

namespace kstream::transport {

class Admin {
 public:
  virtual ~Admin() = default;

  // Partition counts of topics: exactly `name` (kCluster when missing, with what to do), or all
  // that match a pattern (begins with ^; internal topics of the brokers never match).
  virtual Result<std::map<std::string, int32_t>> Topics(const std::string& name_or_pattern) = 0;

  struct Watermarks {
    int64_t low = 0;   // offset of the oldest record
    int64_t high = 0;  // offset after the newest record, open transactions included
  };
  virtual Result<std::map<TopicPartition, Watermarks>> Offsets(
      std::span<const TopicPartition> partitions) = 0;
  // For each partition the first offset whose timestamp is at least `timestamp` ms; its high
  // watermark where there is none.
  virtual Result<std::map<TopicPartition, int64_t>> OffsetsForTime(
      std::span<const TopicPartition> partitions, int64_t timestamp) = 0;

  virtual Result<std::map<std::string, std::string>> TopicConfig(const std::string& topic) = 0;

  // Existing topics are left as they are.
  virtual Status CreateTopic(const std::string& name, int32_t partitions,
                             int16_t replication_factor,
                             const std::map<std::string, std::string>& config = {}) = 0;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_ADMIN_H_
