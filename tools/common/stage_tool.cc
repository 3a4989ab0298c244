#include "common/stage_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "common/explain.h"
#include "common/process.h"
#include "common/spec.h"
#include "common/watcher.h"

namespace kstream::tools {
namespace {

bool UsesTopics(const PlanNode& node) {
  if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
    return source->inputs.front().is_topic();
  }
  const auto* sink = std::get_if<SinkSpec>(&node.spec);
  return sink != nullptr && (sink->topic_of_record || sink->output.is_topic());
}

// How long the end of a run may take once --timeout is over: brokers get time for the last
// acknowledgements and commits.
std::chrono::seconds GraceOf(const StagePlan& plan) {
  const bool topics = std::any_of(plan.nodes.begin(), plan.nodes.end(), UsesTopics);
  return std::chrono::seconds(topics ? 10 : 2);
}

// What is kept and how, for -X dump, in its form.
std::string DumpState(const RuntimeOptions& runtime) {
  const RuntimeOptions defaults;
  std::string text = "# state\n";
  const auto add = [&text](std::string_view name, std::string_view value, bool given) {
    text += fmt::format("{:<48}  # {}\n", fmt::format("{} = {}", name, value),
                        given ? fmt::format("--{}", name) : "default");
  };
  add("guarantee", ToString(runtime.guarantee), runtime.guarantee != defaults.guarantee);
  add("commit-interval", fmt::format("{}ms", runtime.CommitInterval().count()),
      runtime.commit_interval.has_value());
  const Result<std::string> directory = runtime.StateDir();
  add("state-dir", directory.ok() ? *directory : "", !runtime.state_dir.empty());
  const auto store_type = runtime.store_type;
  const bool on_disk = store_type == StoreSpec::Engine::kDefault
                           ? !runtime.app.empty()
                           : store_type == StoreSpec::Engine::kRocksDb;
  add("store-type", on_disk ? "rocksdb" : "memory", store_type != defaults.store_type);
  add("memory", fmt::format("{}", runtime.memory), runtime.memory != defaults.memory);
  return text;
}

}  // namespace

void StageTool::Setup(CommandLine* line) {
  line->groups.push_back(OwnFlags());
  AddStageFlags(&options_, line);
  if (!ExpressionHelp().empty()) {
    line->positional = {"EXPR", ExpressionHelp(), SetExpression(&expression_)};
  }
}

Result<StagePlan> StageTool::Plan() {
  KSTREAM_ASSIGN_OR_RETURN(Places places, FindPlaces(options_));
  return Plan(places);
}

Result<StagePlan> StageTool::Plan(const Places& places) {
  if (!expression_ && !ExpressionHelp().empty()) {
    return Status::Usage(
        fmt::format("EXPR is missing: usage: {} [OPTION]... EXPR (-h lists the options)", name()));
  }
  KSTREAM_ASSIGN_OR_RETURN(StagePlan plan, StartPlan(options_, places));
  KSTREAM_RETURN_IF_ERROR(AddNodes(places, &plan));
  return plan;
}

Status StageTool::Run(bool, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(Places places, FindPlaces(options_));
  if (options_.dump_properties) {
    std::string text;
    for (const PlanCluster& cluster : places.clusters)
      text += DumpProperties(cluster.name, cluster.properties);
    text += DumpState(options_.runtime);
    return WriteStdout(text);
  }
  KSTREAM_ASSIGN_OR_RETURN(StagePlan plan, Plan(places));
  return RunPlan(plan, reporter);
}

Status StageTool::RunPlan(const StagePlan& plan, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(Topology topology, BuildTopology(plan));
  KSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> runtime,
                           Runtime::Create(topology, plan.runtime));
  if (options_.print_spec) {
    KSTREAM_ASSIGN_OR_RETURN(std::string spec, ToSpec(plan));
    return WriteStdout(spec);
  }
  if (!options_.explain.empty())
    return WriteStdout(Explain(plan, topology, name(), options_.explain));

  StopOnSignal stop(*runtime);
  Status status;
  {
    Watcher watcher(*runtime, reporter, plan.runtime.timeout, GraceOf(plan));
    status = runtime->Run();
  }
  // What is wrong with the places themselves is found before a record is read.
  if (status.code() == StatusCode::kUsage) return status;
  reporter->Totals(runtime->counts(), plan.runtime.dead_letter.has_value());
  return status;
}

}  // namespace kstream::tools
