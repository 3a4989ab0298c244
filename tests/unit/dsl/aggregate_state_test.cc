// Aggregates and their store: what is kept, that it is enough, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "unit/dsl/aggregate_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AggregateSpec AllFunctions(RowsOut emit) {
  AggregateSpec spec{.functions = {{}}, .emit = emit};
  const std::pair<Kind, const char*> kinds[] = {
      {Kind::kSum, ".x"},     {Kind::kMin, ".x"},        {Kind::kMax, ".s"},
      {Kind::kAvg, ".x"},     {Kind::kFirst, ".o"},      {Kind::kLast, ".x"},
      {Kind::kCollect, ".o"}, {Kind::kCollectSet, ".x"}, {Kind::kDistinct, ".s"}};
  for (const auto& [kind, argument] : kinds) spec.functions.push_back(Of(kind, argument));
  spec.fold = FoldSpec{.init = Compile("0"), .add = Compile("$acc + 1"), .name = "folded"};
  return spec;
}

TEST(AggregateState, IsJsonThatTellsItsFunctions) {
  LastingStore store;
  AggregateRun run(AllFunctions(RowsOut::kUpdate), &store);
  EXPECT_TRUE(run.Process(R"({"x":1,"s":"b","o":{"a": 1.50}})", "k", {}, 5).ok());
  EXPECT_TRUE(run.Process(R"({"x":0.5,"s":"a"})", "k", {}, 4).ok());
  EXPECT_EQ(store.At("k"), "(none)");
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_EQ(store.At("k"),
            R"({"count":2,"sum":{"sum":1.5},"min":{"min":0.5},"max":{"max":"b"},)"
            R"("avg":{"sum":1.5,"count":2},"first":{"first":{"a":1.50}},"last":{"last":0.5},)"
            R"("collect":{"collect":[{"a":1.50},null]},"collect_set":{"collect_set":[1,0.5]},)"
            R"("distinct":{"distinct":["b","a"]},"folded":{"fold":2}})");
  StoredRow row;
  EXPECT_TRUE(*store.rows().Find("k", &row));
  EXPECT_EQ(row.timestamp, 5);
}

// Tasks that come and go give the same rows in the end as one that stays.
TEST(AggregateState, IsAllThatTheNextTaskNeeds) {
  std::mt19937 random(20240518);
  LastingStore store;
  AggregateRun whole(AllFunctions(RowsOut::kFinal));
  for (int life = 0; life < 20; life++) {
    AggregateRun run(AllFunctions(RowsOut::kFinal), &store);
    for (int i = 0; i < 30; i++) {
      const std::string x = random() % 5 == 0 ? "null" : std::to_string(random() % 100);
      const std::string s =
          random() % 5 == 0 ? "null" : "\"s" + std::to_string(random() % 9) + "\"";
      const std::string value = "{\"x\":" + x + ",\"s\":" + s + ",\"o\":[" +
                                std::to_string(random() % 7) + ",\"\\u00e9\"]}";
      const std::string key = "k" + std::to_string(random() % 7);
      const auto time = static_cast<int64_t>(random() % 1000);
      EXPECT_TRUE(run.Process(value, key, {}, time).ok());
      EXPECT_TRUE(whole.Process(value, key, {}, time).ok());
      if (random() % 10 == 0) {
        EXPECT_TRUE(run.Flush().ok());
      }
    }
    EXPECT_TRUE(run.Flush().ok());
  }
  AggregateRun last(AllFunctions(RowsOut::kFinal), &store);
  EXPECT_TRUE(last.End().ok());
  EXPECT_TRUE(whole.End().ok());
  EXPECT_EQ(last.out().records.size(), 7u);
  EXPECT_EQ(last.Rows(), whole.Rows());
  for (size_t i = 0; i < 7; i++) {
    EXPECT_EQ(last.out().records[i].timestamp, whole.out().records[i].timestamp);
  }
}

TEST(AggregateState, KeepsSumsToTheLastBit) {
  LastingStore store;
  const AggregateSpec spec{.functions = {Of(Kind::kSum, ".")}, .emit = RowsOut::kFinal};
  AggregateRun whole(spec);
  for (const char* value : {"0.1", "0.7", "1e-17", "3.3333333333333335", "1e20"}) {
    EXPECT_TRUE(whole.Process(value, "k").ok());
    AggregateRun run(spec, &store);
    EXPECT_TRUE(run.Process(value, "k").ok());
    EXPECT_TRUE(run.Flush().ok());
  }
  AggregateRun last(spec, &store);
  EXPECT_TRUE(last.End().ok());
  EXPECT_TRUE(whole.End().ok());
  EXPECT_EQ(last.Rows(), whole.Rows());
}

TEST(AggregateState, OfOtherFunctionsIsRefusedWithAWayOut) {
  LastingStore store;
  const auto why = [&](AggregateSpec spec, std::string_view state) {
    EXPECT_TRUE(store.rows().Put("u1", state, 0).ok());
    AggregateRun run(std::move(spec), &store);
    const Status status = run.Process("1", "u1");
    EXPECT_EQ(status.code(), StatusCode::kState);
    return std::string(status.message());
  };
  const AggregateSpec sum{.functions = {Of(Kind::kSum, ".", "n")}};
  EXPECT_EQ(why(sum, R"({"n":{"max":3}})"),
            "store 'rows', key u1: its 'n' is that of another function: what is kept was made "
            "by other aggregates; name another store, or reset the application");
  EXPECT_THAT(why(sum, R"({"m":3})"), HasSubstr("its 'n' is missing"));
  EXPECT_THAT(why(sum, R"({"n":3})"), HasSubstr("another function"));
  EXPECT_THAT(why(sum, R"({"n":{"sum":3,"count":1}})"), HasSubstr("another function"));
  EXPECT_THAT(why(sum, "3"), HasSubstr("no JSON object"));
  EXPECT_THAT(why(sum, "{"), HasSubstr("no JSON object"));
  EXPECT_THAT(why({.functions = {{}}}, R"({"count":-1})"), HasSubstr("another function"));
  EXPECT_THAT(why({.functions = {{}}}, R"({"count":1.5})"), HasSubstr("another function"));
  EXPECT_THAT(why({.functions = {{}}}, R"({"count":99999999999999999999})"),
              HasSubstr("another function"));
}

TEST(AggregateState, OfMoreFunctionsIsTaken) {
  LastingStore store;
  EXPECT_TRUE(store.rows().Put("u1", R"({"count":41,"gone":{"sum":7}})", 900).ok());
  AggregateRun run({.functions = {{}}}, &store);
  EXPECT_TRUE(run.Process("1", "u1").ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_EQ(run.Rows(), "{\"key\":\"u1\",\"count\":42}\n");
  EXPECT_EQ(store.At("u1"), R"({"count":42})");
}

TEST(AggregateState, RemembersRowsThatWereNotForwardedYet) {
  LastingStore store;
  const AggregateSpec spec{
      .functions = {{}}, .emit = RowsOut::kEvery, .every = std::chrono::seconds(10)};
  {
    AggregateRun run(spec, &store);
    EXPECT_TRUE(run.Process("1", "b").ok());
    EXPECT_TRUE(run.Process("1", "a").ok());
    EXPECT_TRUE(run.Pass(std::chrono::seconds(10)).ok());
    EXPECT_TRUE(run.Process("1", "b").ok());
    EXPECT_TRUE(run.Flush().ok());
    EXPECT_EQ(store.At("a"), R"({"count":1})");
    EXPECT_EQ(store.At("b"), R"({"count":2,"$due":true})");
  }
  AggregateRun next(spec, &store);
  EXPECT_TRUE(next.Pass(std::chrono::seconds(10)).ok());
  EXPECT_EQ(next.Rows(), "{\"key\":\"b\",\"count\":2}\n");
  EXPECT_TRUE(next.Flush().ok());
  EXPECT_EQ(store.At("b"), R"({"count":2})");
}

// More rows than stay in memory: none is lost, none is counted twice.
TEST(AggregateState, HoldsMoreRowsThanMemory) {
  constexpr int kKeys = 300'000;
  for (const RowsOut emit : {RowsOut::kFinal, RowsOut::kUpdate}) {
    LastingStore store;
    AggregateRun run({.functions = {{}}, .emit = emit}, &store);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < kKeys; i++) {
        ASSERT_TRUE(run.Process("1", "key-" + std::to_string(i)).ok());
      }
    }
    ASSERT_TRUE(run.End().ok());
    int rows = 0;
    EXPECT_TRUE(store.rows()
                    .All([&](std::string_view, std::string_view value) {
                      rows += value == R"({"count":2})";
                      return true;
                    })
                    .ok());
    EXPECT_EQ(rows, kKeys);
    if (emit == RowsOut::kFinal) {
      EXPECT_EQ(run.out().records.size(), size_t{kKeys});
    }
    EXPECT_THAT(run.out().records.back().value.value_or(""), HasSubstr("\"count\":2"));
  }
}

}  // namespace
}  // namespace kstream
