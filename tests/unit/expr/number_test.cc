#include "expr/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr_testing.h"

namespace kstream::expr {
namespace {

using ::testing::HasSubstr;

int Order(std::string_view a, std::string_view b) {
  return CompareNumbers(Value::Literal(a), Value::Literal(b));
}

TEST(Number, ComparesExactly) {
  EXPECT_EQ(Order("1", "1.0"), 0);
  EXPECT_EQ(Order("1e2", "100"), 0);
  EXPECT_EQ(Order("-0", "0"), 0);
  EXPECT_EQ(Order("0.1", "0.10"), 0);
  EXPECT_LT(Order("9007199254740992", "9007199254740993"), 0);
  EXPECT_LT(Order("12345678901234567890", "12345678901234567891"), 0);
  EXPECT_GT(Order("-12345678901234567890", "-12345678901234567891"), 0);
  EXPECT_LT(Order("9223372036854775807", "9223372036854775808"), 0);
  EXPECT_LT(Order("0.1", "0.1000000000000000055511151231257827"), 0);
  EXPECT_LT(Order("1e1000", "1e1001"), 0);
  EXPECT_GT(Order("-1e1000", "-1e1001"), 0);
  EXPECT_EQ(Order("100000000000000000000", "1e20"), 0);
  EXPECT_GT(Order("1e-400", "0"), 0);
  EXPECT_EQ(Order("0e999999999999", "0"), 0);
}

TEST(Number, WhatIsTooSmallForADoubleIsNotZero) {
  const std::string tiny = "0." + std::string(400, '0') + "1";
  for (const std::string& number : {std::string("1e-400"), tiny}) {
    EXPECT_GT(CompareNumbers(Value::Literal(number), Value::Int(0)), 0);
    EXPECT_LT(CompareNumbers(Value::Literal("-" + number), Value::Int(0)), 0);
    EXPECT_LT(CompareNumbers(Value::Literal(number), Value::Double(5e-324)), 0);
    EXPECT_EQ(Jq("[. > 0, . == 0, . < 0, . > -0, sort_by(.)?]", number), "[true,false,false,true]");
    EXPECT_EQ(Jq("if . <= 0 then 1 else . end", number), number);
    EXPECT_EQ(Jq(R"({"!!":[{"var":""}]})", number), "true");
    EXPECT_EQ(Jq(R"({">":[{"var":""},0]})", number), "true");
  }
  EXPECT_EQ(Jq("[sort, min, max]", "[1e-400,0,-1e-400]"), "[[-1e-400,0,1e-400],-1e-400,1e-400]");
}

TEST(Number, ZeroIsOneNumber) {
  EXPECT_EQ(Order("-0.0", "0"), 0);
  EXPECT_EQ(CompareNumbers(Value::Double(-0.0), Value::Int(0)), 0);
  EXPECT_EQ(CompareNumbers(Value::Double(-0.0), Value::Literal("1e-400")), -1);
  EXPECT_EQ(Jq("[-. == ., ([1,2] | .[-0]), 1 / (-. + 1)]", "0"), "[true,1,1]");
  EXPECT_THAT(Jq("1 / -.", "0"), HasSubstr("divisor is zero"));
  EXPECT_THAT(Jq("1 % -.", "0"), HasSubstr("divisor is zero"));
}

TEST(Number, KeepsIdsOfSixtyFourBits) {
  EXPECT_EQ(Jq(".id == 9007199254740993", R"({"id":9007199254740993})"), "true");
  EXPECT_EQ(Jq(".id == 9007199254740993", R"({"id":9007199254740992})"), "false");
  EXPECT_EQ(Jq(".id + 1", R"({"id":9007199254740993})"), "9007199254740994");
  EXPECT_EQ(Jq(".id - 1", R"({"id":-9223372036854775807})"), "-9223372036854775808");
  EXPECT_EQ(Jq(".id", R"({"id":12345678901234567890123})"), "12345678901234567890123");
  EXPECT_EQ(Jq("[.[] * 3]", "[3074457345618258602]"), "[9223372036854775806]");
  EXPECT_EQ(Jq(". / 2", "9007199254740994"), "4503599627370497");
  EXPECT_EQ(Jq("-.", "9223372036854775807"), "-9223372036854775807");
  EXPECT_EQ(Jq(". % 10", "9223372036854775807"), "7");
  EXPECT_EQ(Jq("12345678901234567890", "null"), "12345678901234567890");
}

TEST(Number, ErrsWhereDigitsWouldGo) {
  EXPECT_THAT(Jq(". + 1", "9223372036854775807"), HasSubstr("do not fit a 64-bit integer"));
  EXPECT_THAT(Jq(". * 2", "9223372036854775807"), HasSubstr("do not fit a 64-bit integer"));
  EXPECT_THAT(Jq(". + 1", "12345678901234567890"), HasSubstr("error: "));
  EXPECT_THAT(Jq(". + 0.5", "9007199254740993"), HasSubstr("error: "));
  EXPECT_THAT(Jq(". + 1", "1e20"), HasSubstr("error: "));
  // A double, which would be printed as 9223372036854776000.
  EXPECT_THAT(Jq(". + 0", "9223372036854775808"), HasSubstr("error: "));
  EXPECT_THAT(Jq(". / 0", "1"), HasSubstr("divisor is zero"));
  EXPECT_THAT(Jq(". % 0.5", "1"), HasSubstr("divisor is zero"));
  EXPECT_EQ(Jq(". % -1", "-9223372036854775808"), "0");
}

TEST(Number, PrintsShortestAndAlwaysJson) {
  EXPECT_EQ(Jq(".[0] + .[1]", "[0.1,0.2]"), "0.30000000000000004");
  EXPECT_EQ(Jq(". + 1.5", "1.5"), "3");
  EXPECT_EQ(Jq(". * 10", "1e308"), "1.7976931348623157e+308");
  EXPECT_EQ(Jq("(. * 10) - (. * 10)", "1e308"), "null");
  EXPECT_EQ(Jq("sqrt", "-1"), "null");
  EXPECT_EQ(Jq(". / 3", "1"), "0.3333333333333333");
}

TEST(Number, SurvivesDouble) {
  for (const char* yes : {"0", "-1", "9007199254740992", "9007199254740994", "0.1", "1.10", "1e300",
                          "0.30000000000000004", "100000000000000000000", "-0"}) {
    EXPECT_TRUE(SurvivesDouble(yes)) << yes;
  }
  for (const char* no :
       {"9007199254740993", "9223372036854775808", "12345678901234567891", "1e400",
        "3.14159265358979323846", "0.1000000000000000055511151231257827", "1e-400"}) {
    EXPECT_FALSE(SurvivesDouble(no)) << no;
  }
}

TEST(Number, JsonSpelling) {
  Arena arena;
  const auto spelled = [&](std::string_view text) { return JsonSpelling(text, &arena); };
  EXPECT_EQ(spelled("1.50"), "1.50");
  EXPECT_EQ(spelled(".5"), "0.5");
  EXPECT_EQ(spelled("1."), "1");
  EXPECT_EQ(spelled("007"), "7");
  EXPECT_EQ(spelled("+1e5"), "1e5");
  for (const char* none : {"", "-", ".", "1e", "1e+", "0x1", "1 2", "nan", "--1"}) {
    EXPECT_EQ(spelled(none), "") << none;
  }
}

}  // namespace
}  // namespace kstream::expr
