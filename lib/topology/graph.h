// The checked graph behind a Topology: nodes in an order in which parents come first, and the
// stages (sub-topologies, KIP-28) that they fall into.
#ifndef KSTREAM_TOPOLOGY_GRAPH_H_
#define KSTREAM_TOPOLOGY_GRAPH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/topology.h"

namespace kstream {

struct TopologyNode {
  enum class Kind { kSource, kProcessor, kSink };
  Kind kind = Kind::kSource;
  std::string name;
  std::vector<std::string> parent_names;
  std::vector<size_t> children;  // indexes into TopologyGraph::nodes, in the order they were added
  std::vector<size_t> stores;    // indexes into TopologyGraph::stores
  SourceSpec source;             // of a source
  ProcessorSupplier supplier;    // of a processor
  SinkSpec sink;                 // of a sink
};

struct TopologyStore {
  StoreSpec spec;
  bool kept = true;        // by the runtime; else
  StoreSupplier supplier;  // the user's own
  std::vector<std::string> processors;

  const std::string& name() const { return spec.name; }
};

// What hangs together by edges, stores, or topics that several sources read. Its tasks hold all of
// it.
struct TopologyStage {
  std::vector<size_t> nodes;     // indexes into TopologyGraph::nodes, parents first
  std::vector<size_t> sources;   // those of its sources, in the order they were added
  std::vector<size_t> stores;    // indexes into TopologyGraph::stores
  std::vector<size_t> upstream;  // stages that write what it reads
  int level = 0;                 // 0: no upstream; else one more than the highest of them
  // Records of several inputs, or of a pattern, meet in one of its stores: then equal keys must be
  // in partitions of equal number, and so its inputs need as many partitions each
  // (CheckCoPartitioned, topology/co_partition.h).
  bool co_partitioned = false;
};

struct TopologyGraph {
  std::vector<TopologyNode> nodes;
  std::vector<TopologyStore> stores;
  std::vector<TopologyStage> stages;  // in the order of their first sources
};

// FNV-1a with 64 bits: the same everywhere, and no one gains by a collision here. Topology::Hash is
// it over Topology::Describe.
uint64_t Fnv1a(std::string_view text);

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_GRAPH_H_
