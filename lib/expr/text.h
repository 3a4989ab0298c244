// Values as text: what tostring, tojson, join and interpolation make of them, and JsonLogic's
// `cat`.
//
// A number that a double holds without a change of value has the text that the language's own
// implementation gives it, so that no text depends on the engine: 1.0 is "1", 129.90 is "129.9",
// 1e17 is "1e+17" in jq and "100000000000000000" in JsonLogic. A number with more digits than that
// has its spelling: no text is of another number than the record's.
// Tested by tests/unit/expr/text_test.cc and agreement_test.cc.
#ifndef KSTREAM_EXPR_TEXT_H_
#define KSTREAM_EXPR_TEXT_H_

#include <string>

#include "expr/value.h"

namespace kstream::expr {

// As jq 1.6 prints it: shortest digits. NaN becomes null, infinities the largest double.
void AppendDouble(double d, std::string* out);

// jq's tojson: compact JSON, without the escapes that strings can do without.
void AppendJqText(Value v, std::string* out, Arena* arena);
// JavaScript's String(number).
void AppendJavaScriptText(Value number, std::string* out);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_TEXT_H_
