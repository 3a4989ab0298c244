// The texts of numbers, as jq and JavaScript print them, and what keeps its spelling.
#include "expr/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "expr/number.h"
#include "expr_testing.h"

namespace kstream::expr {
namespace {

struct Spelled {
  const char* number;
  const char* text;
};

// Each is what jq 1.6 itself says.
constexpr Spelled kSurvives[] = {
    {"1.0", "1"},
    {"129.90", "129.9"},
    {"1e2", "100"},
    {"1E5", "100000"},
    {"0.1e1", "1"},
    {"0.00", "0"},
    {"-0", "-0"},
    {"-0.0", "-0"},
    {"-0e7", "-0"},
    {"-12.50", "-12.5"},
    {"0.0001", "0.0001"},
    {"0.00001", "1e-05"},
    {"1e-6", "1e-06"},
    {"2.5e-7", "2.5e-07"},
    {"1.1e-10", "1.1e-10"},
    {"1e15", "1000000000000000"},
    {"1e16", "1e+16"},
    {"100000000000000000", "1e+17"},
    {"12e15", "12000000000000000"},
    {"12e16", "1.2e+17"},
    {"1234567.5e10", "12345675000000000"},
    {"12345678901234567000", "12345678901234567000"},
    {"1e308", "1e+308"},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"5e-324", "5e-324"},
    {"0.30000000000000004", "0.30000000000000004"},
};

constexpr const char* kLongerThanDoubles[] = {
    "9007199254740993", "123456789012345678",  "3.14159265358979323846", "1e400",
    "1e-400",           "-1.0000000000000001", "12345678901234567890.0", "0.10000000000000000001e5",
};

TEST(Text, EveryConversionPrintsNumbersAsJqDoes) {
  for (const auto& [number, text] : kSurvives) {
    const std::string t = text;
    const std::string json = fmt::format(R"({{"a":{0},"l":[{0},{{"b":{0}}}]}})", number);
    EXPECT_EQ(Jq(".a | tostring", json), fmt::format("\"{}\"", t));
    EXPECT_EQ(Jq(".a | tojson", json), fmt::format("\"{}\"", t));
    EXPECT_EQ(Jq("\"<\\(.a)>\"", json), fmt::format("\"<{}>\"", t));
    EXPECT_EQ(Jq("[.a, .a] | join(\"/\")", json), fmt::format("\"{0}/{0}\"", t));
    EXPECT_EQ(Jq("{(.a | tostring): 1}", json), fmt::format("{{\"{}\":1}}", t));
    EXPECT_EQ(Jq(".l | tojson | fromjson", json), fmt::format("[{0},{{\"b\":{0}}}]", t));
    EXPECT_EQ(Jq("[.l[]] | tostring | fromjson", json), fmt::format("[{0},{{\"b\":{0}}}]", t));
    EXPECT_EQ(Jq(".a", json), number) << "without a text it keeps its spelling";
  }
}

TEST(Text, NumbersLongerThanDoublesKeepTheirSpelling) {
  for (const char* number : kLongerThanDoubles) {
    EXPECT_EQ(Jq("[tostring, tojson, \"\\(.)\", ([.] | join(\",\"), tojson)]", number),
              fmt::format(R"(["{0}","{0}","{0}","{0}","[{0}]"])", number));
  }
  EXPECT_EQ(Jq(". + 1 | tostring", "9007199254740992"), "\"9007199254740993\"");
}

TEST(Text, LibjqAgrees) {
  CompileOptions options;
  options.force_libjq = true;
  const auto program = Program::Compile("tostring", options);
  ASSERT_TRUE(program.ok());
  Evaluator libjq(*program);
  std::mt19937_64 random(20240611);
  int compared = 0;
  const auto compare = [&](const std::string& number) {
    Record record;
    record.value = number;
    Input input;
    input.record = &record;
    std::string theirs;
    const Status status = libjq.ForEach(input, [&](std::string_view json) {
      theirs = json;
      return Status::Ok();
    });
    if (!SurvivesDouble(number)) return;
    ++compared;
    EXPECT_TRUE(status.ok()) << number;
    EXPECT_EQ(Jq("tostring", number), theirs) << number;
  };
  for (const auto& [number, text] : kSurvives) compare(number);
  for (int i = 0; i < 2000; ++i) {
    double d = 0;
    const uint64_t bits = random();
    std::memcpy(&d, &bits, sizeof d);
    if (std::isfinite(d)) compare(fmt::format("{}", d));
    const auto digits = static_cast<int64_t>(random() % 10000000);
    compare(fmt::format("{}e{}", digits, static_cast<int>(random() % 40) - 20));
    compare(fmt::format("{}.{}0", digits, random() % 10000));
  }
  EXPECT_GT(compared, 5000);
}

TEST(Text, TheSignOfZeroShowsAsInJq) {
  EXPECT_EQ(Jq("[-., . * -1, . / -3, . - ., . + ., . % -3] | map(tostring)", "0"),
            R"(["-0","-0","-0","0","0","0"])");
  EXPECT_EQ(Jq("[. + ., . - 0, . + 0, sqrt, floor, ceil, length] | map(tostring)", "-0.0"),
            R"(["-0","-0","0","-0","-0","-0","0"])");
  EXPECT_EQ(Jq("-0.5 | ceil | [tostring, . == 0, ([7][.])]", "0"), R"(["-0",true,7])");
}

TEST(Text, StringsInsideLoseEscapesThatTheyCanDoWithout) {
  const char* json = R"({"b":"a\/\u00e9\u0041","a":"\u007f\u0001\n\"","b":"\u2028"})";
  EXPECT_EQ(Jq("tojson", json), R"("{\"b\":\")"
                                "\xE2\x80\xA8"
                                R"(\",\"a\":\"\\u007f\\u0001\\n\\\"\"}")");
  EXPECT_EQ(Jq("[.a] | tostring", json), R"("[\"\\u007f\\u0001\\n\\\"\"]")");
}

std::string JavaScript(std::string_view number) {
  std::string text;
  AppendJavaScriptText(Value::Literal(number), &text);
  return text;
}

TEST(Text, JavaScript) {
  constexpr Spelled kTexts[] = {
      {"1.0", "1"},
      {"1.50", "1.5"},
      {"-0.0", "0"},
      {"-0", "0"},
      {"1e2", "100"},
      {"1e20", "100000000000000000000"},
      {"1e21", "1e+21"},
      {"12.5e20", "1.25e+21"},
      {"0.000001", "0.000001"},
      {"1e-7", "1e-7"},
      {"-1.50e-10", "-1.5e-10"},
      {"1e400", "1e400"},
      {"9007199254740993", "9007199254740993"},
  };
  for (const auto& [number, text] : kTexts) EXPECT_EQ(JavaScript(number), text);
  EXPECT_EQ(Jq(R"({"cat":[1.0,"/",{"var":"a"},"/",[1.50,2.0]]})", R"({"a":129.90})"),
            R"("1/129.9/1.5,2")");
  EXPECT_EQ(Jq(R"({"cat":[{"*":[{"var":"a"},-1]}]})", R"({"a":0})"), R"("0")");
}

}  // namespace
}  // namespace kstream::expr
