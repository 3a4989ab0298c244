#include "common/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace kstream::tools {
namespace {

using Json = nlohmann::ordered_json;

// Prints expressions: jq as a string; JsonLogic as the object that it is, in the spelling that was
// typed, since a JSON library would change long numbers. A text from a command line holds no NUL,
// so a string with one marks the place where the object belongs.
class ExpressionPrinter {
 public:
  Json Put(const Expression& expression) {
    std::string text(expression.text());
    if (!IsJsonLogic(text)) return text;
    objects_.push_back(text);
    return Mark(objects_.size() - 1);
  }

  std::string Resolve(std::string json) const {
    for (size_t i = 0; i < objects_.size(); ++i) {
      std::string mark = fmt::format("\"\\u0000{}\\u0000\"", i);
      if (size_t at = json.find(mark); at != std::string::npos) {
        json.replace(at, mark.size(), objects_[i]);
      }
    }
    return json;
  }

 private:
  static std::string Mark(size_t i) {
    std::string mark = fmt::format("{}", i);
    return std::string(1, '\0') + mark + std::string(1, '\0');
  }

  // The rule of the command line; the text is known to compile.
  static bool IsJsonLogic(const std::string& text) {
    return HasOneMember(text) &&
           Expression::Compile(text, Language::kJsonLogic, {"out", "left", "right"}).ok();
  }

  // Whether a text, if it is JSON, is an object with one member. Numbers are left alone: a library
  // that converts them would refuse long ones.
  static bool HasOneMember(std::string_view text) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == text.npos || text[start] != '{') return false;
    int depth = 0;
    int members = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '"') in_string = !in_string;
      if (in_string && c == '\\') ++i;  // the next one is escaped, a quote too
      if (in_string) continue;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c == ':' && depth == 1) ++members;
    }
    return members == 1;
  }

  std::vector<std::string> objects_;
};

std::string Print(std::chrono::milliseconds duration) {
  return fmt::format("{}ms", duration.count());
}

Json Source(const PlanNode& node, const SourceSpec& source, ExpressionPrinter* printer) {
  Json json;
  Json inputs = Json::array();
  for (const Location& input : source.inputs) inputs.push_back(input.ToString());
  json[source.table ? "table" : "source"] = inputs.size() == 1 ? inputs.front() : inputs;
  const SourceSpec defaults;
  if (source.format != defaults.format) json["in"] = source.format;
  for (const auto& [name, expression] : Expressions(node)) json[name] = printer->Put(*expression);
  if (!source.timestamp_expression && source.timestamp != defaults.timestamp) {
    json["timestamp"] = source.timestamp;
  }
  if (source.timestamp_unit != defaults.timestamp_unit) {
    json["timestamp-unit"] = source.timestamp_unit;
  }
  return json;
}

// `partition`: the partition that a record goes to, if the node before it has not decided.
Json Sink(const PlanNode& node, const SinkSpec& sink, const Expression* partition,
          ExpressionPrinter* printer) {
  Json json = {{"from", node.parents.front()}};
  // No topic can be called so: it stands for the topic that each record names.
  json["sink"] = sink.topic_of_record ? "$topic" : sink.output.ToString();
  const SinkSpec defaults;
  if (sink.format == "format") {
    json["format"] = sink.format_text;
  } else if (sink.format != defaults.format) {
    json["out"] = sink.format;
  }
  if (sink.partition_of_record) {
    json["partition"] = partition ? printer->Put(*partition) : Json("$partition");
  }
  return json;
}

Json Filter(const PlanNode& node, const FilterSpec& filter, ExpressionPrinter* printer) {
  Json json = {{"from", node.parents.front()}};
  json[filter.negate ? "filter-not" : "filter"] = printer->Put(filter.keep);
  if (filter.table) json["rows"] = true;  // a node with "table" would be one
  return json;
}

// A filter with two ways out is two filters in a topology file, one for each.
void AddFilter(const PlanNode& node, const FilterSpec& filter, ExpressionPrinter* printer,
               Json* nodes) {
  (*nodes)[node.name] = Filter(node, filter, printer);
  if (filter.rest.empty()) return;
  FilterSpec rest = filter;
  rest.negate = !filter.negate;
  (*nodes)[node.name + "-rest"] = Filter(node, rest, printer);
}

// kstream-map makes any number of records of one.
Json Map(const PlanNode& node, ExpressionPrinter* printer) {
  Json json = {{"from", node.parents.front()}};
  constexpr std::string_view kHeader = "header ";
  for (const auto& [name, expression] : Expressions(node)) {
    if (name.starts_with(kHeader)) {
      Json header = {{"name", name.substr(kHeader.size())}, {"value", printer->Put(*expression)}};
      json["header"].push_back(std::move(header));
    } else {
      json[name == "map" ? "flat-map" : name] = printer->Put(*expression);
    }
  }
  return json;
}

std::string EmitOf(const AggregateSpec& spec) {
  constexpr std::string_view kNames[] = {"final", "update", "change"};
  if (spec.emit == AggregateSpec::Emit::kEvery) return "every:" + Print(spec.every);
  return std::string(kNames[static_cast<size_t>(spec.emit)]);
}

// Options carry the names of the flags.
void AddWindow(const WindowSpec& window, Json* aggregate) {
  (*aggregate)["window"] = window.ToString();
  if (window.grace.count() > 0) (*aggregate)["grace"] = Print(window.grace);
  if (!window.zone.empty()) (*aggregate)["timezone"] = window.zone;
  if (window.retention.count() > 0) (*aggregate)["retention"] = Print(window.retention);
}

// The fields of functions are those of the flags; what they stand in first is the order of results,
// unless a flag was given again after others.
void AddFunctions(const AggregateSpec& spec, ExpressionPrinter* printer, Json* aggregate) {
  Json order = Json::array();
  for (const AggregateFunction& function : spec.functions) {
    std::string field(ToString(function.kind));
    std::ranges::replace(field, '_', '-');
    const std::string name(NameOf(function));
    // A count of all records has no expression.
    (*aggregate)[field][name] = function.argument ? printer->Put(*function.argument) : Json();
    order.push_back(name);
  }
  Json printed = Json::array();
  for (const auto& [field, functions] : aggregate->items()) {
    if (!functions.is_object()) continue;
    for (const auto& [name, argument] : functions.items()) printed.push_back(name);
  }
  if (printed != order) (*aggregate)["order"] = std::move(order);
}

// By what name nodes below take the records that are too late.
std::string LateOf(const PlanNode& node) { return node.name + "-late"; }

// `group`: the node before a repartition, which a topology file leaves to whoever runs it.
Json Aggregation(const PlanNode& node, const AggregateSpec& spec, const PlanNode* group,
                 ExpressionPrinter* printer) {
  Json aggregate = Json::object();
  const std::optional<Expression> by = group ? std::get<GroupBySpec>(group->spec).by : spec.by;
  if (spec.table) aggregate["table"] = true;
  if (by) aggregate["by"] = printer->Put(*by);
  AddFunctions(spec, printer, &aggregate);
  if (spec.fold) {
    aggregate["init"] = printer->Put(spec.fold->init);
    aggregate["add"] = printer->Put(spec.fold->add);
    if (spec.fold->sub) aggregate["sub"] = printer->Put(*spec.fold->sub);
    aggregate["as"] = spec.fold->name;
  }
  if (spec.window) AddWindow(*spec.window, &aggregate);
  if (spec.ttl.count() > 0) aggregate["ttl"] = Print(spec.ttl);
  if (!spec.late.empty()) aggregate["late"] = LateOf(node);
  aggregate["emit"] = EmitOf(spec);
  Json json = {{"from", group ? "in" : node.parents.front()}, {"aggregate", std::move(aggregate)}};
  if (!spec.store.empty()) json["store"] = spec.store;
  return json;
}

// A side of a join that is repartitioned is its source: whoever runs the file sees to the rest.
std::string SideOf(const std::string& parent) {
  const size_t keyed = parent.rfind("-keyed");
  return parent.substr(0, keyed);
}

Json Join(const PlanNode& node, const StreamJoinSpec& spec, ExpressionPrinter* printer) {
  const JoinWindows& windows = spec.windows;
  Json join = {{"left", SideOf(node.parents.at(0))},
               {"right", SideOf(node.parents.at(1))},
               {"type", ToString(spec.type)},
               {"before", Print(windows.before)}};
  if (spec.match == JoinMatch::kAll) join["after"] = Print(windows.after);
  if (spec.match != JoinMatch::kAll) join["prior"] = true;
  if (spec.match == JoinMatch::kLatest) join["latest"] = true;
  if (windows.grace.count() > 0) join["grace"] = Print(windows.grace);
  if (spec.value) join["value"] = printer->Put(*spec.value);
  if (!spec.late.empty()) join["late"] = LateOf(node);
  Json json = {{"join", std::move(join)}};
  if (!spec.store.empty()) json["store"] = spec.store;
  return json;
}

// `key`: the node before a repartition. What it filters out and what repeats meet in a merge.
Json Unique(const PlanNode& node, const DistinctSpec& spec, const PlanNode* key,
            ExpressionPrinter* printer) {
  const Expression& by = key ? std::get<DistinctKeySpec>(key->spec).by : *spec.by;
  Json unique = {{"by", printer->Put(by)}, {"within", Print(spec.within)}};
  if (spec.grace) unique["grace"] = Print(*spec.grace);
  if (!spec.rest.empty()) unique["rest"] = node.name + "-rest";
  Json json = {{"from", (key ? *key : node).parents.front()}, {"unique", std::move(unique)}};
  if (!spec.store.empty()) json["store"] = spec.store;
  return json;
}

// The nodes say that they are tables. The rows are in the store of the one to the right, or in
// those of the table that two make. In a topology a table's node is called as its store, so that
// this can have the join's own name where it was given another.
Json JoinTables(const PlanNode& node, const TableJoin& tables, ExpressionPrinter* printer,
                Json* nodes) {
  const TableJoinSpec& spec = tables.spec;
  const std::string right = SideOf(node.parents.at(1));
  Json join = {
      {"left", SideOf(node.parents.at(0))}, {"right", right}, {"type", ToString(spec.type)}};
  if (spec.value) join["value"] = printer->Put(*spec.value);
  Json json = {{"join", std::move(join)}};
  Json& keeper = tables.of == TableJoin::Of::kTables ? json : (*nodes)[right];
  if (spec.store != node.name) keeper["store"] = spec.store;
  return json;
}

// Nodes of a repartition, which stand between a group and its aggregate.
bool BelongsToRepartition(const PlanNode& node) {
  const auto* source = std::get_if<SourceSpec>(&node.spec);
  const auto* sink = std::get_if<SinkSpec>(&node.spec);
  constexpr auto kKind = Location::Kind::kRepartition;
  return (source && source->inputs.front().kind == kKind) || (sink && sink->output.kind == kKind);
}

// What gives a sink with two parents its records.
std::string MergeOf(const PlanNode& sink) { return sink.name + "-all"; }

// Which of the node before it a sink takes, and by which expression it chooses partitions.
Json Outlet(const StagePlan& plan, const PlanNode& node, const SinkSpec& sink,
            ExpressionPrinter* printer) {
  const auto parent = std::ranges::find(plan.nodes, node.parents.front(), &PlanNode::name);
  std::string from = parent->name;
  const std::optional<Expression>* partition = nullptr;
  if (const auto* filter = std::get_if<FilterSpec>(&parent->spec)) {
    partition = &filter->route.partition;
    if (!filter->rest.empty() && node.name == filter->rest) from += "-rest";
  }
  // Rows and late records go apart.
  const auto choose = [&](const auto& spec) {
    const bool late = !spec.late.empty() && node.name == spec.late;
    if (late) from = LateOf(*parent);
    if (!late) partition = &spec.route.partition;
  };
  if (const auto* aggregate = std::get_if<AggregateSpec>(&parent->spec)) choose(*aggregate);
  if (const auto* join = std::get_if<StreamJoinSpec>(&parent->spec)) choose(*join);
  if (const auto* join = std::get_if<TableJoin>(&parent->spec)) {
    partition = &join->spec.route.partition;
  }
  if (const auto* distinct = std::get_if<DistinctSpec>(&parent->spec)) {
    partition = &distinct->route.partition;
    if (node.name == distinct->rest) from += "-rest";
  }
  Json json = Sink(node, sink, partition && *partition ? &**partition : nullptr, printer);
  json["from"] = node.parents.size() == 1 ? from : MergeOf(node);
  return json;
}

Json Nodes(const StagePlan& plan, ExpressionPrinter* printer) {
  Json nodes = Json::object();
  const PlanNode *group = nullptr, *key = nullptr;
  for (const PlanNode& node : plan.nodes) {
    if (BelongsToRepartition(node)) continue;
    if (std::holds_alternative<GroupBySpec>(node.spec)) {
      group = &node;
    } else if (const auto* aggregate = std::get_if<AggregateSpec>(&node.spec)) {
      nodes[node.name] = Aggregation(node, *aggregate, group, printer);
    } else if (const auto* join = std::get_if<StreamJoinSpec>(&node.spec)) {
      nodes[node.name] = Join(node, *join, printer);
    } else if (const auto* tables = std::get_if<TableJoin>(&node.spec)) {
      nodes[node.name] = JoinTables(node, *tables, printer, &nodes);
    } else if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
      nodes[node.name] = Source(node, *source, printer);
    } else if (const auto* filter = std::get_if<FilterSpec>(&node.spec)) {
      AddFilter(node, *filter, printer, &nodes);
    } else if (std::holds_alternative<DistinctKeySpec>(node.spec)) {
      key = &node;
    } else if (const auto* distinct = std::get_if<DistinctSpec>(&node.spec)) {
      nodes[node.name] = Unique(node, *distinct, key, printer);
    } else if (const auto* sink = std::get_if<SinkSpec>(&node.spec)) {
      if (node.parents.size() > 1) {
        for (const std::string& parent : node.parents) {
          nodes[MergeOf(node)]["merge"].push_back(parent + "-rest");
        }
      }
      nodes[node.name] = Outlet(plan, node, *sink, printer);
    } else {
      nodes[node.name] = Map(node, printer);
    }
  }
  return nodes;
}

// Options carry the names of the flags; those that have their default are left out.
void AddOptions(const RuntimeOptions& runtime, Json* json) {
  const RuntimeOptions defaults;
  auto& out = *json;
  if (runtime.from_given) out["from"] = runtime.from;
  if (runtime.exit_at_end) out["exit-at-end"] = true;
  if (runtime.close_at_end) out["close-at-end"] = true;
  if (runtime.idle_advance) out["idle-advance"] = Print(*runtime.idle_advance);
  if (runtime.limit) out["limit"] = *runtime.limit;
  if (runtime.timeout) out["timeout"] = Print(*runtime.timeout);
  if (runtime.partitions != defaults.partitions) out["partitions"] = runtime.partitions;
  if (runtime.serdes.key != defaults.serdes.key) out["s"]["key"] = runtime.serdes.key;
  if (runtime.serdes.value != defaults.serdes.value) out["s"]["value"] = runtime.serdes.value;
  if (runtime.threads != defaults.threads) out["threads"] = runtime.threads;
  if (runtime.guarantee != defaults.guarantee) out["guarantee"] = ToString(runtime.guarantee);
  if (runtime.commit_interval) out["commit-interval"] = Print(*runtime.commit_interval);
  if (!runtime.state_dir.empty()) out["state-dir"] = runtime.state_dir;
  if (runtime.store_type != defaults.store_type) {
    out["store-type"] = runtime.store_type == StoreSpec::Engine::kMemory ? "memory" : "rocksdb";
  }
  if (runtime.memory != defaults.memory) out["memory"] = fmt::format("{}", runtime.memory);
  if (runtime.standby == RuntimeOptions::kAllStandbys) {
    out["standby"] = "all";
  } else if (runtime.standby != defaults.standby) {
    out["standby"] = runtime.standby;
  }
  if (!runtime.instance_id.empty()) out["instance-id"] = runtime.instance_id;
  if (runtime.grouper != defaults.grouper) out["grouper"] = runtime.grouper;
  if (runtime.max_idle != defaults.max_idle) out["max-idle"] = Print(runtime.max_idle);
  if (runtime.max_skew) out["max-skew"] = Print(*runtime.max_skew);
  if (runtime.on_error == OnError::kSkip) out["on-error"] = "skip";
  if (runtime.dead_letter) out["dead-letter"] = runtime.dead_letter->ToString();
  if (runtime.max_errors) out["max-errors"] = *runtime.max_errors;
  if (runtime.partitioner != defaults.partitioner) out["partitioner"] = runtime.partitioner;
  if (runtime.dry_run) out["dry-run"] = true;
  if (runtime.create_output) {
    out["create-output"] =
        fmt::format("{}:{}", runtime.create_output->first, runtime.create_output->second);
  }
}

}  // namespace

Result<std::string> ToSpec(const StagePlan& plan) {
  for (const PlanNode& node : plan.nodes) {
    if (!std::holds_alternative<RekeySpec>(node.spec)) continue;
    return Status::Usage(
        "--print-spec: a topology file cannot say by what other key than their own the rows of a "
        "table are joined");
  }
  ExpressionPrinter printer;
  Json json = Json::object();
  if (!plan.runtime.app.empty()) json["app"] = plan.runtime.app;
  AddOptions(plan.runtime, &json);
  json["nodes"] = Nodes(plan, &printer);
  try {
    return printer.Resolve(json.dump(2)) + "\n";
  } catch (const Json::exception&) {
    return Status::Usage(
        "--print-spec: a name on the command line is not UTF-8: JSON cannot hold it");
  }
}

}  // namespace kstream::tools
