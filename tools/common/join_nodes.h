// The nodes that a join of a plan is in its topology: several, since what joins does not know which
// of its parents a record comes from. Tested by tests/system/join.bats.
#ifndef KSTREAM_TOOLS_COMMON_JOIN_NODES_H_
#define KSTREAM_TOOLS_COMMON_JOIN_NODES_H_

#include "common/stage_plan.h"
#include "kstream/joins.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream::tools {

// Adds the nodes and stores of `join`, which is what `node` is. kUsage: an unknown serde.
Status AddJoin(const PlanNode& node, const StreamJoinSpec& join, TopologyBuilder* builder);
Status AddJoin(const PlanNode& node, const TableJoin& join, TopologyBuilder* builder);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_JOIN_NODES_H_
