// jq's grammar (1.6), to the common tree.
//
// All of the grammar is parsed, also what only libjq evaluates: so that errors, unbound names and
// refused functions are reported by line and column whichever engine runs the program, and so that
// --explain can say which construct sent it to libjq. A few forms of later jq are accepted where
// the fast evaluator takes them: `if` without `else`, `.a.[0]`, `.a?//1` without the space.
// Tested by tests/unit/expr/jq_parser_test.cc and tests/fuzz/jq_fuzz.cc.
#ifndef KSTREAM_EXPR_JQ_PARSER_H_
#define KSTREAM_EXPR_JQ_PARSER_H_

#include <string_view>

#include "expr/program.h"
#include "expr/tree.h"
#include "kstream/status.h"

namespace kstream::expr {

// Levels of nesting of an expression, and of the tree that evaluators walk recursively.
inline constexpr int kMaxNesting = 1000;

struct JqProgram {
  Tree tree;                      // when tree.fallback is not empty, without a meaningful root
  bool only_definitions = false;  // `def f: 1;` and nothing after: libjq needs a body
};

// kExpression: "LINE:COLUMN: what is wrong". Of `options`, extra_names counts.
Result<JqProgram> ParseJq(std::string_view text, const CompileOptions& options);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JQ_PARSER_H_
