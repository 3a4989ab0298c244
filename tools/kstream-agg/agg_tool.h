// kstream-agg: one row for each group of records.
#ifndef KSTREAM_TOOLS_KSTREAM_AGG_AGG_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_AGG_AGG_TOOL_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/stage_tool.h"
#include "kstream/operators.h"
#include "kstream/windows.h"

namespace kstream::tools {

class AggTool : public StageTool {
 public:
  std::string_view name() const override { return "kstream-agg"; }
  std::string_view summary() const override {
    return "Count, sum and otherwise aggregate the records of each group";
  }

 protected:
  FlagGroup OwnFlags() override;
  Status AddNodes(const Places& places, StagePlan* plan) override;

 private:
  Status SetFold(AggregateSpec* spec) const;
  Status SetWindow(bool topics, AggregateSpec* spec) const;
  Status SetEmit(bool topics, AggregateSpec* spec) const;
  // Adds what brings records of a group, or rows of a table, together. Returns the last node of it.
  std::string AddGrouping(const SourceSpec& source, AggregateSpec* spec, StagePlan* plan) const;
  void NoteReplays(const SourceSpec& source) const;

  std::optional<Expression> by_, init_, add_, sub_;
  bool table_ = false;
  std::vector<AggregateFunction> functions_;
  std::string as_;
  std::optional<WindowSpec> window_;
  std::optional<std::chrono::milliseconds> grace_, retention_, ttl_;
  std::string zone_, late_;
  std::optional<AggregateSpec::Emit> emit_;
  std::chrono::milliseconds every_{0};
  std::string store_ = "agg";
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_AGG_AGG_TOOL_H_
