#include "expr/jsonlogic_operators.h"

#include <algorithm>

#include "expr/builtins.h"

namespace kstream::expr {
namespace {

constexpr uint8_t kAny = LogicOperator::kAnyNumber;

// The usual name of each comes before its others.
constexpr LogicOperator kOperators[] = {
    {"var", LogicOp::kVar, 0, 2},
    {"missing", LogicOp::kMissing, 0, kAny},
    {"missing_some", LogicOp::kMissingSome, 2, 2},
    {"if", LogicOp::kIf, 0, kAny},
    {"?:", LogicOp::kIf, 0, kAny},
    {"and", LogicOp::kAnd, 1, kAny},
    {"or", LogicOp::kOr, 1, kAny},
    {"!", LogicOp::kNot, 1, 1},
    {"not", LogicOp::kNot, 1, 1},
    {"!!", LogicOp::kTruth, 1, 1},
    {"booleanCasting", LogicOp::kTruth, 1, 1},
    {"==", LogicOp::kEqual, 2, 2},
    {"equal", LogicOp::kEqual, 2, 2},
    {"!=", LogicOp::kUnequal, 2, 2},
    {"notEqual", LogicOp::kUnequal, 2, 2},
    {"===", LogicOp::kStrictEqual, 2, 2},
    {"strictEqual", LogicOp::kStrictEqual, 2, 2},
    {"!==", LogicOp::kStrictUnequal, 2, 2},
    {"strictNotEqual", LogicOp::kStrictUnequal, 2, 2},
    {"<", LogicOp::kLess, 2, 3},
    {"less", LogicOp::kLess, 2, 3},
    {"<=", LogicOp::kLessEqual, 2, 3},
    {"lessOrEqual", LogicOp::kLessEqual, 2, 3},
    {">", LogicOp::kGreater, 2, 3},
    {"greater", LogicOp::kGreater, 2, 3},
    {">=", LogicOp::kGreaterEqual, 2, 3},
    {"greaterOrEqual", LogicOp::kGreaterEqual, 2, 3},
    {"max", LogicOp::kMax, 1, kAny},
    {"min", LogicOp::kMin, 1, kAny},
    {"+", LogicOp::kAdd, 0, kAny},
    {"add", LogicOp::kAdd, 0, kAny},
    {"-", LogicOp::kSubtract, 1, 2},
    {"substract", LogicOp::kSubtract, 1, 2},  // spelled so where the name comes from
    {"subtract", LogicOp::kSubtract, 1, 2},
    {"*", LogicOp::kMultiply, 1, kAny},
    {"multiply", LogicOp::kMultiply, 1, kAny},
    {"/", LogicOp::kDivide, 2, 2},
    {"divide", LogicOp::kDivide, 2, 2},
    {"%", LogicOp::kModulo, 2, 2},
    {"modulo", LogicOp::kModulo, 2, 2},
    {"filter", LogicOp::kFilter, 2, 2},
    {"map", LogicOp::kMap, 2, 2},
    {"reduce", LogicOp::kReduce, 2, 3},
    {"all", LogicOp::kAll, 2, 2},
    {"none", LogicOp::kNone, 2, 2},
    {"some", LogicOp::kSome, 2, 2},
    {"merge", LogicOp::kMerge, 0, kAny},
    {"in", LogicOp::kIn, 2, 2},
    {"cat", LogicOp::kCat, 0, kAny},
    {"substr", LogicOp::kSubstr, 2, 3},
    {"log", LogicOp::kLog, 1, 1},
};

}  // namespace

const LogicOperator* FindLogicOperator(std::string_view name) {
  const auto* found = std::ranges::find(kOperators, name, &LogicOperator::name);
  return found == std::end(kOperators) ? nullptr : found;
}

std::string_view NearestLogicOperator(std::string_view name) {
  std::string_view nearest;
  // So many edits are too many; of one byte nothing can be told.
  int best = std::min<int>(static_cast<int>(name.size()), 3);
  for (const LogicOperator& candidate : kOperators) {
    const int distance = EditDistance(name, candidate.name);
    if (distance < best) {
      best = distance;
      nearest = candidate.name;
    }
  }
  return nearest;
}

std::string_view LogicOperatorName(LogicOp op) {
  const auto* found = std::ranges::find(kOperators, op, &LogicOperator::op);
  return found == std::end(kOperators) ? "array" : found->name;
}

}  // namespace kstream::expr
