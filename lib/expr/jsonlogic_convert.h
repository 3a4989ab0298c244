// JavaScript's conversions and comparisons, as far as JsonLogic needs them.
//
// A number is any Value that is_number(); a NaN is the answer "not a number". Texts made here live
// in the arena.
#ifndef KSTREAM_EXPR_JSONLOGIC_CONVERT_H_
#define KSTREAM_EXPR_JSONLOGIC_CONVERT_H_

#include <compare>
#include <optional>
#include <string_view>

#include "expr/value.h"

namespace kstream::expr {

bool IsNan(Value number);

// Number(v): null and "" are 0, "12" is 12, [] is 0, "abc" and objects are NaN.
Value ToNumber(Value v, Arena* arena);
// parseFloat(v): of "12px" 12; null, booleans and "" are NaN.
Value ParseFloat(Value v, Arena* arena);

// String(v): of an array its elements with commas between, null among them as nothing. Nothing at
// all for an object, which JavaScript would show without its content, for an array that holds one,
// and for what would be too long.
std::optional<std::string_view> ToText(Value v, Arena* arena);

// a === b. Arrays and objects are equal to themselves only.
bool StrictEqual(Value a, Value b, Arena* arena);
// a == b.
bool LooseEqual(Value a, Value b, Arena* arena);
// The order of < and >: two strings by code points, everything else as numbers.
std::partial_ordering LooseOrder(Value a, Value b, Arena* arena);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JSONLOGIC_CONVERT_H_
