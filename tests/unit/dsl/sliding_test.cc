// Aggregates by sliding window: against a model of KIP-450, and at the edges.
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

AggregateSpec Sliding(int64_t size, int64_t grace, RowsOut emit = RowsOut::kFinal) {
  return CountAndSum(SpanWindow(WindowSpec::Kind::kSliding, size, grace), emit);
}

Status Put(AggregateRun* run, int64_t time, std::string_view value = "1") {
  return run->Process(value, "a", {}, time);
}

std::string Row(int64_t start, int64_t end, int64_t count) {
  return RowText({end, start, "a"}, {count, count});
}

TEST(SlidingWindows, AreThoseOfTheModel) {
  for (uint32_t seed = 0; seed < 300; seed++) {
    const int64_t size = 1 + seed % 25, grace = seed % 4 == 0 ? 0 : seed % 40;
    const std::vector<ModelRecord> records = RandomRecords(seed, 150);
    AggregateRun run(Sliding(size, grace));
    Feed(&run, records, 0);
    ASSERT_EQ(run.Rows(), SlidingModel(records, size, grace).rows) << "seed " << seed;
  }
}

// The last row of each window is the final one, and there are no others: in all modes.
TEST(SlidingWindows, LeaveATableOfTheModelsRows) {
  for (const RowsOut emit : {RowsOut::kUpdate, RowsOut::kChange, RowsOut::kEvery}) {
    for (uint32_t seed = 0; seed < 100; seed++) {
      const int64_t size = 1 + seed % 25, grace = seed % 4 == 0 ? 0 : seed % 40;
      const std::vector<ModelRecord> records = RandomRecords(seed, 150);
      AggregateSpec spec = Sliding(size, grace, emit);
      spec.every = milliseconds(10);
      AggregateRun run(spec);
      FeedTable(&run, records);
      std::map<std::string, std::string> table;
      for (const Kept& kept : run.out().records) {
        std::string& row = table[*kept.key];
        EXPECT_NE(row, *kept.value) << "no change";
        row = *kept.value;
      }
      SCOPED_TRACE(seed);
      ExpectTable(table, SlidingModel(records, size, grace));
    }
  }
}

TEST(SlidingWindows, HaveBothTheirEnds) {
  AggregateRun run(Sliding(10, 0));
  for (const int64_t time : {100, 110, 121}) EXPECT_TRUE(Put(&run, time).ok());
  EXPECT_TRUE(run.End().ok());
  // [101,111] has 110 alone, and so has none but it; [111,121] begins after 110 and ends with 121.
  EXPECT_EQ(run.Rows(), Row(90, 100, 1) + Row(100, 110, 2) + Row(101, 111, 1) + Row(111, 121, 1));
}

TEST(SlidingWindows, CloseWhenTheirEndIsPastByMoreThanGrace) {
  AggregateRun run(Sliding(10, 5));
  EXPECT_TRUE(Put(&run, 100).ok());
  EXPECT_TRUE(run.Process("1", "b", {}, 105).ok());
  EXPECT_TRUE(Put(&run, 100).ok());
  EXPECT_TRUE(Put(&run, 99).ok());  // its own window has closed
  EXPECT_EQ(run.Rows(), "");
  EXPECT_TRUE(run.Process("1", "b", {}, 106).ok());
  EXPECT_EQ(run.Rows(), Row(90, 100, 3));
}

TEST(SlidingWindows, TakeARecordAsLongAsOneOfItsWindowsIsOpen) {
  AggregateRun run(Sliding(10, 0));
  EXPECT_TRUE(Put(&run, 100).ok());
  EXPECT_TRUE(Put(&run, 111).ok());
  EXPECT_TRUE(Put(&run, 100).ok());  // (100,111] is open, and it is not in it
  EXPECT_TRUE(Put(&run, 99).ok());   // late: (99,110] has closed
  EXPECT_TRUE(run.End().ok());
  EXPECT_EQ(run.Rows(), Row(90, 100, 1) + Row(101, 111, 1));
}

TEST(SlidingWindows, DoNotBeginBefore1970) {
  AggregateRun run(Sliding(10, 100));
  for (const int64_t time : {3, 5, 12}) EXPECT_TRUE(Put(&run, time).ok());
  EXPECT_TRUE(run.End().ok());
  EXPECT_EQ(run.Rows(), Row(0, 10, 2) + Row(2, 12, 3) + Row(4, 14, 2) + Row(6, 16, 1));
}

TEST(SlidingWindows, ThatCannotBeAddedUpAreToldWhenTheyCome) {
  AggregateRun run(Sliding(10, 0));
  EXPECT_TRUE(Put(&run, 100, "9223372036854775807").ok());
  EXPECT_TRUE(Put(&run, 105, "1").ok());
  const Status status = Put(&run, 200);
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(std::string(status.message()), HasSubstr("do not fit a 64-bit"));
}

TEST(SlidingWindows, CannotAddUpFolds) {
  AggregateSpec spec = Sliding(10, 0);
  spec.fold = FoldSpec{.init = Compile("0"), .add = Compile("$acc + 1")};
  EXPECT_EQ(Aggregate(spec).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
