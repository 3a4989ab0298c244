// JsonLogic: rules as JSON, for programs and topology files: {">": [{"var": "amount"}, 100]}.
//
// The reference is json-logic-js, JavaScript's conversions included: "1" == 1, null is 0 in a
// comparison, [] is false and "0" true. Where JavaScript would give what JSON cannot say, or would
// alter data, the evaluation fails for that record instead: a calculation without a number (NaN), a
// division by zero, an integer that loses digits, an object where text is due. Two more choices:
// positions in strings count code points, and a number of more digits than a double holds keeps
// them in a text too. `log` passes its argument on and writes nothing.
//
// A `var` whose constant path begins with a dollar is a name of the record: {"var": "$key"},
// {"var": "$headers.trace"}.
//
// Tested by tests/unit/expr/jsonlogic_test.cc, with the cases that the implementations of JsonLogic
// share, and tests/fuzz/jsonlogic_fuzz.cc.
#ifndef KSTREAM_EXPR_JSONLOGIC_H_
#define KSTREAM_EXPR_JSONLOGIC_H_

#include <string_view>

#include "expr/program.h"
#include "expr/tree.h"
#include "kstream/status.h"

namespace kstream::expr {

class Evaluation;

// Any JSON text is a rule; one that is no operator's is its own value. kExpression, with line and
// column, when the text is not JSON, an operator or $name is unknown, or arguments are too few or
// too many.
Result<Tree> ParseJsonLogic(std::string_view text, const CompileOptions& options);

// Whether the text is a JSON object with exactly one key, which is an operator.
bool LooksLikeJsonLogic(std::string_view text);

// The value of an Op::kJsonLogic node on `data`, or evaluation->Fail().
Value EvalJsonLogic(const Node& node, Value data, Evaluation* evaluation);

// What JsonLogic calls true: all but null, false, 0, "" and [].
bool JsonLogicTruthy(Value value);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JSONLOGIC_H_
