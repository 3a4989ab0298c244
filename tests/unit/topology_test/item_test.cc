#include "topology_test/item.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology_test/json_difference.h"
#include "unit/topology_test/parsed.h"

namespace kstream::topology_test {
namespace {

using testing::HasSubstr;

std::string Part(const char* wanted, const char* came, bool whole = true) {
  const auto difference = FirstDifference(wanted, came, whole);
  if (!difference) return "same";
  return difference->path + ": " + difference->wanted + " / " + difference->came;
}

TEST(JsonDifferenceTest, TellsTheFirstPlaceByItsPath) {
  EXPECT_EQ(Part(R"({"a":[1,{"b":"x"}]})", R"({"a":[1,{"b":"y"}]})"), R"(.a[1].b: "x" / "y")");
  EXPECT_EQ(Part(R"({"a b":1})", R"({"a b":2})"), R"(["a b"]: 1 / 2)");
  EXPECT_EQ(Part("1", "\"1\""), ": 1 / \"1\"");
  EXPECT_EQ(Part("[1]", "[1,2]"), "[1]:  / 2");
  EXPECT_EQ(Part("[1,2]", "[1]"), "[1]: 2 / ");
  EXPECT_EQ(Part("null", "false"), ": null / false");
}

TEST(JsonDifferenceTest, NumbersAreComparedByValueAndMembersInAnyOrder) {
  EXPECT_EQ(Part(R"({"a":1,"b":100})", R"({"b":1e2,"a":1.0})"), "same");
  EXPECT_EQ(Part("9007199254740993", "9007199254740992"), ": 9007199254740993 / 9007199254740992");
  EXPECT_EQ(Part(R"("\u00e9")", "\"é\""), "same");
}

TEST(JsonDifferenceTest, AMemberTooManyCountsOnlyInTheWhole) {
  EXPECT_EQ(Part(R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2}})"), ".a.c:  / 2");
  EXPECT_EQ(Part(R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2},"d":3})", false), "same");
  EXPECT_EQ(Part(R"({"a":1})", "{}", false), ".a: 1 / ");
}

std::string Difference(const char* wanted, const TestRecord& record) {
  const Parsed file(wanted);
  const auto item = WantedItem::Parse(file.root(), WantedItem::What::kRecord);
  EXPECT_TRUE(item.ok()) << item.status().message();
  return item->Difference(Item::Of(record)).value_or("same");
}

TEST(ItemTest, FieldsThatAreLeftOutAreNotCompared) {
  const TestRecord record{.key = "k", .value = R"({"n": 1})", .timestamp = 5, .partition = 2};
  EXPECT_EQ(Difference("{}", record), "same");
  EXPECT_EQ(Difference(R"({"key":"k","value":{"n":1.0},"ts":5,"partition":2})", record), "same");
  EXPECT_EQ(Difference(R"({"key":"j"})", record), R"(key: expected "j", came "k")");
  EXPECT_EQ(Difference(R"({"ts":"1970-01-01T00:00:00.006Z"})", record), "ts: expected 6, came 5");
  EXPECT_EQ(Difference(R"({"partition":0})", record), "partition: expected 0, came 2");
  EXPECT_EQ(Difference(R"({"value":{"n":2}})", record), "value.n: expected 2, came 1");
  EXPECT_EQ(Difference(R"({"value_has":{"m":2}})", record), "value.m: expected 2, came none");
}

TEST(ItemTest, NullEmptyAndTheTextNullAreThreeThings) {
  const TestRecord null{}, empty{.value = ""}, text{.value = "null"};
  EXPECT_EQ(Difference(R"({"payload":null})", null), "same");
  EXPECT_EQ(Difference(R"({"payload":""})", empty), "same");
  EXPECT_EQ(Difference(R"({"value":null})", text), "same");
  for (const char* wanted : {R"({"payload":null})", R"({"payload":""})", R"({"value":null})"}) {
    int same = 0;
    for (const TestRecord& record : {null, empty, text}) {
      same += static_cast<int>(Difference(wanted, record) == "same");
    }
    EXPECT_EQ(same, 1) << wanted;
  }
}

TEST(ItemTest, BytesAndHeadersAreToldAsTheEnvelopeTellsThem) {
  const TestRecord record{.key = "\xff", .value = "\xfe", .headers = {{"h", "1"}, {"h", {}}}};
  EXPECT_EQ(Item::Of(record).Text(),
            R"({"key_b64":"/w==","payload_b64":"/g==","headers":["h","1","h",null]})");
  EXPECT_EQ(Difference(R"({"key_b64":"/w==","payload_b64":"/g=="})", record), "same");
  EXPECT_EQ(Difference(R"({"headers":["h","1","h",null]})", record), "same");
  EXPECT_THAT(Difference(R"({"headers":{"h":"1"}})", record), HasSubstr("headers"));
  EXPECT_EQ(Difference(R"({"key":"x"})", record), R"(key: expected "x", came none)");
}

TEST(ItemTest, WhatCameIsToldByWhatIsAsked) {
  const Parsed file(R"({"value_has":{"n":1},"ts":3})");
  const auto wanted = WantedItem::Parse(file.root(), WantedItem::What::kRecord);
  const TestRecord json{.key = "k", .value = "{\"n\": 2}", .timestamp = 4}, none{.timestamp = 4};
  EXPECT_EQ(wanted->Like(Item::Of(json)), R"({"value_has":{"n":2},"ts":4})");
  EXPECT_EQ(wanted->Like(Item::Of(none)), R"({"payload":null,"ts":4})");
}

TEST(ItemTest, WhatIsAsExpectedStaysAsItIsWritten) {
  const auto rewritten = [](const char* json, const char* value) {
    const Parsed file(json);
    const auto wanted = WantedItem::Parse(file.root(), WantedItem::What::kRecord);
    EXPECT_TRUE(wanted.ok()) << wanted.status().message();
    return wanted->Rewritten(
        Item::Of(TestRecord{.key = "1", .value = value, .timestamp = 1577836800000}));
  };
  EXPECT_EQ(
      rewritten(R"({ "ts": "2020-01-01T00:00:00Z", "key": 1,  "value": { "b": 1.50, "a": 1 } })",
                R"({"a":2,"b":1.5})"),
      R"({ "ts": "2020-01-01T00:00:00Z", "key": 1,  "value": { "b": 1.50, "a": 2 } })");
  EXPECT_EQ(rewritten(R"({"value_has": {"id": 100000000000000001, "o": {"x": 1e0}}})",
                      R"({"more":1,"id":100000000000000002,"o":{"y":2,"x":1}})"),
            R"({"value_has": {"id": 100000000000000002, "o": {"x": 1e0}}})");
  EXPECT_EQ(rewritten(R"({"value_has": {"a": 1, "b": 1}, "topic": "t"})", R"({"b":1,"c":3})"),
            R"({"value_has": {"b":1}, "topic": "t"})");
  EXPECT_EQ(rewritten(R"({"value": [ 1.0, {"a": [ 1 ] } ]})", R"([1,{"a":[1,2]}])"),
            R"({"value": [ 1.0, {"a": [1,2] } ]})");
  EXPECT_EQ(rewritten(R"({"value": {"a": 1.0}})", R"({"a":1,"b":2})"),
            R"({"value": {"a":1,"b":2}})");
  EXPECT_EQ(rewritten(R"({"value_has": {"a": 1}})", R"({"b":2})"), R"({"value":{"b":2}})");
  EXPECT_EQ(rewritten(R"({"value": {"a": 1}})", "text"), R"({"payload":"text"})");
}

TEST(ItemTest, AMistakeIsToldAtItsPlace) {
  const auto complaint = [](const char* json) {
    const Parsed file(json);
    return std::string(ParseRecord(file.root()).status().message());
  };
  EXPECT_EQ(complaint(R"({"vaule":1})"),
            "t.json:1:2: an input record has no field 'vaule': did you mean 'value'?");
  EXPECT_THAT(complaint(R"({"key":"k"})"), HasSubstr("t.json:1:1: the record has no 'value'"));
  EXPECT_THAT(complaint(R"({"value":1,"payload":"1"})"), HasSubstr("1:12: 'payload' contradicts"));
  EXPECT_THAT(complaint(R"({"value":1,"ts":"noon"})"), HasSubstr("1:17: "));
  EXPECT_THAT(complaint(R"({"value":1,"ts":-1})"), HasSubstr("1:17: takes a whole number"));
  EXPECT_THAT(complaint(R"({"payload_b64":"?"})"), HasSubstr("1:16: this is no base64"));
  EXPECT_THAT(complaint(R"({"value":1,"headers":["h"]})"), HasSubstr("1:22: the last name"));
  EXPECT_THAT(complaint("[]"), HasSubstr("1:1: takes"));
}

TEST(ItemTest, DollarBracesInARecordAreData) {
  const Parsed file(R"({"key":"${X}","value":"${Y}"})");
  const auto record = ParseRecord(file.root());
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(record->key, "${X}");
  EXPECT_EQ(record->value, "\"${Y}\"");
}

}  // namespace
}  // namespace kstream::topology_test
