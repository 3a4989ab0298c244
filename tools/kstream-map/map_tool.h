// kstream-map: makes 0..n new values of each value.
#ifndef KSTREAM_TOOLS_KSTREAM_MAP_MAP_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_MAP_MAP_TOOL_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/stage_tool.h"

namespace kstream::tools {

class MapTool : public StageTool {
 public:
  MapTool();
  std::string_view name() const override { return "kstream-map"; }
  std::string_view summary() const override {
    return "Replace the value of each record by what EXPR makes of it: none, one or many";
  }

 protected:
  FlagGroup OwnFlags() override;
  std::string_view ExpressionHelp() const override;
  Status AddNodes(const Places& places, StagePlan* plan) override;

 private:
  std::optional<Expression> tombstone_, key_, to_;
  std::vector<std::pair<std::string, Expression>> headers_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_MAP_MAP_TOOL_H_
