#include "common/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kstream/internal_topics.h"

namespace kstream::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string_view Kind(const PlanNode& node) {
  constexpr std::string_view kKinds[] = {"source", "filter",    "map",  "sink",
                                         "group",  "aggregate", "join", "unique-key",
                                         "unique", "join",      "rekey"};
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
std::string StateOf(const Topology& topology, const RuntimeOptions& runtime) {
  const Result<std::string> root = runtime.StateDir();
  if (!root.ok() || !NeedsStateDirectory(topology, runtime)) return "";
  return fmt::format("{}/{}", *root, runtime.app);
}

std::string Text(const Explanation& plan, const RuntimeOptions& runtime) {
  std::string text = plan.title + "\n";
  for (const ShownNode& node : plan.nodes) {
    text += fmt::format("  {:<7} {}", node.kind, node.name);
    if (!node.from.empty()) text += fmt::format("  from {}", fmt::join(node.from, ", "));
    if (!node.places.empty()) text += fmt::format(": {}", fmt::join(node.places, ", "));
    text += '\n';
    for (const auto& [name, expression] : node.expressions) {
      text += fmt::format("    {}: {}\n", name, expression.text());
      text += "      " + (expression.fast() ? "runs compiled" : InLibjq(name, expression));
      text += expression.deterministic() ? "\n" : "; not deterministic: two runs may differ\n";
    }
  }
  for (const ShownStage& stage : plan.stages) {
    text += fmt::format("stage {}: {}\n  tasks: {}\n", stage.number, fmt::join(stage.nodes, ", "),
                        stage.tasks);
    if (!stage.stores.empty()) text += fmt::format("  stores: {}\n", fmt::join(stage.stores, ", "));
  }
  if (!plan.tasks.empty()) text += fmt::format("tasks: {}\n", plan.tasks);
  text += fmt::format("grouper: {}\nthreads: {}\n", runtime.grouper, runtime.threads);
  text += runtime.app.empty() ? "application: none, so no group and no commits\n"
                              : fmt::format("application: {}\n", runtime.app);
  text +=
      fmt::format("guarantee: {}\nbad records: {}", ToString(runtime.guarantee), Policy(runtime));
  if (runtime.dead_letter) text += fmt::format(", to {}", Place(*runtime.dead_letter));
  text += "\n";
  if (!plan.state.empty()) text += fmt::format("state: {}\n", plan.state);
  for (const InternalTopicNeed& need : plan.internal) {
    text += fmt::format("internal topic: {}\n", Describe(need));
  }
  for (const std::string& topic : plan.create) {
    text += fmt::format("topic to create if missing: {} ({} partitions, replication factor {})\n",
                        topic, runtime.create_output->first, runtime.create_output->second);
  }
  for (const TopicFacts& facts : plan.facts) text += FactsText(facts) + "\n";
  for (const std::string& why : plan.not_deterministic) {
    text += fmt::format("two runs may differ: {}\n", why);
  }
  for (const std::string& why : plan.not_exactly_once) {
    text += fmt::format("not exactly-once: {}\n", why);
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

Json ToJson(const ShownStage& stage) {
  return {{"number", stage.number},
          {"nodes", stage.nodes},
          {"tasks", stage.tasks},
          {"stores", stage.stores},
          {"after", stage.upstream}};
}

Json ToJson(const TopicFacts& facts) {
  Json json = {{"topic", facts.topic.name}, {"input", facts.input}, {"partitions", nullptr}};
  if (!facts.topic.cluster.empty()) json["cluster"] = facts.topic.cluster;
  if (facts.partitions) json["partitions"] = *facts.partitions;
  if (facts.input) json["records"] = facts.records;
  if (facts.lag) json["lag"] = *facts.lag;
  json["cleanup_policy"] = facts.cleanup_policy;
  json["retention_ms"] = facts.retention_ms;
  return json;
}

std::string AsJson(const Explanation& plan, const RuntimeOptions& runtime) {
  Json nodes = Json::array();
  for (const ShownNode& node : plan.nodes) {
    Json json = {{"name", node.name}, {"kind", node.kind}, {"from", node.from}};
    if (!node.places.empty()) json["places"] = node.places;
    for (const auto& [name, expression] : node.expressions) {
      json["expressions"].push_back(ToJson(name, expression));
    }
    nodes.push_back(std::move(json));
  }
  Json topics = Json::array();
  for (const std::string& topic : plan.create) {
    topics.push_back({{"topic", topic},
                      {"partitions", runtime.create_output->first},
                      {"replication_factor", runtime.create_output->second}});
  }
  Json json = {{plan.stages.empty() ? "stage" : "topology", plan.name},
               {"app", nullptr},
               {"nodes", std::move(nodes)}};
  if (!plan.tasks.empty()) json["tasks"] = plan.tasks;
  for (const ShownStage& stage : plan.stages) json["stages"].push_back(ToJson(stage));
  if (!runtime.app.empty()) json["app"] = runtime.app;
  json["grouper"] = runtime.grouper;
  json["threads"] = runtime.threads;
  json["guarantee"] = ToString(runtime.guarantee);
  json["on_error"] = Policy(runtime);
  if (!plan.state.empty()) json["state"] = plan.state;
  json["internal_topics"] = Json::array();
  for (const InternalTopicNeed& need : plan.internal) {
    json["internal_topics"].push_back(
        {{"topic", need.topic}, {"kind", ToString(need.kind)}, {"certain", need.certain}});
  }
  json["create_if_missing"] = std::move(topics);
  for (const TopicFacts& facts : plan.facts) json["topics"].push_back(ToJson(facts));
  if (!plan.stages.empty()) {
    json["not_deterministic"] = plan.not_deterministic;
    json["not_exactly_once"] = plan.not_exactly_once;
  }
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

std::string Dot(const Explanation& plan, const RuntimeOptions& runtime) {
  std::string about;
  for (const ShownStage& stage : plan.stages) {
    about += fmt::format("stage {}: tasks: {}\n", stage.number, stage.tasks);
  }
  if (!plan.tasks.empty()) about += fmt::format("tasks: {}\n", plan.tasks);
  about += fmt::format("grouper: {}", runtime.grouper);
  for (const InternalTopicNeed& need : plan.internal) {
    about += "\ninternal topic: " + Describe(need);
  }
  std::string text =
      fmt::format("digraph {} {{\n  rankdir=LR\n  label={}\n", Quoted(plan.name), Quoted(about));
  for (const ShownNode& node : plan.nodes) {
    std::string label = fmt::format("{} {}", node.kind, node.name);
    for (const std::string& place : node.places) label += "\n" + place;
    for (const auto& [name, expression] : node.expressions) {
      label += fmt::format("\n{}: {}", name, expression.text());
    }
    const bool end = node.kind == "source" || node.kind == "sink" || node.kind == "table";
    std::string_view shape = end ? "oval" : "box";
    text += fmt::format("  {} [shape={}, label={}]\n", Quoted(node.name), shape, Quoted(label));
    for (const std::string& parent : node.from) {
      text += fmt::format("  {} -> {}\n", Quoted(parent), Quoted(node.name));
    }
  }
  return text + "}\n";
}

}  // namespace

std::string FactsText(const TopicFacts& facts) {
  std::string text = fmt::format("{} {}: ", facts.input ? "input" : "output", Place(facts.topic));
  if (!facts.partitions) return text + "missing";
  text += fmt::format("{} partitions", *facts.partitions);
  if (facts.input) text += fmt::format(", {} records", facts.records);
  if (facts.lag) text += fmt::format(", {} of them to do", *facts.lag);
  if (!facts.cleanup_policy.empty()) {
    text += fmt::format(", {} after {} ms", facts.cleanup_policy, facts.retention_ms);
  }
  return text;
}

std::string PlaceText(const Location& location) { return Place(location); }

std::string Print(Explanation plan, const Topology& topology, const RuntimeOptions& runtime,
                  std::string_view form) {
  plan.internal = InternalTopics(topology, runtime);
  plan.state = StateOf(topology, runtime);
  if (form == "json") return AsJson(plan, runtime);
  return form == "dot" ? Dot(plan, runtime) : Text(plan, runtime);
}

std::string Explain(const StagePlan& plan, const Topology& topology, std::string_view tool,
                    std::string_view form) {
  Explanation explanation{.title = fmt::format("stage {}", tool), .name = std::string(tool)};
  for (const PlanNode& node : plan.nodes) {
    ShownNode shown{node.name, std::string(Kind(node)), node.parents, PlacesOf(node), {}};
    for (const auto& [name, expression] : Expressions(node)) {
      shown.expressions.emplace_back(name, *expression);
    }
    explanation.nodes.push_back(std::move(shown));
  }
  explanation.tasks = Tasks(plan);
  explanation.create = TopicsToCreate(plan);
  return Print(std::move(explanation), topology, plan.runtime, form);
}

}  // namespace kstream::tools
