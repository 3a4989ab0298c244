// The pattern of -f: kcat's tokens print what kcat prints, and %{EXPR} finds its own end.
#include "record/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace kstream {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

Format Make(std::string_view pattern, Serdes serdes = {}) {
  Result<Format> r = Format::Parse(pattern, std::move(serdes));
  EXPECT_TRUE(r.ok()) << r.status().message();
  return *std::move(r);
}

Status NoExpression(size_t, std::string*) { return Status::Data("no expression expected"); }

std::string Print(std::string_view pattern, const Record& record, Serdes serdes = {}) {
  std::string out;
  Status s = Make(pattern, std::move(serdes)).Append(record, NoExpression, &out);
  EXPECT_TRUE(s.ok()) << s.message();
  return out;
}

constexpr std::array<Header, 4> kHeaders = {
    {{"a", "1"}, {"a", std::nullopt}, {"b", ""}, {"", "x=y,z"}}};

Record Full() {
  Record r;
  r.topic = "orders";
  r.partition = 3;
  r.offset = 17;
  r.timestamp = 1700000000123;
  r.timestamp_type = TimestampType::kCreateTime;
  r.key = "u1";
  r.value = "{\"a\":1}";
  r.headers = kHeaders;
  return r;
}

TEST(Format, PrintsEveryToken) {
  EXPECT_EQ(Print("Topic %t [%p] at offset %o: key %k (%K): %s (%S)\\n", Full()),
            "Topic orders [3] at offset 17: key u1 (2): {\"a\":1} (7)\n");
  EXPECT_EQ(Print("%T %d", Full()), "1700000000123 2023-11-14T22:13:20.123Z");
  EXPECT_EQ(Print("%h", Full()), "a=1,a=NULL,b=,=x=y,z");
  EXPECT_EQ(Print("%R|100%%", Full()), "\0\0\0\7|100%"s);
}

TEST(Format, PrintsWhatIsAbsentAsKcatDoes) {
  EXPECT_EQ(Print("[%s][%S][%k][%K][%T][%d][%h][%p][%o]", Record()),
            "[][-1][][-1][-1][][][-1][-1]");
  EXPECT_EQ(Print("%R", Record()), "\xFF\xFF\xFF\xFF");
  Record empty;
  empty.key = "";
  empty.value = "";
  EXPECT_EQ(Print("[%s][%S][%k][%K]", empty), "[][0][][0]");
}

TEST(Format, ResolvesEscapes) {
  EXPECT_EQ(Print(R"(\n\r\t\\\q)", Record()), "\n\r\t\\q");
  EXPECT_EQ(Print(R"(\x41\x4\x0a\x00z)", Record()), "A\x04\n\0z"s);
  EXPECT_EQ(Print(R"(\0\012\65\255)", Record()), "\0\nA\xFF"s);
  EXPECT_EQ(Print("end\\", Record()), "end\\");
}

TEST(Format, LeavesEscapesOfDataAlone) {
  Record r;
  r.value = "\\n%k";
  EXPECT_EQ(Print("%s", r), "\\n%k");
}

TEST(Format, RefusesWhatItDoesNotKnow) {
  for (std::string_view pattern : {"%", "a%", "%x", "% s", "%{", "%{.a", "%{\"}\"", "%{}", "%{ }",
                                   "\\x", "\\xg", "\\256", "\\999", "\\0777"}) {
    EXPECT_EQ(Format::Parse(pattern).status().code(), StatusCode::kUsage) << pattern;
  }
  EXPECT_THAT(std::string(Format::Parse("%s %q").status().message()),
              testing::HasSubstr("unknown token %q at byte 4"));
}

TEST(Format, FindsTheEndOfAnExpression) {
  EXPECT_THAT(Make("%{.a}%{ {b: .c} }x").expressions(), testing::ElementsAre(".a", " {b: .c} "));
  EXPECT_THAT(Make(R"(%{"}"}%{"\"}"}.)").expressions(), testing::ElementsAre(R"("}")", R"("\"}")"));
  EXPECT_THAT(Make(R"~(%{"\({a:"}"}|.a[")"])}"})~").expressions(),
              testing::ElementsAre(R"~("\({a:"}"}|.a[")"])}")~"));
  EXPECT_THAT(Make(R"~(%{.a|test("\\d{2}")})~").expressions(),
              testing::ElementsAre(R"~(.a|test("\\d{2}"))~"));
  EXPECT_THAT(Make(R"(%{{">":[1,{"var":"}"}]}})").expressions(),
              testing::ElementsAre(R"({">":[1,{"var":"}"}]})"));
}

TEST(Format, AsksForExpressionsByNumber) {
  std::string out = "kept ";
  Status s = Make("%{.a}-%k-%{.b}")
                 .Append(
                     Full(),
                     [](size_t i, std::string* text) {
                       *text += "<" + std::to_string(i) + ">";
                       return Status::Ok();
                     },
                     &out);
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(out, "kept <0>-u1-<1>");
}

TEST(Format, AppendsNothingWhenAnExpressionFails) {
  std::string out = "kept";
  Status s = Make("%k%{.a}").Append(
      Full(), [](size_t, std::string*) { return Status::Data("not a number"); }, &out);
  EXPECT_EQ(s.code(), StatusCode::kData);
  EXPECT_EQ(s.message(), "%{.a}: not a number");
  EXPECT_EQ(out, "kept");
}

TEST(Format, PrintsBinaryThroughItsSerde) {
  Record r;
  r.key = "\x00\x07"sv;
  r.value = "\xFF";
  Serdes serdes{*Serde::Parse(">h"), *Serde::Parse("hex")};
  EXPECT_EQ(Print("%k %K %s %S", r, serdes), "7 2 ff 1");
  std::string out;
  r.key = "x";
  EXPECT_EQ(Make("%s%k", serdes).Append(r, NoExpression, &out).code(), StatusCode::kData);
  EXPECT_EQ(out, "");
}

TEST(Format, SurvivesDeepNesting) {
  std::string deep = "%{" + std::string(100'000, '{') + std::string(100'000, '}') + "}";
  EXPECT_EQ(Make(deep).expressions().size(), 1u);
  EXPECT_FALSE(Format::Parse(deep.substr(0, deep.size() - 1)).ok());
}

}  // namespace
}  // namespace kstream
