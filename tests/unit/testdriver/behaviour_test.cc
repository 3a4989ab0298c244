// What the core promises, seen from outside through several stages: time, punctuation, order,
// groups of partitions, commits on request, bad records, other clusters.
#include <gmock/gmock.h>

#include <chrono>

#include "unit/testdriver/word_count.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Tells the time of each firing, with the task's name as the key.
class Ticker final : public Processor {
 public:
  Ticker(milliseconds period, PunctuationType type) : period_(period), type_(type) {}
  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return context.Schedule(period_, type_).status();
  }
  Status Process(const Record&) override { return Status::Ok(); }
  Status Punctuate(const Punctuation& punctuation) override {
    const std::string time = std::to_string(punctuation.time);
    Record made;
    made.key = context_->task();
    made.value = time;
    return context_->Forward(made);
  }

 private:
  const milliseconds period_;
  const PunctuationType type_;
  ProcessorContext* context_ = nullptr;
};

ProcessorSupplier Ticks(milliseconds period, PunctuationType type) {
  return {[=] { return std::make_unique<Ticker>(period, type); }, "ticks"};
}

Topology Merge(std::vector<std::string> topics, ProcessorSupplier supplier = Does(Pass)) {
  SourceSpec source;
  for (std::string& topic : topics) source.inputs.push_back(Location::Topic(std::move(topic)));
  TopologyBuilder builder;
  builder.AddSource("in", source)
      .AddProcessor("work", std::move(supplier), {"in"})
      .AddSink("out", {.output = Location::Topic("out")}, {"work"});
  return *builder.Build();
}

// Forwards with the task's name before the value.
Status Sign(ProcessorContext& context, const Record& record) {
  const std::string value =
      std::string(context.task()) + " " + std::string(record.value.value_or("NULL"));
  Record made = record;
  made.value = value;
  made.cache = nullptr;
  return context.Forward(made);
}

TEST(PunctuationTest, StreamTimeFiresByRecordsAndNotInSilence) {
  auto driver = Driver(Through(Ticks(seconds(10), PunctuationType::kStreamTime)));
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 5'000}).ok());
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 14'999}).ok());
  ASSERT_TRUE(driver->Advance(seconds(60)).ok());
  EXPECT_THAT(Shown(driver->Read("out")), IsEmpty());
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 15'000}).ok());
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 61'000}).ok());  // several at once: one
  EXPECT_THAT(Shown(driver->Read("out")), ElementsAre("0 0_0=15000@15000", "0 0_0=61000@61000"));
}

TEST(PunctuationTest, TheWallClockFiresInSilenceInEveryTaskAndAllStages) {
  for (int threads : {1, 3}) {
    TopologyBuilder builder;
    const auto ticks = Ticks(seconds(10), PunctuationType::kWallClockTime);
    builder.AddSource("in", {.inputs = {Location::Topic("in")}})
        .AddProcessor("first", ticks, {"in"})
        .AddSink("between-out", {.output = Location::Repartition("between")}, {"first"})
        .AddSink("out", {.output = Location::Topic("out")}, {"first"})
        .AddSource("between", {.inputs = {Location::Repartition("between")}})
        .AddProcessor("second", ticks, {"between"})
        .AddSink("out-too", {.output = Location::Topic("out")}, {"second"});
    TestDriverOptions options{.partitions = {{"in", 2}}, .start_time = 1'000'000};
    options.runtime.threads = threads;
    auto driver = Driver(*builder.Build(), std::move(options));
    ASSERT_TRUE(driver->Advance(milliseconds(9'999)).ok());
    EXPECT_THAT(Shown(driver->Read("out")), IsEmpty());
    ASSERT_TRUE(driver->Advance(milliseconds(1)).ok());
    ASSERT_TRUE(driver->Advance(seconds(35)).ok());
    EXPECT_THAT(
        Shown(driver->Read("out")),
        ElementsAre("0 0_0=1010000@1010000", "0 0_1=1010000@1010000", "0 1_0=1010000@1010000",
                    "0 1_1=1010000@1010000", "0 0_0=1045000@1045000", "0 0_1=1045000@1045000",
                    "0 1_0=1045000@1045000", "0 1_1=1045000@1045000"));
  }
}

TEST(CommitTest, AProcessorMayAskForACommit) {
  const auto work = [](ProcessorContext& context, const Record& record) {
    if (record.value == "save") context.Commit();
    return context.Forward(record);
  };
  auto driver = Driver(Through(Does(work)));
  ASSERT_TRUE(driver->Pipe("in", {.value = "a"}).ok());
  EXPECT_EQ(*driver->Committed("in"), std::nullopt);
  ASSERT_TRUE(driver->Pipe("in", {.value = "save"}).ok());
  EXPECT_EQ(*driver->Committed("in"), 2);
}

TEST(CommitTest, StreamTimeSurvivesARestart) {
  auto driver = Driver(Through(Ticks(seconds(10), PunctuationType::kStreamTime)));
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 20'000}).ok());
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_EQ(driver->tasks()[0].stream_time, 20'000);
  ASSERT_TRUE(driver->Pipe("in", {.value = "", .timestamp = 15'000}).ok());
  EXPECT_EQ(driver->tasks()[0].stream_time, 20'000);
}

ProcessorSupplier FailsOn(const std::string& bad) {
  return Does([bad](ProcessorContext& context, const Record& record) {
    return record.value == bad ? Status::Data("it is bad") : context.Forward(record);
  });
}

TEST(OnErrorTest, FailKeepsWhatCameBeforeAndEndsTheRun) {
  auto driver = Driver(Through(FailsOn("2")));
  const Status ended =
      driver->PipeAll("in", {{.value = "0"}, {.value = "1"}, {.value = "2"}, {.value = "3"}});
  EXPECT_EQ(ended.code(), StatusCode::kData);
  EXPECT_THAT(std::string(ended.message()),
              testing::AllOf(HasSubstr("in"), HasSubstr("2"), HasSubstr("it is bad")));
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0", "1"));
  EXPECT_EQ(*driver->Committed("in"), 2);
  EXPECT_FALSE(driver->running());
  EXPECT_THAT(driver->threads(), IsEmpty());
}

TEST(OnErrorTest, ABadRecordIsToldWithItsPlaceAndTheNodeThatFailed) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("parse", Does(Pass), {"in"})
      .AddProcessor("check", FailsOn("2"), {"parse"})
      .AddSink("out", {.output = Location::Topic("out")}, {"check"});
  auto driver = Driver(*builder.Build());
  EXPECT_EQ(driver->PipeAll("in", {{.value = "1"}, {.value = "2"}}).message(),
            "in[0]@1: node 'check': it is bad");
}

TEST(OnErrorTest, SkipGoesOn) {
  TestDriverOptions options;
  options.runtime.on_error = OnError::kSkip;
  auto driver = Driver(Through(FailsOn("2")), std::move(options));
  SetLog({.least = LogLevel::kError});
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "1"}, {.value = "2"}, {.value = "3"}}).ok());
  SetLog({});
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1", "3"));
  EXPECT_EQ(driver->counts().skipped, 1);
}

TEST(OnErrorTest, DeadLettersCarryTheRecordAndTheReasonFromALaterStageToo) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddSink("between-out", {.output = Location::Repartition("between")}, {"in"})
      .AddSource("between", {.inputs = {Location::Repartition("between")}})
      .AddProcessor("fails", FailsOn("2"), {"between"})
      .AddSink("out", {.output = Location::Topic("out")}, {"fails"});
  TestDriverOptions options;
  options.runtime.on_error = OnError::kDeadLetter;
  options.runtime.dead_letter = Location::Topic("dead");
  auto driver = Driver(*builder.Build(), std::move(options));
  SetLog({.least = LogLevel::kError});
  ASSERT_TRUE(driver->PipeAll("in", {{.key = "a", .value = "1"}, {.key = "b", .value = "2"}}).ok());
  SetLog({});
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1"));
  const auto dead = driver->Read("dead");
  ASSERT_EQ(dead->size(), 1U);
  EXPECT_EQ(dead->front().key, "b");
  EXPECT_EQ(dead->front().value, "2");
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : dead->front().headers) headers[name] = value.value_or("");
  EXPECT_EQ(headers["kstream.error.topic"], "test-between-repartition");
  EXPECT_EQ(headers["kstream.error.offset"], "1");
  EXPECT_THAT(headers["kstream.error.reason"], HasSubstr("it is bad"));
  EXPECT_EQ(driver->counts().dead_letters, 1);
}

TEST(OrderTest, ATaskTakesTheEarliestOfItsInputsAndOfEqualOnesTheFirst) {
  auto driver = Driver(Merge({"a", "b"}));
  driver->Hold();
  ASSERT_TRUE(
      driver->PipeAll("b", {{.value = "b1", .timestamp = 1}, {.value = "b5", .timestamp = 5}})
          .ok());
  ASSERT_TRUE(
      driver->PipeAll("a", {{.value = "a3", .timestamp = 3}, {.value = "a5", .timestamp = 5}})
          .ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), IsEmpty());
  ASSERT_TRUE(driver->Release().ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("b1", "a3", "a5", "b5"));
}

TEST(OrderTest, MaxIdleWaitsForTheOtherInput) {
  TestDriverOptions options;
  options.runtime.max_idle = seconds(2);
  auto driver = Driver(Merge({"a", "b"}), std::move(options));
  ASSERT_TRUE(driver->Pipe("a", {.value = "a3", .timestamp = 3}).ok());
  ASSERT_TRUE(driver->Advance(milliseconds(1'999)).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), IsEmpty());
  ASSERT_TRUE(driver->Pipe("b", {.value = "b1", .timestamp = 1}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("b1"));
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("a3"));
}

TEST(OrderTest, MaxSkewHoldsWhatIsFarAhead) {
  TestDriverOptions options;
  options.runtime.max_skew = seconds(1);
  options.runtime.max_idle = std::chrono::hours(1);
  auto driver = Driver(Merge({"a", "b"}), std::move(options));
  driver->Hold();
  ASSERT_TRUE(
      driver->PipeAll("a", {{.value = "a0", .timestamp = 0}, {.value = "a9", .timestamp = 9'000}})
          .ok());
  ASSERT_TRUE(
      driver->PipeAll("b", {{.value = "b1", .timestamp = 500}, {.value = "b2", .timestamp = 8'500}})
          .ok());
  ASSERT_TRUE(driver->Release().ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("a0", "b1", "b2"));
}

TEST(GrouperTest, SingleIsOneTask) {
  TestDriverOptions options{.partitions = {{"a", 3}, {"b", 2}}};
  options.runtime.grouper = "single";
  auto driver = Driver(Merge({"a", "b"}), std::move(options));
  ASSERT_THAT(driver->tasks(), SizeIs(1));
  EXPECT_THAT(driver->tasks()[0].positions, SizeIs(5));
  driver->Hold();
  for (int i = 5; i > 0; i--) {
    const TestRecord record{.value = std::to_string(i), .timestamp = i, .partition = (i - 1) / 2};
    ASSERT_TRUE(driver->Pipe(i % 2 ? "a" : "b", record).ok());
  }
  ASSERT_TRUE(driver->Release().ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1", "2", "3", "4", "5"));
}

TEST(GrouperTest, ByTopicIsATaskATopic) {
  TestDriverOptions options{.partitions = {{"a", 3}, {"b", 2}}};
  options.runtime.grouper = "by-topic";
  options.runtime.threads = 2;
  auto driver = Driver(Merge({"a", "b"}, Does(Sign)), std::move(options));
  ASSERT_TRUE(driver->Pipe("a", {.value = "a", .partition = 2}).ok());
  ASSERT_TRUE(driver->Pipe("b", {.value = "b", .partition = 1}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0_0 a", "0_1 b"));
}

TEST(GrouperTest, BroadcastGoesToEveryTaskAndIsReadOnAfterARestart) {
  std::vector<std::string> first;
  for (int threads : {1, 2, 4}) {
    TestDriverOptions options{.partitions = {{"a", 4}, {"rules", 1}}};
    options.runtime.grouper = "broadcast:rules";
    options.runtime.threads = threads;
    auto driver = Driver(Merge({"a", "rules"}, Does(Sign)), std::move(options));
    ASSERT_TRUE(driver->Pipe("rules", {.value = "r"}).ok());
    EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0_0 r", "0_1 r", "0_2 r", "0_3 r"));
    ASSERT_TRUE(driver->Pipe("a", {.value = "a", .partition = 2}).ok());
    EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0_2 a"));
    ASSERT_TRUE(driver->Restart().ok());
    EXPECT_THAT(ValuesOf(driver->Read("out")), IsEmpty());
    ASSERT_TRUE(driver->Pipe("rules", {.value = "s"}).ok());
    EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0_0 s", "0_1 s", "0_2 s", "0_3 s"));
  }
}

TEST(GrouperTest, AFunctionOfOnesOwn) {
  TestDriverOptions options{.partitions = {{"in", 4}}};
  options.runtime.custom_grouper = [](const std::vector<InputTopic>& topics) -> Result<TaskLayout> {
    TaskLayout layout(2);
    for (int32_t i = 0; i < topics[0].partitions; i++) layout[i / 2].push_back({"", "in", i});
    return layout;
  };
  auto driver = Driver(Through(Does(Sign)), std::move(options));
  for (int32_t i = 0; i < 4; i++) {
    ASSERT_TRUE(driver->Pipe("in", {.value = std::to_string(i), .partition = i}).ok());
  }
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("0_0 0", "0_0 1", "0_1 2", "0_1 3"));
}

TEST(OutputTest, ARecordMayNameItsTopic) {
  TopologyBuilder builder;
  const auto route = [](ProcessorContext& context, const Record& record) {
    Record made = record;
    made.topic = *record.value;
    return context.Forward(made);
  };
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("route", Does(route), {"in"})
      .AddSink("out", {.topic_of_record = true}, {"route"});
  auto driver = Driver(*builder.Build());
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "x"}, {.value = "y"}, {.value = "x"}}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("x")), SizeIs(2));
  EXPECT_THAT(ValuesOf(driver->Read("y")), SizeIs(1));
}

TEST(OutputTest, RecordsWithoutAKeyGoRoundThePartitionsWhateverTheThreads) {
  std::vector<std::string> first;
  for (int threads : {1, 2, 4}) {
    TestDriverOptions options{.partitions = {{"in", 4}, {"out", 3}}};
    options.runtime.threads = threads;
    auto driver = Driver(Through(Does(Pass)), std::move(options));
    for (int i = 0; i < 24; i++) {
      ASSERT_TRUE(driver->Pipe("in", {.value = std::to_string(i), .partition = i % 4}).ok());
    }
    const auto out = ValuesOf(driver->Read("out"));
    EXPECT_THAT(out, SizeIs(24));
    if (first.empty()) first = out;
    EXPECT_EQ(out, first);
  }
}

TEST(ClustersTest, InputsAndOutputsMayLieElsewhereAndPositionsAreKeptAtHome) {
  SourceSpec source;
  source.inputs = {Location::Topic("in"), Location::Topic("in", "west")};
  TopologyBuilder builder;
  builder.AddSource("in", source)
      .AddSink("out", {.output = Location::Topic("out", "east")}, {"in"});
  TestDriverOptions options{.partitions = {{"in", 2}, {"west:in", 2}}};
  options.runtime.clusters["west"];
  options.runtime.clusters["east"];
  options.runtime.threads = 2;
  auto driver = Driver(*builder.Build(), std::move(options));
  ASSERT_TRUE(driver->Pipe("in", {.value = "home", .partition = 1}).ok());
  ASSERT_TRUE(driver->Pipe("west:in", {.value = "west", .partition = 1}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("east:out")), ElementsAre("home", "west"));
  ASSERT_TRUE(driver->Restart().ok());
  ASSERT_TRUE(driver->Pipe("west:in", {.value = "more", .partition = 1}).ok());
  EXPECT_THAT(ValuesOf(driver->Read("east:out")), ElementsAre("more"));
}

TEST(EndTest, ARunWithAnEndEndsWithAllStagesDone) {
  TestDriverOptions options{.partitions = {{"lines", 2}}};
  options.runtime.threads = 2;
  auto driver = Driver(WordCount(), options);
  ASSERT_TRUE(driver->Pipe("lines", {.value = "tea for two and two for tea"}).ok());
  EXPECT_TRUE(driver->running());
  options.runtime.exit_at_end = true;
  driver = Driver(WordCount(), options);
  for (int i = 0; i < 20 && driver->running(); i++) ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_FALSE(driver->running());
  EXPECT_THAT(driver->failures(), IsEmpty());
}

TEST(EndTest, ALimitEndsTheRunAfterSoManyRecords) {
  TestDriverOptions options;
  options.runtime.limit = 2;
  auto driver = Driver(Through(Does(Pass)), std::move(options));
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "1"}, {.value = "2"}, {.value = "3"}}).ok());
  EXPECT_FALSE(driver->running());
  EXPECT_THAT(ValuesOf(driver->Read("out")), ElementsAre("1", "2"));
  EXPECT_EQ(*driver->Committed("in"), 2);
}

}  // namespace
}  // namespace kstream
