// JsonLogic's operators on numbers, arrays and text, and what all of its operators share. Private
// to the evaluator of jsonlogic_eval.cc.
//
// Each takes an Op::kJsonLogic node and evaluates its arguments on `data`; it returns an error
// value after a failure, its own or an argument's.
#ifndef KSTREAM_EXPR_JSONLOGIC_FUNCTIONS_H_
#define KSTREAM_EXPR_JSONLOGIC_FUNCTIONS_H_

#include <string>
#include <string_view>

#include "expr/evaluation.h"
#include "expr/jsonlogic_operators.h"
#include "expr/number.h"
#include "expr/tree.h"

namespace kstream::expr {

inline LogicOp OpOf(const Node& node) { return static_cast<LogicOp>(node.detail); }

// Fails with the operator's name before the message.
Value LogicFail(const Node& node, std::string_view message, Evaluation* evaluation);
// A value for messages: the beginning of its JSON, or what it is.
std::string Shown(Value v);

Value LogicArithmetic(const Node& node, Arithmetic op, Value data, Evaluation* evaluation);
Value LogicExtreme(const Node& node, bool largest, Value data, Evaluation* evaluation);
Value LogicList(const Node& node, Value data, Evaluation* evaluation);
// filter, map, reduce, all, none, some.
Value LogicOfArray(const Node& node, Value data, Evaluation* evaluation);
Value LogicMerge(const Node& node, Value data, Evaluation* evaluation);
Value LogicIn(const Node& node, Value data, Evaluation* evaluation);
Value LogicCat(const Node& node, Value data, Evaluation* evaluation);
Value LogicSubstr(const Node& node, Value data, Evaluation* evaluation);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JSONLOGIC_FUNCTIONS_H_
