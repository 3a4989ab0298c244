// The operators of JsonLogic by name. Shared by its parser and its evaluator only.
#ifndef KSTREAM_EXPR_JSONLOGIC_OPERATORS_H_
#define KSTREAM_EXPR_JSONLOGIC_OPERATORS_H_

#include <cstdint>
#include <string_view>

namespace kstream::expr {

// What Node::detail holds under Op::kJsonLogic; arguments are in Node::list unless said otherwise.
enum class LogicOp : uint8_t {
  kVar,
  kMissing,
  kMissingSome,
  kIf,
  kAnd,
  kOr,
  kNot,
  kTruth,
  kEqual,
  kUnequal,
  kStrictEqual,
  kStrictUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kMax,
  kMin,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kFilter,
  kMap,
  kReduce,
  kAll,
  kNone,
  kSome,
  kMerge,
  kIn,
  kCat,
  kSubstr,
  kLog,
  // Not written as operators.
  kList,       // an array with rules inside
  kPath,       // var of a constant path. text: the path; a: where it starts, or null for the data;
               // b: the default, or null
  kMissingOf,  // missing of constant paths. list: kPath nodes with the path as written in value; a:
               // how many are needed, or null
};

struct LogicOperator {
  std::string_view name;
  LogicOp op;
  uint8_t min_arguments;
  uint8_t max_arguments;  // kAnyNumber: no limit

  static constexpr uint8_t kAnyNumber = 255;
};

// The operator of that name, or null. Names of long form ("greater" for ">") count too.
const LogicOperator* FindLogicOperator(std::string_view name);
// The known name that is most like `name`; empty when none is near.
std::string_view NearestLogicOperator(std::string_view name);
// The usual name, for messages.
std::string_view LogicOperatorName(LogicOp op);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JSONLOGIC_OPERATORS_H_
