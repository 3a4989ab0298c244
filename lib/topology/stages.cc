// Stages, in three steps: join nodes into groups (union-find), find which sinks feed which sources,
// then walk from stage to stage for cycles and levels. Tested by
// tests/unit/topology/stages_test.cc.
#include "topology/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "transport/pattern.h"

namespace kstream {
namespace {

using Kind = TopologyNode::Kind;

// An input of a source that reads what a sink writes.
struct Link {
  size_t sink;  // indexes of nodes
  size_t source;
  Location input;
};

// Groups of nodes, each known by the smallest index in it.
class Groups {
 public:
  explicit Groups(size_t nodes) : leader_(nodes) { std::iota(leader_.begin(), leader_.end(), 0); }

  size_t Of(size_t node) const {
    while (leader_[node] != node) node = leader_[node];
    return node;
  }
  void Join(size_t a, size_t b) {
    const auto [low, high] = std::minmax({Of(a), Of(b)});
    leader_[high] = low;
  }

 private:
  std::vector<size_t> leader_;
};

Result<bool> ReadOneTopic(const Location& a, const Location& b) {
  if (a.kind == Location::Kind::kFile) return false;
  if (a == b) return true;
  KSTREAM_ASSIGN_OR_RETURN(const bool reads, Reads(a, b));
  if (reads) return true;
  return Reads(b, a);
}

Result<bool> ReadOneTopic(const TopologyNode& a, const TopologyNode& b) {
  for (const Location& one : a.source.inputs) {
    for (const Location& other : b.source.inputs) {
      KSTREAM_ASSIGN_OR_RETURN(const bool same, ReadOneTopic(one, other));
      if (same) return true;
    }
  }
  return false;
}

std::vector<size_t> NodesOf(const TopologyGraph& graph, Kind kind) {
  std::vector<size_t> found;
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    if (graph.nodes[i].kind == kind) found.push_back(i);
  }
  return found;
}

Result<Groups> JoinNodes(const TopologyGraph& graph) {
  Groups groups(graph.nodes.size());
  std::map<size_t, size_t> first_of_store;
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    for (const size_t child : graph.nodes[i].children) groups.Join(i, child);
    for (const size_t store : graph.nodes[i].stores) {
      groups.Join(i, first_of_store.emplace(store, i).first->second);
    }
  }
  const std::vector<size_t> sources = NodesOf(graph, Kind::kSource);
  for (size_t i = 0; i < sources.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      KSTREAM_ASSIGN_OR_RETURN(const bool join,
                               ReadOneTopic(graph.nodes[sources[i]], graph.nodes[sources[j]]));
      if (join) groups.Join(sources[i], sources[j]);
    }
  }
  return groups;
}

// The stages without what is between them, in the order of their first nodes: those are sources,
// since parents come first.
std::vector<TopologyStage> Gather(const TopologyGraph& graph, const Groups& groups) {
  std::vector<TopologyStage> stages;
  std::map<size_t, size_t> stage_of_leader;
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    const auto [at, fresh] = stage_of_leader.emplace(groups.Of(i), stages.size());
    if (fresh) stages.emplace_back();
    TopologyStage& stage = stages[at->second];
    stage.nodes.push_back(i);
    if (graph.nodes[i].kind == Kind::kSource) stage.sources.push_back(i);
    stage.stores.insert(stage.stores.end(), graph.nodes[i].stores.begin(),
                        graph.nodes[i].stores.end());
  }
  for (TopologyStage& stage : stages) {
    std::sort(stage.stores.begin(), stage.stores.end());
    stage.stores.erase(std::unique(stage.stores.begin(), stage.stores.end()), stage.stores.end());
  }
  return stages;
}

// Whether one of the stage's stores is reached by several inputs; a pattern may be several.
bool InputsMeetInAStore(const TopologyGraph& graph, const TopologyStage& stage) {
  std::map<size_t, size_t> inputs_of_store;
  for (const size_t source : stage.sources) {
    const auto& inputs = graph.nodes[source].source.inputs;
    const bool pattern =
        std::any_of(inputs.begin(), inputs.end(), [](auto& input) { return input.is_pattern(); });
    std::vector<bool> reached(graph.nodes.size());
    std::vector<bool> counted(graph.stores.size());
    reached[source] = true;
    for (const size_t node : stage.nodes) {  // parents come first
      if (!reached[node]) continue;
      for (const size_t child : graph.nodes[node].children) reached[child] = true;
      for (const size_t store : graph.nodes[node].stores) {
        if (!counted[store]) inputs_of_store[store] += pattern ? 2 : inputs.size();
        counted[store] = true;
      }
    }
  }
  return std::any_of(inputs_of_store.begin(), inputs_of_store.end(),
                     [](auto& store) { return store.second > 1; });
}

Result<std::vector<Link>> FindLinks(const TopologyGraph& graph) {
  std::vector<Link> links;
  const std::vector<size_t> sources = NodesOf(graph, Kind::kSource);
  for (const size_t sink : NodesOf(graph, Kind::kSink)) {
    const SinkSpec& spec = graph.nodes[sink].sink;
    if (spec.topic_of_record || spec.output.kind == Location::Kind::kFile) continue;
    for (const size_t source : sources) {
      for (const Location& input : graph.nodes[source].source.inputs) {
        KSTREAM_ASSIGN_OR_RETURN(const bool reads, Reads(input, spec.output));
        if (reads) links.push_back({sink, source, input});
      }
    }
  }
  return links;
}

Status CheckRepartitionTopics(const TopologyGraph& graph, const std::vector<Link>& links) {
  const auto linked = [&](auto matches) {
    return std::any_of(links.begin(), links.end(), matches);
  };
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    const TopologyNode& node = graph.nodes[i];
    for (const Location& input : node.source.inputs) {
      if (input.kind != Location::Kind::kRepartition ||
          linked([&](const Link& link) { return link.source == i && link.input == input; })) {
        continue;
      }
      return Status::Expression(fmt::format(
          "source '{}' reads repartition topic '{}', which no sink writes", node.name, input.name));
    }
    const bool writes = node.kind == Kind::kSink && !node.sink.topic_of_record &&
                        node.sink.output.kind == Location::Kind::kRepartition;
    if (writes && !linked([&](const Link& link) { return link.sink == i; })) {
      return Status::Expression(
          fmt::format("sink '{}' writes repartition topic '{}', which no source reads", node.name,
                      node.sink.output.name));
    }
  }
  return Status::Ok();
}

Status Cycle(const TopologyGraph& graph, const Link& link, bool one_stage) {
  const Location& output = graph.nodes[link.sink].sink.output;
  const std::string as = link.input == output ? "" : " as " + link.input.ToString();
  return Status::Expression(
      fmt::format("sink '{}' writes {}, which source '{}' reads{}: {}", graph.nodes[link.sink].name,
                  output.ToString(), graph.nodes[link.source].name, as,
                  one_stage ? "the stage would read what it writes"
                            : "the stage above would read what the one below it writes"));
}

// Walks downstream from stage to stage, each once. A stage that is met again while the walk is
// still below it closes a cycle.
class Walk {
 public:
  Walk(TopologyGraph* graph, const std::vector<Link>& links)
      : graph_(graph), state_(graph->stages.size()), out_(graph->stages.size()) {
    std::vector<size_t> stage_of(graph->nodes.size());
    for (size_t i = 0; i < graph->stages.size(); i++) {
      for (const size_t node : graph->stages[i].nodes) stage_of[node] = i;
    }
    for (const Link& link : links) {
      const size_t from = stage_of[link.sink], to = stage_of[link.source];
      out_[from].push_back({to, &link});
      auto& upstream = graph->stages[to].upstream;
      if (std::find(upstream.begin(), upstream.end(), from) == upstream.end()) {
        upstream.push_back(from);
      }
    }
    for (TopologyStage& stage : graph->stages) {
      std::sort(stage.upstream.begin(), stage.upstream.end());
    }
  }

  Status SetLevels() {
    for (size_t i = 0; i < graph_->stages.size(); i++) KSTREAM_RETURN_IF_ERROR(Visit(i));
    // A stage is done after all below it, so the last done have none above.
    for (auto at = done_.rbegin(); at != done_.rend(); ++at) {
      TopologyStage& stage = graph_->stages[*at];
      for (const size_t above : stage.upstream) {
        stage.level = std::max(stage.level, graph_->stages[above].level + 1);
      }
    }
    return Status::Ok();
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Out {
    size_t stage;
    const Link* link;
  };

  Status Visit(size_t stage) {
    if (state_[stage] == State::kDone) return Status::Ok();
    state_[stage] = State::kOpen;
    for (const Out& out : out_[stage]) {
      if (state_[out.stage] == State::kOpen) return Cycle(*graph_, *out.link, out.stage == stage);
      KSTREAM_RETURN_IF_ERROR(Visit(out.stage));
    }
    state_[stage] = State::kDone;
    done_.push_back(stage);
    return Status::Ok();
  }

  TopologyGraph* const graph_;
  std::vector<State> state_;
  std::vector<std::vector<Out>> out_;
  std::vector<size_t> done_;
};

}  // namespace

Result<bool> Reads(const Location& input, const Location& output) {
  const bool standard = input.kind == Location::Kind::kFile && input.name == "-";
  if (input.kind != output.kind || input.cluster != output.cluster || standard) return false;
  if (!input.is_pattern()) return input.name == output.name;
  KSTREAM_ASSIGN_OR_RETURN(const auto pattern, transport::TopicPattern::Parse(input.name));
  return !output.is_pattern() && pattern.Matches(output.name);
}

Status FindStages(TopologyGraph* graph) {
  KSTREAM_ASSIGN_OR_RETURN(const Groups groups, JoinNodes(*graph));
  graph->stages = Gather(*graph, groups);
  for (TopologyStage& stage : graph->stages) {
    stage.co_partitioned = InputsMeetInAStore(*graph, stage);
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<Link> links, FindLinks(*graph));
  KSTREAM_RETURN_IF_ERROR(Walk(graph, links).SetLevels());
  return CheckRepartitionTopics(*graph, links);
}

}  // namespace kstream
