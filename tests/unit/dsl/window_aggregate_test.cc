// Aggregates by windows: which records a row has, which are late, and when rows come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "unit/dsl/window_run.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A case of the list of troubles (WIN-1), with no grace and with 1 ms of it.
TEST(WindowAggregate, TakesARecordAsLongAsTheWindowIsOpen) {
  testing::internal::CaptureStderr();
  {
    WindowRun run(Windowed("tumbling:10s"));
    run.In({"A@1000", "A@9999", "A@10000", "A@9998", "B@5000"});
    run.End();
    EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=2", "A[10000,20000)=1"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("agg: 2 came late"));
}

TEST(WindowAggregate, GraceKeepsItOpenToTheMillisecond) {
  testing::internal::CaptureStderr();
  {
    WindowRun run(Windowed("tumbling:10s", milliseconds(1)));
    run.In({"A@1000", "A@9999", "A@10000", "A@9998", "B@5000"});
    EXPECT_THAT(run.Rows(), IsEmpty());
    run.In({"A@10001", "A@9997"});
    EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=3", "B[0,10000)=1"));
    run.End();
    EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=3", "B[0,10000)=1", "A[10000,20000)=2"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("agg: 1 came late"));
}

// A case of the list of troubles (WIN-5).
TEST(WindowAggregate, AFinalRowComesOnceWhenStreamTimePassesItsWindow) {
  WindowRun run(Windowed("tumbling:10s"));
  run.In({"A@1000", "A@2000", "A@11000"});
  EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=2"));
  run.In({"A@19999"});
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=2"));
  run.In({"B@20000"});
  EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=2", "A[10000,20000)=2"));
  run.End();
  EXPECT_THAT(run.Rows(), ElementsAre("A[0,10000)=2", "A[10000,20000)=2", "B[20000,30000)=1"));
}

TEST(WindowAggregate, FinalRowsComeByEndStartAndKey) {
  WindowRun run(Windowed("hopping:10s/5s"));
  run.In({"b@6000", "a@7000", "c@1000", "a@40000"});
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1", "b[0,10000)=1", "c[0,10000)=1",
                                      "a[5000,15000)=1", "b[5000,15000)=1"));
}

TEST(WindowAggregate, ARecordIsInEveryWindowThatIsStillOpen) {
  WindowRun run(Windowed("hopping:10s/5s"));
  run.In({"a@12000", "a@9000", "a@4999", "a@30000"});  // [0,10000) is closed, [5000,15000) is not
  EXPECT_THAT(run.Rows(), ElementsAre("a[5000,15000)=2", "a[10000,20000)=1"));
}

TEST(WindowAggregate, AJumpOfTimeLosesNoWindow) {
  WindowRun run(Windowed("tumbling:1s"));
  run.In({"a@0", "a@1500", "a@900000"});
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,1000)=1", "a[1000,2000)=1"));
}

TEST(WindowAggregate, ARowHasTheLargestTimeOfItsRecordsAndItsGroupAsKey) {
  WindowRun run(Windowed("tumbling:10s"));
  run.In({"a@7000", "a@3000", "a@10000"});
  ASSERT_EQ(run.out().records.size(), 1u);
  EXPECT_EQ(run.out().records[0].timestamp, 7000);
  EXPECT_EQ(run.out().records[0].key, "a");
  EXPECT_EQ(run.out().records[0].value,
            R"({"key":"a","window_start":0,"window_end":10000,"count":2})");
}

TEST(WindowAggregate, UpdatesAreATableByGroupAndStart) {
  WindowRun run(Windowed("hopping:10s/5s", {}, RowsOut::kUpdate));
  run.In({"b@6000", "a@7000"});
  EXPECT_THAT(run.Rows(), IsEmpty());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.Rows(),
              ElementsAre("a[0,10000)=1", "b[0,10000)=1", "a[5000,15000)=1", "b[5000,15000)=1"));
  EXPECT_THAT(run.out().Keys(),
              ElementsAre(R"(["a",0])", R"(["b",0])", R"(["a",5000])", R"(["b",5000])"));
  run.In({"a@8000"});
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.RowsFrom(4), ElementsAre("a[0,10000)=2", "a[5000,15000)=2"));
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_EQ(run.out().records.size(), 6u);
}

TEST(WindowAggregate, WhatChangedSinceTheLastUpdateComesWhenTheWindowCloses) {
  WindowRun run(Windowed("tumbling:10s", {}, RowsOut::kUpdate));
  run.In({"a@1000", "b@1000"});
  EXPECT_TRUE(run.Flush().ok());
  run.In({"b@2000", "a@10000"});
  EXPECT_THAT(run.RowsFrom(2), ElementsAre("b[0,10000)=2"));
}

TEST(WindowAggregate, EachChangeComesAtOnce) {
  WindowRun run(Windowed("hopping:10s/5s", {}, RowsOut::kChange));
  run.In({"a@6000", "a@7000", "b@60000"});
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1", "a[5000,15000)=1", "a[0,10000)=2",
                                      "a[5000,15000)=2", "b[55000,65000)=1", "b[60000,70000)=1"));
}

TEST(WindowAggregate, ByTheClockComesWhatChanged) {
  AggregateSpec spec = Windowed("tumbling:10s", {}, RowsOut::kEvery);
  spec.every = milliseconds(500);
  WindowRun run(spec);
  run.In({"a@1000", "a@2000"});
  EXPECT_TRUE(run.Pass(milliseconds(500)).ok());
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=2"));
  EXPECT_TRUE(run.Pass(milliseconds(500)).ok());
  run.In({"a@3000", "a@11000"});
  EXPECT_THAT(run.RowsFrom(1), ElementsAre("a[0,10000)=3"));
  run.End();
  EXPECT_THAT(run.RowsFrom(2), ElementsAre("a[10000,20000)=1"));
}

TEST(WindowAggregate, LateRecordsGoToTheirChildAsTheyCame) {
  testing::internal::CaptureStderr();
  AggregateSpec spec = Windowed("tumbling:10s");
  spec.rows = "out";
  spec.late = "late";
  {
    WindowRun run(spec);
    run.In({"a@15000", "b@3000", "a@20000"});
    EXPECT_THAT(run.Rows(), ElementsAre("a[10000,20000)=1"));
    ASSERT_EQ(run.out("late").records.size(), 1u);
    EXPECT_EQ(run.out("late").records[0].value, "1");
    EXPECT_EQ(run.out("late").records[0].key, "b");
    EXPECT_EQ(run.out("late").records[0].timestamp, 3000);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("agg: 1 came late"));
}

TEST(WindowAggregate, ABadRecordChangesNoWindowAndMovesNoTime) {
  AggregateSpec spec = Windowed("hopping:10s/5s");
  spec.functions = {Of(Kind::kMax, ".", "count")};
  WindowRun run(spec);
  EXPECT_TRUE(run.Process("1", "a", {}, 12'000).ok());
  EXPECT_TRUE(run.Process("\"x\"", "a", {}, 7'000).ok() == false);  // [5000,15000) has numbers
  EXPECT_EQ(run.Process("{}", "a", {}, 99'000).code(), StatusCode::kData);
  EXPECT_TRUE(run.Process("7", "a", {}, 13'000).ok());
  run.End();
  EXPECT_THAT(run.Rows(), ElementsAre("a[5000,15000)=7", "a[10000,20000)=7"));
}

TEST(WindowAggregate, ARecordWithoutATimeOrPastAllTimeIsBad) {
  WindowRun run(Windowed("tumbling:10s"));
  EXPECT_THAT(run.Process("1", "a", {}, -1).message(), HasSubstr("it has no time"));
  EXPECT_THAT(run.Process("1", "a", {}, 1'700'000'000'000'000).message(),
              HasSubstr("past the year 9999"));
  run.End();
  EXPECT_THAT(run.Rows(), IsEmpty());
}

TEST(WindowAggregate, DaysAreThoseOfTheZone) {
  AggregateSpec spec = Windowed("tumbling:1d");
  spec.window->zone = "Europe/Berlin";
  WindowRun run(spec);
  run.In({"a@1711839599999", "a@1711839600000", "a@1711922399999", "a@1711922400000"});
  EXPECT_THAT(run.Rows(),
              ElementsAre("a[1711753200000,1711839600000)=1", "a[1711839600000,1711922400000)=2"));
}

TEST(WindowAggregate, WhatContradictsItselfIsRefused) {
  const auto why = [](AggregateSpec spec) {
    return std::string(Aggregate(std::move(spec)).status().message());
  };
  EXPECT_THAT(why(Windowed("tumbling:10s", milliseconds(-1))), HasSubstr("grace"));
  AggregateSpec spec = Windowed("tumbling:10s");
  spec.late = "late";
  EXPECT_THAT(why(spec), HasSubstr("go where rows do not"));
  spec = {.functions = {{}}, .rows = "out", .late = "late"};
  EXPECT_THAT(why(spec), HasSubstr("late for windows"));
}

}  // namespace
}  // namespace kstream
