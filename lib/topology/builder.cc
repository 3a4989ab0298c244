// TopologyBuilder: collects nodes and stores, and checks the graph once, in Build. Tested by
// tests/unit/topology/builder_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kstream/topology.h"
#include "topology/graph.h"
#include "topology/names.h"
#include "topology/stages.h"
#include "transport/pattern.h"

namespace kstream {
namespace {

using Kind = TopologyNode::Kind;
using Index = std::map<std::string, size_t>;

// Ok unless there is something wrong.
Status Unless(const std::optional<std::string>& wrong) {
  return wrong ? Status::Expression(*wrong) : Status::Ok();
}

Status CheckLocation(const Location& location, std::string_view kind, const std::string& node) {
  if (location.kind == Location::Kind::kFile || location.is_pattern()) return Status::Ok();
  return Unless(WrongName(location.is_topic() ? "topic" : "repartition topic", location.name))
      .At(fmt::format("{} '{}'", kind, node));
}

Status CheckNode(const TopologyNode& node, const Index& index) {
  KSTREAM_RETURN_IF_ERROR(Unless(WrongNodeName(node.name)));
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
    if (std::count(node.parent_names.begin(), node.parent_names.end(), parent) > 1) {
      return Status::Expression(
          fmt::format("node '{}' names its parent '{}' twice: each record would come twice",
                      node.name, parent));
    }
    if (!index.contains(parent)) {
      return Status::Expression(
          fmt::format("node '{}' names an unknown parent '{}'", node.name, parent));
    }
  }
  for (const Location& input : node.source.inputs) {
    KSTREAM_RETURN_IF_ERROR(CheckLocation(input, "source", node.name));
    if (!input.is_pattern()) continue;
    if (const auto pattern = transport::TopicPattern::Parse(input.name); !pattern.ok()) {
      return Status::Expression(
          fmt::format("source '{}': {}", node.name, pattern.status().message()));
    }
  }
  const Location& output = node.sink.output;
  if (node.sink.topic_of_record) return Status::Ok();
  if (output.is_pattern()) {
    return Status::Expression(fmt::format("sink '{}': {} is a pattern: only sources read by one",
                                          node.name, output.ToString()));
  }
  return CheckLocation(output, "sink", node.name);
}

// Connects the store with number `number` to its processors.
Status AttachStore(const TopologyStore& store, size_t number, const Index& index,
                   std::vector<TopologyNode>* nodes) {
  KSTREAM_RETURN_IF_ERROR(Unless(WrongName("store", store.name())));
  if (!store.kept && !store.supplier) {
    return Status::Expression(fmt::format("store '{}' has no supplier", store.name()));
  }
  if (store.processors.empty()) {
    return Status::Expression(fmt::format("store '{}' is used by no processor", store.name()));
  }
  for (const std::string& name : store.processors) {
    const auto at = index.find(name);
    if (at == index.end()) {
      return Status::Expression(
          fmt::format("store '{}' names an unknown processor '{}'", store.name(), name));
    }
    TopologyNode& node = (*nodes)[at->second];
    if (node.kind != Kind::kProcessor) {
      return Status::Expression(
          fmt::format("store '{}' names '{}', which is a {}: only processors use stores",
                      store.name(), name, node.kind == Kind::kSource ? "source" : "sink"));
    }
    // Stores come in order, so one that is named twice is the last.
    if (node.stores.empty() || node.stores.back() != number) node.stores.push_back(number);
  }
  return Status::Ok();
}

Status AttachStores(const Index& index, TopologyGraph* graph) {
  std::set<std::string> names;
  for (size_t i = 0; i < graph->stores.size(); i++) {
    const TopologyStore& store = graph->stores[i];
    if (!names.insert(store.name()).second) {
      return Status::Expression(
          fmt::format("two stores are named '{}': give each its own name", store.name()));
    }
    KSTREAM_RETURN_IF_ERROR(AttachStore(store, i, index, &graph->nodes));
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
// What was moved from is as new.
TopologyBuilder::TopologyBuilder(TopologyBuilder&& other) noexcept
    : graph_(std::exchange(other.graph_, std::make_unique<TopologyGraph>())) {}

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

TopologyBuilder& TopologyBuilder::AddStore(std::string name, StoreSupplier supplier,
                                           std::vector<std::string> processors) {
  StoreSpec spec{.name = std::move(name), .changelog = false};
  graph_->stores.push_back({std::move(spec), false, std::move(supplier), std::move(processors)});
  return *this;
}

TopologyBuilder& TopologyBuilder::AddStore(StoreSpec store, std::vector<std::string> processors) {
  graph_->stores.push_back({std::move(store), true, nullptr, std::move(processors)});
  return *this;
}

Result<Topology> TopologyBuilder::Build() const {
  const auto& nodes = graph_->nodes;
  if (nodes.empty()) return Status::Expression("a topology without a source: add one");
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
  graph->stores = graph_->stores;
  KSTREAM_RETURN_IF_ERROR(AttachStores(placed, graph.get()));
  KSTREAM_RETURN_IF_ERROR(FindStages(graph.get()));
  return Topology(std::move(graph));
}

}  // namespace kstream
