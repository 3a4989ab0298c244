#include "common/stage_tool.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "common/explain.h"
#include "common/process.h"
#include "common/spec.h"
#include "common/watcher.h"

namespace kstream::tools {

void StageTool::Setup(CommandLine* line) {
  line->groups.push_back(OwnFlags());
  AddStageFlags(&options_, line);
  line->positional = {"EXPR", ExpressionHelp(), SetExpression(&expression_)};
}

Result<StagePlan> StageTool::Plan() {
  KSTREAM_ASSIGN_OR_RETURN(Places places, FindPlaces(options_));
  return Plan(places);
}

Result<StagePlan> StageTool::Plan(const Places& places) {
  if (!expression_) {
    return Status::Usage(
        fmt::format("EXPR is missing: usage: {} [OPTION]... EXPR (-h lists the options)", name()));
  }
  KSTREAM_ASSIGN_OR_RETURN(StagePlan plan, StartPlan(options_, places));
  KSTREAM_RETURN_IF_ERROR(AddNodes(places, &plan));
  KSTREAM_RETURN_IF_ERROR(CheckOutputs(plan));
  return plan;
}

Status StageTool::Run(bool, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(Places places, FindPlaces(options_));
  if (options_.dump_properties) {
    std::string text;
    for (const PlanCluster& cluster : places.clusters)
      text += Dump(cluster.name, cluster.properties);
    return WriteStdout(text);
  }
  KSTREAM_ASSIGN_OR_RETURN(StagePlan plan, Plan(places));
  return RunPlan(plan, reporter);
}

Status StageTool::RunPlan(const StagePlan& plan, Reporter* reporter) {
  KSTREAM_ASSIGN_OR_RETURN(Topology topology, BuildTopology(plan));
  KSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> runtime,
                           Runtime::Create(std::move(topology), plan.runtime));
  if (options_.print_spec) {
    KSTREAM_ASSIGN_OR_RETURN(std::string spec, ToSpec(plan));
    return WriteStdout(spec);
  }
  if (!options_.explain.empty()) return WriteStdout(Explain(plan, name(), options_.explain));

  StopOnSignal stop(*runtime);
  Status status;
  {
    Watcher watcher(*runtime, reporter);
    status = runtime->Run();
  }
  reporter->Totals(runtime->counts(), plan.runtime.dead_letter.has_value());
  return status;
}

}  // namespace kstream::tools
