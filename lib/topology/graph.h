// The checked graph behind a Topology: nodes in an order in which parents come first.
#ifndef KSTREAM_TOPOLOGY_GRAPH_H_
#define KSTREAM_TOPOLOGY_GRAPH_H_

#include <string>
#include <vector>

#include "kstream/topology.h"

namespace kstream {

struct TopologyNode {
  enum class Kind { kSource, kProcessor, kSink };
  Kind kind = Kind::kSource;
  std::string name;
  std::vector<std::string> parent_names;
  std::vector<size_t> children;  // indexes into TopologyGraph::nodes, in the order they were added
  SourceSpec source;             // of a source
  ProcessorSupplier supplier;    // of a processor
  SinkSpec sink;                 // of a sink
};

struct TopologyGraph {
  std::vector<TopologyNode> nodes;
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_GRAPH_H_
