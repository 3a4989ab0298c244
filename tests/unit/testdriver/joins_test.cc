// Joins of two streams over the whole engine: restarts and crashes in the middle of windows give
// the results of a run that nothing has disturbed, and sides are brought together where keys and
// partitions ask for it.
#include "kstream/joins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kstream/stream.h"
#include "kstream/test_driver.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Topology Joined(JoinType type, milliseconds grace = milliseconds(0)) {
  StreamBuilder builder;
  const Stream left = builder.Source(Location::Topic("left"));
  const Stream right = builder.Source(Location::Topic("right"));
  JoinWindows windows = JoinWindows::Within(seconds(10));
  windows.grace = grace;
  left.Join(right, {.windows = windows, .type = type, .name = "rows"}).To(Location::Topic("out"));
  return *builder.Build();
}

std::unique_ptr<TestDriver> Start(const Topology& topology, Guarantee guarantee, int threads = 1,
                                  int32_t partitions = 1) {
  TestDriverOptions options{.partitions = {{"left", partitions}, {"right", partitions}}};
  options.runtime.guarantee = guarantee;
  options.runtime.threads = threads;
  auto driver = TestDriver::Create(topology, options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

TestRecord At(std::string key, int64_t time) {
  return {.key = std::move(key), .value = std::to_string(time), .timestamp = time};
}

std::vector<std::string> Results(const TestDriver& driver) {
  std::vector<std::string> results;
  for (const TestRecord& record : *driver.ReadAll("out")) {
    results.push_back(*record.key + "@" + std::to_string(*record.timestamp) + " " + *record.value);
  }
  return results;
}

constexpr Guarantee kGuarantees[] = {Guarantee::kAtLeastOnce, Guarantee::kExactlyOnce};

TEST(JoinsTest, ARestartInTheMiddleOfAWindowGoesOnWithIt) {
  for (const Guarantee guarantee : kGuarantees) {
    auto driver = Start(Joined(JoinType::kOuter), guarantee);
    ASSERT_TRUE(driver->PipeAll("left", {At("a", 1000), At("b", 2000)}).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->PipeAll("right", {At("a", 9000), At("c", 9500)}).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->Pipe("right", At("a", 11'000)).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(
        driver->Pipe("left", At("d", 20'000)).ok());  // b has been alone for too long, c not
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(driver->Pipe("right", At("b", 12'000)).ok());  // out of order, and b has gone
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(Results(*driver), ElementsAre("a@9000 {\"left\":1000,\"right\":9000}",
                                              "a@11000 {\"left\":1000,\"right\":11000}",
                                              "b@2000 {\"left\":2000,\"right\":null}",
                                              "c@9500 {\"left\":null,\"right\":9500}"));
  }
}

// What was read and not committed is read again, and found to be there already.
TEST(JoinsTest, ACrashLosesNothingAndDoublesNothingThatIsKept) {
  for (const Guarantee guarantee : kGuarantees) {
    auto driver = Start(Joined(JoinType::kLeft), guarantee, 2);
    ASSERT_TRUE(driver->PipeAll("left", {At("a", 1000), At("b", 2000)}).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    driver->FailCommits(Status::Cluster("rebalancing"));
    ASSERT_TRUE(driver->PipeAll("left", {At("a", 3000), At("c", 3000)}).ok());
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    driver->FailCommits(Status::Ok());
    ASSERT_TRUE(driver->Crash(driver->tasks().at(0).thread).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    ASSERT_TRUE(driver->Pipe("right", At("a", 9000)).ok());
    ASSERT_TRUE(driver->Pipe("right", At("x", 30'000)).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(Results(*driver), ElementsAre("a@9000 {\"left\":1000,\"right\":9000}",
                                              "a@9000 {\"left\":3000,\"right\":9000}",
                                              "b@2000 {\"left\":2000,\"right\":null}",
                                              "c@3000 {\"left\":3000,\"right\":null}"));
  }
}

TEST(JoinsTest, WhatHasExpiredLeavesStoreAndChangelog) {
  auto driver = Start(Joined(JoinType::kInner), Guarantee::kAtLeastOnce);
  for (int64_t time = 0; time < 200'000; time += 1000) {
    ASSERT_TRUE(driver->Pipe(time % 2000 == 0 ? "left" : "right", At("k", time)).ok());
    if (time % 10'000 == 0) {
      ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    }
  }
  EXPECT_LT(driver->Entries("rows")->size(), 60u);
}

// The topic that a side goes through has as many partitions as the other side has.
TEST(JoinsTest, ASideThatIsRekeyedMeetsTheOther) {
  StreamBuilder builder;
  const Stream left = builder.Source(Location::Topic("left")).SelectKey(".k");
  left.Join(builder.Source(Location::Topic("right")), JoinWindows::Within(seconds(10)), "j",
            "[$key, $left.n, $right.n]")
      .To(Location::Topic("out"));
  TestDriverOptions options{.partitions = {{"left", 2}, {"right", 5}}};
  auto driver = *TestDriver::Create(*builder.Build(), options);
  std::vector<std::string> expected;
  for (int i = 0; i < 20; i++) {
    const std::string n = std::to_string(i), key = "key-" + n;
    const std::string value = "{\"k\":\"" + key + "\",\"n\":" + n + "}";
    ASSERT_TRUE(driver->Pipe("left", {.key = "all", .value = value, .timestamp = 1000}).ok());
    ASSERT_TRUE(driver->Pipe("right", {.key = key, .value = value, .timestamp = 1500}).ok());
    expected.push_back(key + "@1500 [\"" + key + "\"," + n + "," + n + "]");
  }
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Results(*driver), testing::UnorderedElementsAreArray(expected));
  std::set<int32_t> partitions;
  for (const auto& record : *driver->ReadAll("test-j-left-repartition")) {
    partitions.insert(*record.partition);
  }
  EXPECT_GT(partitions.size(), 2u);
}

TEST(JoinsTest, OtherNumbersOfPartitionsAreRefused) {
  TestDriverOptions options{.partitions = {{"left", 2}, {"right", 5}}};
  const auto driver = TestDriver::Create(Joined(JoinType::kInner), options);
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(driver.status().message()), HasSubstr("equal keys would not meet"));
}

// Told once for each topic, with the place (JOIN-5).
TEST(JoinsTest, AKeyInAnotherPartitionIsTold) {
  const std::string key = "354afe16-939a-4ea8-8e17-8bb0840b6886";
  auto driver = Start(Joined(JoinType::kInner), Guarantee::kAtLeastOnce, 1, 10);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(
      driver->Pipe("right", {.key = key, .value = "1", .timestamp = 5, .partition = 4}).ok());
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(
        driver->Pipe("left", {.key = key, .value = "1", .timestamp = 5, .partition = 9}).ok());
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("left[9]@0: key " + key +
                              " is not in the partition that murmur2 "
                              "chooses, 4 of 10"));
  EXPECT_EQ(told.find("murmur2"), told.rfind("murmur2"));
}

}  // namespace
}  // namespace kstream
