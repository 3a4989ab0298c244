#include "expr/builtins.h"

#include <algorithm>
#include <vector>

namespace kstream::expr {
namespace {

// Sorted by name, then by arity. Those that are plain syntax for something else (first, recurse,
// with_entries, empty) are rewritten by the parser before it looks here.
constexpr Function kFunctions[] = {
    {"IN", 1},
    {"IN", 2},
    {"INDEX", 1},
    {"INDEX", 2},
    {"JOIN", 2},
    {"JOIN", 3},
    {"JOIN", 4},
    {"acos", 0},
    {"acosh", 0},
    {"add", 0, Role::kFast, Builtin::kAdd},
    {"all", 0, Role::kFast, Builtin::kAll},
    {"all", 1, Role::kFast, Builtin::kAllOf},
    {"all", 2, Role::kFast, Builtin::kAllOf},
    {"any", 0, Role::kFast, Builtin::kAny},
    {"any", 1, Role::kFast, Builtin::kAnyOf},
    {"any", 2, Role::kFast, Builtin::kAnyOf},
    {"arrays", 0, Role::kFast, Builtin::kArrays},
    {"ascii_downcase", 0, Role::kFast, Builtin::kAsciiDowncase},
    {"ascii_upcase", 0, Role::kFast, Builtin::kAsciiUpcase},
    {"asin", 0},
    {"asinh", 0},
    {"atan", 0},
    {"atan2", 2},
    {"atanh", 0},
    {"booleans", 0, Role::kFast, Builtin::kBooleans},
    {"bsearch", 1},
    {"builtins", 0},
    {"capture", 1},
    {"capture", 2},
    {"cbrt", 0},
    {"ceil", 0, Role::kFast, Builtin::kCeil},
    {"combinations", 0},
    {"combinations", 1},
    {"contains", 1, Role::kFast, Builtin::kContains},
    {"copysign", 2},
    {"cos", 0},
    {"cosh", 0},
    {"debug", 0, Role::kRefused, Builtin::kNot, "standard error belongs to the stage"},
    {"del", 1, Role::kFast, Builtin::kDelete},
    {"delpaths", 1},
    {"drem", 2},
    {"empty", 0},
    {"endswith", 1, Role::kFast, Builtin::kEndsWith},
    {"env", 0, Role::kRefused, Builtin::kNot, "a result must not depend on the environment"},
    {"erf", 0},
    {"erfc", 0},
    {"error", 0, Role::kFast, Builtin::kError},
    {"error", 1, Role::kFast, Builtin::kError},
    {"exp", 0},
    {"exp10", 0},
    {"exp2", 0},
    {"explode", 0},
    {"expm1", 0},
    {"fabs", 0},
    {"fdim", 2},
    {"finites", 0},
    {"first", 0},
    {"first", 1, Role::kFast, Builtin::kFirst},
    {"flatten", 0},
    {"flatten", 1},
    {"floor", 0, Role::kFast, Builtin::kFloor},
    {"fma", 3},
    {"fmax", 2},
    {"fmin", 2},
    {"fmod", 2},
    {"format", 1},
    {"frexp", 0},
    {"from_entries", 0, Role::kFast, Builtin::kFromEntries},
    {"fromdate", 0},
    {"fromdateiso8601", 0},
    {"fromjson", 0, Role::kFast, Builtin::kFromJson},
    {"fromstream", 1},
    {"gamma", 0},
    {"get_jq_origin", 0, Role::kRefused, Builtin::kNot, "there are no modules"},
    {"get_prog_origin", 0, Role::kRefused, Builtin::kNot, "there are no modules"},
    {"get_search_list", 0, Role::kRefused, Builtin::kNot, "there are no modules"},
    {"getpath", 1},
    {"gmtime", 0},
    {"group_by", 1, Role::kFast, Builtin::kGroupBy},
    {"gsub", 2},
    {"gsub", 3},
    {"halt", 0, Role::kRefused, Builtin::kNot, "one record must not end the stage"},
    {"halt_error", 0, Role::kRefused, Builtin::kNot, "one record must not end the stage"},
    {"halt_error", 1, Role::kRefused, Builtin::kNot, "one record must not end the stage"},
    {"has", 1, Role::kFast, Builtin::kHas},
    {"hypot", 2},
    {"implode", 0},
    {"in", 1},
    {"index", 1, Role::kFast, Builtin::kIndex},
    {"indices", 1, Role::kFast, Builtin::kIndices},
    {"infinite", 0},
    {"input", 0, Role::kRefused, Builtin::kNot, "a stage gives one record at a time"},
    {"input_filename", 0, Role::kRefused, Builtin::kNot, "use $topic"},
    {"input_line_number", 0, Role::kRefused, Builtin::kNot, "records have no lines; use $offset"},
    {"inputs", 0, Role::kRefused, Builtin::kNot, "a stage gives one record at a time"},
    {"inside", 1, Role::kFast, Builtin::kInside},
    {"isempty", 1},
    {"isfinite", 0},
    {"isinfinite", 0},
    {"isnan", 0},
    {"isnormal", 0},
    {"iterables", 0, Role::kFast, Builtin::kIterables},
    {"j0", 0},
    {"j1", 0},
    {"jn", 2},
    {"join", 1, Role::kFast, Builtin::kJoin},
    {"keys", 0, Role::kFast, Builtin::kKeys},
    {"keys_unsorted", 0, Role::kFast, Builtin::kKeysUnsorted},
    {"last", 0},
    {"last", 1, Role::kFast, Builtin::kLast},
    {"ldexp", 2},
    {"leaf_paths", 0},
    {"length", 0, Role::kFast, Builtin::kLength},
    {"lgamma", 0},
    {"lgamma_r", 0},
    {"limit", 2},
    {"localtime", 0, Role::kNonDeterministic},
    {"log", 0},
    {"log10", 0},
    {"log1p", 0},
    {"log2", 0},
    {"logb", 0},
    {"ltrimstr", 1, Role::kFast, Builtin::kLtrimstr},
    {"map", 1, Role::kFast, Builtin::kMap},
    {"map_values", 1, Role::kFast, Builtin::kMapValues},
    {"match", 1},
    {"match", 2},
    {"max", 0, Role::kFast, Builtin::kMax},
    {"max_by", 1},
    {"min", 0, Role::kFast, Builtin::kMin},
    {"min_by", 1},
    {"mktime", 0},
    {"modf", 0},
    {"modulemeta", 0, Role::kRefused, Builtin::kNot, "there are no modules"},
    {"nan", 0},
    {"nearbyint", 0},
    {"nextafter", 2},
    {"nexttoward", 2},
    {"normals", 0},
    {"not", 0, Role::kFast, Builtin::kNot},
    {"now", 0, Role::kNonDeterministic},
    {"nth", 1},
    {"nth", 2},
    {"nulls", 0, Role::kFast, Builtin::kNulls},
    {"numbers", 0, Role::kFast, Builtin::kNumbers},
    {"objects", 0, Role::kFast, Builtin::kObjects},
    {"path", 1},
    {"paths", 0},
    {"paths", 1},
    {"pow", 2},
    {"pow10", 0},
    {"range", 1},
    {"range", 2},
    {"range", 3},
    {"recurse", 0},
    {"recurse", 1},
    {"recurse", 2},
    {"recurse_down", 0},
    {"remainder", 2},
    {"repeat", 1},
    {"reverse", 0, Role::kFast, Builtin::kReverse},
    {"rindex", 1},
    {"rint", 0},
    {"round", 0},
    {"rtrimstr", 1, Role::kFast, Builtin::kRtrimstr},
    {"scalars", 0, Role::kFast, Builtin::kScalars},
    {"scalars_or_empty", 0},
    {"scalb", 2},
    {"scalbln", 2},
    {"scan", 1},
    {"select", 1, Role::kFast, Builtin::kSelect},
    {"setpath", 2},
    {"significand", 0},
    {"sin", 0},
    {"sinh", 0},
    {"sort", 0, Role::kFast, Builtin::kSort},
    {"sort_by", 1, Role::kFast, Builtin::kSortBy},
    {"split", 1, Role::kFast, Builtin::kSplit},
    {"split", 2},
    {"splits", 1},
    {"splits", 2},
    {"sqrt", 0, Role::kFast, Builtin::kSqrt},
    {"startswith", 1, Role::kFast, Builtin::kStartsWith},
    {"stderr", 0, Role::kRefused, Builtin::kNot, "standard error belongs to the stage"},
    {"strflocaltime", 1, Role::kNonDeterministic},
    {"strftime", 1},
    {"strings", 0, Role::kFast, Builtin::kStrings},
    {"strptime", 1},
    {"sub", 2},
    {"sub", 3},
    {"tan", 0},
    {"tanh", 0},
    {"test", 1},
    {"test", 2},
    {"tgamma", 0},
    {"to_entries", 0, Role::kFast, Builtin::kToEntries},
    {"todate", 0},
    {"todateiso8601", 0},
    {"tojson", 0, Role::kFast, Builtin::kToJson},
    {"tonumber", 0, Role::kFast, Builtin::kToNumber},
    {"tostream", 0},
    {"tostring", 0, Role::kFast, Builtin::kToString},
    {"transpose", 0},
    {"trunc", 0},
    {"truncate_stream", 1},
    {"type", 0, Role::kFast, Builtin::kType},
    {"unique", 0, Role::kFast, Builtin::kUnique},
    {"unique_by", 1, Role::kFast, Builtin::kUniqueBy},
    {"until", 2},
    {"utf8bytelength", 0, Role::kFast, Builtin::kUtf8ByteLength},
    {"values", 0, Role::kFast, Builtin::kValues},
    {"walk", 1},
    {"while", 2},
    {"with_entries", 1},
    {"y0", 0},
    {"y1", 0},
    {"yn", 2},
};

constexpr bool Before(const Function& f, std::string_view name, int arity) {
  return f.name != name ? f.name < name : f.arity < arity;
}

static_assert([] {
  for (size_t i = 1; i < std::size(kFunctions); ++i) {
    if (!Before(kFunctions[i - 1], kFunctions[i].name, kFunctions[i].arity)) return false;
  }
  return true;
}());

}  // namespace

const Function* FindFunction(std::string_view name, int arity) {
  const auto* found = std::lower_bound(
      std::begin(kFunctions), std::end(kFunctions), name,
      [arity](const Function& f, std::string_view n) { return Before(f, n, arity); });
  if (found == std::end(kFunctions) || found->name != name || found->arity != arity) return nullptr;
  return found;
}

std::string_view NearestFunction(std::string_view name) {
  std::string_view nearest;
  int best = static_cast<int>(name.size() / 3) + 1;
  for (const Function& f : kFunctions) {
    if (const int distance = EditDistance(name, f.name); distance < best) {
      best = distance;
      nearest = f.name;
    }
  }
  return nearest;
}

int EditDistance(std::string_view a, std::string_view b) {
  if (std::max(a.size(), b.size()) > 40) return 40;
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace kstream::expr
