// Definitions that keep jq 1.6 alive: built-in functions of which some input ends or hangs the
// process are wrapped, in jq itself, for programs that mention them. Private to libjq.cc.
#ifndef KSTREAM_EXPR_LIBJQ_GUARDS_H_
#define KSTREAM_EXPR_LIBJQ_GUARDS_H_

#include <string>
#include <string_view>

namespace kstream::expr {

struct LibjqGuard {
  std::string_view word;  // in the text of programs that need it
  std::string_view definitions;
};

inline constexpr LibjqGuard kLibjqGuards[] = {
    // The smallest integer modulo -1 is a trap of the processor. Modulo 1 gives the same.
    {"%",
     "def _kstream_mod(a; b): a % b;"
     "def _mod(a; b): _kstream_mod(a; b | if type == \"number\" and . <= -1 and . > -2 then 1 else "
     ". end);"},
    // A number that is no date fails an assertion, except in gmtime and localtime.
    {"strftime",
     "def _kstream_strftime(f): strftime(f);"
     "def strftime(f): (if type == \"number\" then gmtime else . end) | _kstream_strftime(f);"},
    {"strflocaltime",
     "def _kstream_strflocaltime(f): strflocaltime(f);"
     "def strflocaltime(f): (if type == \"number\" then localtime else . end) | "
     "_kstream_strflocaltime(f);"},
    {"todate",
     "def _kstream_todate: todate;"
     "def todate: (if type == \"number\" then gmtime else . end) | _kstream_todate;"
     "def todateiso8601: todate;"},
    // Replacing all matches never ends when one of them is empty.
    {"sub",
     "def _kstream_sub($re; s; $flags): sub($re; s; $flags);"
     "def sub($re; s; $flags): if ($flags | tostring | _strindices(\"g\") == []) or "
     "all(match($re; $flags); .length > 0) then _kstream_sub($re; s; $flags) else "
     "error(\"jq 1.6 cannot replace all matches of a pattern that matches nothing\") end;"
     "def sub($re; s): sub($re; s; \"\");"
     "def gsub($re; s; $flags): sub($re; s; $flags + \"g\");"
     "def gsub($re; s): sub($re; s; \"g\");"},
    // Looking for the empty string in a string never ends.
    {"ind",
     "def _kstream_indices($i): indices($i);"
     "def indices($i): if type == \"string\" and $i == \"\" then null else _kstream_indices($i) "
     "end;"
     "def index($i): indices($i) | .[0];"
     "def rindex($i): indices($i) | .[-1:][0];"},
};

// What to put before a program.
inline std::string LibjqGuards(std::string_view program) {
  std::string text;
  for (const LibjqGuard& guard : kLibjqGuards) {
    if (program.find(guard.word) != program.npos) text += guard.definitions;
  }
  return text;
}

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_LIBJQ_GUARDS_H_
