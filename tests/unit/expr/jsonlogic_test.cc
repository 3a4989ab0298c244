#include "expr/jsonlogic.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "expr/evaluation.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kstream/record.h"
#include "record/json_document.h"

namespace kstream::expr {
namespace {

using ::testing::HasSubstr;

// A rule applied to one value.
struct Outcome {
  std::string json;   // the result, when there is one
  std::string error;  // of compiling or evaluating
  bool truthy = false;
};

Outcome Apply(std::string_view rule, std::string_view data,
              const std::map<Name, std::string>& names = {}) {
  const Result<Tree> tree = ParseJsonLogic(rule, {});
  if (!tree.ok()) return {"", std::string(tree.status().message())};
  json::Reader reader;
  json::Document document;
  const Status status = reader.Parse(data, &document);
  EXPECT_TRUE(status.ok()) << status.message();
  Evaluation evaluation(*tree);
  for (const auto& [name, text] : names) evaluation.SetName(name, Value::String(text));
  const Value v = evaluation.One(*tree->root, Value::Of(document, document.root()));
  if (v.is_error()) return {"", evaluation.error()};
  Outcome outcome;
  AppendJson(v, &outcome.json);
  outcome.truthy = JsonLogicTruthy(v);
  return outcome;
}

// The result, or "error: " and why there is none.
std::string Of(std::string_view rule, std::string_view data = "null") {
  const Outcome outcome = Apply(rule, data);
  return outcome.error.empty() ? outcome.json : "error: " + outcome.error;
}

std::string CompileError(std::string_view rule) {
  const Result<Tree> tree = ParseJsonLogic(rule, {});
  if (tree.ok()) return "";
  EXPECT_EQ(tree.status().code(), StatusCode::kExpression);
  return std::string(tree.status().message());
}

TEST(JsonLogicOracle, EverySharedCase) {
  std::ifstream in(KSTREAM_ORACLES "/jsonlogic/tests.json");
  std::stringstream text;
  text << in.rdbuf();
  const std::string file = text.str();
  json::Reader reader;
  json::Document d;
  ASSERT_TRUE(reader.Parse(file, &d).ok());
  int cases = 0;
  for (json::Node n = d.First(d.root()); n != json::kNoNode; n = d.Next(n)) {
    if (d.type(n) != json::Type::kArray) continue;  // a heading
    std::string expected;
    AppendCompact(d, d.At(n, 2), &expected);
    EXPECT_EQ(Of(d.Raw(d.At(n, 0)), d.Raw(d.At(n, 1))), expected) << d.Raw(n);
    ++cases;
  }
  EXPECT_EQ(cases, 290);
}

struct Case {
  const char* rule;
  const char* data;
  const char* result;
};

TEST(JsonLogic, EmptyTextIsMissingZeroAndFalseAreNot) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"u":""})", R"(["u"])"}, {R"({"u":null})", R"(["u"])"}, {"{}", R"(["u"])"},
      {R"({"u":0})", "[]"},        {R"({"u":false})", "[]"},      {R"({"u":[]})", "[]"}};
  for (const auto& [data, result] : cases) {
    EXPECT_EQ(Of(R"({"missing":["u"]})", data), result) << data;
    EXPECT_EQ(Of(R"({"missing":"u"})", data), result) << data;
    EXPECT_EQ(Of(R"({"missing":{"merge":["u"]}})", data), result) << data;
  }
  EXPECT_EQ(Of(R"({"if":[{"missing":["u"]},"M","P"]})", R"({"u":"x"})"), R"("P")");
  EXPECT_EQ(Of(R"({"if":[{"missing":["u"]},"M","P"]})", "{}"), R"("M")");
  EXPECT_EQ(Of(R"({"missing_some":[1,["a","b"]]})", R"({"a":""})"), R"(["a","b"])");
  EXPECT_EQ(Of(R"({"missing_some":[1,{"merge":["a","b"]}]})", R"({"a":""})"), R"(["a","b"])");
}

TEST(JsonLogic, TruthIsThatOfJavaScriptButForEmptyArrays) {
  const std::vector<std::pair<const char*, bool>> cases = {
      {"0", false},   {R"("0")", true}, {R"("")", false},     {"[]", false},    {"[0]", true},
      {"{}", true},   {"null", false},  {R"("false")", true}, {"false", false}, {"true", true},
      {"0.0", false}, {"-0e5", false},  {R"("\u0000")", true}};
  for (const auto& [value, truth] : cases) {
    const std::string data = std::string(R"({"v":)") + value + "}";
    EXPECT_EQ(Of(R"({"!!":[{"var":"v"}]})", data), truth ? "true" : "false") << value;
    EXPECT_EQ(Of(R"({"!":[{"var":"v"}]})", data), truth ? "false" : "true") << value;
    EXPECT_EQ(Apply(R"({"var":"v"})", data).truthy, truth) << value;
  }
}

TEST(JsonLogic, QuantifiersOverNothing) {
  const char* const empty = R"({"a":[]})";
  EXPECT_EQ(Of(R"({"all":[{"var":"a"},{">":[{"var":""},0]}]})", empty), "false");
  EXPECT_EQ(Of(R"({"none":[{"var":"a"},{">":[{"var":""},0]}]})", empty), "true");
  EXPECT_EQ(Of(R"({"some":[{"var":"a"},{">":[{"var":""},0]}]})", empty), "false");
  EXPECT_EQ(Of(R"({"all":[{"var":"a"},{"!==":[{"var":""},""]}]})", R"({"a":[""]})"), "false");
  EXPECT_EQ(Of(R"({"none":[{"var":"b"},true]})", empty), "true");
  EXPECT_EQ(Of(R"({"all":[{"var":"b"},true]})", empty), "false");
}

TEST(JsonLogic, DataMayBeABareScalar) {
  EXPECT_EQ(Of(R"({"===":[{"var":""},0]})", "0"), "true");
  EXPECT_EQ(Of(R"({"===":[{"var":""},0]})", "false"), "false");
  EXPECT_EQ(Of(R"({"===":[{"var":""},0]})", R"("")"), "false");
  EXPECT_EQ(Of(R"({"var":"a"})", "0"), "null");
}

TEST(JsonLogic, Var) {
  const char* const data =
      R"({"a":0,"b":false,"c":null,"l":[10,[20,30]],"o":{"1":"x","":"e"},"s":"h\u00e9!","a.b":1})";
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"var":"a"})", "0"},
      {R"({"var":["a",5]})", "0"},
      {R"({"var":["b",5]})", "false"},
      {R"({"var":["c",5]})", "null"},
      {R"({"var":["z",5]})", "5"},
      {R"({"var":["c.d",5]})", "5"},
      {R"({"var":["a.b",5]})", "5"},
      {R"({"var":"l.1.0"})", "20"},
      {R"({"var":["l.2",7]})", "7"},
      {R"({"var":["l.-1",7]})", "7"},
      {R"({"var":["l.01",7]})", "7"},
      {R"({"var":["l.99999999999999999999",7]})", "7"},
      {R"({"var":"o.1"})", R"("x")"},
      {R"({"var":"o."})", R"("e")"},
      {R"({"var":"l.length"})", "2"},
      {R"({"var":"s.length"})", "3"},
      {R"({"var":{"cat":["o",".",1]}})", R"("x")"},
      {R"({"var":["z",{"+":[1,1]}]})", "2"},
  };
  for (const auto& [rule, result] : cases) {
    EXPECT_EQ(Of(rule, data), result) << rule;
  }
  EXPECT_EQ(Of(R"({"var":[{"var":"z"}]})", "[1]"), "[1]");  // no path: the data
}

TEST(JsonLogic, NamesOfTheRecord) {
  const auto of = [](std::string_view rule) {
    return Apply(rule, R"({"v":1})", {{Name::kKey, "k1"}}).json;
  };
  EXPECT_EQ(of(R"({"var":"$key"})"), R"("k1")");
  EXPECT_EQ(of(R"({"var":["$topic","none"]})"), R"("none")");
  EXPECT_EQ(of(R"({"map":[[1],{"cat":[{"var":"$key"},{"var":""}]}]})"), R"(["k11"])");
  EXPECT_EQ(of(R"({"missing":["$key","$topic","v"]})"), R"(["$topic"])");
  EXPECT_EQ(CompileError(R"({"var":"$ky"})"), "1:1: $ky has no meaning here");
  EXPECT_EQ(CompileError(R"({"var":"$out"})"), "1:1: $out has no meaning here");
  EXPECT_THAT(Of(R"({"var":{"cat":["$","key"]}})"), HasSubstr("only as a constant"));
  CompileOptions options;
  options.extra_names = {"out"};
  EXPECT_TRUE(ParseJsonLogic(R"({"var":"$out.a"})", options).ok());
}

TEST(JsonLogic, KnowsWhatItReads) {
  const auto reads = [](std::string_view rule) {
    const Result<Tree> tree = ParseJsonLogic(rule, {});
    EXPECT_TRUE(tree.ok());
    return std::pair(tree->reads_value, tree->names);
  };
  using Reads = std::pair<bool, uint32_t>;
  const uint32_t key = 1u << static_cast<unsigned>(Name::kKey);
  EXPECT_EQ(reads(R"({"var":"a"})"), Reads(true, 0));
  EXPECT_EQ(reads(R"({"missing":["a"]})"), Reads(true, 0));
  EXPECT_EQ(reads(R"({"var":{"cat":["a"]}})"), Reads(true, 0));
  EXPECT_EQ(reads(R"({"==":[{"var":"$key"},"x"]})"), Reads(false, key));
  EXPECT_EQ(reads(R"({"map":[[1,2],{"var":""}]})"), Reads(false, 0));
  EXPECT_EQ(reads(R"({"map":[{"var":""},1]})"), Reads(true, 0));
  EXPECT_EQ(reads("true"), Reads(false, 0));
}

TEST(JsonLogic, LooseEqualityIsJavaScripts) {
  const std::vector<Case> cases = {{"1", R"("1")", "true"},
                                   {"1", R"(" 1.0 ")", "true"},
                                   {"0", R"("")", "true"},
                                   {"0", "false", "true"},
                                   {"1", "true", "true"},
                                   {R"("true")", "true", "false"},
                                   {"null", "0", "false"},
                                   {"null", "false", "false"},
                                   {"null", "null", "true"},
                                   {R"("")", "null", "false"},
                                   {"[]", "0", "true"},
                                   {R"([1])", "1", "true"},
                                   {"[1,2]", R"("1,2")", "true"},
                                   {"[]", "[]", "false"},
                                   {"{}", "{}", "false"},
                                   {R"("abc")", "0", "false"},
                                   {"16", R"("0x10")", "true"},
                                   {"1", "1.0", "true"},
                                   {"9007199254740993", "9007199254740992", "false"},
                                   {"9007199254740993", R"("9007199254740993")", "true"},
                                   {R"("a")", R"("\u0061")", "true"}};
  for (const Case& c : cases) {
    const std::string data = std::string("[") + c.rule + "," + c.data + "]";
    EXPECT_EQ(Of(R"({"==":[{"var":0},{"var":1}]})", data), c.result) << data;
    EXPECT_EQ(Of(R"({"==":[{"var":1},{"var":0}]})", data), c.result) << data;
    EXPECT_NE(Of(R"({"!=":[{"var":1},{"var":0}]})", data), c.result) << data;
  }
  EXPECT_EQ(Of(R"({"===":[{"var":"a"},{"var":"a"}]})", R"({"a":[1]})"), "true");
  EXPECT_EQ(Of(R"({"===":[1,1.0]})"), "true");
}

TEST(JsonLogic, OrderIsJavaScripts) {
  EXPECT_EQ(Of(R"({"<":["10","9"]})"), "true");  // as text
  EXPECT_EQ(Of(R"({"<":["10",9]})"), "false");
  EXPECT_EQ(Of(R"({"<":["abc",5]})"), "false");
  EXPECT_EQ(Of(R"({">=":["abc",5]})"), "false");
  EXPECT_EQ(Of(R"({"<":[null,5]})"), "true");
  EXPECT_EQ(Of(R"({">=":[null,0]})"), "true");
  EXPECT_EQ(Of(R"({">":[3,2,1]})"), "true");
  EXPECT_EQ(Of(R"({">=":[3,3,4]})"), "false");
  EXPECT_EQ(Of(R"({">":[9007199254740993,9007199254740992]})"), "true");
  EXPECT_EQ(Of(R"({"<":[[2],[10]]})"), "false");  // as text
  EXPECT_EQ(Of(R"({"<":[{"a":1,"b":2},1]})"), "false");
}

TEST(JsonLogic, IntegersAreExactAndSpellingsStay) {
  EXPECT_EQ(Of(R"({"+":[9007199254740993,1]})"), "9007199254740994");
  EXPECT_EQ(Of(R"({"*":[3037000499,3037000499]})"), "9223372030926249001");
  EXPECT_EQ(Of(R"({"-":[-9223372036854775807,1]})"), "-9223372036854775808");
  EXPECT_EQ(Of(R"({"+":[1.10]})"), "1.10");
  EXPECT_EQ(Of(R"({"max":[1.50,1]})"), "1.50");
  EXPECT_EQ(Of(R"({"cat":[1.50,"x"]})"), R"("1.5x")");
  EXPECT_EQ(Of("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(Of(R"({"%":[7,-3]})"), "1");
  EXPECT_EQ(Of(R"({"%":[-7,3]})"), "-1");
  EXPECT_EQ(Of(R"({"%":[5.5,2]})"), "1.5");
  EXPECT_EQ(Of(R"({"%":[-9223372036854775808,-1]})"), "0");
  EXPECT_EQ(Of(R"({"/":[7,2]})"), "3.5");
  EXPECT_EQ(Of(R"({"+":["3.5abc",true]})"), "error: \"+\" finds no number in true");
  EXPECT_EQ(Of(R"({"+":["3.5abc",1]})"), "4.5");
  EXPECT_EQ(Of(R"({"-":["2"]})"), "-2");
  EXPECT_EQ(Of(R"({"-":[null,true]})"), "-1");
}

TEST(JsonLogic, WhatWouldBeAlteredIsAnError) {
  EXPECT_THAT(Of(R"({"+":[9223372036854775807,1]})"), HasSubstr("64-bit integer"));
  EXPECT_THAT(Of(R"({"-":[-9223372036854775808]})"), HasSubstr("64-bit integer"));
  EXPECT_THAT(Of(R"({"*":[1e308,10.5]})"), HasSubstr("too large"));
  EXPECT_THAT(Of(R"({"%":[123456789012345678901,10]})"), HasSubstr("more digits"));
  EXPECT_EQ(Of(R"({"/":[1,0]})"), "error: \"/\" divides 1 by zero");
  EXPECT_EQ(Of(R"({"%":[1,0]})"), "error: \"%\" divides 1 by zero");
  EXPECT_EQ(Of(R"({"+":["abc",1]})"), "error: \"+\" finds no number in \"abc\"");
  EXPECT_EQ(Of(R"({"+":[null,1]})"), "error: \"+\" finds no number in null");
  EXPECT_EQ(Of(R"({"max":["abc",1]})"), "error: \"max\" finds no number in \"abc\"");
  EXPECT_EQ(Of(R"({"cat":[{"a":1,"b":2}]})"), "error: \"cat\" finds no text in an object");
  EXPECT_EQ(Of(R"({"/":[{"var":""},2]})", "[1,2]"), "error: \"/\" finds no number in an array");
}

TEST(JsonLogic, Text) {
  EXPECT_EQ(Of(R"({"cat":[[1,[null,2]],null,true]})"), R"("1,,2true")");
  EXPECT_EQ(Of(R"({"substr":["h\u00e9\ud83d\ude00llo",1,2]})"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
  EXPECT_EQ(Of(R"({"substr":["abc",-9]})"), R"("abc")");
  EXPECT_EQ(Of(R"({"substr":["abc",9]})"), R"("")");
  EXPECT_EQ(Of(R"({"substr":["abc",1,-9]})"), R"("")");
  EXPECT_EQ(Of(R"({"substr":["abc",0,1e30]})"), R"("abc")");
  EXPECT_EQ(Of(R"({"substr":[12345,1,2]})"), R"("23")");
  EXPECT_EQ(Of(R"({"in":[2,"123"]})"), "true");
  EXPECT_EQ(Of(R"({"in":["2",[1,2]]})"), "false");
  EXPECT_EQ(Of(R"({"in":[2.0,[1,2]]})"), "true");
  EXPECT_EQ(Of(R"({"in":["",""]})"), "false");
  EXPECT_EQ(Of(R"({"in":["a",null]})"), "false");
}

TEST(JsonLogic, ArraysAreEvaluatedObjectsAreData) {
  EXPECT_EQ(Of(R"([{"var":"a"},[{"+":[1,1]}],"x"])", R"({"a":5})"), R"([5,[2],"x"])");
  EXPECT_EQ(Of(R"({"a":{"var":"x"},"b":2})"), R"({"a":{"var":"x"},"b":2})");
  EXPECT_EQ(Of("{}"), "{}");
  EXPECT_EQ(Of(R"({"log":[{"var":"a"}]})", R"({"a":5})"), "5");
  EXPECT_EQ(Of(R"({"filter":[{"var":"a"},{"var":"k"}]})", R"({"a":[{"k":1,"n": 1.0},{"k":0}]})"),
            R"([{"k":1,"n":1.0}])");
}

TEST(JsonLogic, ScopesAreThoseOfTheElement) {
  EXPECT_EQ(Of(R"({"map":[{"var":"a"},{"var":["z","none"]}]})", R"({"a":[1],"z":5})"),
            R"(["none"])");
  EXPECT_EQ(Of(R"({"reduce":[{"var":"a"},{"cat":[{"var":"accumulator"},{"var":"current"}]},""]})",
               R"({"a":["x","y"]})"),
            R"("xy")");
  EXPECT_EQ(Of(R"({"reduce":[[1,2],{"var":"accumulator"}]})"), "null");
}

TEST(JsonLogic, ErrorsOfRulesNameThePlace) {
  EXPECT_EQ(CompileError(R"({"and":[true,{"vra":"a"}]})"),
            "1:14: there is no operator \"vra\"; did you mean \"var\"?");
  EXPECT_EQ(CompileError("{\n \"==\":[1]}"), "1:1: \"==\" takes 2 arguments, not 1");
  EXPECT_EQ(CompileError("[1,\n {\"!\":[]}]"), "2:2: \"!\" takes 1 argument, not 0");
  EXPECT_EQ(CompileError(R"({"<":[1,2,3,4]})"), "1:1: \"<\" takes 2 to 3 arguments, not 4");
  EXPECT_EQ(CompileError(R"({"max":[]})"), "1:1: \"max\" takes at least 1 argument, not 0");
  EXPECT_EQ(CompileError(R"({"zzzzzz":1})"), "1:1: there is no operator \"zzzzzz\"");
  EXPECT_EQ(CompileError(R"({"var":[[1]]})"), "1:9: \"var\" takes a path: a string or a number");
  EXPECT_THAT(CompileError("{\"var\":"), HasSubstr("not JSON"));
  EXPECT_THAT(CompileError(""), HasSubstr("not JSON"));
}

TEST(JsonLogic, DeepRulesAreRefused) {
  const auto nested = [](int depth) {
    std::string rule;
    for (int i = 0; i < depth; ++i) rule += R"({"!":)";
    return rule + "1" + std::string(static_cast<size_t>(depth), '}');
  };
  EXPECT_EQ(Of(nested(200)), "true");
  EXPECT_THAT(CompileError(nested(400)), HasSubstr("nested too deeply"));
  EXPECT_THAT(CompileError(nested(100'000)), HasSubstr("nested too deep"));
}

TEST(JsonLogic, WhatARuleMakesIsBounded) {
  std::string hundreds = "[0";
  for (int i = 0; i < 5000; ++i) hundreds += ",0";
  hundreds += "]";
  const char* const deeper = R"({"reduce":[{"var":""},[{"var":"accumulator"}]]})";
  EXPECT_THAT(Of(deeper, hundreds), HasSubstr("nested too deeply"));
  const char* const wider =
      R"({"reduce":[{"var":""},[{"var":"accumulator"},{"var":"accumulator"}],1]})";
  EXPECT_THAT(Of(wider, hundreds), HasSubstr("error: "));
  const char* const longer =
      R"({"reduce":[{"var":""},{"cat":[{"var":"accumulator"},{"var":"accumulator"}]},"x"]})";
  EXPECT_THAT(Of(longer, hundreds), HasSubstr("error: "));
}

TEST(LooksLikeJsonLogic, NeedsOneKeyThatIsAnOperator) {
  EXPECT_TRUE(LooksLikeJsonLogic(R"( {"==":[1,1]} )"));
  EXPECT_TRUE(LooksLikeJsonLogic(R"({"v\u0061r":"a"})"));
  EXPECT_FALSE(LooksLikeJsonLogic(R"({"n":0})"));
  EXPECT_FALSE(LooksLikeJsonLogic(R"({"var":"a","if":1})"));
  EXPECT_FALSE(LooksLikeJsonLogic("{}"));
  EXPECT_FALSE(LooksLikeJsonLogic("{var}"));
  EXPECT_FALSE(LooksLikeJsonLogic(".a > 1"));
  EXPECT_FALSE(LooksLikeJsonLogic("[1]"));
}

// --- through Program and Evaluator ---

bool Keeps(std::string_view rule, const char* value, CompileOptions options = {}) {
  const auto program = Program::Compile(rule, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  Record record;
  record.value = value;
  Evaluator evaluator(*program);
  bool keep = false;
  Input input;
  input.record = &record;
  const Status status = evaluator.Test(input, &keep);
  EXPECT_TRUE(status.ok()) << status.message();
  return keep;
}

TEST(JsonLogicProgram, KeepsByItsOwnTruth) {
  EXPECT_TRUE(Keeps(R"({">":[{"var":"n"},1]})", R"({"n":2})"));
  EXPECT_FALSE(Keeps(R"({">":[{"var":"n"},1]})", R"({"n":1})"));
  EXPECT_FALSE(Keeps(R"({"var":"l"})", R"({"l":[]})"));
  EXPECT_FALSE(Keeps(R"({"var":"n"})", R"({"n":0})"));
  EXPECT_TRUE(Keeps(R"({"var":"s"})", R"({"s":"0"})"));
}

TEST(JsonLogicProgram, LanguageIsToldByTheText) {
  EXPECT_TRUE(Keeps(R"({"n":0})", "1"));  // jq: an object
  EXPECT_FALSE(Keeps(R"({"-":[1,1]})", "1"));
  CompileOptions jq;
  jq.language = Language::kJq;
  EXPECT_TRUE(Keeps(R"({"-":[1,1]})", "1", jq));
}

}  // namespace
}  // namespace kstream::expr
