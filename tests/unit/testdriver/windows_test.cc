// Windowed aggregates over the whole engine: restarts, crashes and moves in the middle of windows
// give the rows of a run that nothing has disturbed.
#include "kstream/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "record/partitioner.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using RowsOut = AggregateSpec::Emit;

Topology Windows(const std::string& window, RowsOut emit = RowsOut::kFinal,
                 milliseconds grace = milliseconds(0)) {
  AggregateSpec spec{.functions = {{}}, .window = *WindowSpec::Parse(window), .emit = emit};
  spec.window->grace = grace;
  spec.store = "rows";
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("agg", *Aggregate(spec), {"in"})
      .AddStore(StoreSpec{.name = "rows"}, {"agg"})
      .AddSink("out", {.output = Location::Topic("out")}, {"agg"});
  return *builder.Build();
}

TestDriverOptions With(Guarantee guarantee, int threads = 1, int32_t partitions = 1) {
  TestDriverOptions options = Options(threads, partitions);
  options.runtime.guarantee = guarantee;
  return options;
}

std::unique_ptr<TestDriver> Start(const Topology& topology, const TestDriverOptions& options) {
  auto driver = TestDriver::Create(topology, options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

TestRecord At(std::string key, int64_t time) {
  return {.key = std::move(key), .value = "1", .timestamp = time};
}

std::vector<std::string> Rows(const TestDriver& driver) {
  std::vector<std::string> rows;
  for (const TestRecord& record : *driver.ReadAll("out")) rows.push_back(record.value.value_or(""));
  return rows;
}

// Keys of the rows in the store; the first row of a task's says what windows they are of.
std::vector<std::string> Kept(const TestDriver& driver) {
  std::vector<std::string> keys;
  for (const TestEntry& entry : *driver.Entries("rows")) {
    if (entry.key != std::string(8, '\0')) keys.push_back(entry.key);
  }
  return keys;
}

std::string Row(const std::string& key, int64_t start, int64_t end, int count) {
  return R"({"key":")" + key + R"(","window_start":)" + std::to_string(start) +
         R"(,"window_end":)" + std::to_string(end) + R"(,"count":)" + std::to_string(count) + "}";
}

TEST(WindowsTest, ARestartInTheMiddleOfAWindowGoesOnWithIt) {
  for (const Guarantee guarantee : {Guarantee::kAtLeastOnce, Guarantee::kExactlyOnce}) {
    auto driver = Start(Windows("tumbling:10s"), With(guarantee));
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000), At("b", 2000)}).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 3000), At("a", 10'000)}).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->PipeAll("in", {At("b", 4000), At("a", 20'000)}).ok());  // b is late
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(Rows(*driver), ElementsAre(Row("a", 0, 10'000, 2), Row("b", 0, 10'000, 1),
                                           Row("a", 10'000, 20'000, 1)));
  }
}

TEST(WindowsTest, RowsOfClosedWindowsLeaveStoreAndChangelogOnceTheirTimeIsCommitted) {
  auto driver = Start(Windows("tumbling:10s"), With(Guarantee::kAtLeastOnce));
  ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000), At("b", 2000)}).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Kept(*driver), SizeIs(2));
  ASSERT_TRUE(driver->Pipe("in", At("a", 12'000)).ok());
  driver->FailCommits(Status::Cluster("rebalancing"));
  for (int i = 0; i < 5; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Kept(*driver), SizeIs(3)) << "what closed them is not committed";
  driver->FailCommits(Status::Ok());
  for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Kept(*driver), SizeIs(1));
  const auto journal = *driver->ReadAll("test-rows-changelog");
  EXPECT_EQ(std::ranges::count_if(journal, [](auto& record) { return !record.value; }), 2);
  EXPECT_THAT(Rows(*driver), ElementsAre(Row("a", 0, 10'000, 1), Row("b", 0, 10'000, 1)));
}

// What was emitted and not committed is emitted again, with the same numbers.
TEST(WindowsTest, ACrashAfterAWindowClosedLosesNothingOfIt) {
  for (const Guarantee guarantee : {Guarantee::kAtLeastOnce, Guarantee::kExactlyOnce}) {
    auto driver = Start(Windows("tumbling:10s"), With(guarantee, 2));
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000), At("a", 2000)}).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    ASSERT_TRUE(driver->Pipe("in", At("a", 12'000)).ok());
    ASSERT_TRUE(driver->Crash(driver->tasks().at(0).thread).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    std::vector<std::string> rows = Rows(*driver);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    EXPECT_THAT(rows, ElementsAre(Row("a", 0, 10'000, 2)));
    if (guarantee == Guarantee::kExactlyOnce) {
      EXPECT_THAT(Rows(*driver), SizeIs(1));
    }
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(Kept(*driver), SizeIs(1));
  }
}

TEST(WindowsTest, UpdatesOfAWindowGoWhereItsGroupsKeyGoes) {
  TestDriverOptions options = With(Guarantee::kAtLeastOnce);
  options.partitions["out"] = 7;
  auto driver = Start(Windows("tumbling:1s", RowsOut::kUpdate), options);
  std::vector<TestRecord> records;
  for (int time = 0; time < 20; time++) {
    for (const char* key : {"a", "b", "c"}) records.push_back(At(key, time * 1000));
  }
  ASSERT_TRUE(driver->PipeAll("in", records).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  std::map<char, std::set<int32_t>> partitions;
  const auto rows = *driver->ReadAll("out");
  EXPECT_THAT(rows, SizeIs(60));
  for (const TestRecord& row : rows) partitions[row.key->at(2)].insert(*row.partition);
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_THAT(partitions[key[0]], ElementsAre(PartitionOfKey(Bytes(key), 7, 0)));
  }
}

TEST(WindowsTest, SilenceClosesNothingUnlessItIsToldTo) {
  TestDriverOptions options = With(Guarantee::kAtLeastOnce);
  const int64_t start = options.start_time;
  for (const bool advances : {false, true}) {
    if (advances) options.runtime.idle_advance = seconds(10);
    auto driver = Start(Windows("tumbling:10s"), options);
    ASSERT_TRUE(driver->Pipe("in", At("a", start + 1000)).ok());
    // Its window ends 9 s after the record, and the clock counts once 10 s have passed.
    for (int i = 0; i < 18; i++) ASSERT_TRUE(driver->Advance(seconds(1)).ok());
    EXPECT_THAT(Rows(*driver), IsEmpty());
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(1)).ok());
    EXPECT_THAT(Rows(*driver), SizeIs(advances ? 1 : 0));
    if (!advances) continue;
    EXPECT_EQ(driver->tasks().at(0).stream_time, start + 12'000);
    ASSERT_TRUE(driver->Restart().ok());
    EXPECT_EQ(driver->tasks().at(0).stream_time, start + 12'000);
    testing::internal::CaptureStderr();
    ASSERT_TRUE(driver->Pipe("in", At("b", start + 5000)).ok());
    ASSERT_TRUE(driver->Restart().ok());
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("agg: 1 came late"));
    EXPECT_THAT(Rows(*driver), ElementsAre(Row("a", start, start + 10'000, 1)));
  }
}

TEST(WindowsTest, IdleTimeNeverPassesTheClock) {
  TestDriverOptions options = With(Guarantee::kAtLeastOnce);
  options.runtime.idle_advance = seconds(1);
  auto driver = Start(Windows("tumbling:10s"), options);
  ASSERT_TRUE(driver->Pipe("in", At("a", options.start_time - 500)).ok());
  for (int i = 0; i < 30; i++) {
    ASSERT_TRUE(driver->Advance(seconds(1)).ok());
    EXPECT_LE(driver->tasks().at(0).stream_time, driver->now());
  }
  EXPECT_EQ(driver->tasks().at(0).stream_time, driver->now() - 1500);
}

TEST(WindowsTest, AtTheEndOfARunWindowsStayOpenUnlessTheyAreClosedForGood) {
  for (const Guarantee guarantee : {Guarantee::kAtLeastOnce, Guarantee::kExactlyOnce}) {
    TestDriverOptions options = With(guarantee);
    options.runtime.exit_at_end = true;
    for (const bool closes : {false, true}) {
      options.runtime.close_at_end = closes;
      auto driver = Start(Windows("tumbling:10s"), options);
      testing::internal::CaptureStderr();
      ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000), At("b", 2000)}).ok());
      ASSERT_TRUE(driver->Restart().ok());
      const std::string told = testing::internal::GetCapturedStderr();
      if (!closes) {
        EXPECT_THAT(told, testing::HasSubstr("agg: 1 window stays open: --close-at-end closes it"));
        EXPECT_THAT(Rows(*driver), IsEmpty());
        continue;
      }
      EXPECT_EQ(told.find("open"), std::string::npos) << told;
      EXPECT_THAT(Rows(*driver), ElementsAre(Row("a", 0, 10'000, 1), Row("b", 0, 10'000, 1)));
      testing::internal::CaptureStderr();
      ASSERT_TRUE(driver->PipeAll("in", {At("a", 3000), At("b", 10'000)}).ok());
      ASSERT_TRUE(driver->Restart().ok());
      EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("agg: 1 came late"));
      EXPECT_THAT(Rows(*driver), ElementsAre(Row("a", 0, 10'000, 1), Row("b", 0, 10'000, 1),
                                             Row("b", 10'000, 20'000, 1)));
    }
  }
}

// Records that come out of order, in the order of their places, the last of which closes all.
struct Disorder {
  explicit Disorder(uint32_t seed) : dice(seed) {}
  TestRecord Next() {
    now += dice(400);
    const int64_t time = now - std::min<int64_t>(now, dice(1500));
    return At("k" + std::to_string(dice(6)), time);
  }
  Dice dice;
  int64_t now = 0;
};

std::vector<std::string> Sorted(const TestDriver& driver) {
  std::vector<std::string> rows = Rows(driver);
  std::ranges::sort(rows);
  return rows;
}

// `gentle`: threads come and go in good order; else they crash and lose their tasks, too.
std::vector<std::string> Disturbed(const Topology& topology, const TestDriverOptions& options,
                                   uint32_t seed, bool gentle, bool disturb) {
  auto driver = Start(topology, options);
  Disorder disorder(seed);
  Dice dice(seed + 1);
  for (int step = 0; step < 50; step++) {
    std::vector<TestRecord> records;
    for (int n = 0; n < 4; n++) records.push_back(disorder.Next());
    EXPECT_TRUE(driver->PipeAll("in", records).ok());
    const std::vector<int> threads = driver->threads();
    const int thread = threads[dice(static_cast<uint32_t>(threads.size()))];
    const uint32_t event = disturb ? dice(gentle ? 4 : 6) : 9;
    const Status status =
        Disturb(driver.get(), event, thread, 4, [&] { return milliseconds(dice(2500)); });
    EXPECT_TRUE(status.ok()) << "step " << step << ": " << status.message();
  }
  for (int32_t partition = 0; partition < 3; partition++) {
    TestRecord last = At("last", 1'000'000);
    last.partition = partition;
    EXPECT_TRUE(driver->Pipe("in", last).ok());
  }
  for (int i = 0; i < 4; i++) EXPECT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(driver->failures(), IsEmpty());
  const size_t overlaps = topology.Describe().find("hopping") == std::string::npos ? 1 : 3;
  EXPECT_THAT(Kept(*driver), SizeIs(3 * overlaps)) << "what is closed is deleted";
  return Sorted(*driver);
}

TEST(WindowsTest, WhateverHappensTheRowsAreThoseOfAnUndisturbedRun) {
  testing::internal::CaptureStderr();
  for (const std::string window : {"tumbling:2s", "hopping:3s/1s"}) {
    const Topology topology = Windows(window, RowsOut::kFinal, milliseconds(300));
    for (uint32_t seed = 1; seed <= 6; seed++) {
      const auto truth =
          Disturbed(topology, With(Guarantee::kAtLeastOnce, 1, 3), seed, true, false);
      EXPECT_GT(truth.size(), 50u);
      EXPECT_EQ(Disturbed(topology, With(Guarantee::kAtLeastOnce, 1, 3), seed, true, true), truth)
          << window << " seed " << seed;
      EXPECT_EQ(Disturbed(topology, With(Guarantee::kExactlyOnce, 2, 3), seed, false, true), truth)
          << window << " seed " << seed << " exactly-once";
    }
  }
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace kstream
