// What each function makes of the records of a group, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "unit/dsl/aggregate_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The one row of one group over all of `values`, without `{"key":"k",` and `}`.
std::string Over(AggregateFunction function, const std::vector<std::string>& values) {
  AggregateRun run(AggregateSpec{.functions = {std::move(function)}, .emit = RowsOut::kFinal});
  for (const std::string& value : values) {
    const Status status = run.Process(value, "k");
    EXPECT_TRUE(status.ok()) << status.message();
  }
  EXPECT_TRUE(run.End().ok());
  const std::vector<std::string> rows = run.out().Values();
  EXPECT_EQ(rows.size(), 1u);
  if (rows.empty()) return "";
  constexpr std::string_view kBegin = R"({"key":"k",)";
  EXPECT_THAT(rows[0], testing::StartsWith(kBegin));
  return rows[0].substr(kBegin.size(), rows[0].size() - kBegin.size() - 1);
}

// The failure of `last`, after all of `values`; and then the row is as if it had never come.
std::string Refused(const AggregateFunction& function, const std::vector<std::string>& values,
                    const std::string& last) {
  AggregateRun run(AggregateSpec{.functions = {function}, .emit = RowsOut::kFinal});
  for (const std::string& value : values) EXPECT_TRUE(run.Process(value, "k").ok());
  const Status status = run.Process(last, "k");
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_TRUE(run.End().ok());
  if (values.empty()) {
    EXPECT_THAT(run.out().Values(), IsEmpty());
  } else {
    AggregateRun without(AggregateSpec{.functions = {function}, .emit = RowsOut::kFinal});
    for (const std::string& value : values) EXPECT_TRUE(without.Process(value, "k").ok());
    EXPECT_TRUE(without.End().ok());
    EXPECT_EQ(run.Rows(), without.Rows());
  }
  return std::string(status.message());
}

TEST(AggregateCount, CountsRecordsOrThoseWithAValue) {
  EXPECT_EQ(Over({}, {"1", "null", "{}"}), R"("count":3)");
  EXPECT_EQ(
      Over(Of(Kind::kCount, ".x", "n"), {R"({"x":0})", R"({"x":null})", "{}", R"({"x":false})"}),
      R"("n":2)");
}

TEST(AggregateSum, IsExactForIntegers) {
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"9007199254740993", "1"}), R"("sum":9007199254740994)");
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"9223372036854775806", "1"}),
            R"("sum":9223372036854775807)");
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"-9223372036854775807", "-1"}),
            R"("sum":-9223372036854775808)");
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"null", "null"}), R"("sum":0)");
}

TEST(AggregateSum, OfDecimalsIsADoubleAsInJq) {
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"0.1", "0.2"}), R"("sum":0.30000000000000004)");
  EXPECT_EQ(Over(Of(Kind::kSum, "."), {"0.5", "1", "0.5"}), R"("sum":2)");
}

TEST(AggregateSum, RefusesWhatItCannotHoldExactly) {
  EXPECT_THAT(Refused(Of(Kind::kSum, "."), {"9223372036854775807"}, "1"),
              HasSubstr("--sum: the sum so far, 9223372036854775807, and 1 do not fit a 64-bit"));
  EXPECT_THAT(
      Refused(Of(Kind::kSum, ".x", "total"), {}, R"({"x":12345678901234567890})"),
      HasSubstr("--sum total: the sum so far, 0, and 12345678901234567890 have more digits"));
  EXPECT_THAT(Refused(Of(Kind::kSum, "."), {"1e308"}, "1e308"),
              HasSubstr("larger than any double"));
  EXPECT_THAT(Refused(Of(Kind::kSum, "."), {"9007199254740993"}, "0.5"),
              HasSubstr("have more digits"));
}

TEST(AggregateSum, TakesNumbersOnly) {
  EXPECT_EQ(Refused(Of(Kind::kSum, "."), {"1"}, R"("2")"),
            R"(--sum: takes numbers, and got a string: "2")");
  EXPECT_THAT(Refused(Of(Kind::kAvg, "."), {}, "[1]"), HasSubstr("got an array: [1]"));
  EXPECT_THAT(Refused(Of(Kind::kSum, "."), {}, "true"), HasSubstr("got a boolean: true"));
  EXPECT_THAT(Refused(Of(Kind::kSum, ".[]"), {}, "[1,2]"), HasSubstr("more than one value"));
}

TEST(AggregateAvg, DividesOnceAtTheEnd) {
  EXPECT_EQ(Over(Of(Kind::kAvg, "."), {"1", "2"}), R"("avg":1.5)");
  EXPECT_EQ(Over(Of(Kind::kAvg, "."), {"9007199254740993", "9007199254740993"}),
            R"("avg":9007199254740993)");
  EXPECT_EQ(Over(Of(Kind::kAvg, "."), {"1", "1", "0"}), R"("avg":0.6666666666666666)");
  EXPECT_EQ(Over(Of(Kind::kAvg, "."), {"3", "null", "5"}), R"("avg":4)");
  EXPECT_EQ(Over(Of(Kind::kAvg, "."), {"null"}), R"("avg":null)");
}

TEST(AggregateExtremes, TakeNumbersByTheirExactValueAndKeepTheirSpelling) {
  const std::vector<std::string> large = {"12345678901234567890123", "12345678901234567890124",
                                          "12345678901234567890122"};
  EXPECT_EQ(Over(Of(Kind::kMax, "."), large), R"("max":12345678901234567890124)");
  EXPECT_EQ(Over(Of(Kind::kMin, "."), large), R"("min":12345678901234567890122)");
  EXPECT_EQ(Over(Of(Kind::kMin, "."), {"1.50", "1.5", "null"}), R"("min":1.50)");
  EXPECT_EQ(Over(Of(Kind::kMax, "."), {"null"}), R"("max":null)");
}

TEST(AggregateExtremes, TakeStringsButNotBoth) {
  EXPECT_EQ(Over(Of(Kind::kMax, "."), {R"("a")", R"("\u0062")"}), R"("max":"\u0062")");
  EXPECT_THAT(
      Refused(Of(Kind::kMin, "."), {"1"}, R"("a")"),
      HasSubstr(R"(--min: takes numbers in this group, not strings too, and got a string: "a")"));
  EXPECT_THAT(Refused(Of(Kind::kMin, "."), {R"("a")"}, "1"), HasSubstr("strings in this group"));
  EXPECT_THAT(Refused(Of(Kind::kMin, "."), {}, "{}"), HasSubstr("numbers or strings"));
}

TEST(AggregateEdges, GoByArrival) {
  EXPECT_EQ(Over(Of(Kind::kFirst, "."), {"null", "2.0", "1"}), R"("first":2.0)");
  EXPECT_EQ(Over(Of(Kind::kLast, "."), {"1", R"({"a": 1})", "null"}), R"("last":{"a":1})");
  EXPECT_EQ(Over(Of(Kind::kLast, "."), {"null"}), R"("last":null)");
}

TEST(AggregateCollect, KeepsAllAndSetsKeepEachOnce) {
  const std::vector<std::string> values = {
      "1", "null", "1.0", R"("1")", "10e-1", R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})"};
  EXPECT_EQ(Over(Of(Kind::kCollect, ".", "all"), values),
            R"("all":[1,null,1.0,"1",10e-1,{"a":1,"b":[2]},{"b":[2.0],"a":1}])");
  EXPECT_EQ(Over(Of(Kind::kCollectSet, "."), values), R"("collect_set":[1,"1",{"a":1,"b":[2]}])");
  EXPECT_EQ(Over(Of(Kind::kDistinct, "."), values), R"("distinct":3)");
  EXPECT_EQ(Over(Of(Kind::kCollectSet, "."), {"null"}), R"("collect_set":null)");
  EXPECT_EQ(Over(Of(Kind::kDistinct, "."), {"null"}), R"("distinct":null)");
}

AggregateSpec Folding(std::string_view init, std::string_view add) {
  return {.fold = FoldSpec{.init = Compile(init), .add = Compile(add)}, .emit = RowsOut::kFinal};
}

TEST(AggregateFold, AddsEachRecordToWhatItHas) {
  AggregateRun run(Folding("[]", "$acc + [.x]"));
  EXPECT_TRUE(run.Process(R"({"x":1})", "k").ok());
  EXPECT_TRUE(run.Process(R"({"x":"two"})", "k").ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(), ElementsAre(R"({"key":"k","value":[1,"two"]})"));
}

TEST(AggregateFold, GivesOneValueOrTheRecordIsBad) {
  AggregateRun run(Folding("0", "if . == 7 then empty elif . == 8 then 1, 2 else $acc + . end"));
  EXPECT_TRUE(run.Process("1", "k").ok());
  EXPECT_EQ(run.Process("7", "k").message(), "--add: gives no value");
  EXPECT_EQ(run.Process("8", "k").message(), "--add: gives more than one value");
  EXPECT_EQ(run.Process(R"("x")", "k").code(), StatusCode::kData);
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(), ElementsAre(R"({"key":"k","value":1})"));
}

TEST(Aggregate, ChangesNothingByABadRecord) {
  AggregateRun run({.functions = {{}, Of(Kind::kCollect, ".x", "all"), Of(Kind::kSum, ".x")},
                    .emit = RowsOut::kFinal});
  EXPECT_TRUE(run.Process(R"({"x":1})", "a").ok());
  EXPECT_EQ(run.Process(R"({"x":"no"})", "a").code(), StatusCode::kData);
  EXPECT_EQ(run.Process(R"({"x":"no"})", "b").code(), StatusCode::kData);
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(), ElementsAre(R"({"key":"a","count":1,"all":[1],"sum":1})"));
}

TEST(Aggregate, GivesRowsInTheOrderOfKeysWithTheLargestTime) {
  AggregateRun run({.functions = {{}}, .by = Compile(".u"), .emit = RowsOut::kFinal});
  EXPECT_TRUE(run.Process(R"({"u":"b"})", "k", {}, 7).ok());
  EXPECT_TRUE(run.Process(R"({"u":"\u00e9"})", "k", {}, 8).ok());
  EXPECT_TRUE(run.Process(R"({"u":42})", "k", {}, 9).ok());
  EXPECT_TRUE(run.Process(R"({"u":"42"})", "k", {}, 3).ok());
  EXPECT_TRUE(run.Process(R"({"u":"b"})", "k", {}, 5).ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Keys(), ElementsAre("42", "b", "\u00e9"));
  EXPECT_EQ(run.Rows(),
            "{\"key\":\"42\",\"count\":2}\n{\"key\":\"b\",\"count\":2}\n{\"key\":\"\u00e9\","
            "\"count\":1}\n");
  EXPECT_EQ(run.out().records[0].timestamp, 9);
  EXPECT_EQ(run.out().records[1].timestamp, 7);
}

TEST(Aggregate, LeavesOutRecordsOfNoGroupAndSaysHowMany) {
  testing::internal::CaptureStderr();
  {
    AggregateRun run({.functions = {{}}, .by = Compile(".u"), .emit = RowsOut::kFinal});
    EXPECT_TRUE(run.Process(R"({"u":null})").ok());
    EXPECT_TRUE(run.Process("{}").ok());
    EXPECT_TRUE(run.Process(std::nullopt, "k").ok());
    EXPECT_TRUE(run.Process(R"({"u":""})").ok());
    EXPECT_TRUE(run.End().ok());
    EXPECT_THAT(run.out().Keys(), ElementsAre(""));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "% agg: left out 2 without a key and 1 without a value\n");
}

TEST(Aggregate, RefusesAKeyThatCannotBePrinted) {
  AggregateRun run({.functions = {{}}, .emit = RowsOut::kFinal});
  EXPECT_THAT(std::string(run.Process("1", "\xff").message()), HasSubstr("the group's key"));
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(), IsEmpty());

  AggregateSpec json{.functions = {{}}, .emit = RowsOut::kFinal, .serdes = {.key = "json"}};
  AggregateRun keys(json);
  EXPECT_TRUE(keys.Process("1", R"({"a": 1})").ok());
  EXPECT_EQ(keys.Process("1", "u1").code(), StatusCode::kData);
  EXPECT_TRUE(keys.End().ok());
  EXPECT_THAT(keys.out().Values(), ElementsAre(R"({"key":{"a":1},"count":1})"));
  EXPECT_THAT(keys.out().Keys(), ElementsAre(R"({"a": 1})"));
}

TEST(AggregateEmit, UpdateGivesWhatChangedAtEachCommitPoint) {
  AggregateRun run({.functions = {{}}, .emit = RowsOut::kUpdate});
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.Process("1", "a").ok());
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_EQ(run.Rows(), "");
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(),
              ElementsAre(R"({"key":"a","count":1})", R"({"key":"b","count":2})",
                          R"({"key":"b","count":3})"));
}

TEST(AggregateEmit, ChangeGivesEachChange) {
  AggregateRun run({.functions = {{}}, .emit = RowsOut::kChange});
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(run.out().Values(),
              ElementsAre(R"({"key":"b","count":1})", R"({"key":"b","count":2})"));
}

TEST(AggregateEmit, EveryGoesByTheWallClock) {
  using std::chrono::milliseconds;
  AggregateRun run({.functions = {{}}, .emit = RowsOut::kEvery, .every = std::chrono::seconds(10)});
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.Process("1", "a").ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(run.Pass(milliseconds(9999)).ok());
  EXPECT_EQ(run.Rows(), "");
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_TRUE(run.Pass(milliseconds(1)).ok());
  EXPECT_EQ(run.Rows(), "{\"key\":\"a\",\"count\":1}\n{\"key\":\"b\",\"count\":2}\n");
  EXPECT_TRUE(run.Pass(milliseconds(10000)).ok());
  EXPECT_EQ(run.out().records.size(), 2u);
  EXPECT_TRUE(run.Process("1", "a").ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_EQ(run.out().records.size(), 3u);
}

TEST(Aggregate, MirrorsARowToThePartitionOfAnExpression) {
  AggregateSpec spec{.functions = {{}}, .emit = RowsOut::kChange};
  spec.route.partition = Compile(".count + 4");
  AggregateRun run(spec);
  EXPECT_TRUE(run.Process("1", "b").ok());
  EXPECT_EQ(run.out().records[0].partition, 5);
}

TEST(Aggregate, RefusesSpecificationsThatMakeNoSense) {
  const auto why = [](AggregateSpec spec) {
    return std::string(Aggregate(std::move(spec)).status().message());
  };
  EXPECT_EQ(why({}), "there is no aggregate: --count is the simplest");
  EXPECT_EQ(why({.functions = {{}, {}}}),
            "two aggregates are called 'count': give one another name");
  EXPECT_EQ(why({.functions = {{.name = "key"}}}),
            "no aggregate can be called 'key': a row has it already");
  EXPECT_EQ(why({.functions = {{.name = "$due"}}}),
            "no aggregate can be called '$due': a row has it already");
  EXPECT_EQ(why({.functions = {{.kind = Kind::kSum}}}), "sum needs an expression");
  EXPECT_THAT(why({.functions = {{}}, .emit = RowsOut::kEvery}), HasSubstr("every 1ms"));
  EXPECT_EQ(Aggregate({.functions = {{}}, .serdes = {.key = "yaml"}}).status().code(),
            StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
