// Aggregates by session: against a model, and at the edges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "unit/dsl/span_run.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

AggregateSpec Sessions(int64_t gap, int64_t grace, RowsOut emit = RowsOut::kFinal) {
  return CountAndSum(SpanWindow(WindowSpec::Kind::kSession, gap, grace), emit);
}

// "key[start,end]=count", or "key[start,end]-" for a tombstone, of all that came so far.
std::vector<std::string> Short(AggregateRun* run) {
  std::vector<std::string> rows;
  for (const Kept& kept : run->out().records) {
    std::string key = kept.key.value_or("");
    if (!kept.value) {
      rows.push_back(key + " -");
      continue;
    }
    const auto member = [&](std::string_view name) {
      const size_t at = kept.value->find(name) + name.size();
      return kept.value->substr(at, kept.value->find_first_of(",}", at) - at);
    };
    rows.push_back(key + " " + member("\"window_start\":") + ".." + member("\"window_end\":") +
                   " " + member("\"count\":"));
  }
  return rows;
}

Status Put(AggregateRun* run, std::string_view key, int64_t time) {
  return run->Process("1", key, {}, time);
}

TEST(Sessions, AreThoseOfTheModel) {
  for (uint32_t seed = 0; seed < 300; seed++) {
    const int64_t gap = 1 + seed % 12, grace = seed % 4 == 0 ? 0 : seed % 40;
    const std::vector<ModelRecord> records = RandomRecords(seed, 200);
    AggregateRun run(Sessions(gap, grace));
    Feed(&run, records, 1);
    ASSERT_EQ(run.Rows(), SessionModel(records, gap, grace).rows) << "seed " << seed;
  }
}

// The rows that a reader of update or change is left with are those of the model: whatever was
// shown and did not last is withdrawn.
TEST(Sessions, LeaveATableOfTheModelsRows) {
  for (const RowsOut emit : {RowsOut::kUpdate, RowsOut::kChange, RowsOut::kEvery}) {
    for (uint32_t seed = 0; seed < 100; seed++) {
      const int64_t gap = 1 + seed % 12, grace = seed % 4 == 0 ? 0 : seed % 40;
      const std::vector<ModelRecord> records = RandomRecords(seed, 200);
      AggregateSpec spec = Sessions(gap, grace, emit);
      spec.every = milliseconds(10);
      AggregateRun run(spec);
      FeedTable(&run, records);
      std::map<std::string, std::string> table;
      for (const Kept& kept : run.out().records) {
        if (kept.value) {
          table[*kept.key] = *kept.value;
        } else {
          EXPECT_EQ(table.erase(*kept.key), 1u) << *kept.key << " was never shown";
        }
      }
      SCOPED_TRACE(seed);
      ExpectTable(table, SessionModel(records, gap, grace));
    }
  }
}

TEST(Sessions, EndExactlyAtTheGap) {
  AggregateRun run(Sessions(10, 0));
  for (const int64_t time : {100, 110, 121}) EXPECT_TRUE(Put(&run, "a", time).ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 100..110 2"));
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 100..110 2", "a 121..121 1"));
}

TEST(Sessions, CloseWhenTheyAreMoreThanGapAndGraceOld) {
  AggregateRun run(Sessions(10, 5));
  EXPECT_TRUE(Put(&run, "a", 100).ok());
  EXPECT_TRUE(Put(&run, "b", 115).ok());
  EXPECT_THAT(Short(&run), ElementsAre());
  EXPECT_TRUE(Put(&run, "a", 100).ok());
  EXPECT_TRUE(Put(&run, "b", 116).ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 100..100 2"));
  EXPECT_TRUE(Put(&run, "a", 100).ok());  // late
  EXPECT_TRUE(Put(&run, "c", 101).ok());  // its own session would be open
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 100..100 2", "c 101..101 1", "b 115..116 2"));
}

TEST(Sessions, TakeARecordThatIsOldIfTheyAreNot) {
  AggregateRun run(Sessions(10, 0));
  EXPECT_TRUE(Put(&run, "a", 100).ok());
  EXPECT_TRUE(Put(&run, "a", 105).ok());
  EXPECT_TRUE(Put(&run, "b", 115).ok());
  EXPECT_TRUE(Put(&run, "a", 95).ok());  // alone it would be closed
  EXPECT_TRUE(Put(&run, "c", 95).ok());  // as this one is
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 95..105 3", "b 115..115 1"));
}

TEST(Sessions, MergeWhenARecordBridgesThem) {
  AggregateSpec spec = Sessions(10, 100, RowsOut::kChange);
  AggregateRun run(spec);
  for (const int64_t time : {100, 120, 110}) EXPECT_TRUE(Put(&run, "a", time).ok());
  EXPECT_THAT(Short(&run), ElementsAre(R"(["a",100,100] 100..100 1)", R"(["a",120,120] 120..120 1)",
                                       R"(["a",100,100] -)", R"(["a",120,120] -)",
                                       R"(["a",100,120] 100..120 3)"));
  EXPECT_EQ(run.out().records.back().timestamp, 120);
  EXPECT_EQ(run.out().records[3].timestamp, 120);
}

TEST(Sessions, OfUpdateComeOnceACommitAndAreWithdrawnOnce) {
  AggregateRun run(Sessions(10, 100, RowsOut::kUpdate));
  EXPECT_TRUE(Put(&run, "a", 100).ok());
  EXPECT_TRUE(Put(&run, "a", 103).ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(Put(&run, "a", 102).ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(Put(&run, "a", 105).ok());
  EXPECT_TRUE(Put(&run, "a", 95).ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(Short(&run), ElementsAre(R"(["a",100,103] 100..103 2)", R"(["a",100,103] 100..103 3)",
                                       R"(["a",100,103] -)", R"(["a",95,105] 95..105 5)"));
}

// What each function makes of two sessions that a third record bridges: the earlier one's records
// count as those that came first.
TEST(Sessions, AddUpInTheOrderOfTime) {
  AggregateSpec spec = Sessions(10, 100);
  const std::pair<Kind, const char*> kinds[] = {{Kind::kMin, "."},        {Kind::kMax, "."},
                                                {Kind::kAvg, "."},        {Kind::kFirst, "."},
                                                {Kind::kLast, ".x?"},     {Kind::kCollect, "."},
                                                {Kind::kCollectSet, "."}, {Kind::kDistinct, "."}};
  spec.functions = {{}};
  for (const auto& [kind, argument] : kinds) spec.functions.push_back(Of(kind, argument));
  spec.functions[5] = Of(Kind::kLast, "if . == 9 then null else . end");
  AggregateRun run(spec);
  for (const auto& [time, value] : std::vector<std::pair<int64_t, const char*>>{
           {120, "3"}, {121, "1.0"}, {100, "1"}, {101, "2"}, {110, "9"}}) {
    EXPECT_TRUE(run.Process(value, "k", {}, time).ok());
  }
  EXPECT_TRUE(run.End().ok());
  EXPECT_EQ(run.Rows(),
            R"({"key":"k","window_start":100,"window_end":121,"count":5,"min":1,"max":9,"avg":3.2,)"
            R"("first":1,"last":1.0,"collect":[1,2,3,1.0,9],"collect_set":[1,2,3,9],"distinct":4})"
            "\n");
}

TEST(Sessions, ChangeNothingByARecordThatIsBad) {
  AggregateRun run(Sessions(10, 100));
  EXPECT_TRUE(run.Process("9223372036854775807", "a", {}, 100).ok());
  EXPECT_TRUE(run.Process("5", "a", {}, 120).ok());
  const Status bridge = run.Process("0", "a", {}, 110);
  EXPECT_EQ(bridge.code(), StatusCode::kData);
  EXPECT_THAT(std::string(bridge.message()),
              HasSubstr("the sum so far, 9223372036854775807, and 5 do not fit a 64-bit"));
  EXPECT_EQ(run.Process("\"x\"", "b", {}, 500).code(), StatusCode::kData);
  EXPECT_THAT(Short(&run), ElementsAre());
  EXPECT_TRUE(run.End().ok());
  EXPECT_THAT(Short(&run), ElementsAre("a 100..100 1", "a 120..120 1"));
}

TEST(Sessions, CannotAddUpFolds) {
  AggregateSpec spec = Sessions(10, 0);
  spec.fold = FoldSpec{.init = Compile("0"), .add = Compile("$acc + 1")};
  const Status status = Aggregate(spec).status();
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a fold cannot be added up"));
}

}  // namespace
}  // namespace kstream
