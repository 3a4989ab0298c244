#include "common/stage_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "common/join_nodes.h"

namespace kstream::tools {
namespace {

std::string_view Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The file that --config, or else the environment, names; the one in the home directory may be
// missing.
Result<std::vector<Property>> FileLayer(const StageOptions& options) {
  if (!options.config.empty()) {
    auto properties = ReadProperties(options.config);
    if (!properties.ok()) return properties.status().At("--config");
    return properties;
  }
  if (std::string path(Env("KSTREAM_CONFIG")); !path.empty()) {
    auto properties = ReadProperties(path);
    if (!properties.ok()) return properties.status().At("KSTREAM_CONFIG");
    return properties;
  }
  std::string path = std::string(Env("HOME")) + "/.config/kstream.conf";
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::vector<Property>();
  return ReadProperties(path);
}

Result<PlanCluster> Home(const StageOptions& options) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Property> all, FileLayer(options));
  if (auto brokers = Env("KSTREAM_BROKERS"); !brokers.empty()) {
    all.push_back({Property::Side::kBoth, "bootstrap.servers", std::string(brokers),
                   "environment KSTREAM_BROKERS"});
  }
  for (const auto* layer : {&options.command_properties, &options.flag_properties}) {
    all.insert(all.end(), layer->begin(), layer->end());
  }
  return PlanCluster{"home", std::move(all)};
}

Status CheckTopicName(const Location& location) {
  if (!location.is_topic() || location.is_pattern()) return Status::Ok();
  const std::string& name = location.name;
  if (IsTopicName(name)) return Status::Ok();
  std::string hint;
  if (size_t colon = name.find(':'); colon != std::string::npos) {
    hint = fmt::format(": a cluster is told with --cluster {}=BROKERS", name.substr(0, colon));
  }
  return Status::Usage(fmt::format("'{}' cannot be a topic's name{}", name, hint));
}

Status Membership(const RuntimeOptions& runtime, bool reads_topics, bool brokers) {
  if (!runtime.instance_id.empty() && runtime.app.empty()) {
    return Status::Usage("--instance-id needs --app: only a member of a group has an identity");
  }
  if (!runtime.app.empty() && brokers && !reads_topics) {
    return Status::Usage("--app needs a topic to read: name one, not files alone");
  }
  return Status::Ok();
}

}  // namespace

bool IsTopicName(std::string_view name) {
  auto legal = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 249 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), legal);
}

Result<Location> Places::Parse(std::string_view flag, std::string_view text) const {
  auto location = Location::Parse(text, brokers, names);
  if (!location.ok()) return location.status().At(flag);
  if (auto status = CheckTopicName(*location); !status.ok()) return status.At(flag);
  // An invalid pattern is a mistake of the command line, not of a topology.
  if (location->is_pattern())
    KSTREAM_RETURN_IF_ERROR(Reads(*location, Location::Topic("x", location->cluster)).status());
  if (location->is_topic() && location->cluster.empty() && !brokers) {
    return Status::Usage(
        fmt::format("{} {}: no brokers are known: name them with --brokers", flag, text));
  }
  return location;
}

Result<Location> Places::ParseOutput(std::string_view flag, std::string_view text) const {
  auto location = Parse(flag, text);
  if (!location.ok() || !location->is_pattern()) return location;
  return Status::Usage(fmt::format("{} {}: a pattern can only be read", flag, text));
}

Result<Places> FindPlaces(const StageOptions& options) {
  Places places;
  KSTREAM_ASSIGN_OR_RETURN(PlanCluster home, Home(options));
  places.brokers = !ToCluster(home.properties).brokers.empty();
  places.clusters.push_back(std::move(home));
  for (const auto& [name, properties] : options.clusters) {
    places.names.insert(name);
    places.clusters.push_back({name, properties});
  }
  return places;
}

Status SetErrorPolicy(const StageOptions& options, const Places& places, RuntimeOptions* runtime) {
  std::string policy = options.on_error;
  if (policy.empty()) policy = options.dead_letter.empty() ? "fail" : "dead-letter";
  if (policy == "dead-letter" && options.dead_letter.empty()) {
    return Status::Usage("--on-error dead-letter: say where they go with --dead-letter DST");
  }
  if (policy != "dead-letter" && !options.dead_letter.empty()) {
    return Status::Usage(fmt::format("--dead-letter contradicts --on-error {}", policy));
  }
  if (policy == "fail" && runtime->max_errors) {
    return Status::Usage(
        "--max-errors needs --on-error skip or dead-letter: fail stops at the first");
  }
  if (policy == "skip") runtime->on_error = OnError::kSkip;
  if (policy == "dead-letter") {
    runtime->on_error = OnError::kDeadLetter;
    KSTREAM_ASSIGN_OR_RETURN(runtime->dead_letter,
                             places.ParseOutput("--dead-letter", options.dead_letter));
  }
  return Status::Ok();
}

void AddClusters(const Places& places, RuntimeOptions* runtime) {
  runtime->home = ToCluster(places.clusters.front().properties);
  for (size_t i = 1; i < places.clusters.size(); ++i) {
    const PlanCluster& cluster = places.clusters[i];
    runtime->clusters[cluster.name] = ToCluster(cluster.properties);
  }
}

Result<StagePlan> StartPlan(const StageOptions& options, const Places& places) {
  StagePlan plan;
  plan.runtime = options.runtime;
  AddClusters(places, &plan.runtime);
  if (options.outputs.size() > 1) {
    return Status::Usage("--output is given twice: tee(1) writes one stream to two places");
  }
  KSTREAM_RETURN_IF_ERROR(SetErrorPolicy(options, places, &plan.runtime));
  return plan;
}

Status AddSource(const StageOptions& options, const Places& places, std::string name,
                 const std::pair<std::string_view, std::vector<std::string>>& inputs,
                 StagePlan* plan) {
  SourceSpec source = options.source;
  for (const std::string& text : inputs.second) {
    KSTREAM_ASSIGN_OR_RETURN(Location input, places.Parse(inputs.first, text));
    bool twice =
        std::find(source.inputs.begin(), source.inputs.end(), input) != source.inputs.end();
    if (twice) return Status::Usage(fmt::format("{} {} is given twice", inputs.first, text));
    source.inputs.push_back(std::move(input));
  }
  plan->nodes.push_back({std::move(name), {}, std::move(source)});
  return Status::Ok();
}

bool ReadsTopics(const SourceSpec& source) {
  return std::ranges::any_of(source.inputs, &Location::is_topic);
}

// The default grouper gives each partition number to one task, so that a topic's own keys are
// together; any other grouping may scatter them, as a key of another expression does. Files are
// spread by the key that they are read with.
bool KeysScattered(const SourceSpec& source, const RuntimeOptions& runtime) {
  if (!ReadsTopics(source) || runtime.grouper == "single") return false;
  const bool several = source.inputs.size() > 1 || source.inputs.front().is_pattern();
  return source.key || runtime.grouper != "default" ||
         (several && runtime.app.empty());  // with an app their partitions must be equal in number
}

bool GroupsScattered(const SourceSpec& source, const RuntimeOptions& runtime, bool by_key) {
  if (!ReadsTopics(source)) return runtime.partitions > 1 && !by_key;
  if (runtime.grouper == "single") return false;
  return !by_key || KeysScattered(source, runtime);
}

Status CheckSources(const StagePlan& plan, const Places& places) {
  const bool topics = std::ranges::any_of(plan.nodes, [](const PlanNode& node) {
    const auto* source = std::get_if<SourceSpec>(&node.spec);
    return source && ReadsTopics(*source);
  });
  KSTREAM_RETURN_IF_ERROR(Membership(plan.runtime, topics, places.brokers));
  if (!topics && plan.runtime.from != "beginning") {
    return Status::Usage(
        "--from needs brokers and a topic to read: files are read from their beginning");
  }
  return Status::Ok();
}

std::string OutputOf(const StageOptions& options) {
  return options.outputs.empty() ? "-" : options.outputs.front();
}

void AddSink(const StageOptions& options, std::string name, Location output, std::string parent,
             StagePlan* plan) {
  SinkSpec sink = options.sink;
  sink.output = std::move(output);
  sink.partition_of_record = options.partition.has_value();
  plan->nodes.push_back({std::move(name), {std::move(parent)}, std::move(sink)});
}

void AddRepartition(std::string parent, std::string sink, std::string source,
                    const std::string& topic, StagePlan* plan) {
  const Location via = Location::Repartition(topic);
  const SerdeNames serdes = plan->runtime.serdes;
  plan->nodes.push_back(
      {std::move(sink), {std::move(parent)}, SinkSpec{.output = via, .serdes = serdes}});
  plan->nodes.push_back({std::move(source), {}, SourceSpec{.inputs = {via}, .serdes = serdes}});
}

Status CheckStoreName(const std::string& store) {
  if (IsTopicName(store)) return Status::Ok();
  return Status::Usage(
      fmt::format("--store '{}' needs a name of letters, digits, '.', '_' and '-'", store));
}

Status CheckCloseAtEnd(bool topics, const RuntimeOptions& runtime) {
  if (!topics || !runtime.close_at_end || runtime.exit_at_end) return Status::Ok();
  return Status::Usage("--close-at-end needs --exit-at-end: what it closes is open at the end");
}

Status AddRowSinks(const StageOptions& options, const Places& places, const std::string& late,
                   const std::string& parent, StagePlan* plan) {
  KSTREAM_ASSIGN_OR_RETURN(Location output, places.ParseOutput("--output", OutputOf(options)));
  AddSink(options, "out", std::move(output), parent, plan);
  SerdeNames rows = options.runtime.serdes;
  rows.value = "json";
  std::get<SinkSpec>(plan->nodes.back().spec).serdes = std::move(rows);
  if (late.empty()) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(Location aside, places.ParseOutput("--late", late));
  AddSink(options, "late", std::move(aside), parent, plan);
  return Status::Ok();
}

namespace {

// A tool is one stage, so what it writes must not be what it reads.
Status CheckOutputs(const StagePlan& plan) {
  for (const PlanNode& node : plan.nodes) {
    const auto* sink = std::get_if<SinkSpec>(&node.spec);
    if (!sink || sink->topic_of_record || !sink->output.is_topic()) continue;
    for (const PlanNode& other : plan.nodes) {
      const auto* source = std::get_if<SourceSpec>(&other.spec);
      if (!source) continue;
      for (const Location& input : source->inputs) {
        KSTREAM_ASSIGN_OR_RETURN(const bool reads, Reads(input, sink->output));
        if (reads) {
          return Status::Usage(
              fmt::format("output {} is matched by input {}: it would read what it writes",
                          sink->output.name, input.name));
        }
      }
    }
  }
  return Status::Ok();
}

bool IsOperator(const PlanNode& node) {
  return !std::holds_alternative<SourceSpec>(node.spec) &&
         !std::holds_alternative<SinkSpec>(node.spec);
}

Result<ProcessorSupplier> SupplierOf(const PlanNode& node) {
  if (const auto* filter = std::get_if<FilterSpec>(&node.spec)) return Filter(*filter);
  if (const auto* group = std::get_if<GroupBySpec>(&node.spec)) return GroupBy(*group);
  if (const auto* aggregate = std::get_if<AggregateSpec>(&node.spec)) return Aggregate(*aggregate);
  if (const auto* key = std::get_if<DistinctKeySpec>(&node.spec)) return DistinctKey(*key);
  if (const auto* distinct = std::get_if<DistinctSpec>(&node.spec)) return Distinct(*distinct);
  if (const auto* rekey = std::get_if<RekeySpec>(&node.spec)) return RekeyTable(*rekey);
  return Map(std::get<MapSpec>(node.spec));
}

}  // namespace

std::string StoreOf(const PlanNode& node) {
  if (const auto* aggregate = std::get_if<AggregateSpec>(&node.spec)) return aggregate->store;
  if (const auto* group = std::get_if<GroupBySpec>(&node.spec)) return group->table;
  if (const auto* join = std::get_if<StreamJoinSpec>(&node.spec)) return join->store;
  if (const auto* distinct = std::get_if<DistinctSpec>(&node.spec)) return distinct->store;
  if (const auto* join = std::get_if<TableJoin>(&node.spec)) return join->spec.store;
  if (const auto* rekey = std::get_if<RekeySpec>(&node.spec)) return rekey->store;
  return "";
}

Result<Topology> BuildTopology(const StagePlan& plan) {
  KSTREAM_RETURN_IF_ERROR(CheckOutputs(plan));
  TopologyBuilder builder;
  const bool one_operator = std::ranges::count_if(plan.nodes, &IsOperator) == 1;
  for (const PlanNode& node : plan.nodes) {
    if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
      builder.AddSource(node.name, *source);
    } else if (const auto* sink = std::get_if<SinkSpec>(&node.spec)) {
      builder.AddSink(node.name, *sink, node.parents);
    } else if (const auto* join = std::get_if<StreamJoinSpec>(&node.spec)) {
      KSTREAM_RETURN_IF_ERROR(AddJoin(node, *join, &builder));
    } else if (const auto* tables = std::get_if<TableJoin>(&node.spec)) {
      KSTREAM_RETURN_IF_ERROR(AddJoin(node, *tables, &builder));
    } else {
      auto supplier = SupplierOf(node);
      // All that an operator of a finished plan can find wrong are the names of serdes.
      if (!supplier.ok()) return supplier.status().At("-s");
      // The tool's name stands before each error, and is the operator's.
      if (one_operator) supplier->unnamed = true;
      builder.AddProcessor(node.name, *std::move(supplier), node.parents);
      if (const std::string store = StoreOf(node); !store.empty()) {
        builder.AddStore(StoreSpec{.name = store}, {node.name});
      }
    }
  }
  return builder.Build();
}

std::vector<std::pair<std::string, const Expression*>> Expressions(const PlanNode& node) {
  std::vector<std::pair<std::string, const Expression*>> all;
  auto add = [&all](std::string name, const std::optional<Expression>& expression) {
    if (expression) all.emplace_back(std::move(name), &*expression);
  };
  auto add_route = [&add](const RouteSpec& route) {
    add("to", route.to);
    add("partition", route.partition);
  };
  if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
    add("key", source->key);
    add("timestamp", source->timestamp_expression);
  } else if (const auto* filter = std::get_if<FilterSpec>(&node.spec)) {
    all.emplace_back(filter->negate ? "filter-not" : "filter", &filter->keep);
    add_route(filter->route);
  } else if (const auto* map = std::get_if<MapSpec>(&node.spec)) {
    all.emplace_back("map", &map->value);
    add("tombstone", map->tombstone);
    add("set-key", map->key);
    for (const auto& [name, expression] : map->headers)
      all.emplace_back("header " + name, &expression);
    add_route(map->route);
  } else if (const auto* group = std::get_if<GroupBySpec>(&node.spec)) {
    all.emplace_back("by", &group->by);
  } else if (const auto* aggregate = std::get_if<AggregateSpec>(&node.spec)) {
    add("by", aggregate->by);
    for (const AggregateFunction& function : aggregate->functions) {
      add(fmt::format("{} {}", ToString(function.kind), NameOf(function)), function.argument);
    }
    if (aggregate->fold) {
      all.emplace_back("init", &aggregate->fold->init);
      all.emplace_back("add", &aggregate->fold->add);
      add("sub", aggregate->fold->sub);
    }
    add_route(aggregate->route);
  } else if (const auto* join = std::get_if<StreamJoinSpec>(&node.spec)) {
    add("value", join->value);
    add_route(join->route);
  } else if (const auto* key = std::get_if<DistinctKeySpec>(&node.spec)) {
    all.emplace_back("unique-by", &key->by);
  } else if (const auto* distinct = std::get_if<DistinctSpec>(&node.spec)) {
    add("unique-by", distinct->by);
    add_route(distinct->route);
  } else if (const auto* tables = std::get_if<TableJoin>(&node.spec)) {
    add("value", tables->spec.value);
    add_route(tables->spec.route);
  } else if (const auto* rekey = std::get_if<RekeySpec>(&node.spec)) {
    all.emplace_back("key", &rekey->key);
  }
  return all;
}

}  // namespace kstream::tools
