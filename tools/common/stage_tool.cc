#include "common/stage_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/explain.h"
#include "common/process.h"
#include "common/run.h"
#include "common/spec.h"

namespace kstream::tools {
namespace {

bool UsesTopics(const PlanNode& node) {
  if (const auto* source = std::get_if<SourceSpec>(&node.spec)) {
    return source->inputs.front().is_topic();
  }
  const auto* sink = std::get_if<SinkSpec>(&node.spec);
  return sink != nullptr && (sink->topic_of_record || sink->output.is_topic());
}

}  // namespace

void StageTool::Setup(CommandLine* line) {
  line->groups.push_back(OwnFlags());
  AddStageFlags(&options_, line, ReadsInput());
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
  KSTREAM_RETURN_IF_ERROR(AddSources(places, &plan));
  KSTREAM_RETURN_IF_ERROR(CheckSources(plan, places));
  KSTREAM_RETURN_IF_ERROR(AddNodes(places, &plan));
  return plan;
}

Status StageTool::AddSources(const Places& places, StagePlan* plan) {
  std::vector<std::string> inputs = options_.inputs;
  if (inputs.empty()) inputs.push_back("-");
  return AddSource(options_, places, "in", {"--input", inputs}, plan);
}

Status StageTool::Run(bool, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(Places places, FindPlaces(options_));
  if (options_.dump_properties) {
    return WriteStdout(DumpOptions(places.clusters, options_.runtime));
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

  KSTREAM_ASSIGN_OR_RETURN(
      const auto http, HttpOf(options_, [&] { return Explain(plan, topology, name(), "json"); }));
  const bool topics = std::ranges::any_of(plan.nodes, UsesTopics);
  return RunToEnd(runtime.get(), plan.runtime, topics, http, reporter);
}

}  // namespace kstream::tools
