// Parse: the words of a command line, given to the setters of its flags in the order in which they
// were typed. CLI11 splits the words; what it throws ends here.
#ifndef KSTREAM_TOOLS_COMMON_PARSE_H_
#define KSTREAM_TOOLS_COMMON_PARSE_H_

#include <string>
#include <vector>

#include "common/flag.h"
#include "kstream/status.h"

namespace kstream::tools {

// `words` without the program's name. kUsage names the flag that is wrong, and the one that was
// probably meant; what a setter says keeps its code. *has_positional tells whether it was given.
Status Parse(const CommandLine& line, const std::vector<std::string>& words, bool* has_positional);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_PARSE_H_
