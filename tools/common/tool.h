// Tool: one executable: a name, flags, something to do. Main gives it the manners all tools share.
//
//   int main(int argc, char** argv) {
//     kstream::tools::FilterTool tool;
//     return kstream::tools::Main(tool, argc, argv);
//   }
#ifndef KSTREAM_TOOLS_COMMON_TOOL_H_
#define KSTREAM_TOOLS_COMMON_TOOL_H_

#include <string_view>

#include "common/flag.h"
#include "common/reporter.h"
#include "kstream/status.h"

namespace kstream::tools {

class Tool {
 public:
  virtual ~Tool() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  // one sentence, without a full stop
  // Tells flags and positional argument; their targets live in the tool. Does nothing else.
  virtual void Setup(CommandLine* line) = 0;
  // After the parsing. `has_positional`: whether the argument was given.
  virtual Status Run(bool has_positional, Reporter* reporter) = 0;
};

// Parses, runs, reports. The exit code.
int Main(Tool& tool, int argc, char** argv);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_TOOL_H_
