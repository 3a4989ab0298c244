// Stages (sub-topologies, KIP-28): what of a graph runs together, and in which order the parts feed
// each other.
#ifndef KSTREAM_TOPOLOGY_STAGES_H_
#define KSTREAM_TOPOLOGY_STAGES_H_

#include "kstream/status.h"
#include "topology/graph.h"

namespace kstream {

// Sets graph->stages from its nodes, which must be in order and linked to their children and
// stores. Nodes hang together by edges, by stores, and by topics that several sources read; two
// different patterns do not, since what they match is known at run time only. A sink that writes
// what a source of another stage reads makes its stage the other's upstream. Several stages may
// write one topic, a repartition topic too.
//
// kExpression, naming the nodes: a stage reads what it or a stage below it writes, or a repartition
// topic lacks its writer or its reader. Files and topic_of_record sinks connect nothing.
Status FindStages(TopologyGraph* graph);

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_STAGES_H_
