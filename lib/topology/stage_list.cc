// Stages as people and programs see them. Tested by tests/unit/topology/stage_list_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "kstream/nearest.h"
#include "kstream/stages.h"
#include "topology/graph.h"

namespace kstream {
namespace {

using Kind = TopologyNode::Kind;

void AddOnce(const Location& location, std::vector<Location>* all) {
  if (std::ranges::find(*all, location) == all->end()) all->push_back(location);
}

Stage Describe(const TopologyGraph& graph, const TopologyStage& stage) {
  Stage shown;
  for (const size_t i : stage.nodes) {
    const TopologyNode& node = graph.nodes[i];
    shown.nodes.push_back(node.name);
    if (node.kind == Kind::kSource) {
      for (const Location& input : node.source.inputs) AddOnce(input, &shown.inputs);
    } else if (node.kind == Kind::kSink && node.sink.topic_of_record) {
      shown.topic_of_record = true;
    } else if (node.kind == Kind::kSink) {
      AddOnce(node.sink.output, &shown.outputs);
    }
  }
  for (const size_t store : stage.stores) shown.stores.push_back(graph.stores[store].name());
  for (const size_t above : stage.upstream) shown.upstream.push_back(static_cast<int>(above));
  return shown;
}

// What other processes can reach.
Location Plain(const Location& location, std::string_view app) {
  if (location.kind != Location::Kind::kRepartition) return location;
  return Location::Topic(fmt::format("{}-{}-repartition", app, location.name));
}

void AddTo(TopologyBuilder* builder, const TopologyNode& node, std::string_view app) {
  if (node.kind == Kind::kSource) {
    SourceSpec source = node.source;
    for (Location& input : source.inputs) input = Plain(input, app);
    builder->AddSource(node.name, std::move(source));
  } else if (node.kind == Kind::kSink) {
    SinkSpec sink = node.sink;
    if (!sink.topic_of_record) sink.output = Plain(sink.output, app);
    builder->AddSink(node.name, std::move(sink), node.parent_names);
  } else {
    builder->AddProcessor(node.name, node.supplier, node.parent_names);
  }
}

}  // namespace

std::vector<Stage> StagesOf(const Topology& topology) {
  std::vector<Stage> stages;
  for (const TopologyStage& stage : topology.graph().stages) {
    stages.push_back(Describe(topology.graph(), stage));
  }
  return stages;
}

Result<Topology> OnlyStage(const Topology& topology, std::string_view node, std::string_view app) {
  const TopologyGraph& graph = topology.graph();
  const auto found = std::ranges::find_if(graph.stages, [&](const TopologyStage& stage) {
    return std::ranges::any_of(stage.nodes, [&](size_t i) { return graph.nodes[i].name == node; });
  });
  if (found == graph.stages.end()) {
    std::vector<std::string_view> names;
    for (const TopologyNode& other : graph.nodes) names.push_back(other.name);
    const std::string_view nearest = NearestName(node, names);
    const std::string hint = nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest);
    return Status::Usage(fmt::format("there is no node '{}'{}", node, hint));
  }
  TopologyBuilder builder;
  for (const size_t i : found->nodes) AddTo(&builder, graph.nodes[i], app);
  for (const size_t i : found->stores) {
    const TopologyStore& store = graph.stores[i];
    if (store.kept) {
      builder.AddStore(store.spec, store.processors);
    } else {
      builder.AddStore(store.name(), store.supplier, store.processors);
    }
  }
  return builder.Build();
}

}  // namespace kstream
