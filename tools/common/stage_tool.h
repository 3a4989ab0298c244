// StageTool: what kstream-filter, kstream-map and their kin share: flags, and the way from a plan
// to a run or to a description of it. A tool adds its flags and its nodes.
#ifndef KSTREAM_TOOLS_COMMON_STAGE_TOOL_H_
#define KSTREAM_TOOLS_COMMON_STAGE_TOOL_H_

#include <optional>

#include "common/stage_options.h"
#include "common/stage_plan.h"
#include "common/tool.h"
#include "kstream/expression.h"
#include "kstream/status.h"

namespace kstream::tools {

class StageTool : public Tool {
 public:
  void Setup(CommandLine* line) override;
  Status Run(bool has_positional, Reporter* reporter) override;

  // The plan of a parsed command line. kUsage, kExpression.
  Result<StagePlan> Plan();

 protected:
  // Flags of this tool alone, and what EXPR means; empty: it takes none.
  virtual FlagGroup OwnFlags() = 0;
  virtual std::string_view ExpressionHelp() const { return {}; }
  // Whether what it reads is --input: the source `in`. One that does not adds sources of its own.
  virtual bool ReadsInput() const { return true; }
  virtual Status AddSources(const Places& places, StagePlan* plan);
  // Adds the tool's processors and sinks below its sources.
  virtual Status AddNodes(const Places& places, StagePlan* plan) = 0;

  StageOptions options_;
  std::optional<Expression> expression_;  // EXPR; set when AddNodes is called, if it is taken

 private:
  Result<StagePlan> Plan(const Places& places);
  Status RunPlan(const StagePlan& plan, Reporter* reporter);
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_STAGE_TOOL_H_
