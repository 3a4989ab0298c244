// What goes in, what comes out, what can be seen in between; and that it is always the same.
#include "kstream/test_driver.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "unit/testdriver/word_count.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TestDriverTest, ARecordGoesThroughWithEverythingThatItHas) {
  auto driver = Driver(Through(Does(Pass)));
  ASSERT_TRUE(driver
                  ->Pipe("in", {.key = "k",
                                .value = "v",
                                .timestamp = 1234,
                                .headers = {{"a", "1"}, {"b", std::nullopt}, {"a", ""}}})
                  .ok());
  const auto out = driver->Read("out");
  ASSERT_TRUE(out.ok());
  ASSERT_EQ(out->size(), 1U);
  const TestRecord& record = out->front();
  EXPECT_EQ(record.key, "k");
  EXPECT_EQ(record.value, "v");
  EXPECT_EQ(record.timestamp, 1234);
  EXPECT_EQ(record.partition, 0);
  EXPECT_EQ(record.offset, 0);
  EXPECT_THAT(record.headers, ElementsAre(testing::Pair("a", "1"), testing::Pair("b", std::nullopt),
                                          testing::Pair("a", "")));
}

TEST(TestDriverTest, NullAndEmptyAreTwoThings) {
  auto driver = Driver(Through(Does(Pass)));
  ASSERT_TRUE(driver->Pipe("in", {.key = "", .value = ""}).ok());
  ASSERT_TRUE(driver->Pipe("in", TestRecord{}).ok());
  const auto out = driver->Read("out");
  ASSERT_EQ(out->size(), 2U);
  EXPECT_EQ((*out)[0].key, "");
  EXPECT_EQ((*out)[0].value, "");
  EXPECT_EQ((*out)[1].key, std::nullopt);
  EXPECT_EQ((*out)[1].value, std::nullopt);
}

TEST(TestDriverTest, ReadGivesWhatIsNewAndReadAllGivesAll) {
  auto driver = Driver(Through(Does(Pass)));
  ASSERT_TRUE(driver->Pipe("in", {.value = "1"}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1"));
  EXPECT_THAT(ValuesOf(driver->Read("out")), IsEmpty());
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "2"}, {.value = "3"}}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("2", "3"));
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1", "2", "3"));
}

TEST(TestDriverTest, WithoutATimestampARecordIsOfNow) {
  auto driver = Driver(Through(Does(Pass)), {.start_time = 1000});
  ASSERT_TRUE(driver->Advance(milliseconds(500)).ok());
  EXPECT_EQ(driver->now(), 1500);
  ASSERT_TRUE(driver->Pipe("in", {.value = "v"}).ok());
  EXPECT_EQ(driver->Read("out")->front().timestamp, 1500);
}

TEST(TestDriverTest, AKeyDecidesThePartitionOnBothSides) {
  auto driver = Driver(Through(Does(Pass)), {.partitions = {{"in", 4}, {"out", 4}}});
  for (const char* key : {"tea", "kettle", "stove", "cup"}) {
    ASSERT_TRUE(driver->Pipe("in", {.key = key, .value = "v"}).ok());
  }
  ASSERT_TRUE(driver->Pipe("in", {.key = "tea", .value = "here", .partition = 3}).ok());
  std::map<std::string, int32_t> in;
  const auto piped = driver->ReadAll("in");
  for (const TestRecord& record : *piped) {
    if (record.value == "v") in[*record.key] = *record.partition;
  }
  const auto out = driver->ReadAll("out");
  ASSERT_EQ(out->size(), 5U);
  for (const TestRecord& record : *out) EXPECT_EQ(record.partition, in[*record.key]);
  EXPECT_EQ(piped->back().partition, 3);
}

TEST(TestDriverTest, MistakesOfTheTestAreUsageAndNameWhatIsWrong) {
  auto driver = Driver(Through(Does(Pass)));
  const auto wrong = [](const Status& status, const char* what) {
    EXPECT_EQ(status.code(), StatusCode::kUsage) << status.message();
    EXPECT_THAT(std::string(status.message()), HasSubstr(what));
  };
  wrong(driver->Pipe("nowhere", {.value = "v"}), "nowhere");
  wrong(driver->Pipe("else:in", {.value = "v"}), "else");
  wrong(driver->Pipe("in", {.value = "v", .partition = 1}), "no partition 1");
  wrong(driver->Read("nowhere").status(), "nowhere");
  wrong(driver->Committed("in", 1).status(), "no partition 1");
  wrong(driver->Entries("none").status(), "none");
  wrong(driver->Crash(1), "no thread 1");
  wrong(driver->Advance(milliseconds(-1)), "backwards");
  wrong(driver->GrowTopic("in", 0), "0");
  wrong(TestDriver::Create(Through(Does(Pass)), {.partitions = {{"in", 0}}}).status(), "in");
  EXPECT_THAT(ValuesOf(driver->ReadAll("in")), IsEmpty());
}

TEST(TestDriverTest, TheClockStopsAtItsLastTime) {
  auto driver = Driver(Through(Does(Pass)), {.start_time = 1000});
  const Status status = driver->Advance(milliseconds(INT64_MAX));
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("9223372036854775807 ms from 1000 on"));
  EXPECT_EQ(driver->now(), 1000);
  ASSERT_TRUE(driver->Advance(milliseconds(TestDriver::kLastTime - 1000)).ok());
  EXPECT_EQ(driver->now(), TestDriver::kLastTime);
  EXPECT_EQ(driver->Advance(milliseconds(1)).code(), StatusCode::kUsage);
  for (const int64_t start : {int64_t{-1}, TestDriver::kLastTime + 1}) {
    const Status refused = TestDriver::Create(Through(Does(Pass)), {.start_time = start}).status();
    EXPECT_EQ(refused.code(), StatusCode::kUsage);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("start_time: " + std::to_string(start)));
  }
}

TEST(TestDriverTest, ATopicThatIsThereKeepsItsPartitions) {
  auto driver = Driver(Through(Does(Pass)), {.partitions = {{"in", 2}}});
  EXPECT_TRUE(driver->CreateTopic("in", 2).ok());
  const Status status = driver->CreateTopic("in", 3);
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("topic in is there with 2 partitions, not 3"));
  ASSERT_TRUE(driver->GrowTopic("in", 3).ok());
  const Status again = driver->Restart();
  EXPECT_TRUE(again.ok()) << again.message();
  EXPECT_TRUE(driver->Pipe("in", {.value = "v", .partition = 2}).ok());
}

TEST(TestDriverTest, WhatARealRunRefusesIsRefused) {
  const auto refusal = [](TestDriverOptions options, Location output) {
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {Location::Topic("in")}})
        .AddSink("out", {.output = std::move(output)}, {"in"});
    const Status status = TestDriver::Create(*builder.Build(), std::move(options)).status();
    EXPECT_EQ(status.code(), StatusCode::kUsage);
    return std::string(status.message());
  };
  EXPECT_THAT(refusal({}, Location::Topic("out", "west")), HasSubstr("no --cluster west is given"));
  TestDriverOptions options;
  options.runtime.partitioner = "murmur3";
  EXPECT_THAT(refusal(options, Location::Topic("out")), HasSubstr("'murmur3' is none of"));
}

TEST(TestDriverTest, FilesAreRefused) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddSink("out", {.output = {.cluster = "", .name = "rows.ndjson"}}, {"in"});
  const auto driver = TestDriver::Create(*builder.Build());
  EXPECT_EQ(driver.status().code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(driver.status().message()), HasSubstr("rows.ndjson"));
}

TEST(TestDriverTest, TheInsideCanBeSeen) {
  auto driver = Driver(WordCount(), {.partitions = {{"lines", 2}}});
  ASSERT_TRUE(
      driver->Pipe("lines", {.value = "tea for two", .timestamp = 70, .partition = 0}).ok());
  ASSERT_TRUE(driver->Pipe("lines", {.value = "two", .timestamp = 50, .partition = 1}).ok());
  EXPECT_EQ(*driver->Get("counts", "two"), "2");
  EXPECT_EQ(*driver->Get("counts", "three"), std::nullopt);
  EXPECT_EQ(driver->Entries("counts")->size(), 3U);
  EXPECT_EQ(driver->counts().read, 6);     // two lines and four words
  EXPECT_EQ(driver->counts().written, 4);  // words on their way are no output

  const auto tasks = driver->tasks();
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks[0].name, "0_0");
  EXPECT_EQ(tasks[0].stream_time, 70);
  EXPECT_EQ(tasks[0].positions.at({"", "lines", 0}), 1);
  EXPECT_EQ(tasks[1].name, "0_1");
  EXPECT_EQ(tasks[1].stream_time, 50);
  EXPECT_EQ(tasks[3].name, "1_1");

  EXPECT_EQ(*driver->Committed("lines", 0), std::nullopt);
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());  // --commit-interval
  EXPECT_EQ(*driver->Committed("lines", 0), 1);
  EXPECT_EQ(*driver->Committed("lines", 1), 1);
}

// Lines by partition, from a generator of our own so that it is the same everywhere.
std::vector<TestRecord> Lines(int count) {
  std::vector<TestRecord> lines;
  uint32_t state = 1;
  const auto next = [&](uint32_t below) { return (state = state * 1664525 + 1013904223) % below; };
  for (int i = 0; i < count; i++) {
    std::string line;
    for (uint32_t n = 1 + next(5); n > 0; n--) line += "w" + std::to_string(next(23)) + " ";
    lines.push_back({.value = line,
                     .timestamp = 1000 + i * 10 + next(50),
                     .partition = static_cast<int32_t>(next(4))});
  }
  return lines;
}

// What a run with so many threads leaves in every topic, after records that came one by one, all at
// once, and amid changes of the group.
std::vector<std::string> TopicsAfter(int threads) {
  TestDriverOptions options{.partitions = {{"lines", 4}, {"counts", 4}}};
  options.runtime.threads = threads;
  auto driver = Driver(WordCount(), std::move(options));
  const std::vector<TestRecord> lines = Lines(90);
  for (int i = 0; i < 30; i++) EXPECT_TRUE(driver->Pipe("lines", lines[i]).ok());
  EXPECT_TRUE(
      driver->PipeAll("lines", std::vector<TestRecord>(lines.begin() + 30, lines.begin() + 60))
          .ok());
  EXPECT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_TRUE(
      driver->PipeAll("lines", std::vector<TestRecord>(lines.begin() + 60, lines.end())).ok());
  std::vector<std::string> all = Shown(driver->ReadAll("test-words-repartition"));
  for (std::string& shown : Shown(driver->ReadAll("counts"))) all.push_back(std::move(shown));
  return all;
}

TEST(TestDriverTest, TheSameBytesWhateverTheNumberOfThreads) {
  const std::vector<std::string> one = TopicsAfter(1);
  EXPECT_GT(one.size(), 400U);
  EXPECT_EQ(one, TopicsAfter(1));
  EXPECT_EQ(one, TopicsAfter(2));
  EXPECT_EQ(one, TopicsAfter(4));
  EXPECT_EQ(one, TopicsAfter(9));  // one of them has nothing to do
}

TEST(TestDriverTest, ThreadsShareTheTasks) {
  TestDriverOptions options{.partitions = {{"lines", 4}}};
  options.runtime.threads = 4;
  auto driver = Driver(WordCount(), std::move(options));
  std::map<int, int> load;
  for (const TestTask& task : driver->tasks()) load[task.thread]++;
  EXPECT_THAT(load, ElementsAre(testing::Pair(0, 2), testing::Pair(1, 2), testing::Pair(2, 2),
                                testing::Pair(3, 2)));
}

TEST(TestDriverTest, DriversSideBySideDoNotShareAStateDirectory) {
  TestDriverOptions options;
  options.runtime.instance_id = "auto";  // which is kept there
  auto one = Driver(Through(Does(Pass)), options), other = Driver(Through(Does(Pass)), options);
  ASSERT_TRUE(one->Restart().ok()) << "its own lock does not stop it";
  ASSERT_TRUE(one->Pipe("in", {.value = "1"}).ok());
  ASSERT_TRUE(other->Pipe("in", {.value = "2"}).ok());
  EXPECT_THAT(ValuesOf(one->Read("out")), ElementsAre("1"));
  EXPECT_THAT(ValuesOf(other->Read("out")), ElementsAre("2"));
}

// A case is cheap: by turns, which do not depend on the machine.
TEST(TestDriverTest, ACaseCostsFewTurns) {
  const auto begin = std::chrono::steady_clock::now();
  TestDriverOptions options{.partitions = {{"lines", 4}, {"counts", 4}}};
  options.runtime.threads = 2;
  auto driver = Driver(WordCount(), std::move(options));
  const int64_t start = driver->turns();
  for (const TestRecord& line : Lines(20)) ASSERT_TRUE(driver->Pipe("lines", line).ok());
  const int64_t piped = driver->turns() - start;
  driver.reset();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::printf("start: %ld turns; a record: %.1f; the case: %.2f ms\n", static_cast<long>(start),
              static_cast<double>(piped) / 20,
              std::chrono::duration<double, std::milli>(took).count());
  EXPECT_LT(start, 100);
  EXPECT_LT(piped, 20 * 40);
}

}  // namespace
}  // namespace kstream
