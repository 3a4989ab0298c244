// Flag: one option of a tool, told once. Parsing, help, man page and completions are all made from
// this table, so none of them can lack a flag that another has.
//
// Tested by tests/unit/tools/command_line_test.cc and tests/system/flags.bats.
#ifndef KSTREAM_TOOLS_COMMON_FLAG_H_
#define KSTREAM_TOOLS_COMMON_FLAG_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream::tools {

// Takes one value of a flag, or the text "true" for a flag without one. Its failure needs no name
// of the flag: the parser puts it in front.
using Setter = std::function<Status(std::string_view value)>;

struct Flag {
  std::string_view names;    // "-b,--brokers,--bootstrap-server": short, long, aliases
  std::string_view metavar;  // name of its value in the help; empty: a switch
  std::string_view help;     // what it does, without a full stop
  std::vector<std::string_view> choices = {};  // all values that it may have; empty: any
  bool optional_value = false;                 // `--name` or `--name=value`
  bool takes_file = false;                     // completions offer file names
  // Who takes the value: the option of the runtime that has the flag's name, or a setter.
  RuntimeOptions* option = nullptr;
  Setter set = nullptr;
  // With `option`: notes what was given, by the option's name, to be set once more over others.
  std::vector<std::pair<std::string, std::string>>* given = nullptr;
};

// Flags under one heading of the help.
struct FlagGroup {
  std::string_view title;
  std::vector<Flag> flags;
};

// The argument that is not a flag. Without a setter there is none.
struct Positional {
  std::string_view metavar = {};
  std::string_view help = {};
  Setter set = nullptr;                        // called for each, in their order
  bool many = false;                           // more than one may be given
  std::vector<std::string_view> choices = {};  // what completions offer for the first
};

struct CommandLine {
  std::vector<FlagGroup> groups;
  Positional positional = {};
};

// "-b,--brokers" -> {"-b", "--brokers"}.
std::vector<std::string_view> Names(const Flag& flag);
// The name by which messages and the topology file call it: the first long one, or the short one.
std::string_view MainName(const Flag& flag);
// The flag that has this name, dashes included, or null.
const Flag* FindFlag(const CommandLine& line, std::string_view name);
// The long name, without its dashes, of a flag that was probably meant by `name`, which begins with
// dashes; empty when none is near.
std::string_view NearestFlag(const CommandLine& line, std::string_view name);

// --- setters ---

Setter Set(bool* target);
Setter Set(std::string* target);
Setter Append(std::vector<std::string>* target);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_FLAG_H_
