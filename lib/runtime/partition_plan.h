// PartitionPlan: what there is to read, found once at start: partitions of every input, tasks, and
// for
// --exit-at-end and --from @T1:T2 where each partition ends. Tested by
// tests/unit/runtime/partition_plan_test.cc.
#ifndef KSTREAM_RUNTIME_PARTITION_PLAN_H_
#define KSTREAM_RUNTIME_PARTITION_PLAN_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "transport/admin.h"

namespace kstream::runtime {

// A topic that an input names or matches.
struct InputTopic {
  std::string cluster;
  std::string topic;
  int32_t partitions = 0;
  auto operator<=>(const InputTopic&) const = default;
};

// One partition to read.
struct InputPartition {
  std::string cluster;
  transport::TopicPartition partition;
};

struct PartitionPlan {
  std::vector<InputTopic> topics;  // in the order of the inputs; those of a pattern by name

  // The topic whose assignment stands for its whole stage: the one with most partitions, the first
  // of equals. Empty when an input is a pattern: then every partition is a task of its own.
  std::string lead;

  // Offsets to stop at, where the run has an end; by cluster and partition.
  std::map<std::pair<std::string, transport::TopicPartition>, int64_t> ends;

  // Asks the clusters. kCluster: unreachable or missing; kUsage.
  static Result<PartitionPlan> Make(
      const RunState& state,
      const std::map<std::string, std::unique_ptr<transport::Admin>>& admins);

  // The partitions of task `number`: partition `number` of every topic that has one.
  std::vector<InputPartition> PartitionsOfTask(int32_t number) const;
  int32_t Tasks() const;
  // False for a partition that came after the start.
  bool Holds(const InputPartition& input) const;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PARTITION_PLAN_H_
