// kstream-join: records of two inputs that belong together.
#ifndef KSTREAM_TOOLS_KSTREAM_JOIN_JOIN_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_JOIN_JOIN_TOOL_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/stage_tool.h"
#include "kstream/joins.h"

namespace kstream::tools {

class JoinTool : public StageTool {
 public:
  std::string_view name() const override { return "kstream-join"; }
  std::string_view summary() const override {
    return "Join the records of two inputs by key: streams near in time, and tables";
  }

 protected:
  FlagGroup OwnFlags() override;
  bool ReadsInput() const override { return false; }
  Status AddSources(const Places& places, StagePlan* plan) override;
  Status AddNodes(const Places& places, StagePlan* plan) override;

 private:
  using Length = std::optional<std::chrono::milliseconds>;
  // What the two inputs are.
  enum class Kind : uint8_t { kStreams, kTable, kTables, kGlobal, kForeignKey };

  // kUsage: flags of two kinds, or a kind that is not there.
  Result<Kind> KindOfJoin() const;
  Status AddSide(const Places& places, std::string_view flag, const std::string& input,
                 const std::optional<Expression>& key, StagePlan* plan);
  Result<StreamJoinSpec> StreamJoin(const StagePlan& plan) const;
  Status SetWindows(StreamJoinSpec* spec) const;
  // --table and --tables.
  Result<TableJoin> JoinOfTables(Kind kind, const StagePlan& plan) const;
  // kUsage: a flag that is for joins by time.
  Status CheckNoWindow(std::string_view kind) const;
  // kUsage: files of which no record can have a key.
  Status CheckKeys(const StagePlan& plan) const;
  // The node that gives the records of a side, which may be a table, brought together by key.
  std::string Gathered(const std::string& side, bool table, StagePlan* plan) const;
  // Whether records of one key may be in several tasks.
  bool Scattered(const SourceSpec& source) const;

  std::string left_, right_;
  std::optional<Expression> left_key_, right_key_, value_, foreign_key_;
  bool table_ = false, tables_ = false, global_ = false, prior_ = false, latest_ = false;
  JoinType type_ = JoinType::kInner;
  Length within_, before_, after_, grace_;
  std::string late_, store_ = "join";
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_JOIN_JOIN_TOOL_H_
