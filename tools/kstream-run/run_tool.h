// kstream-run: runs a topology that a file describes, or one stage of it, explains or checks it.
//
// Flags win over what the file says: the file's options are set first, then those of the command
// line, in the order in which they were typed. Tested by tests/system/run.bats.
#ifndef KSTREAM_TOOLS_KSTREAM_RUN_RUN_TOOL_H_
#define KSTREAM_TOOLS_KSTREAM_RUN_RUN_TOOL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/stage_options.h"
#include "common/stage_plan.h"
#include "common/tool.h"
#include "kstream-run/test_run.h"
#include "kstream/topology_file.h"

namespace kstream::tools {

class RunTool : public Tool {
 public:
  std::string_view name() const override { return "kstream-run"; }
  std::string_view summary() const override { return "Run the topology that a file describes"; }
  void Setup(CommandLine* line) override;
  Status Run(bool has_positional, Reporter* reporter) override;

 private:
  FlagGroup OwnFlags();
  // What the file says, with the flags over it.
  Result<RuntimeOptions> Configure(const TopologyFile& file, const Places& places);
  Result<TopologyFileDefaults> Defaults() const;
  // Leaves the stage of --only, which becomes an application of its own.
  Status TakeOnly(BuiltTopology* built, RuntimeOptions* runtime) const;
  // --explain and --check.
  Status Show(const BuiltTopology& built, const RuntimeOptions& runtime) const;
  // --test.
  Status Test(bool has_positional, Reporter* reporter);

  StageOptions options_;
  std::vector<std::pair<std::string, std::string>> given_;  // flags of the runtime, as typed
  std::string path_;
  TopologyVariables variables_;
  std::vector<std::string> plugins_;
  std::string only_;
  bool check_ = false;
  bool online_ = false;
  TestRunOptions test_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_RUN_RUN_TOOL_H_
