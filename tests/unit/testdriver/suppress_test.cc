// Tables whose rows are held back, over the whole engine: each comes once, as it was last, whatever
// happens in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kstream/stream.h"
#include "kstream/table.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Emit = AggregateSpec::Emit;

WindowSpec Window(const std::string& text, milliseconds grace = milliseconds(0)) {
  WindowSpec window = *WindowSpec::Parse(text);
  window.grace = grace;
  return window;
}

Topology UntilClosed(const WindowSpec& window, Emit emit) {
  StreamBuilder builder;
  builder.Source(Location::Topic("in"), "in")
      .GroupByKey()
      .WindowedBy(window, emit)
      .Count("rows")
      .Suppress(Suppressed::UntilWindowCloses(), "held")
      .ToStream()
      .To(Location::Topic("out"));
  return *builder.Build();
}

// Windows that come once by themselves.
Topology Final(const WindowSpec& window) {
  StreamBuilder builder;
  builder.Source(Location::Topic("in"), "in")
      .GroupByKey()
      .WindowedBy(window, Emit::kFinal)
      .Count("rows")
      .ToStream()
      .To(Location::Topic("out"));
  return *builder.Build();
}

Topology Limited(milliseconds limit) {
  StreamBuilder builder;
  builder.Table(Location::Topic("in"), "table")
      .Suppress(Suppressed::UntilTimeLimit(limit), "held")
      .ToStream()
      .To(Location::Topic("out"));
  return *builder.Build();
}

std::unique_ptr<TestDriver> Start(const Topology& topology,
                                  Guarantee guarantee = Guarantee::kAtLeastOnce) {
  TestDriverOptions options = Options(1, 1);
  options.runtime.guarantee = guarantee;
  auto driver = TestDriver::Create(topology, options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

TestRecord At(const std::string& key, int64_t time, std::optional<std::string> value = "1") {
  return {.key = key, .value = std::move(value), .timestamp = time};
}

// "KEY@TIME VALUE", as they came.
std::vector<std::string> Lines(const TestDriver& driver) {
  std::vector<std::string> lines;
  for (const TestRecord& row : *driver.ReadAll("out")) {
    lines.push_back(row.key.value_or("") + "@" + std::to_string(row.timestamp.value_or(-1)) + " " +
                    row.value.value_or("(null)"));
  }
  return lines;
}

void Commit(TestDriver* driver) {
  for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
}

TEST(SuppressTest, ARowComesWhenItsWindowHasClosed) {
  for (const Emit emit : {Emit::kUpdate, Emit::kChange}) {
    auto driver = Start(UntilClosed(Window("tumbling:10s", seconds(1)), emit));
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000), At("a", 2000), At("b", 2500)}).ok());
    Commit(driver.get());
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 10'999), At("b", 9000)}).ok());
    Commit(driver.get());
    EXPECT_THAT(Lines(*driver), IsEmpty());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->Pipe("in", At("c", 11'000)).ok());
    Commit(driver.get());
    EXPECT_THAT(
        Lines(*driver),
        ElementsAre(R"(["a",0]@2000 {"key":"a","window_start":0,"window_end":10000,"count":2})",
                    R"(["b",0]@9000 {"key":"b","window_start":0,"window_end":10000,"count":2})"));
    // What has come is in no store any more.
    Commit(driver.get());
    EXPECT_EQ(driver->Entries("held")->size(), 2 * 2) << "two rows of the next window, with timers";
    ASSERT_TRUE(driver->EndInput().ok());
    EXPECT_EQ(Lines(*driver).size(), 4);
  }
}

TEST(SuppressTest, WhatIsWithdrawnNeverComes) {
  auto driver = Start(UntilClosed(Window("session:10ms"), Emit::kChange));
  for (const int64_t time : {100, 105, 110, 121, 140}) {
    ASSERT_TRUE(driver->Pipe("in", At("a", time)).ok());
  }
  Commit(driver.get());
  EXPECT_THAT(
      Lines(*driver),
      ElementsAre(
          R"(["a",100,110]@110 {"key":"a","window_start":100,"window_end":110,"count":3})",
          R"(["a",121,121]@121 {"key":"a","window_start":121,"window_end":121,"count":1})"));
}

TEST(SuppressTest, ATimeLimitCountsFromTheFirstChangeThatIsHeld) {
  auto driver = Start(Limited(milliseconds(100)));
  ASSERT_TRUE(
      driver->PipeAll("in", {At("a", 1000, "1"), At("a", 1090, "2"), At("b", 1099, "3")}).ok());
  Commit(driver.get());
  EXPECT_THAT(Lines(*driver), IsEmpty());
  ASSERT_TRUE(driver->PipeAll("in", {At("b", 1100, std::nullopt)}).ok());
  Commit(driver.get());
  EXPECT_THAT(Lines(*driver), ElementsAre("a@1090 2"));
  ASSERT_TRUE(driver->Pipe("in", At("a", 1150, "4")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("late", 900, "5")).ok());
  Commit(driver.get());
  EXPECT_THAT(Lines(*driver), ElementsAre("a@1090 2", "late@900 5"));
  ASSERT_TRUE(driver->Pipe("in", At("c", 1250, "6")).ok());
  Commit(driver.get());
  EXPECT_THAT(Lines(*driver), ElementsAre("a@1090 2", "late@900 5", "b@1100 (null)", "a@1150 4"));
  ASSERT_TRUE(driver->EndInput().ok());
  EXPECT_EQ(Lines(*driver).back(), "c@1250 6");
}

// Rows that are held back until windows close are those that come once by themselves.
TEST(SuppressTest, WhateverHappensEachRowComesAsItWasLast) {
  const char* const kinds[] = {"tumbling:50ms", "hopping:60ms/20ms", "session:20ms",
                               "sliding:20ms"};
  for (uint32_t seed = 0; seed < 32; seed++) {
    const Guarantee guarantee = seed % 8 < 4 ? Guarantee::kExactlyOnce : Guarantee::kAtLeastOnce;
    const WindowSpec window = Window(kinds[seed % 4], milliseconds(30));
    auto once = Start(Final(window));
    auto driver =
        Start(UntilClosed(window, seed % 3 == 0 ? Emit::kChange : Emit::kUpdate), guarantee);
    Dice dice(seed);
    int64_t now = 1000;
    for (int i = 0; i < 150; i++) {
      now += dice(9);
      const TestRecord record = At("k" + std::to_string(dice(3)), now - dice(25));
      ASSERT_TRUE(once->Pipe("in", record).ok());
      ASSERT_TRUE(driver->Pipe("in", record).ok());
      // A crash at least once counts records again, here as there.
      const uint32_t event = dice(guarantee == Guarantee::kExactlyOnce ? 40 : 4);
      const std::vector<int> threads = driver->threads();
      const int thread = threads[dice(static_cast<uint32_t>(threads.size()))];
      const Status status =
          Disturb(driver.get(), event, thread, 3, [] { return milliseconds(700); });
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_TRUE(once->EndInput().ok());
    ASSERT_TRUE(driver->EndInput().ok());
    std::multiset<std::string> expected, rows;
    for (const TestRecord& row : *once->ReadAll("out")) expected.insert(*row.value);
    for (const TestRecord& row : *driver->ReadAll("out")) rows.insert(row.value.value_or("null"));
    EXPECT_EQ(rows, expected) << "seed " << seed;
  }
}

TEST(SuppressTest, Mistakes) {
  const auto error = [](const std::function<void(StreamBuilder*)>& build) {
    StreamBuilder builder;
    build(&builder);
    return std::string(builder.Build().status().message());
  };
  EXPECT_THAT(error([](StreamBuilder* builder) {
                builder->Table(Location::Topic("in"), "table")
                    .Suppress(Suppressed::UntilWindowCloses(), "held");
              }),
              HasSubstr("have no windows that close"));
  EXPECT_THAT(error([](StreamBuilder* builder) {
                builder->Table(Location::Topic("in"), "table")
                    .Suppress(Suppressed::UntilTimeLimit(milliseconds(0)), "held");
              }),
              HasSubstr("longer than 0"));
  EXPECT_THAT(error([](StreamBuilder* builder) {
                builder->Source(Location::Topic("in"))
                    .GroupByKey()
                    .WindowedBy(Window("tumbling:1s"), Emit::kFinal)
                    .Count("rows")
                    .Suppress(Suppressed::UntilWindowCloses(), "held");
              }),
              HasSubstr("have no windows that close"));
}

}  // namespace
}  // namespace kstream
