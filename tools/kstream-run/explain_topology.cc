#include "kstream-run/explain_topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "kstream/stages.h"

namespace kstream::tools {
namespace {

using Kind = Location::Kind;

// How many tasks a stage has, as far as it is known without asking brokers.
std::string TasksOf(const Stage& stage, const RuntimeOptions& options) {
  const auto is_kind = [](Kind kind) { return [kind](auto& input) { return input.kind == kind; }; };
  if (options.grouper == "single") return "1";
  if (std::ranges::all_of(stage.inputs, is_kind(Kind::kFile))) {
    return fmt::format("{}", options.partitions);
  }
  if (std::ranges::all_of(stage.inputs, is_kind(Kind::kRepartition))) {
    return fmt::format("as many as stage {} has", fmt::join(stage.upstream, ", "));
  }
  if (options.grouper == "by-topic") return "one for each topic of the inputs";
  if (stage.inputs.size() == 1 && !stage.inputs.front().is_pattern()) {
    return fmt::format("one for each partition of {}", PlaceText(stage.inputs.front()));
  }
  return "one for each partition number of the inputs";
}

std::vector<std::string> TopicsToCreate(const std::vector<Stage>& stages,
                                        const RuntimeOptions& options) {
  std::set<std::string> topics;
  if (!options.create_output) return {};
  for (const Stage& stage : stages) {
    for (const Location& output : stage.outputs) {
      if (output.is_topic()) topics.insert(output.name);
    }
  }
  return {topics.begin(), topics.end()};
}

std::vector<std::string> WhyTwoRunsMayDiffer(const BuiltTopology& built,
                                             const std::vector<Stage>& stages) {
  std::vector<std::string> why;
  for (const TopologyFileNode& node : built.nodes) {
    for (const auto& [name, expression] : node.expressions) {
      if (expression.deterministic()) continue;
      why.push_back(fmt::format("'{}' of '{}' reads a clock", name, node.name));
    }
    if (node.wall_clock) {
      why.push_back(fmt::format("'{}' goes by the wall clock", node.name));
    }
    if (node.kind == "process") {
      why.push_back(
          fmt::format("what the processor of '{}' reads besides records is not known", node.name));
    }
  }
  for (const Stage& stage : stages) {
    if (stage.inputs.size() < 2 || stage.inputs.front().kind == Kind::kFile) continue;
    why.push_back(fmt::format(
        "the inputs of '{}' are merged as they arrive where one is at its end: --max-idle waits",
        stage.nodes.front()));
  }
  return why;
}

std::vector<std::string> WhyNotExactlyOnce(const std::vector<Stage>& stages,
                                           const RuntimeOptions& options) {
  std::vector<std::string> why;
  if (options.app.empty()) why.push_back("there is no application: --app");
  const auto check = [&](const Location& output) {
    if (output.is_topic() && output.cluster.empty()) return;
    if (output.kind == Kind::kRepartition) return;
    why.push_back(fmt::format("{} is no topic of the home cluster", PlaceText(output)));
  };
  for (const Stage& stage : stages) {
    for (const Location& output : stage.outputs) check(output);
  }
  if (options.dead_letter) check(*options.dead_letter);
  return why;
}

}  // namespace

Explanation ExplainTopology(const BuiltTopology& built, const RuntimeOptions& options,
                            const std::string& name) {
  Explanation shown{.title = fmt::format("topology {}", name), .name = name};
  for (const TopologyFileNode& node : built.nodes) {
    ShownNode& one = shown.nodes.emplace_back(
        ShownNode{node.name, node.kind, node.parents, {}, node.expressions});
    for (const Location& place : node.places) one.places.push_back(PlaceText(place));
    if (!node.store.empty()) one.places.push_back("store " + node.store);
  }
  const std::vector<Stage> stages = StagesOf(built.topology);
  for (const Stage& stage : stages) {
    shown.stages.push_back({static_cast<int>(shown.stages.size()), stage.nodes, stage.stores,
                            stage.upstream, TasksOf(stage, options)});
  }
  shown.create = TopicsToCreate(stages, options);
  shown.not_deterministic = WhyTwoRunsMayDiffer(built, stages);
  shown.not_exactly_once = WhyNotExactlyOnce(stages, options);
  return shown;
}

}  // namespace kstream::tools
