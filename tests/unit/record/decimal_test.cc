// Moving the decimal point loses no digit, whatever the spelling.
#include "record/decimal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kstream {
namespace {

// floor(number * 10^scale) as text: "~" marks a cut fraction, "none" an overflow.
std::string Scaled(std::string_view number, int scale) {
  std::optional<ScaledDecimal> d = ScaleDecimal(number, scale);
  if (!d) return "none";
  return (d->negative ? "-" : "") + std::to_string(d->magnitude) + (d->exact ? "" : "~");
}

TEST(Decimal, ReadsEverySpelling) {
  EXPECT_EQ(Scaled("0", 0), "0");
  EXPECT_EQ(Scaled("-0", 3), "0");
  EXPECT_EQ(Scaled("-0.0e5", 3), "0");
  EXPECT_EQ(Scaled("42", 0), "42");
  EXPECT_EQ(Scaled("1700000000.123", 3), "1700000000123");
  EXPECT_EQ(Scaled("1.7e9", 3), "1700000000000");
  EXPECT_EQ(Scaled("17E+8", 3), "1700000000000");
  EXPECT_EQ(Scaled("170000000000e-2", 3), "1700000000000");
  EXPECT_EQ(Scaled("0.0000000017e18", 3), "1700000000000");
}

TEST(Decimal, RoundsDown) {
  EXPECT_EQ(Scaled("1700000000.1239", 3), "1700000000123~");
  EXPECT_EQ(Scaled("1999999", -6), "1~");
  EXPECT_EQ(Scaled("999999", -6), "0~");
  EXPECT_EQ(Scaled("-1", -6), "-1~");
  EXPECT_EQ(Scaled("-1.0", 0), "-1");
  EXPECT_EQ(Scaled("-1.5", 0), "-2~");
  EXPECT_EQ(Scaled("5e-400", 3), "0~");
}

TEST(Decimal, KnowsItsLimits) {
  EXPECT_EQ(Scaled("18446744073709551615", 0), "18446744073709551615");
  EXPECT_EQ(Scaled("18446744073709551616", 0), "none");
  EXPECT_EQ(Scaled("1e19", 0), "10000000000000000000");
  EXPECT_EQ(Scaled("1e20", 0), "none");
  EXPECT_EQ(Scaled("1e999999999999999999999999", 0), "none");
  EXPECT_EQ(Scaled("0e999999999999999999999999", 0), "0");
  EXPECT_EQ(Scaled("1e-999999999999999999999999", 0), "0~");
  EXPECT_EQ(Scaled("-18446744073709551615.5", 0), "none");
  EXPECT_EQ(ScaleDecimal("9223372036854775807", 0)->AsInt64(), INT64_MAX);
  EXPECT_EQ(ScaleDecimal("9223372036854775808", 0)->AsInt64(), std::nullopt);
  EXPECT_EQ(ScaleDecimal("-9223372036854775808", 0)->AsInt64(), INT64_MIN);
  EXPECT_EQ(ScaleDecimal("-9223372036854775809", 0)->AsInt64(), std::nullopt);
}

TEST(Decimal, IsLinearInHostileLengths) {
  EXPECT_EQ(Scaled("0." + std::string(1 << 20, '0') + "7e1048577", 0), "7");
  EXPECT_EQ(Scaled("7" + std::string(1 << 20, '0') + "e-1048576", 0), "7");
}

TEST(Decimal, AgreesOnSpellingsOfTheSameNumber) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 10000; ++i) {
    uint64_t n = random() >> (random() % 64);
    std::string text = std::to_string(n);
    size_t cut = 1 + random() % text.size();
    std::string moved = text.substr(0, cut);
    if (cut < text.size()) moved += "." + text.substr(cut);
    moved += "e" + std::to_string(text.size() - cut);
    ASSERT_EQ(Scaled(moved, 0), text) << moved;
  }
}

}  // namespace
}  // namespace kstream
