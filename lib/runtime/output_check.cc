#include "runtime/output_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kstream/internal_topics.h"
#include "runtime/changelogs.h"
#include "runtime/grouper_choice.h"
#include "runtime/manifest.h"
#include "runtime/outputs.h"

namespace kstream::runtime {
namespace {

std::string NameOf(const Location& topic) { return NameOfTopic(topic.cluster, topic.name); }

Status Loop(const Location& input, const Location& output) {
  std::string why;
  if (input.cluster.empty() != output.cluster.empty()) {
    why = fmt::format(" (cluster {} is the home cluster)", input.cluster + output.cluster);
  } else if (input.cluster != output.cluster) {
    why = fmt::format(" (clusters {} and {} are one)", output.cluster, input.cluster);
  }
  return Status::Usage(
      fmt::format("output {} is matched by input {}: it would read what it writes{}",
                  NameOf(output), NameOf(input), why));
}

Status CheckInternal(const RunState& state) {
  if (!state.grouped()) return Status::Ok();
  const std::string& app = state.options.app;
  for (const Location& output : SinkLocations(state)) {
    KSTREAM_ASSIGN_OR_RETURN(const Location place, state.identities.Of(output));
    if (!place.is_topic() || !place.cluster.empty()) continue;
    const auto& stores = state.graph().stores;
    const bool changelog = std::any_of(stores.begin(), stores.end(), [&](const auto& store) {
      return ChangelogOf(app, store) == place.name;
    });
    if (changelog || place.name == ManifestTopic(app) || place.name == TasksTopic(app)) {
      return Status::Usage(
          fmt::format("output {} is an internal topic of application {}", NameOf(output), app));
    }
  }
  return Status::Ok();
}

Status CheckDeadLetters(const RunState& state) {
  if (!state.options.dead_letter) return Status::Ok();
  for (const Location& input : state.Inputs()) {
    KSTREAM_ASSIGN_OR_RETURN(const bool reads, Feeds(state, *state.options.dead_letter, input));
    if (reads) return Loop(input, *state.options.dead_letter);
  }
  return Status::Ok();
}

// Where records go from each node: to its children, and from a sink to the sources that read what
// it writes.
class Ways {
 public:
  struct Link {
    size_t sink, source;
    Location input;
  };

  static Result<Ways> Of(const RunState& state) {
    const auto& nodes = state.graph().nodes;
    Ways ways(state.graph());
    for (size_t sink = 0; sink < nodes.size(); sink++) {
      if (nodes[sink].kind != TopologyNode::Kind::kSink || nodes[sink].sink.topic_of_record) {
        continue;
      }
      for (size_t source = 0; source < nodes.size(); source++) {
        for (const Location& input : nodes[source].source.inputs) {
          KSTREAM_ASSIGN_OR_RETURN(const bool reads, Feeds(state, nodes[sink].sink.output, input));
          if (reads) ways.links_.push_back({sink, source, input});
        }
      }
    }
    for (const Link& link : ways.links_) ways.next_[link.sink].push_back(link.source);
    return ways;
  }

  const std::vector<Link>& links() const { return links_; }

  bool Lead(size_t from, size_t to) const {
    std::vector<bool> seen(next_.size());
    std::vector<size_t> open{from};
    seen[from] = true;
    while (!open.empty() && !seen[to]) {
      const size_t node = open.back();
      open.pop_back();
      for (const size_t next : next_[node]) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return seen[to];
  }

 private:
  explicit Ways(const TopologyGraph& graph) {
    for (const TopologyNode& node : graph.nodes) next_.push_back(node.children);
  }

  std::vector<Link> links_;
  std::vector<std::vector<size_t>> next_;
};

// Loops through one name of a cluster are refused by the builder, so in each that is left there is
// a link from one name to another.
Status CheckLoops(const RunState& state) {
  KSTREAM_ASSIGN_OR_RETURN(const Ways ways, Ways::Of(state));
  for (const Ways::Link& link : ways.links()) {
    const Location& output = state.graph().nodes[link.sink].sink.output;
    if (link.input.cluster != output.cluster && ways.Lead(link.source, link.sink)) {
      return Loop(link.input, output);
    }
  }
  return Status::Ok();
}

}  // namespace

Result<bool> Feeds(const RunState& state, const Location& output, const Location& input) {
  KSTREAM_ASSIGN_OR_RETURN(const Location to, state.identities.Of(output));
  KSTREAM_ASSIGN_OR_RETURN(const Location from, state.identities.Of(input));
  return from.is_topic() ? Reads(from, to) : false;
}

Status CheckOutputs(const RunState& state) {
  KSTREAM_RETURN_IF_ERROR(CheckInternal(state));
  KSTREAM_RETURN_IF_ERROR(CheckDeadLetters(state));
  return CheckLoops(state);
}

}  // namespace kstream::runtime
