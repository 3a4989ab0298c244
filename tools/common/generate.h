// Generate: option sections of man pages, and completions, made from the flags; the build asks each
// tool for its own. Tested by tests/system/flags.bats.
#ifndef KSTREAM_TOOLS_COMMON_GENERATE_H_
#define KSTREAM_TOOLS_COMMON_GENERATE_H_

#include <string>
#include <string_view>

#include "common/flag.h"

namespace kstream::tools {

// `what`: "man" (roff of the options), "bash", "zsh" or "fish" (the whole completion).
std::string Generate(std::string_view tool, const CommandLine& line, std::string_view what);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_GENERATE_H_
