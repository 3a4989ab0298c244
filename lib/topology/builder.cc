// TopologyBuilder: collects nodes and checks the graph once, in Build. Tested by
// tests/unit/topology/builder_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kstream/topology.h"
#include "topology/graph.h"

namespace kstream {
namespace {

using Kind = TopologyNode::Kind;
using Index = std::map<std::string, size_t>;

Status CheckNode(const TopologyNode& node, const Index& index) {
  if (node.name.empty()) return Status::Expression("a node without a name: give it one");
  if (node.kind == Kind::kSource && node.source.inputs.empty()) {
    return Status::Expression(fmt::format("source '{}' has no input", node.name));
  }
  if (node.kind == Kind::kProcessor && !node.supplier) {
    return Status::Expression(fmt::format("processor '{}' has no supplier", node.name));
  }
  if (node.kind != Kind::kSource && node.parent_names.empty()) {
    return Status::Expression(
        fmt::format("node '{}' has no parent: no source reaches it", node.name));
  }
  for (const std::string& parent : node.parent_names) {
    if (!index.contains(parent)) {
      return Status::Expression(
          fmt::format("node '{}' names an unknown parent '{}'", node.name, parent));
    }
  }
  return Status::Ok();
}

// Orders nodes so that parents come first (Kahn), keeping the order given where it is free. Nodes
// of a cycle never become ready, and neither does anything behind them.
Result<std::vector<size_t>> Order(const std::vector<TopologyNode>& nodes, const Index& index) {
  std::vector<size_t> order;
  std::set<std::string> placed;
  while (order.size() < nodes.size()) {
    const size_t before = order.size();
    for (const TopologyNode& node : nodes) {
      const auto& parents = node.parent_names;
      if (!placed.contains(node.name) && std::all_of(parents.begin(), parents.end(),
                                                     [&](auto& p) { return placed.contains(p); })) {
        placed.insert(node.name);
        order.push_back(index.at(node.name));
      }
    }
    if (order.size() == before) {
      auto stuck = std::find_if(nodes.begin(), nodes.end(),
                                [&](auto& node) { return !placed.contains(node.name); });
      return Status::Expression(fmt::format("node '{}' is on a cycle or behind one", stuck->name));
    }
  }
  return order;
}

}  // namespace

Topology::Topology(std::shared_ptr<const TopologyGraph> graph) : graph_(std::move(graph)) {}

TopologyBuilder::TopologyBuilder() : graph_(std::make_unique<TopologyGraph>()) {}
TopologyBuilder::~TopologyBuilder() = default;
TopologyBuilder::TopologyBuilder(TopologyBuilder&&) noexcept = default;

TopologyBuilder& TopologyBuilder::AddSource(std::string name, SourceSpec source) {
  TopologyNode& node = graph_->nodes.emplace_back();
  node.name = std::move(name);
  node.source = std::move(source);
  return *this;
}

TopologyBuilder& TopologyBuilder::AddProcessor(std::string name, ProcessorSupplier supplier,
                                               std::vector<std::string> parents) {
  TopologyNode& node = graph_->nodes.emplace_back();
  node.kind = Kind::kProcessor;
  node.name = std::move(name);
  node.parent_names = std::move(parents);
  node.supplier = std::move(supplier);
  return *this;
}

TopologyBuilder& TopologyBuilder::AddSink(std::string name, SinkSpec sink,
                                          std::vector<std::string> parents) {
  TopologyNode& node = graph_->nodes.emplace_back();
  node.kind = Kind::kSink;
  node.name = std::move(name);
  node.parent_names = std::move(parents);
  node.sink = std::move(sink);
  return *this;
}

Result<Topology> TopologyBuilder::Build() const {
  const auto& nodes = graph_->nodes;
  Index index;
  for (size_t i = 0; i < nodes.size(); i++) {
    if (!index.emplace(nodes[i].name, i).second) {
      return Status::Expression(
          fmt::format("two nodes are named '{}': give each its own name", nodes[i].name));
    }
  }
  for (const TopologyNode& node : nodes) KSTREAM_RETURN_IF_ERROR(CheckNode(node, index));
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<size_t> order, Order(nodes, index));

  auto graph = std::make_shared<TopologyGraph>();
  Index placed;
  for (const size_t from : order) {
    placed.emplace(nodes[from].name, graph->nodes.size());
    graph->nodes.push_back(nodes[from]);
  }
  for (const TopologyNode& node : nodes) {
    for (const std::string& parent : node.parent_names) {
      TopologyNode& above = graph->nodes[placed.at(parent)];
      if (above.kind == Kind::kSink) {
        return Status::Expression(
            fmt::format("sink '{}' cannot have a child '{}'", parent, node.name));
      }
      above.children.push_back(placed.at(node.name));
    }
  }
  return Topology(std::move(graph));
}

}  // namespace kstream
