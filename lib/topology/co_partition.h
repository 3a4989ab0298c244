// Co-partitioning: task i of a stage reads partition i of each of its inputs, so records of equal
// key meet in one task only where all inputs have as many partitions.
#ifndef KSTREAM_TOPOLOGY_CO_PARTITION_H_
#define KSTREAM_TOPOLOGY_CO_PARTITION_H_

#include <vector>

#include "kstream/grouper.h"
#include "kstream/status.h"

namespace kstream {

// kCluster when the topics, in the order of the inputs, have not all as many partitions as the
// first: names both topics with both counts.
Status CheckCoPartitioned(const std::vector<InputTopic>& topics);

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_CO_PARTITION_H_
