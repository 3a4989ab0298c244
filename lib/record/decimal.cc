#include "record/decimal.h"

#include <algorithm>

namespace kstream {
namespace {

// Large enough to stand for every exponent beyond it, small enough to add to a text's length.
constexpr int64_t kExponentLimit = int64_t{1} << 60;

int64_t ParseExponent(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  for (char c : text) {
    value = value < kExponentLimit / 10 ? value * 10 + (c - '0') : kExponentLimit;
  }
  return negative ? -value : value;
}

}  // namespace

std::optional<int64_t> ScaledDecimal::AsInt64() const {
  constexpr uint64_t kMinMagnitude = uint64_t{1} << 63;
  if (magnitude > (negative ? kMinMagnitude : kMinMagnitude - 1)) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::optional<ScaledDecimal> ScaleDecimal(std::string_view number, int scale) {
  ScaledDecimal result;
  result.negative = number.starts_with('-');
  if (result.negative) number.remove_prefix(1);
  int64_t exponent = scale;
  auto is_e = [](char c) { return (c | 0x20) == 'e'; };
  auto e = static_cast<size_t>(std::find_if(number.begin(), number.end(), is_e) - number.begin());
  if (e != number.size()) {
    exponent += ParseExponent(number.substr(e + 1));
    number = number.substr(0, e);
  }
  std::string_view whole = number.substr(0, number.find('.'));
  std::string_view fraction = number.substr(std::min(number.size(), whole.size() + 1));

  // The digits are whole then fraction; `point` of them, counted from the first, stand before the
  // moved decimal point.
  const int64_t point = static_cast<int64_t>(whole.size()) + exponent;
  const auto digits = static_cast<int64_t>(whole.size() + fraction.size());
  auto digit = [&](int64_t i) {
    auto at = static_cast<size_t>(i);
    return static_cast<unsigned>((at < whole.size() ? whole[at] : fraction[at - whole.size()]) -
                                 '0');
  };
  int64_t i = 0;
  for (; i < std::min(point, digits); ++i) {
    if (__builtin_mul_overflow(result.magnitude, uint64_t{10}, &result.magnitude) ||
        __builtin_add_overflow(result.magnitude, uint64_t{digit(i)}, &result.magnitude)) {
      return std::nullopt;
    }
  }
  for (int64_t zeros = point - digits; zeros > 0 && result.magnitude != 0; --zeros) {
    if (__builtin_mul_overflow(result.magnitude, uint64_t{10}, &result.magnitude)) {
      return std::nullopt;
    }
  }
  for (; i < digits && result.exact; ++i) result.exact = digit(i) == 0;
  if (result.negative && !result.exact &&
      __builtin_add_overflow(result.magnitude, uint64_t{1}, &result.magnitude)) {
    return std::nullopt;
  }
  if (result.magnitude == 0) result.negative = false;
  return result;
}

}  // namespace kstream
