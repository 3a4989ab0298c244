// kstream-filter: keeps the records for which EXPR is true.
#ifndef KSTREAM_TOOLS_KSTREAM_FILTER_FILTER_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_FILTER_FILTER_TOOL_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/stage_tool.h"

namespace kstream::tools {

class FilterTool : public StageTool {
 public:
  std::string_view name() const override { return "kstream-filter"; }
  std::string_view summary() const override {
    return "Keep the records for which EXPR is true, untouched";
  }

 protected:
  FlagGroup OwnFlags() override;
  std::string_view ExpressionHelp() const override;
  Status AddNodes(const Places& places, StagePlan* plan) override;

 private:
  Status CheckUnique() const;
  // Adds what leaves out repeats of what "filter" keeps.
  Status AddUnique(StagePlan* plan) const;

  bool negate_ = false, table_ = false;
  std::string rest_;  // --else; empty: not given
  std::optional<Expression> unique_by_;
  std::optional<std::chrono::milliseconds> within_, grace_;
  std::string store_;  // empty: not given
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_FILTER_FILTER_TOOL_H_
