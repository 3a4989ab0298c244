// jq's built-in functions: which there are, and who evaluates them.
//
// Tested by tests/unit/expr/jq_oracle_test.cc and agreement_test.cc (against libjq).
#ifndef KSTREAM_EXPR_BUILTINS_H_
#define KSTREAM_EXPR_BUILTINS_H_

#include <cstdint>
#include <string_view>

namespace kstream::expr {

// Those that the fast evaluator has.
enum class Builtin : uint8_t {
  // Of the input alone: one output.
  kAdd,
  kAll,
  kAny,
  kAsciiDowncase,
  kAsciiUpcase,
  kCeil,
  kFloor,
  kFromEntries,
  kFromJson,
  kKeys,
  kKeysUnsorted,
  kLength,
  kMax,
  kMin,
  kNot,
  kReverse,
  kSort,
  kSqrt,
  kToEntries,
  kToJson,
  kToNumber,
  kToString,
  kType,
  kUnique,
  kUtf8ByteLength,
  // Of the input and the value of an argument: an output for each value.
  kContains,
  kEndsWith,
  kHas,
  kIndex,
  kIndices,
  kInside,
  kJoin,
  kLtrimstr,
  kRtrimstr,
  kSplit,
  kStartsWith,
  // Keeps or drops the input by its type.
  kValues,
  kNulls,
  kBooleans,
  kNumbers,
  kStrings,
  kArrays,
  kObjects,
  kIterables,
  kScalars,
  // The rest evaluate their arguments themselves.
  kAllOf,  // all(f), all(g; f)
  kAnyOf,
  kDelete,
  kError,
  kFirst,  // first(g)
  kLast,
  kGroupBy,
  kMap,
  kMapValues,
  kSelect,
  kSortBy,
  kUniqueBy,
};

enum class Role : uint8_t {
  kFast,              // `builtin` says which
  kLibjq,             // evaluated by libjq
  kNonDeterministic,  // by libjq; results differ between runs
  kRefused,           // `why`
};

struct Function {
  std::string_view name;
  int arity;
  Role role = Role::kLibjq;
  Builtin builtin = Builtin::kNot;
  std::string_view why = {};
};

// The function of jq 1.6 by that name and number of arguments, or nullptr.
const Function* FindFunction(std::string_view name, int arity);
// The known function whose name is nearest to `name`, for a hint; empty when none is near.
std::string_view NearestFunction(std::string_view name);
// Number of single-letter edits between two words.
int EditDistance(std::string_view a, std::string_view b);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_BUILTINS_H_
