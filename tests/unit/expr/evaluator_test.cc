// What an Evaluator reads of a record, what it leaves as it is, and jq's surprises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr_testing.h"

namespace kstream::expr {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Program> Compiled(std::string_view text, const CompileOptions& options = {}) {
  auto program = Program::Compile(text, options);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return *program;
}

std::string On(std::string_view text, const Record& record) {
  return Show(RunOn(Compiled(text), record));
}

// `//` replaces false too; contains() looks inside strings.
TEST(Evaluator, SurprisesAreThoseOfJq) {
  const char* dflt = ".active // \"dflt\"";
  EXPECT_EQ(Jq(dflt, R"({"active":false})"), "\"dflt\"");
  EXPECT_EQ(Jq(dflt, R"({"active":0})"), "0");
  EXPECT_EQ(Jq(dflt, R"({"active":""})"), "\"\"");
  EXPECT_EQ(Jq(dflt, R"({"active":null})"), "\"dflt\"");
  EXPECT_EQ(Jq(dflt, "{}"), "\"dflt\"");
  EXPECT_EQ(Jq("[(false,1,null,2)//0]", "null"), "[1,2]");
  const char* tags[] = {R"({"n":1,"tags":["prod"]})", R"({"n":2,"tags":["preprod-eu"]})",
                        R"({"n":3,"tags":["dev"]})"};
  const std::pair<const char*, std::array<bool, 3>> filters[] = {
      {".tags|contains([\"prod\"])", {true, true, false}},
      {"any(.tags[]; .==\"prod\")", {true, false, false}},
      {".tags|index(\"prod\")", {true, false, false}}};
  for (const auto& [text, kept] : filters) {
    Evaluator evaluator(Compiled(text));
    for (size_t i = 0; i < kept.size(); ++i) {
      Record record;
      record.value = tags[i];
      Input input;
      input.record = &record;
      bool keep = false;
      ASSERT_TRUE(evaluator.Test(input, &keep).ok());
      EXPECT_EQ(keep, kept[i]) << text << " on " << tags[i];
    }
  }
}

// What both engines say to a program on a value.
std::string Both(const std::string& text, std::string_view json) {
  CompileOptions with_libjq;
  with_libjq.force_libjq = true;
  const std::string fast = Jq(text, json);
  EXPECT_EQ(Compiled(text)->engine(), Engine::kFast) << text;
  EXPECT_EQ(Show(RunText(text, json, with_libjq)), fast) << text << " on " << json;
  return fast;
}

TEST(Evaluator, PositionsInWhatIsNoText) {
  EXPECT_EQ(Both("[index(\"a\"), indices(\"a\")]", R"({"a":[5,6]})"), "[5,[5,6]]");
  EXPECT_EQ(Both("[index(\"\"), indices(\"\")]", R"({"":[5,6]})"), "[5,[5,6]]");
  EXPECT_EQ(Both("[index(\"a\"), indices(\"a\")]", "{}"), "[null,null]");
  EXPECT_EQ(Both("[indices(1, \"a\", {})]", "null"), "[null,null,null]");
  EXPECT_EQ(Both("indices([1,2])", "null"), "error: Cannot index null with array");
  EXPECT_EQ(Both("index(null)", "null"), "error: Cannot index null with null");
  EXPECT_EQ(Both("[indices(1, {}, [1,2])]", R"([1,2,{},1])"), "[[0,3],[2],[0]]");
  EXPECT_EQ(Jq("[rindex(\"a\"), rindex(\"\")]", R"({"a":[5,6],"":[7,8]})"), "[6,8]");
  EXPECT_EQ(Jq("rindex([1,2])", "null"), "error: Cannot index null with array");
}

TEST(Evaluator, FirstAndLastOfNothing) {
  EXPECT_EQ(Both("[last(.[]?)]", "[]"), "[null]");
  EXPECT_EQ(Both("[first(.[]?)]", "[]"), "[]");
  EXPECT_EQ(Both("[last(empty), first(empty)]", "1"), "[null]");
  EXPECT_EQ(Both("[last(.[]), first(.[])]", "[1,2]"), "[2,1]");
  EXPECT_EQ(Both("[last, first]", "[]"), "[null,null]");
}

TEST(Evaluator, AnObjectAsIndexIsASlice) {
  const char* no_numbers = "error: Start and end indices of an array slice must be numbers";
  for (const char* bounds : {"{}", R"({"start":1})", R"({"end":1})", R"({"start":"1","end":2})"}) {
    const std::string b = std::string(R"(,"b":)") + bounds + "}";
    EXPECT_EQ(Both(".a[.b]", R"({"a":[5])" + b), no_numbers) << bounds;
    EXPECT_EQ(Both(".b as $b | .a[$b] = [1]", R"({"a":[5])" + b), no_numbers) << bounds;
    EXPECT_EQ(Both(".b as $b | del(.a[$b])", R"({"a":[5])" + b), no_numbers) << bounds;
    EXPECT_EQ(Both(".a[.b]", R"({"a":null)" + b), "null") << bounds;
    EXPECT_EQ(Both(".b as $b | .a[$b] = [1]", R"({"a":null)" + b), no_numbers) << bounds;
  }
  EXPECT_EQ(Both(".a[.b]", R"({"a":[5,6],"b":{"start":1,"end":null}})"), "[6]");
  EXPECT_EQ(Both(".a[.b]", R"({"a":"abc","b":{"start":null,"end":2}})"), "\"ab\"");
  EXPECT_EQ(Both(".a[.b]", R"({"a":{},"b":{}})"), "error: Cannot index object with object");
}

TEST(Evaluator, WhatIsNotChangedKeepsItsSpelling) {
  const char* value = R"({"k":1, "v":2.0,"p":[ 1.10, 1e2 ],"z":-0.0, "s":"a\/\u00e9", "v":3.0})";
  EXPECT_EQ(Jq(".v", value), "3.0");
  EXPECT_EQ(Jq(".p", value), "[1.10,1e2]");
  EXPECT_EQ(Jq("{p, s, z: .z}", value), R"({"p":[1.10,1e2],"s":"a\/\u00e9","z":-0.0})");
  EXPECT_EQ(Jq(".p[0]", value), "1.10");
  EXPECT_EQ(Jq(".k = 2 | del(.p)", value), R"({"k":2,"v":3.0,"z":-0.0,"s":"a\/\u00e9"})");
  EXPECT_EQ(Jq(".s | length", value), "3");
  EXPECT_EQ(Jq(".s == \"a/é\"", value), "true");
}

TEST(Evaluator, NullAndEmptyPayload) {
  Record record;
  EXPECT_EQ(On(".", record), "null");
  EXPECT_EQ(On(".a // 1", record), "1");
  record.value = "";
  EXPECT_THAT(On(".", record), HasSubstr("error: the value: "));
  EXPECT_EQ(On("1", record), "1");
  record.value = "{\"a\":";
  EXPECT_EQ(RunOn(Compiled(".a"), record).status.code(), StatusCode::kData);
  EXPECT_EQ(On("$key == null", record), "true") << "the value is not parsed";
}

TEST(Evaluator, NamesOfTheRecord) {
  const Header headers[] = {{"a", "1"}, {"a", "2"}, {"b", std::nullopt}, {"c", "\xff"}};
  Record record;
  record.topic = "orders";
  record.partition = 3;
  record.offset = 42;
  record.timestamp = 1700000000123;
  record.timestamp_type = TimestampType::kCreateTime;
  record.key = "k\"1";
  record.value = "{\"a\":1}";
  record.headers = headers;
  for (const bool force_libjq : {false, true}) {
    CompileOptions options;
    options.force_libjq = force_libjq;
    const auto on = [&](std::string_view text) {
      return Show(RunOn(Compiled(text, options), record));
    };
    EXPECT_EQ(on("[$topic, $partition, $offset, $timestamp, $key]"),
              R"(["orders",3,42,1700000000123,"k\"1"])");
    EXPECT_EQ(on("$headers"), R"({"a":"2","b":null,"c":{"b64":"/w=="}})");
    EXPECT_EQ(on("[$headers_list[].name]"), R"(["a","a","b","c"])");
    EXPECT_EQ(on("{a, $topic} # remark"), R"({"a":1,"topic":"orders"})");
  }
  EXPECT_EQ(Show(RunOn(Compiled("[$topic, .a] | map(tostring) | @csv"), record)),
            R"("\"orders\",\"1\"")");
  record = {};
  EXPECT_EQ(On("[$key, $timestamp, $partition, $offset]", record), "[null,null,null,null]");
  record.key = "\xff";
  EXPECT_THAT(On("$key", record), HasSubstr("error: the key"));
}

TEST(Evaluator, OutLeftRightAcc) {
  CompileOptions options;
  options.extra_names = {"out", "left", "right", "acc"};
  Evaluator evaluator(Compiled("[$out.x, $left, $right, $acc + 1]", options));
  Record record;
  Input input;
  input.record = &record;
  input.out = R"({"x": 1.0})";
  input.left = "[ 1 ]";
  input.acc = "9007199254740993";
  std::string got;
  ASSERT_TRUE(evaluator
                  .ForEach(input,
                           [&](std::string_view json) {
                             got = json;
                             return Status::Ok();
                           })
                  .ok());
  EXPECT_EQ(got, "[1.0,[1],null,9007199254740994]");
}

TEST(Evaluator, SharesTheParsedValue) {
  json::Reader reader;
  json::ValueCache cache;
  cache.reader = &reader;
  Record record;
  record.value = "{\"a\":1}";
  record.cache = &cache;
  EXPECT_EQ(On(".a", record), "1");
  EXPECT_TRUE(cache.parsed);
  record.value = "not looked at again";
  EXPECT_EQ(On(".a + 1", record), "2");
}

TEST(Evaluator, OtherSerdes) {
  Serdes serdes;
  serdes.value = Serde(Serde::Kind::kString);
  serdes.key = Serde(Serde::Kind::kJson);
  Evaluator evaluator(Compiled(". + $key.x"), serdes);
  Record record;
  record.value = "text ";
  record.key = R"({"x":"y"})";
  Input input;
  input.record = &record;
  std::string got;
  ASSERT_TRUE(evaluator
                  .ForEach(input,
                           [&](std::string_view json) {
                             got = json;
                             return Status::Ok();
                           })
                  .ok());
  EXPECT_EQ(got, "\"text y\"");
}

TEST(Evaluator, OutputsBeforeAnErrorAreDelivered) {
  EXPECT_EQ(Jq(".[] | 6 / .", "[1,2,0,3]"),
            "6 3 error: number (6) and number (0) cannot be divided because the divisor is zero");
  EXPECT_EQ(Jq("try (.[] | 6 / .) catch error(.)", "[1,2,0,3]"),
            "6 3 error: number (6) and number (0) cannot be divided because the divisor is zero");
  Evaluator evaluator(Compiled(".[] | 6 / . > 1"));
  Record record;
  record.value = "[1,0]";
  Input input;
  input.record = &record;
  bool keep = false;
  EXPECT_TRUE(evaluator.Test(input, &keep).ok()) << "the first true output decides";
  EXPECT_TRUE(keep);
  record.value = "[10,0]";
  EXPECT_EQ(evaluator.Test(input, &keep).code(), StatusCode::kData);
}

TEST(Evaluator, StopsAtTheFirstFailureOfEach) {
  for (const char* text : {".[]", "def f: .[]; f"}) {
    Evaluator evaluator(Compiled(text));
    Record record;
    record.value = "[1,2,3]";
    Input input;
    input.record = &record;
    for (int round = 0; round < 2; ++round) {
      int calls = 0;
      const Status status = evaluator.ForEach(input, [&](std::string_view) {
        return ++calls == 2 ? Status::Refused("enough") : Status::Ok();
      });
      EXPECT_EQ(status.code(), StatusCode::kRefused);
      EXPECT_EQ(calls, 2) << text;
    }
  }
}

TEST(Evaluator, ResultsAreBounded) {
  EXPECT_THAT(Jq(". * 1000000000", "\"abc\""), HasSubstr("the result is too large"));
  std::string doubling = ".";
  for (int i = 0; i < 60; ++i) doubling += " | [., .]";
  EXPECT_THAT(Jq(doubling, "1"), HasSubstr("the result is too large"));
  doubling = ".";
  for (int i = 0; i < 60; ++i) doubling += " | . + .";
  EXPECT_THAT(Jq(doubling, "\"a\""), HasSubstr("the result is too large"));
  EXPECT_THAT(Jq(".[99999999] = 1", "null"), HasSubstr("the result is too large"));
  EXPECT_EQ(Jq("length", "\"a\""), "1");
}

// What is printed can be read again.
TEST(Evaluator, NothingIsPrintedDeeperThanItCanBeRead) {
  const auto nested = [](int levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  const std::string deepest = nested(json::kMaxDepth);
  const char* too_deep = "error: the result is nested too deep";
  EXPECT_EQ(Jq(".", deepest), deepest);
  EXPECT_EQ(Jq("[.[0]]", deepest), deepest);
  EXPECT_EQ(RunText("[.]", deepest).status.code(), StatusCode::kData);
  for (const char* text : {"[.]", "{a: .}", "[[1], .[0] | [[.]]]", ".[1] = .", "{a: 1, b: {c: .}}",
                           "map([[.]])", "[..][0:1]"}) {
    EXPECT_EQ(Jq(text, deepest), too_deep) << text;
  }
  EXPECT_EQ(Jq("[.], 1", nested(json::kMaxDepth - 1)), deepest + " 1");
  const std::string wide = "[" + nested(500) + "," + std::string(5000, '1') + "]";
  EXPECT_EQ(Jq("[.]", wide), "[" + wide + "]");
  EXPECT_EQ(Jq("def f: reduce range(1000) as $i (0; [.]); f", "1").size(), 2001U);
  EXPECT_EQ(Jq("def f: reduce range(1001) as $i (0; [.]); f", "1"), too_deep);
  EXPECT_EQ(Jq("def f: reduce range(10000) as $i ({}; {a: .}); f", "1"), too_deep);
}

TEST(Evaluator, LibjqGetsOnlyWhatItCanKeep) {
  EXPECT_EQ(Jq("def f: .a; f", R"({"a":1,"b":[2,12345678901234567890]})"),
            "error: .b[1]: 12345678901234567890 does not survive jq's doubles, and this expression "
            "needs libjq");
  EXPECT_EQ(Jq("def f: .; f", R"({"a b":{"c":1e400}})"),
            "error: [\"a b\"].c: 1e400 does not survive jq's doubles, and this expression needs "
            "libjq");
  EXPECT_THAT(Jq("def f: . * . ; f", "3037000500"), HasSubstr("beyond 2^53"));
  EXPECT_EQ(Jq("def f: .; f", "9007199254740994"), "9007199254740994");
  EXPECT_EQ(Jq("def f: .; f", "[1.10,\"\\u00e9\",{}]"), "[1.1,\"é\",{}]");
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_THAT(Jq("def f: 1; f", deep), HasSubstr("nested deeper than libjq's 256 levels"));
  EXPECT_EQ(Jq("length", deep), "1");
  EXPECT_EQ(Jq("error({a:1})?, (def f: error({a:1}); f)", "1"), "error: (not a string): {\"a\":1}");
  EXPECT_THAT(Jq("def f: .[.n] = 1; [.n] | f", "{\"n\":536870900}"), HasSubstr("error: "));
}

// Inputs that end or hang the process of a plain jq 1.6.
TEST(Evaluator, LibjqIsGuarded) {
  EXPECT_EQ(Jq("def f: -9223372036854775808 % .[0] == 0; f", "[-1]"), "true");
  EXPECT_EQ(Jq("def f: (7, -8) % (-2, 3); [f]", "1"), "[1,0,1,-2]");
  EXPECT_THAT(Jq("todate", "1e300"), HasSubstr("error: "));
  EXPECT_EQ(Jq("todate", "1700000000"), "\"2023-11-14T22:13:20Z\"");
  EXPECT_THAT(Jq("strftime(\"%Y\")", "1e300"), HasSubstr("error: "));
  EXPECT_EQ(Jq("strftime(\"%Y\")", "1700000000"), "\"2023\"");
  EXPECT_THAT(Jq("strflocaltime(\"%Y\")", "1e300"), HasSubstr("error: "));
  EXPECT_EQ(Jq("def f: [index(.), rindex(\"\"), indices(\"\")]; f", "\"\""), "[null,null,null]");
  EXPECT_EQ(Jq("def f: [index(\"b\"), rindex(\"b\"), indices(\"b\")]; f", "\"abab\""),
            "[1,3,[1,3]]");
}

TEST(Evaluator, SaysWhichEngineAndWhy) {
  EXPECT_EQ(Compiled(".a > 1")->engine(), Engine::kFast);
  const auto slow = Compiled(".a | test(\"x\")");
  EXPECT_EQ(slow->engine(), Engine::kLibjq);
  EXPECT_EQ(slow->fallback_reason(), "test at 1:6");
  EXPECT_FALSE(Compiled("1 == 1")->depends_on_record());
  EXPECT_TRUE(Compiled("$key")->depends_on_record());
  EXPECT_FALSE(Compiled("now > 1")->deterministic());
}

TEST(Evaluator, WithoutElse) { EXPECT_EQ(Jq("if . > 1 then 5 end", "1"), "1"); }

}  // namespace
}  // namespace kstream::expr
