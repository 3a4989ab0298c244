#include "common/tool.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/generate.h"
#include "common/help.h"
#include "common/parse.h"
#include "common/process.h"
#include "common/stage_options.h"
#include "kstream/log.h"

namespace kstream::tools {
namespace {

void PrintMessage(std::string_view text) { fmt::print(stderr, "{}", text); }

Status ParseAndRun(Tool& tool, const std::vector<std::string>& words, Reporter* reporter) {
  CommonOptions common;
  CommandLine line;
  tool.Setup(&line);
  AddCommonFlags(&common, &line);
  bool has_positional = false;
  Status parsed = Parse(line, words, &has_positional);
  reporter->Configure(common.report);
  KSTREAM_RETURN_IF_ERROR(parsed);
  if (common.help) {
    PrintMessage(Help(tool.name(), tool.summary(), line));
    return Status::Ok();
  }
  if (common.version) {
    PrintMessage(fmt::format("{} {}\n", tool.name(), KSTREAM_VERSION));
    return Status::Ok();
  }
  if (!common.generate.empty()) return WriteStdout(Generate(tool.name(), line, common.generate));
  return tool.Run(has_positional, reporter);
}

}  // namespace

int Main(Tool& tool, int argc, char** argv) {
  PrepareProcess();
  Reporter reporter(tool.name());
  Status status = ParseAndRun(tool, std::vector<std::string>(argv + 1, argv + argc), &reporter);
  Status closed = CloseStdout();
  if (status.ok()) status = closed;
  if (!status.ok()) Log(LogLevel::kError, status.message());
  return static_cast<int>(status.code());
}

}  // namespace kstream::tools
