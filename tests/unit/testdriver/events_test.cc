// Threads that come, go, crash and are put out of their group; acknowledgements that come late or
// never; topics that grow; the application started again. At least once is the promise: what was
// written is there once or more, and nothing is missing.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "unit/testdriver/word_count.h"

namespace kstream {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TestDriverOptions Threads(int threads, int32_t partitions) {
  TestDriverOptions options{.partitions = {{"in", partitions}, {"lines", partitions}}};
  options.runtime.threads = threads;
  return options;
}

std::vector<TestRecord> Numbers(int from, int to, int32_t partitions) {
  std::vector<TestRecord> records;
  for (int i = from; i < to; i++) {
    records.push_back({.value = std::to_string(i), .timestamp = i, .partition = i % partitions});
  }
  return records;
}

// How often each of the numbers below `end` is among the values.
std::vector<int> Occurrences(const std::vector<std::string>& values, int end) {
  std::vector<int> times(end);
  for (const std::string& value : values) times.at(std::stoul(value))++;
  return times;
}

std::map<std::string, int> Owners(const TestDriver& driver) {
  std::map<std::string, int> owners;
  for (const TestTask& task : driver.tasks()) owners[task.name] = task.thread;
  return owners;
}

TEST(EventsTest, AThreadMoreTakesItsShareAndRepeatsNothing) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 4));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 20, 4)).ok());
  ASSERT_TRUE(driver->AddThread().ok());
  EXPECT_THAT(driver->threads(), ElementsAre(0, 1));
  const auto owners = Owners(*driver);
  EXPECT_EQ(std::count_if(owners.begin(), owners.end(), [](auto& o) { return o.second == 1; }), 2);
  ASSERT_TRUE(driver->PipeAll("in", Numbers(20, 40, 4)).ok());
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 40), Each(1));
}

TEST(EventsTest, AThreadLessLeavesItsTasksWhereItStood) {
  auto driver = Driver(Through(Does(Pass)), Threads(3, 4));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 20, 4)).ok());
  ASSERT_TRUE(driver->RemoveThread(1).ok());
  EXPECT_THAT(driver->threads(), ElementsAre(0, 2));
  EXPECT_THAT(driver->tasks(), SizeIs(4));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(20, 40, 4)).ok());
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 40), Each(1));
  EXPECT_THAT(driver->failures(), IsEmpty());
}

TEST(EventsTest, ACrashRepeatsWhatWasNotCommittedAndNothingElse) {
  auto driver = Driver(Through(Does(Pass)), Threads(2, 4));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 20, 4)).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());  // commits
  ASSERT_TRUE(driver->PipeAll("in", Numbers(20, 40, 4)).ok());
  std::set<int32_t> crashed;
  for (const TestTask& task : driver->tasks()) {
    if (task.thread == 0) crashed.insert(task.positions.begin()->first.partition);
  }
  ASSERT_THAT(crashed, SizeIs(2));
  ASSERT_TRUE(driver->Crash(0).ok());
  EXPECT_THAT(driver->threads(), ElementsAre(1));
  const std::vector<int> times = Occurrences(ValuesOf(driver->Read("out")), 40);
  for (int i = 0; i < 40; i++) {
    EXPECT_EQ(times[i], i >= 20 && crashed.contains(i % 4) ? 2 : 1) << i;
  }
  EXPECT_THAT(driver->failures(), IsEmpty());
}

TEST(EventsTest, WithoutAThreadNothingRunsAndRecordsWaitForTheRestart) {
  for (const bool crash : {true, false}) {
    auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
    ASSERT_TRUE((crash ? driver->Crash(0) : driver->RemoveThread(0)).ok());
    EXPECT_FALSE(driver->running());
    EXPECT_TRUE(driver->Pipe("in", {.value = "1"}).ok()) << "its end was no failure";
    EXPECT_THAT(ValuesOf(driver->ReadAll("out")), IsEmpty());
    EXPECT_EQ(driver->AddThread().code(), StatusCode::kUsage);
    ASSERT_TRUE(driver->Restart().ok());
    EXPECT_TRUE(driver->running());
    EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1"));
  }
}

TEST(EventsTest, AThreadThatFailsAsItIsRemovedEndsTheApplication) {
  TestDriverOptions options = Threads(2, 2);
  auto driver = Driver(Through(Does(Pass)), options);
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 4, 2)).ok());
  driver->FailCommits(Status::Cluster("no coordinator"));
  EXPECT_EQ(driver->RemoveThread(0).code(), StatusCode::kCluster);
  EXPECT_FALSE(driver->running());
  EXPECT_EQ(driver->Pipe("in", {.value = "4"}).code(), StatusCode::kCluster);
  ASSERT_FALSE(driver->failures().empty());
  EXPECT_EQ(driver->failures()[0].thread, 0);

  options.on_error = [](const Status&, int) { return ErrorResponse::kReplaceThread; };
  driver = Driver(Through(Does(Pass)), options);
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 4, 2)).ok());
  driver->FailCommits(Status::Cluster("no coordinator"));
  EXPECT_TRUE(driver->RemoveThread(0).ok()) << "a fresh thread has its place";
  EXPECT_THAT(driver->threads(), ElementsAre(0, 1));
  ASSERT_THAT(driver->failures(), SizeIs(1));
  EXPECT_EQ(driver->failures()[0].thread, 0);
}

// Throws as it is closed, or fails as it is flushed, while `failing`.
class EndsBadly final : public Processor {
 public:
  EndsBadly(const bool* failing, bool throws) : failing_(failing), throws_(throws) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }
  Status Process(const Record& record) override { return context_->Forward(record); }
  Status Flush() override {
    return *failing_ && !throws_ ? Status(StatusCode::kState, "the door jams") : Status::Ok();
  }
  void Close() override {
    if (*failing_ && throws_) throw std::runtime_error("the door jams");
  }

 private:
  const bool* const failing_;
  const bool throws_;
  ProcessorContext* context_ = nullptr;
};

TEST(EventsTest, ARestartSaysHowTheLifeBeforeItEnded) {
  for (const bool throws : {true, false}) {
    bool failing = false;
    auto driver = Driver(Through([&] { return std::make_unique<EndsBadly>(&failing, throws); }),
                         Threads(1, 1));
    ASSERT_TRUE(driver->Pipe("in", {.value = "1"}).ok());
    failing = true;
    const Status status = driver->Restart();
    failing = false;
    EXPECT_EQ(status.code(), throws ? StatusCode::kData : StatusCode::kState);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the door jams"));
    ASSERT_THAT(driver->failures(), SizeIs(1));
    EXPECT_EQ(driver->failures()[0].error.message(), status.message());
    EXPECT_TRUE(driver->running()) << "the new life has begun well";
    ASSERT_TRUE(driver->Pipe("in", {.value = "2"}).ok());
    EXPECT_EQ(ValuesOf(driver->Read("out")).back(), "2");
    EXPECT_TRUE(driver->Restart().ok()) << "what was told is not told again";
  }
}

TEST(EventsTest, WhatWasNotAcknowledgedIsLostWithItsThreadAndWrittenByTheNext) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
  driver->HoldAcks();
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 5, 1)).ok());
  ASSERT_TRUE(driver->Advance(seconds(5)).ok());
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), IsEmpty());
  EXPECT_EQ(*driver->Committed("in"), std::nullopt);
  ASSERT_TRUE(driver->Crash(0).ok());
  EXPECT_FALSE(driver->running());
  ASSERT_TRUE(driver->ReleaseAcks().ok());
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), IsEmpty());
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("0", "1", "2", "3", "4"));
}

TEST(EventsTest, OffsetsFollowAcknowledgements) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
  driver->HoldAcks();
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 3, 1)).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());  // seals 3
  ASSERT_TRUE(driver->PipeAll("in", Numbers(3, 5, 1)).ok());
  ASSERT_TRUE(driver->ReleaseAcks().ok());
  EXPECT_EQ(*driver->Committed("in"), 3);  // what came after the seal is the next epoch's
  EXPECT_THAT(ValuesOf(driver->Read("out")), SizeIs(5));
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_EQ(*driver->Committed("in"), 5);
}

TEST(EventsTest, ACleanEndWaitsForItsAcknowledgements) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
  driver->HoldAcks();
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 3, 1)).ok());
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_EQ(*driver->Committed("in"), 3);
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0", "1", "2"));
}

TEST(EventsTest, AMemberThatIsPutOutJoinsAgainAndLosesNothing) {
  auto driver = Driver(Through(Does(Pass)), Threads(2, 4));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 20, 4)).ok());
  ASSERT_TRUE(driver->Evict(0).ok());
  EXPECT_THAT(driver->threads(), ElementsAre(0, 1));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(20, 40, 4)).ok());
  EXPECT_THAT(driver->tasks(), SizeIs(4));
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 40), Each(testing::Ge(1)));
  EXPECT_THAT(driver->failures(), IsEmpty());
}

TEST(EventsTest, ADeliveryThatFailsEndsTheApplicationAndCommitsNothing) {
  auto driver = Driver(Through(Does(Pass)), Threads(2, 2));
  driver->FailDelivery(Status::Data("the disk of the broker is full"));
  const Status failed = driver->PipeAll("in", Numbers(0, 1, 2));
  EXPECT_EQ(failed.code(), StatusCode::kData);
  EXPECT_FALSE(driver->running());
  ASSERT_THAT(driver->failures(), SizeIs(1));
  EXPECT_THAT(std::string(driver->failures()[0].error.message()), HasSubstr("is full"));
  EXPECT_EQ(*driver->Committed("in"), std::nullopt);
  EXPECT_EQ(driver->Pipe("in", {.value = "1"}).code(), StatusCode::kData);  // it waits in its topic
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 2), Each(1));
}

TEST(EventsTest, AThreadThatFailsCanBeReplaced) {
  TestDriverOptions options = Threads(2, 2);
  int told = 0;
  options.on_error = [&](const Status& error, int) {
    told++;
    EXPECT_THAT(std::string(error.message()), HasSubstr("is full"));
    return ErrorResponse::kReplaceThread;
  };
  auto driver = Driver(Through(Does(Pass)), std::move(options));
  driver->FailDelivery(Status::Data("the disk of the broker is full"));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 10, 2)).ok());
  EXPECT_EQ(told, 1);
  EXPECT_THAT(driver->threads(), ElementsAre(0, 1));
  EXPECT_THAT(driver->failures(), SizeIs(1));
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 10), Each(1));
}

TEST(EventsTest, AThreadThatAlwaysFailsIsNotReplacedForEver) {
  TestDriverOptions options = Threads(1, 1);
  options.on_error = [](const Status&, int) { return ErrorResponse::kReplaceThread; };
  auto driver = Driver(
      Through(Does([](ProcessorContext&, const Record&) { return Status::Data("never good"); })),
      std::move(options));
  SetLog({.least = LogLevel::kError});
  EXPECT_EQ(driver->Pipe("in", {.value = "v"}).code(), StatusCode::kTimeLimit);
  SetLog({});
}

TEST(EventsTest, CommitsThatFailForAWhileAreMadeGood) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
  driver->FailCommits(Status::Cluster("a rebalance is under way"));
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 3, 1)).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_EQ(*driver->Committed("in"), std::nullopt);
  driver->FailCommits(Status::Ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_EQ(*driver->Committed("in"), 3);
}

TEST(EventsTest, ARestartGoesOnWhereTheCommitsAre) {
  auto driver = Driver(WordCount(), Threads(2, 4));
  ASSERT_TRUE(driver->Pipe("lines", {.value = "tea for two"}).ok());
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_THAT(*driver->Entries("counts"), IsEmpty());  // a store in memory is no more
  ASSERT_TRUE(driver->Pipe("lines", {.value = "two"}).ok());
  EXPECT_EQ(*driver->Get("counts", "two"), "1");
  EXPECT_EQ(driver->counts().written, 4);
}

TEST(EventsTest, AnotherTopologyUnderOneAppTakesOverAfterARestart) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 1));
  ASSERT_TRUE(driver->Pipe("in", {.value = "1"}).ok());
  const auto shout = [](ProcessorContext& context, const Record& record) {
    const std::string loud = std::string(*record.value) + "!";
    Record made = record;
    made.value = loud;
    made.cache = nullptr;
    return context.Forward(made);
  };
  ASSERT_TRUE(driver->Restart(Through(Does(shout, "shout"))).ok());
  ASSERT_TRUE(driver->Pipe("in", {.value = "2"}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1", "2!"));
}

TEST(EventsTest, PartitionsThatAppearAreReadFromTheirBeginning) {
  auto driver = Driver(Through(Does(Pass)), Threads(2, 2));
  ASSERT_TRUE(driver->GrowTopic("in", 4).ok());
  ASSERT_TRUE(driver->PipeAll("in", Numbers(0, 20, 4)).ok());
  ASSERT_TRUE(driver->Advance(minutes(5)).ok());
  EXPECT_THAT(driver->tasks(), SizeIs(4));
  EXPECT_THAT(Occurrences(ValuesOf(driver->Read("out")), 20), Each(1));
}

TEST(EventsTest, AStageWithAStoreStopsWhenItsInputGrows) {
  auto driver = Driver(Through(Does(Pass)), Threads(1, 2));
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("count", Does(Count), {"in"})
      .AddStore("counts", InMemoryKeyValueStore(), {"count"});
  driver = Driver(*builder.Build(), Threads(2, 2));
  ASSERT_TRUE(driver->GrowTopic("in", 3).ok() || !driver->running());
  const Status stopped = driver->Advance(minutes(5));
  EXPECT_EQ(stopped.code(), StatusCode::kCluster) << stopped.message();
  EXPECT_THAT(std::string(stopped.message()), testing::AllOf(HasSubstr("2"), HasSubstr("3")));
}

TEST(EventsTest, ATopicThatAPatternMatchesLaterIsReadToo) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("^in-.*")}})
      .AddSink("out", {.output = Location::Topic("out")}, {"in"});
  TestDriverOptions options{.partitions = {{"in-a", 1}}};
  auto driver = Driver(*builder.Build(), std::move(options));
  ASSERT_TRUE(driver->Pipe("in-a", {.value = "a"}).ok());
  ASSERT_TRUE(driver->CreateTopic("in-b", 2).ok());
  ASSERT_TRUE(driver->Pipe("in-b", {.value = "b", .partition = 1}).ok());
  const Status looked = driver->Advance(minutes(5));
  ASSERT_TRUE(looked.ok()) << looked.message();
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("a", "b"));
}

// Records are piped while threads come, go, crash and are put out, in an order of a generator's:
// everything is there at the end.
TEST(EventsTest, NothingIsLostInAStorm) {
  for (uint32_t seed = 1; seed <= 12; seed++) {
    uint32_t state = seed;
    const auto next = [&](uint32_t below) {
      state = state * 1664525 + 1013904223;
      return (state >> 8) % below;
    };
    auto driver = Driver(WordCount(), Threads(3, 6));
    int piped = 0;
    for (int step = 0; step < 60; step++) {
      std::vector<TestRecord> lines;
      for (uint32_t n = next(4); n > 0; n--) {
        lines.push_back({.value = "w" + std::to_string(piped), .partition = piped % 6});
        piped++;
      }
      const std::vector<int> threads = driver->threads();
      const int thread = threads[next(static_cast<uint32_t>(threads.size()))];
      if (next(3) == 0) driver->Hold();
      ASSERT_TRUE(driver->PipeAll("lines", lines).ok());
      if (next(4) == 0) driver->HoldAcks();
      switch (next(6)) {
        case 0:
          if (threads.size() > 1) {
            ASSERT_TRUE(driver->Crash(thread).ok());
          }
          break;
        case 1:
          if (threads.size() > 1) {
            ASSERT_TRUE(driver->RemoveThread(thread).ok());
          }
          break;
        case 2:
          if (threads.size() < 8) {
            ASSERT_TRUE(driver->AddThread().ok());
          }
          break;
        case 3:
          ASSERT_TRUE(driver->Evict(thread).ok());
          break;
        default:
          ASSERT_TRUE(driver->Advance(seconds(next(3))).ok());
      }
      ASSERT_TRUE(driver->Release().ok());
      ASSERT_TRUE(driver->ReleaseAcks().ok());
    }
    EXPECT_THAT(driver->failures(), IsEmpty()) << "seed " << seed;
    std::map<std::string, int> seen;
    const auto counts = driver->ReadAll("counts");
    for (const TestRecord& record : *counts) seen[*record.key]++;
    EXPECT_EQ(seen.size(), static_cast<size_t>(piped)) << "seed " << seed;
    EXPECT_THAT(driver->tasks(), SizeIs(12));
  }
}

}  // namespace
}  // namespace kstream
