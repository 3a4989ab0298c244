// What a run makes for itself, as far as the topology and the flags say it. The planner asks here
// whether there is a manifest; --explain shows the rest. Tested by
// tests/unit/runtime/internal_topics_test.cc.
#include "kstream/internal_topics.h"

#include <algorithm>
#include <optional>

#include "runtime/changelogs.h"
#include "runtime/layout.h"
#include "runtime/manifest.h"
#include "runtime/state_directory.h"
#include "topology/graph.h"

namespace kstream {
namespace {

using Kind = InternalTopicNeed::Kind;
using Inputs = std::vector<Location>;

Inputs InputsOf(const TopologyGraph& graph, const std::vector<size_t>& nodes) {
  Inputs inputs;
  for (const size_t node : nodes) {
    const Inputs& more = graph.nodes[node].source.inputs;
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  return inputs;
}

Inputs AllInputs(const TopologyGraph& graph) {
  Inputs inputs;
  for (const TopologyStage& stage : graph.stages) {
    const Inputs more = InputsOf(graph, stage.sources);
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  return inputs;
}

// The topics of a stage as far as they are named; a pattern needs no look at its grouper.
std::vector<InputTopic> Named(const Inputs& inputs, const std::string& app) {
  std::vector<InputTopic> topics;
  for (const Location& input : inputs) {
    const bool repartition = input.kind == Location::Kind::kRepartition;
    topics.push_back(
        {.cluster = input.cluster,
         .topic = repartition ? runtime::RepartitionTopic(app, input.name) : input.name});
  }
  return topics;
}

// Whether these inputs of one stage make tasks in another way than default.
bool OwnGrouper(const Inputs& inputs, const RuntimeOptions& options) {
  const auto choice = runtime::GrouperChoice::Parse(options.grouper, options.custom_grouper);
  return !choice.ok() ||
         choice->OfStage(Named(inputs, options.app)).kind != runtime::GrouperChoice::Kind::kDefault;
}

bool AnyPattern(const Inputs& inputs) {
  return std::ranges::any_of(inputs, [](const Location& input) { return input.is_pattern(); });
}

bool AnyTopic(const Inputs& inputs) {
  return std::ranges::any_of(inputs, [](const Location& input) { return input.is_topic(); });
}

// What LeadOf (layout.h) will say: true internal, false not, nullopt as the partitions are.
std::optional<bool> LeadIsInternal(const Inputs& inputs, const RuntimeOptions& options) {
  const auto home = [](const Location& input) { return input.cluster.empty(); };
  if (AnyPattern(inputs) || OwnGrouper(inputs, options) || std::ranges::none_of(inputs, home))
    return true;
  if (std::ranges::all_of(inputs, home)) return false;
  return std::nullopt;
}

}  // namespace

std::string_view ToString(InternalTopicNeed::Kind kind) {
  constexpr std::string_view kNames[] = {"manifest", "tasks", "repartition", "changelog"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<InternalTopicNeed> InternalTopics(const Topology& topology,
                                              const RuntimeOptions& options) {
  const TopologyGraph& graph = topology.graph();
  const Inputs inputs = AllInputs(graph);
  std::vector<InternalTopicNeed> needs;
  const bool topics = AnyTopic(inputs);
  const bool plain = inputs.size() == 1 && !AnyPattern(inputs) && inputs[0].cluster.empty() &&
                     graph.stores.empty() && !OwnGrouper(inputs, options);
  if (options.app.empty() || !topics || plain) return needs;

  needs.push_back({Kind::kManifest, runtime::ManifestTopic(options.app)});
  bool perhaps = false, certain = false;
  for (const TopologyStage& stage : graph.stages) {
    const auto internal = LeadIsInternal(InputsOf(graph, stage.sources), options);
    perhaps |= !internal.has_value();
    certain |= internal.value_or(false);
  }
  if (perhaps || certain) {
    needs.push_back({Kind::kTasks, runtime::TasksTopic(options.app), certain});
  }
  for (const Location& input : inputs) {
    if (input.kind != Location::Kind::kRepartition) continue;
    const std::string topic = runtime::RepartitionTopic(options.app, input.name);
    const bool known = std::ranges::any_of(
        needs, [&](const InternalTopicNeed& need) { return need.topic == topic; });
    if (!known) needs.push_back({Kind::kRepartition, topic});
  }
  for (const TopologyStore& store : graph.stores) {
    if (const auto topic = runtime::ChangelogOf(options.app, store)) {
      needs.push_back({Kind::kChangelog, *topic});
    }
  }
  return needs;
}

bool NeedsStateDirectory(const Topology& topology, const RuntimeOptions& options) {
  if (options.app.empty() || options.dry_run) return false;
  if (std::ranges::any_of(topology.graph().stores, &TopologyStore::kept)) return true;
  const bool identity =
      options.guarantee == Guarantee::kExactlyOnce || options.instance_id == runtime::kOwnInstance;
  return identity && AnyTopic(AllInputs(topology.graph()));
}

}  // namespace kstream
