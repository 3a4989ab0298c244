#include "kstream-run/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "kstream/location.h"

namespace kstream::tools {
namespace {

using std::chrono::milliseconds;

// For how long a topic keeps records whatever comes after them; nullopt: for good.
std::optional<milliseconds> KeptFor(const TopicFacts& facts) {
  if (facts.cleanup_policy.find("delete") == std::string::npos) return std::nullopt;
  int64_t ms = -1;
  std::from_chars(facts.retention_ms.data(), facts.retention_ms.data() + facts.retention_ms.size(),
                  ms);
  return ms < 0 ? std::nullopt : std::optional(milliseconds(ms));
}

bool ReadBy(const TopicFacts& facts, const std::vector<Location>& inputs) {
  return facts.input && facts.partitions && std::ranges::any_of(inputs, [&](const Location& input) {
           const Result<bool> reads = Reads(input, facts.topic);
           return reads.ok() && *reads;
         });
}

// What the stage reads, and what those above it do.
std::vector<Location> InputsAbove(const std::vector<Stage>& stages, size_t stage) {
  std::vector<Location> inputs;
  std::vector<size_t> open = {stage};
  std::set<size_t> seen;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    inputs.insert(inputs.end(), stages[at].inputs.begin(), stages[at].inputs.end());
    open.insert(open.end(), stages[at].upstream.begin(), stages[at].upstream.end());
  }
  return inputs;
}

bool IsTable(const TopologyFileNode& node) { return node.reach == TopologyFileNode::kForGood; }

// What is wrong with the topic of a table, or with one that a window looks back on.
std::optional<std::string> Judge(const TopicFacts& facts, const TopologyFileNode& node) {
  const std::optional<milliseconds> kept = KeptFor(facts);
  if (IsTable(node)) {
    if (!kept) return std::nullopt;
    return fmt::format(
        "topic {} has the rows of '{}', and its cleanup.policy={} deletes each {} ms after it was "
        "written: cleanup.policy=compact keeps the last of each key",
        facts.topic.name, node.name, facts.cleanup_policy, kept->count());
  }
  if (facts.cleanup_policy.find("compact") != std::string::npos) {
    return fmt::format(
        "topic {} is compacted, and '{}' looks {} ms back: of the records of one key that it looks "
        "for there may be the last alone",
        facts.topic.name, node.name, node.reach.count());
  }
  if (!kept || *kept >= node.reach) return std::nullopt;
  return fmt::format(
      "topic {} keeps records for {} ms (retention.ms), and '{}' looks {} ms back: who begins anew "
      "sees no window of it whole",
      facts.topic.name, kept->count(), node.name, node.reach.count());
}

}  // namespace

bool Holds(const Stage& stage, const TopologyFileNode& node) {
  return std::ranges::any_of(stage.nodes, [&](const std::string& name) {
    return name == node.name || name == node.store || name == node.name + "-source";
  });
}

std::vector<std::string> CheckHistory(const BuiltTopology& built,
                                      const std::vector<TopicFacts>& topics) {
  std::vector<Location> tables;
  for (const TopologyFileNode& node : built.nodes) {
    if (IsTable(node)) tables.insert(tables.end(), node.places.begin(), node.places.end());
  }
  const std::vector<Stage> stages = StagesOf(built.topology);
  std::vector<std::string> warnings;
  for (const TopologyFileNode& node : built.nodes) {
    if (node.reach.count() == 0) continue;
    const auto stage =
        std::ranges::find_if(stages, [&](const Stage& one) { return Holds(one, node); });
    if (stage == stages.end()) continue;
    const std::vector<Location> inputs =
        IsTable(node) ? node.places : InputsAbove(stages, stage - stages.begin());
    for (const TopicFacts& facts : topics) {
      if (!ReadBy(facts, inputs) || (!IsTable(node) && ReadBy(facts, tables))) continue;
      if (auto warning = Judge(facts, node)) warnings.push_back(*std::move(warning));
    }
  }
  return warnings;
}

}  // namespace kstream::tools
