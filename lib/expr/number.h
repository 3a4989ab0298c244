// Numbers: exact where JSON is exact.
//
// A number of a record is a decimal text. Integers of 64 bits are calculated exactly; everything
// else is a double, as in jq. What would silently lose digits of an integer (an overflow, an id of
// twenty digits added to something) is an error for that record. Comparisons never round: when two
// doubles are equal but stand for texts with more digits than a double holds, or with an exponent
// that no double has, the texts decide: 1e-400 is above 0. Zero is one number, whatever its sign;
// the sign is kept for the text alone, as in jq.
// Tested by tests/unit/expr/number_test.cc.
#ifndef KSTREAM_EXPR_NUMBER_H_
#define KSTREAM_EXPR_NUMBER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "expr/value.h"

namespace kstream::expr {

// A number decoded for calculation.
struct Number {
  bool is_int = false;
  int64_t i = 0;
  double d = 0;               // nearest double, also when is_int
  std::string_view spelling;  // of a literal; empty when calculated
};

Number Decode(Value number);
// The nearest double; faster than Decode where that is enough.
double ToDouble(Value number);

// <0, 0, >0 by exact value; NaN is below all others and itself.
int CompareNumbers(Value a, Value b);

enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kModulo };
// On failure an error value, and *error says why (static text). The caller names the operands.
Value Calculate(Arithmetic op, Value a, Value b, const char** error);

// Whether a double holds the number, and prints it, without a change of value: what libjq may see.
bool SurvivesDouble(std::string_view spelling);

void AppendInt(int64_t i, std::string* out);

// A number that a program spells, decoded once for all records where its spelling is what an int
// prints; else a literal. `spelling` must live as long as the value.
Value NumberOfProgram(std::string_view spelling);

// The JSON spelling of a number written the looser ways that jq reads (.5, 1., 007, +1); empty when
// it is none. May copy into `arena`.
std::string_view JsonSpelling(std::string_view text, Arena* arena);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_NUMBER_H_
