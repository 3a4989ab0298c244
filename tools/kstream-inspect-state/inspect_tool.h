// kstream-inspect-state: what is in the stores of an application, how rows are put into them, and
// how all is put back to a beginning. A command is a word; which flags go with it is told in one
// table.
#ifndef KSTREAM_TOOLS_KSTREAM_INSPECT_STATE_INSPECT_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_INSPECT_STATE_INSPECT_TOOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/stage_options.h"
#include "common/tool.h"
#include "kstream/inspect.h"
#include "kstream/reset.h"

namespace kstream::tools {

class InspectTool : public Tool {
 public:
  std::string_view name() const override { return "kstream-inspect-state"; }
  std::string_view summary() const override {
    return "Look into the stores of an application, load them, or put it back to a beginning";
  }
  void Setup(CommandLine* line) override;
  Status Run(bool has_positional, Reporter* reporter) override;

 private:
  struct Command {
    std::string_view name;
    std::vector<std::string_view> arguments;  // that follow it
    std::vector<std::string_view> flags;      // of those that not every command takes
    Status (InspectTool::*run)();
  };
  static const std::vector<Command>& Commands();

  FlagGroup Where();
  FlagGroup Rows();
  FlagGroup ResetFlags();
  Flag TargetFlag(std::string_view name, std::string_view metavar, std::string_view help);
  // Remembers that a flag was given, for CheckFlags.
  Setter Seen(std::string_view flag, Setter set);
  Status CheckFlags(const Command& command) const;

  Status List();
  Status ListOverHttp();
  Status Get();
  Status Scan();
  Status Stats();
  Status Dump();
  Status RunLoad();
  Status Diff();
  Status Verify();
  Status History();
  Status RunReset();

  Result<std::string> StateDir() const { return options_.runtime.StateDir(); }
  Result<InspectOptions> Options() const;
  // Of --from-http, or else of Options.
  Result<std::unique_ptr<Inspector>> OpenInspector() const;
  Result<RowQuery> Query() const;
  // At most --limit rows; how many there were.
  Result<int64_t> Print(const RowQuery& query);
  // What an operand of diff names.
  Result<StateSource> SourceOf(const std::string& operand) const;

  StageOptions options_;            // of which app, state directory and properties are used
  std::vector<std::string> words_;  // the command and its arguments
  std::vector<std::string_view> seen_;
  std::string store_, prefix_, from_, to_;
  std::optional<int64_t> task_, limit_;
  RowQuery at_window_;     // of which nothing else is used
  std::string from_http_;  // empty: not given
  bool from_changelog_ = false, pretty_ = false, replace_ = false;
  std::optional<ResetTarget> target_;
  std::string backup_;
  std::vector<std::string> adopt_;
  bool execute_ = false;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_INSPECT_STATE_INSPECT_TOOL_H_
