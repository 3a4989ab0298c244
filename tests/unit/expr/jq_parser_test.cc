// Positions of errors, refused and unknown names, and what goes to libjq and why.
#include "expr/jq_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr_testing.h"

namespace kstream::expr {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text, const CompileOptions& options = {}) {
  const auto parsed = ParseJq(text, options);
  if (parsed.ok()) return "parses";
  EXPECT_EQ(parsed.status().code(), StatusCode::kExpression);
  EXPECT_EQ(parsed.status().message().find('\n'), std::string_view::npos);
  return std::string(parsed.status().message());
}

std::string FallbackOf(std::string_view text) {
  const auto parsed = ParseJq(text, {});
  return parsed.ok() ? parsed->tree.fallback : std::string(parsed.status().message());
}

TEST(JqParser, ErrorsHaveLineAndColumn) {
  EXPECT_EQ(ErrorOf(".a >"), "1:5: the expression ends too early");
  EXPECT_EQ(ErrorOf(".a > )"), "1:6: ')' is not expected here");
  EXPECT_EQ(ErrorOf("{a: 1"), "1:6: the expression ends where '}' is expected");
  EXPECT_EQ(ErrorOf(".a |\n  .b ]"), "2:6: ']' is not expected here");
  EXPECT_EQ(ErrorOf("\"é\" | ^"), "1:7: '^' is not expected here");
  EXPECT_EQ(ErrorOf("if . then 1 else 2"), "1:19: the expression ends where 'end' is expected");
  EXPECT_EQ(ErrorOf("\"abc"), "1:1: the string that starts here has no end");
  EXPECT_EQ(ErrorOf("\"a\\qb\""), "1:3: this is no escape of a string");
  EXPECT_EQ(ErrorOf("1 == 2 == 3"), "1:8: '==' after '==': use parentheses");
  EXPECT_EQ(ErrorOf("{(1): 2}"), "1:2: a name of an object must be a string");
  EXPECT_EQ(ErrorOf("\xff"), "the expression is not UTF-8");
}

TEST(JqParser, UnknownNamesHaveHints) {
  EXPECT_EQ(ErrorOf("$topc"), "1:1: there is no $topc; did you mean $topic?");
  EXPECT_EQ(ErrorOf(". as $total | $totl"), "1:15: there is no $totl; did you mean $total?");
  EXPECT_EQ(ErrorOf("lenght"), "1:1: there is no function 'lenght'; did you mean 'length'?");
  EXPECT_EQ(ErrorOf("length(1)"), "1:1: 'length' takes 0 arguments, not 1");
  EXPECT_EQ(ErrorOf("$left"), "1:1: $left has no meaning in this place");
  CompileOptions join;
  join.extra_names = {"left"};
  EXPECT_EQ(ErrorOf("$left", join), "parses");
  EXPECT_EQ(ErrorOf(". as $x | 1, $x | ($y)"), "1:20: there is no $y");
}

TEST(JqParser, NamesEndWithTheirScope) {
  EXPECT_EQ(ErrorOf("(1 as $x | $x) | $x"), "1:18: there is no $x");
  EXPECT_THAT(ErrorOf("(def f: 1; f) | f"), HasSubstr("1:17: there is no function 'f'"));
  EXPECT_EQ(ErrorOf("def f(g; $x): g + $x; f(1; 2)"), "parses");
  EXPECT_EQ(ErrorOf("reduce .[] as [$a, {b: $c}] (0; . + $a + $c)"), "parses");
  EXPECT_EQ(ErrorOf("label $out | break $out"), "parses");
  EXPECT_EQ(ErrorOf("break $out"), "1:7: there is no label $out");
}

TEST(JqParser, RefusedNames) {
  for (const char* text : {"input", "[inputs]", "halt", "halt_error(1)", "env.HOME", "$ENV.HOME",
                           ". | debug", "input_line_number", "get_search_list"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("is refused: ")) << text;
  }
  EXPECT_EQ(ErrorOf(". | input"), "1:5: 'input' is refused: a stage gives one record at a time");
  EXPECT_EQ(ErrorOf("import \"a\" as a; ."), "1:1: there are no modules here");
  // A definition of one's own is none of these.
  EXPECT_EQ(ErrorOf("def input: 1; input"), "parses");
}

TEST(JqParser, SaysWhatNeedsLibjq) {
  EXPECT_EQ(FallbackOf(".a > 1"), "");
  EXPECT_EQ(FallbackOf(". | reduce .[] as $x (0; . + $x)"), "reduce at 1:5");
  EXPECT_EQ(FallbackOf(".a |\ntest(\"x\")"), "test at 2:1");
  EXPECT_EQ(FallbackOf("try error catch ."), "catch at 1:11");
  EXPECT_EQ(FallbackOf("@base64"), "@base64 at 1:1");
  EXPECT_EQ(FallbackOf(". as [$x] | $x"), "a destructuring pattern at 1:6");
  EXPECT_EQ(FallbackOf("(.a, .b[]) = 1"), "an assignment to such a path at 1:2");
  EXPECT_EQ(FallbackOf(".a |= empty"), "an assignment of other than one value at 1:7");
}

TEST(JqParser, KnowsWhatAProgramDependsOn) {
  const auto parse = [](std::string_view text) { return std::move(*ParseJq(text, {})).tree; };
  EXPECT_TRUE(parse(".a").reads_value);
  EXPECT_FALSE(parse("$key | length").reads_value);
  EXPECT_FALSE(parse("1 == 1").reads_value);
  EXPECT_TRUE(parse("$key == \"a\" and .b").reads_value);
  EXPECT_TRUE(parse("select($key)").reads_value);
  EXPECT_EQ(parse("1").names, 0u);
  EXPECT_NE(parse("$offset % 2 == 0").names, 0u);
  EXPECT_FALSE(parse("now").deterministic);
  EXPECT_TRUE(parse(".a").deterministic);
}

TEST(JqParser, DepthIsLimited) {
  const auto nested = [](size_t n) { return std::string(n, '[') + "1" + std::string(n, ']'); };
  EXPECT_EQ(ErrorOf(nested(200)), "parses");
  EXPECT_THAT(ErrorOf(nested(100000)), HasSubstr("nested too deeply"));
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_THAT(ErrorOf(sum), HasSubstr("nested too deeply"));
  std::string list = "[0";
  for (int i = 0; i < 100000; ++i) list += ",1";
  EXPECT_EQ(ErrorOf(list + "]"), "parses");
  for (const char* opening : {"(", "{a:", "-", "if ", "\"\\(", "try ", ".a|", "def f: ", "[.[",
                              ". as [", "1 as $x|", "first(", "{(", "1//"}) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += opening;
    EXPECT_NE(ErrorOf(text), "parses") << opening;
  }
}

}  // namespace
}  // namespace kstream::expr
