// Windows of functions: GroupedStream::WindowedBy over the whole engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
using Make = std::function<class Table(const WindowedStream& windows)>;

WindowSpec Window(const std::string& text, milliseconds grace = milliseconds(0)) {
  WindowSpec window = *WindowSpec::Parse(text);
  window.grace = grace;
  return window;
}

Result<Topology> Built(const WindowSpec& window, Emit emit, const Make& make) {
  StreamBuilder builder(SerdeNames{.key = "string", .value = "string"});
  const WindowedStream windows =
      builder.Source(Location::Topic("in"), "in").GroupByKey().WindowedBy(window, emit);
  make(windows).ToStream().To(Location::Topic("out"));
  return builder.Build();
}

std::unique_ptr<TestDriver> Start(const WindowSpec& window, Emit emit, const Make& make,
                                  Guarantee guarantee = Guarantee::kAtLeastOnce) {
  TestDriverOptions options = Options(1, 1);
  options.runtime.guarantee = guarantee;
  const Result<Topology> topology = Built(window, emit, make);
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  auto driver = TestDriver::Create(*topology, options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

// The values of a window's records, one behind the other.
class Table Words(const WindowedStream& windows) {
  return windows.Aggregate([] { return std::string(); },
                           [](const Record& record, std::string_view words) {
                             return std::string(words) + std::string(*record.value);
                           },
                           [](std::string_view earlier, std::string_view later) {
                             return std::string(earlier) + "+" + std::string(later);
                           },
                           "rows");
}

TestRecord At(const std::string& key, int64_t time, const std::string& value) {
  return {.key = key, .value = value, .timestamp = time};
}

// "KEY VALUE", as they came.
std::vector<std::string> Rows(const TestDriver& driver) {
  std::vector<std::string> rows;
  for (const TestRecord& row : *driver.ReadAll("out")) {
    rows.push_back(row.key.value_or("(null)") + " " + row.value.value_or("(null)"));
  }
  return rows;
}

TEST(WindowedByTest, TumblingWindowsOfAFunction) {
  auto driver = Start(Window("tumbling:10s"), Emit::kChange, Words);
  ASSERT_TRUE(driver->Pipe("in", At("a", 1000, "x")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("a", 9999, "y")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("b", 10'000, "z")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("a", 5000, "late")).ok());
  EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",0] x)", R"(["a",0] xy)", R"(["b",10000] z)"));
}

TEST(WindowedByTest, RowsThatComeOnceTellTheirWindowToo) {
  auto driver = Start(Window("hopping:10s/5s"), Emit::kFinal, Words);
  ASSERT_TRUE(driver->PipeAll("in", {At("a", 1000, "x"), At("a", 6000, "y")}).ok());
  EXPECT_THAT(Rows(*driver), IsEmpty());
  ASSERT_TRUE(driver->Restart().ok());
  ASSERT_TRUE(driver->Pipe("in", At("a", 10'000, "z")).ok());
  EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",0] xy)"));
  ASSERT_TRUE(driver->EndInput().ok());
  EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",0] xy)", R"(["a",5000] yz)", R"(["a",10000] z)"));
}

TEST(WindowedByTest, AFunctionMayDeleteTheRowOfAWindow) {
  const Make make = [](const WindowedStream& windows) {
    return windows.Reduce(
        [](std::string_view, const Record& record) {
          return record.value == "-" ? std::optional<std::string>() : std::string(*record.value);
        },
        "rows");
  };
  for (const Emit emit : {Emit::kChange, Emit::kFinal}) {
    auto driver = Start(Window("tumbling:10s"), emit, make);
    ASSERT_TRUE(driver->PipeAll("in", {At("a", 1, "x"), At("a", 2, "-"), At("b", 3, "y")}).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_EQ(*driver->Get("rows", std::string("\x80\0\0\0\0\0\0\0a", 9)), std::nullopt);
    ASSERT_TRUE(driver->Pipe("in", At("c", 10'000, "z")).ok());
    if (emit == Emit::kChange) {
      EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",0] x)", R"(["a",0] (null))", R"(["b",0] y)",
                                             R"(["c",10000] z)"));
    } else {
      EXPECT_THAT(Rows(*driver), ElementsAre(R"(["b",0] y)")) << "nobody has a row of a";
    }
  }
}

TEST(WindowedByTest, SessionsMergeInTheOrderOfTime) {
  auto driver = Start(Window("session:10ms", seconds(1)), Emit::kChange, Words);
  ASSERT_TRUE(driver->Pipe("in", At("a", 120, "late")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("a", 100, "early")).ok());
  ASSERT_TRUE(driver->Pipe("in", At("a", 110, "bridge")).ok());
  EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",120,120] late)", R"(["a",100,100] early)",
                                         R"(["a",100,100] (null))", R"(["a",120,120] (null))",
                                         R"(["a",100,120] early+latebridge)"));
}

TEST(WindowedByTest, SlidingWindowsAddUpMoments) {
  auto driver = Start(Window("sliding:10ms"), Emit::kFinal, Words);
  ASSERT_TRUE(
      driver->PipeAll("in", {At("a", 100, "x"), At("a", 105, "y"), At("a", 1000, "end")}).ok());
  EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",90] x)", R"(["a",95] x+y)", R"(["a",101] y)"));
}

TEST(WindowedByTest, AReducerJoinsSessionsToo) {
  const Make by_function = [](const WindowedStream& windows) {
    return windows.Reduce(
        [](std::string_view sum, const Record& record) {
          return std::to_string(std::stoi(std::string(sum)) +
                                std::stoi(std::string(*record.value)));
        },
        "rows");
  };
  const Make by_expression = [](const WindowedStream& windows) {
    return windows.Reduce("($acc | tonumber) + tonumber | tostring", "rows");
  };
  for (const Make& make : {by_function, by_expression}) {
    auto driver = Start(Window("session:10ms", seconds(1)), Emit::kFinal, make);
    ASSERT_TRUE(
        driver->PipeAll("in", {At("a", 120, "1"), At("a", 100, "20"), At("a", 110, "300")}).ok());
    ASSERT_TRUE(driver->EndInput().ok());
    EXPECT_THAT(Rows(*driver), ElementsAre(R"(["a",100,120] 321)"));
  }
}

TEST(WindowedByTest, ASessionHasAValue) {
  auto driver = Start(Window("session:10ms"), Emit::kFinal, [](const WindowedStream& windows) {
    return windows.Reduce(
        [](std::string_view, const Record&) { return std::optional<std::string>(); }, "rows");
  });
  const Status status = driver->PipeAll("in", {At("a", 1, "x"), At("a", 2, "y")});
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(status.message(), HasSubstr("the function gave null"));
}

// Restarts and crashes leave the rows of a run that nothing has disturbed.
TEST(WindowedByTest, WhateverHappensRowsAreThoseOfAnUndisturbedRun) {
  const std::pair<const char*, int64_t> kinds[] = {
      {"tumbling:50ms", 1}, {"session:20ms", 1}, {"sliding:20ms", 1}};
  for (uint32_t seed = 0; seed < 24; seed++) {
    const WindowSpec window = Window(kinds[seed % 3].first, milliseconds(30));
    auto calm = Start(window, Emit::kFinal, Words, Guarantee::kExactlyOnce);
    auto driver = Start(window, Emit::kFinal, Words, Guarantee::kExactlyOnce);
    Dice dice(seed);
    int64_t now = 1000;
    for (int i = 0; i < 150; i++) {
      now += dice(9);
      const TestRecord record =
          At("k" + std::to_string(dice(3)), now - dice(25), std::to_string(i) + ",");
      ASSERT_TRUE(calm->Pipe("in", record).ok());
      ASSERT_TRUE(driver->Pipe("in", record).ok());
      const std::vector<int> threads = driver->threads();
      const int thread = threads[dice(static_cast<uint32_t>(threads.size()))];
      const Status status =
          Disturb(driver.get(), dice(40), thread, 3, [] { return milliseconds(700); });
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_TRUE(calm->EndInput().ok());
    ASSERT_TRUE(driver->EndInput().ok());
    EXPECT_EQ(Rows(*driver), Rows(*calm)) << "seed " << seed;
  }
}

TEST(WindowedByTest, Mistakes) {
  const auto error = [](const WindowSpec& window, Emit emit, const Make& make) {
    return std::string(Built(window, emit, make).status().message());
  };
  const Make no_merger = [](const WindowedStream& windows) {
    return windows.Aggregate([] { return std::string(); },
                             [](const Record&, std::string_view) { return std::string(); }, "rows");
  };
  EXPECT_THAT(error(Window("session:1s"), Emit::kUpdate, no_merger), HasSubstr("give a merger"));
  EXPECT_EQ(error(Window("tumbling:1s"), Emit::kUpdate, no_merger), "");
  EXPECT_THAT(error(Window("tumbling:1s"), Emit::kEvery, Words), HasSubstr("at commit points"));
  EXPECT_THAT(error(WindowSpec{}, Emit::kUpdate, Words), HasSubstr("'rows'"));
}

}  // namespace
}  // namespace kstream
