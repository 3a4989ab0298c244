#include "common/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kstream/internal_topics.h"

namespace kstream::tools {
namespace {

using Json = nlohmann::ordered_json;
using InternalNeeds = std::vector<InternalTopicNeed>;

std::string_view Kind(const PlanNode& node) {
  constexpr std::string_view kKinds[] = {"source", "filter",    "map", "sink",
                                         "group",  "aggregate", "join"};
  return kKinds[node.spec.index()];
}

std::string Place(const Location& location) {
  if (location.name == "-" && !location.is_topic()) return "-";
  std::string cluster = location.cluster.empty() ? "" : " of cluster " + location.cluster;
  std::string_view kind = location.is_pattern() ? "topics" : location.is_topic() ? "topic" : "file";
  if (location.kind == Location::Kind::kRepartition) kind = "repartition topic";
  return fmt::format("{} {}{}", kind, location.name, cluster);
}

std::vector<std::string> PlacesOf(const PlanNode& node) {
  std::vector<std::string> places;
  if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
    for (const Location& input : source->inputs) places.push_back(Place(input));
  } else if (const auto* sink = std::get_if<SinkSpec>(&node.spec)) {
    places.push_back(sink->topic_of_record ? "the topic that each record names"
                                           : Place(sink->output));
  } else if (const std::string store = StoreOf(node); !store.empty()) {
    places.push_back("store " + store);
  }
  return places;
}

// Topics are created where --create-output is given, and they are missing.
std::vector<std::string> TopicsToCreate(const StagePlan& plan) {
  std::vector<std::string> topics;
  if (!plan.runtime.create_output) return topics;
  for (const PlanNode& node : plan.nodes) {
    const auto* sink = std::get_if<SinkSpec>(&node.spec);
    if (sink && !sink->topic_of_record && sink->output.is_topic())
      topics.push_back(sink->output.name);
  }
  std::sort(topics.begin(), topics.end());
  topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
  return topics;
}

// What --explain says of an expression that needs libjq.
std::string InLibjq(std::string_view name, const Expression& expression) {
  const bool prints =
      name == "map" || name == "key" || name == "set-key" || name.starts_with("header ");
  return fmt::format("runs in libjq{}: {}", prints ? " (numbers print as jq prints them)" : "",
                     expression.why_libjq());
}

// What the user named to be read.
std::vector<Location> InputsOf(const StagePlan& plan) {
  std::vector<Location> inputs;
  for (const PlanNode& node : plan.nodes) {
    const auto* source = std::get_if<SourceSpec>(&node.spec);
    if (!source || source->inputs.front().kind == Location::Kind::kRepartition) continue;
    inputs.insert(inputs.end(), source->inputs.begin(), source->inputs.end());
  }
  return inputs;
}

// How many tasks there are, as far as it is known without asking brokers.
std::string Tasks(const StagePlan& plan) {
  const std::vector<Location> inputs = InputsOf(plan);
  const std::string& grouper = plan.runtime.grouper;
  const bool topics =
      std::any_of(inputs.begin(), inputs.end(), [](const Location& l) { return l.is_topic(); });
  const bool pattern =
      std::any_of(inputs.begin(), inputs.end(), [](const Location& l) { return l.is_pattern(); });
  if (grouper == "single") return "1";
  if (grouper == "by-topic") {
    return pattern ? "one for each topic of the inputs" : fmt::format("{}", inputs.size());
  }
  if (!topics) return fmt::format("{}", plan.runtime.partitions);
  if (grouper != "default") {
    return fmt::format("one for each partition of the other inputs; each reads all of {}",
                       grouper.substr(grouper.find(':') + 1));
  }
  if (inputs.size() == 1 && !pattern) return "one for each partition of the input";
  return "one for each partition number of the inputs";
}

std::string Describe(const InternalTopicNeed& need) {
  std::string text = fmt::format("{} ({}", need.topic, ToString(need.kind));
  if (!need.certain) text += ", where an input elsewhere has more partitions than those at home";
  return text + ")";
}

std::string_view Policy(const RuntimeOptions& runtime) {
  constexpr std::string_view kPolicies[] = {"fail", "skip", "dead-letter"};
  return kPolicies[static_cast<int>(runtime.on_error)];
}

// Where the state of the run is kept; empty where nothing is. That there is such a place was
// checked when the runtime was made.
std::string StateOf(const StagePlan& plan, const Topology& topology) {
  const Result<std::string> root = plan.runtime.StateDir();
  if (!root.ok() || !NeedsStateDirectory(topology, plan.runtime)) return "";
  return fmt::format("{}/{}", *root, plan.runtime.app);
}

std::string Text(const StagePlan& plan, const InternalNeeds& internal, const std::string& state,
                 std::string_view tool) {
  const RuntimeOptions& runtime = plan.runtime;
  std::string text = fmt::format("stage {}\n", tool);
  for (const PlanNode& node : plan.nodes) {
    text += fmt::format("  {:<7} {}", Kind(node), node.name);
    if (!node.parents.empty()) text += fmt::format("  from {}", fmt::join(node.parents, ", "));
    if (auto places = PlacesOf(node); !places.empty())
      text += fmt::format(": {}", fmt::join(places, ", "));
    text += '\n';
    for (const auto& [name, expression] : Expressions(node)) {
      text += fmt::format("    {}: {}\n", name, expression->text());
      text += "      " + (expression->fast() ? "runs compiled" : InLibjq(name, *expression));
      text += expression->deterministic() ? "\n" : "; not deterministic: two runs may differ\n";
    }
  }
  text += fmt::format("tasks: {}\ngrouper: {}\nthreads: {}\n", Tasks(plan), runtime.grouper,
                      runtime.threads);
  text += runtime.app.empty() ? "application: none, so no group and no commits\n"
                              : fmt::format("application: {}\n", runtime.app);
  text +=
      fmt::format("guarantee: {}\nbad records: {}", ToString(runtime.guarantee), Policy(runtime));
  if (runtime.dead_letter) text += fmt::format(", to {}", Place(*runtime.dead_letter));
  text += "\n";
  if (!state.empty()) text += fmt::format("state: {}\n", state);
  for (const InternalTopicNeed& need : internal) {
    text += fmt::format("internal topic: {}\n", Describe(need));
  }
  for (const std::string& topic : TopicsToCreate(plan)) {
    text += fmt::format("topic to create if missing: {} ({} partitions, replication factor {})\n",
                        topic, runtime.create_output->first, runtime.create_output->second);
  }
  return text;
}

Json ToJson(std::string_view name, const Expression& expression) {
  Json json = {{"name", name},
               {"text", expression.text()},
               {"engine", expression.fast() ? "compiled" : "libjq"}};
  if (!expression.fast()) json["why"] = expression.why_libjq();
  json["deterministic"] = expression.deterministic();
  return json;
}

std::string AsJson(const StagePlan& plan, const InternalNeeds& internal, const std::string& state,
                   std::string_view tool) {
  Json nodes = Json::array();
  for (const PlanNode& node : plan.nodes) {
    Json json = {{"name", node.name}, {"kind", Kind(node)}, {"from", node.parents}};
    if (auto places = PlacesOf(node); !places.empty()) json["places"] = places;
    for (const auto& [name, expression] : Expressions(node)) {
      json["expressions"].push_back(ToJson(name, *expression));
    }
    nodes.push_back(std::move(json));
  }
  Json topics = Json::array();
  for (const std::string& topic : TopicsToCreate(plan)) {
    topics.push_back({{"topic", topic},
                      {"partitions", plan.runtime.create_output->first},
                      {"replication_factor", plan.runtime.create_output->second}});
  }
  Json json = {
      {"stage", tool}, {"app", nullptr}, {"nodes", std::move(nodes)}, {"tasks", Tasks(plan)}};
  if (!plan.runtime.app.empty()) json["app"] = plan.runtime.app;
  json["grouper"] = plan.runtime.grouper;
  json["threads"] = plan.runtime.threads;
  json["guarantee"] = ToString(plan.runtime.guarantee);
  json["on_error"] = Policy(plan.runtime);
  if (!state.empty()) json["state"] = state;
  json["internal_topics"] = Json::array();
  for (const InternalTopicNeed& need : internal) {
    json["internal_topics"].push_back(
        {{"topic", need.topic}, {"kind", ToString(need.kind)}, {"certain", need.certain}});
  }
  json["create_if_missing"] = std::move(topics);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Dot(const StagePlan& plan, const InternalNeeds& internal, std::string_view tool) {
  std::string about = fmt::format("tasks: {}\ngrouper: {}", Tasks(plan), plan.runtime.grouper);
  for (const InternalTopicNeed& need : internal) about += "\ninternal topic: " + Describe(need);
  std::string text =
      fmt::format("digraph {} {{\n  rankdir=LR\n  label={}\n", Quoted(tool), Quoted(about));
  for (const PlanNode& node : plan.nodes) {
    std::string label = fmt::format("{} {}", Kind(node), node.name);
    for (const std::string& place : PlacesOf(node)) label += "\n" + place;
    for (const auto& [name, expression] : Expressions(node)) {
      label += fmt::format("\n{}: {}", name, expression->text());
    }
    const bool end = std::holds_alternative<SourceSpec>(node.spec) ||
                     std::holds_alternative<SinkSpec>(node.spec);
    std::string_view shape = end ? "oval" : "box";
    text += fmt::format("  {} [shape={}, label={}]\n", Quoted(node.name), shape, Quoted(label));
    for (const std::string& parent : node.parents) {
      text += fmt::format("  {} -> {}\n", Quoted(parent), Quoted(node.name));
    }
  }
  return text + "}\n";
}

}  // namespace

std::string Explain(const StagePlan& plan, const Topology& topology, std::string_view tool,
                    std::string_view form) {
  const InternalNeeds internal = InternalTopics(topology, plan.runtime);
  const std::string state = StateOf(plan, topology);
  if (form == "json") return AsJson(plan, internal, state, tool);
  return form == "dot" ? Dot(plan, internal, tool) : Text(plan, internal, state, tool);
}

}  // namespace kstream::tools
