// Exact integers out of JSON numbers, however they are spelled.
//
// "1700000000.123", "1.7e9" and "17e8" are decimal texts; through a double they would lose digits.
// Here the decimal point is moved and the digits are read. Tested by
// tests/unit/record/decimal_test.cc.
#ifndef KSTREAM_RECORD_DECIMAL_H_
#define KSTREAM_RECORD_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace kstream {

// floor(number * 10^scale), as sign and magnitude.
struct ScaledDecimal {
  bool negative = false;  // never with a magnitude of 0
  uint64_t magnitude = 0;
  bool exact = true;  // false when a fraction was cut off

  std::optional<int64_t> AsInt64() const;
};

// `number` is a valid JSON number. Nothing when the magnitude does not fit 64 bits.
std::optional<ScaledDecimal> ScaleDecimal(std::string_view number, int scale);

}  // namespace kstream

#endif  // KSTREAM_RECORD_DECIMAL_H_
