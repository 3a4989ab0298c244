#include "runtime/placement.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/printable.h"
#include "kstream/location.h"
#include "record/partitioner.h"

namespace kstream::runtime {

bool Placement::Check(const InputPartition& partition, int32_t count, const Record& record) {
  if (!record.key) return false;
  const int32_t right = PartitionOfKey(record.key, count, 0);
  if (right == partition.partition) return false;
  const std::lock_guard lock(mutex_);
  if (!told_.insert({partition.cluster, partition.topic}).second) return true;
  Log(LogLevel::kWarning,
      fmt::format(
          "{}[{}]@{}: key {:.80} is not in the partition that murmur2 chooses, {} of {}: it "
          "may miss equal keys of other topics, unless all were placed as this one: "
          "repartition this topic by its key",
          Location::Topic(partition.topic, partition.cluster).ToString(), partition.partition,
          record.offset, Printable(*record.key), right, count));
  return true;
}

}  // namespace kstream::runtime
