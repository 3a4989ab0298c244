// Help: what -h prints, made from the flags.
#ifndef KSTREAM_TOOLS_COMMON_HELP_H_
#define KSTREAM_TOOLS_COMMON_HELP_H_

#include <string>
#include <string_view>

#include "common/flag.h"

namespace kstream::tools {

// Lines of at most 80 columns.
std::string Help(std::string_view tool, std::string_view summary, const CommandLine& line);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_HELP_H_
