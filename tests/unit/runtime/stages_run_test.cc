// Several stages in one run: what one writes the next reads, to its end, in a group and without.
#include <atomic>
#include <mutex>

#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;
using transport::kNoOffset;

class StagesRun : public MemoryRun {
 protected:
  StagesRun() {
    cluster_.CreateTopic("in", 2);
    Topics({"out"});
    options_.exit_at_end = true;
  }
  void ProduceMany(int count) {
    for (int i = 0; i < count; i++) {
      cluster_.Produce("in", i % 2, {.value = std::to_string(i), .timestamp = 1 + i});
      sent_.push_back(std::to_string(i));
    }
  }
  Topology Two(ProcessorSupplier first = KeysByValue(), ProcessorSupplier second = Passes()) const {
    return *TwoStages({TopicNamed("in")}, TopicNamed("out"), std::move(first), std::move(second))
                .Build();
  }
  size_t Kept(transport::memory::MemoryCluster& cluster, const std::string& topic) const {
    return cluster.Read(topic).size();
  }
  const std::string between_ = "app-by-key-repartition";
  std::vector<std::string> sent_;
};

TEST_F(StagesRun, WithoutAGroupAllPassesThroughThisProcess) {
  ProduceMany(5000);
  for (const int threads : {1, 2, 4}) {
    options_.threads = threads;
    cluster_.DeleteTopic("out");
    process_ = transport::memory::MemoryCluster(std::string(kInProcess));
    Topics({"out"});
    ASSERT_EQ(Said(RunTopology(Two())), "");
    EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_)) << threads;
    EXPECT_EQ(counts_.read, 5000) << "what is on its way is no input";
    EXPECT_EQ(counts_.written, 5000);
  }
}

TEST_F(StagesRun, InAGroupTheLowerStageEndsAfterTheUpperOneIsCommitted) {
  ProduceMany(1000);
  options_.app = "app";
  ASSERT_EQ(Said(RunTopology(Two())), "");
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_));
  EXPECT_EQ(Committed("in", 0), 500);
  EXPECT_EQ(Committed(between_, 0) + Committed(between_, 1), 1000);
  EXPECT_EQ(cluster_.Read(between_).size(), 1000u) << "both of its partitions are used";
}

TEST_F(StagesRun, TheEndOfAStageIsNotKeptFromTheNextByTheCommitInterval) {
  ProduceMany(10);
  options_.app = "app";
  options_.commit_interval = std::chrono::hours(10);
  ASSERT_EQ(Said(RunTopology(Two())), "");
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_));
}

TEST_F(StagesRun, SeveralMembersEndTogether) {
  ProduceMany(2000);
  options_.app = "app";
  options_.threads = 3;
  ASSERT_EQ(Said(RunTopology(Two())), "");
  const auto values = Values("out");
  // At least once: a member that ends hands its tasks over with what it has committed.
  EXPECT_EQ(std::set(values.begin(), values.end()), std::set(sent_.begin(), sent_.end()));
  EXPECT_EQ(values.size(), sent_.size()) << "everybody leaves with a commit, so nothing repeats";
}

TEST_F(StagesRun, WhatWasReadIsPurgedAndOnlyWhatIsCommitted) {
  ProduceMany(100);
  options_.app = "app";
  options_.exit_at_end = false;
  cluster_.HoldAcks(false);
  std::vector<std::function<void()>> steps(5, [] {});
  // Everything has been read and committed: a purge later it is gone.
  steps.push_back([&] {
    EXPECT_EQ(Values("out").size(), 100u);
    cluster_.FailCommits(Status::Cluster("not now"));
    cluster_.Produce("in", 0, {.value = "late", .timestamp = 1000});
    clock_->Advance(std::chrono::minutes(1));
  });
  steps.insert(steps.end(), 5, [] {});
  steps.push_back([&] {
    EXPECT_EQ(cluster_.Read(between_).size(), 1u) << "read, and not committed";
    EXPECT_EQ(Values("out").size(), 101u);
    cluster_.FailCommits(Status::Ok());
    clock_->Advance(std::chrono::minutes(1));
  });
  steps.insert(steps.end(), 5, [] {});
  steps.push_back([&] { clock_->Advance(std::chrono::minutes(1)); });
  steps.insert(steps.end(), 5, [] {});
  steps.push_back([&] { EXPECT_THAT(cluster_.Read(between_), IsEmpty()); });
  ASSERT_EQ(Said(RunSteps(Two(), std::move(steps))), "");
}

TEST_F(StagesRun, TopicsOfThisProcessDoNotGrowWithoutBound) {
  options_.exit_at_end = false;
  int round = 0;
  std::vector<std::function<void()>> steps(50, [&] {
    for (int i = 0; i < 100; i++) cluster_.Produce("in", 0, {.value = std::to_string(round++)});
    clock_->Advance(std::chrono::seconds(2));
    if (round > 300) {
      EXPECT_LE(Kept(process_, "by-key-repartition"), 200u);
    }
  });
  ASSERT_EQ(Said(RunSteps(Two(), std::move(steps))), "");
  EXPECT_EQ(Values("out").size(), 5000u);
}

// An upper stage that makes far more than it reads must not bury the lower one.
TEST_F(StagesRun, WhatIsOnItsWayIsProcessedBeforeMoreIsRead) {
  options_.exit_at_end = true;
  for (int i = 0; i < 20; i++) cluster_.Produce("in", 0, {.value = std::to_string(i)});
  cluster_.LimitPolls(1);
  int in_flight = 0, most = 0;
  const auto explode = Does([&](ProcessorContext& context, const Record& record) {
    for (int i = 0; i < 2000; i++) {
      most = std::max(most, ++in_flight);
      KSTREAM_RETURN_IF_ERROR(context.Forward(record));
    }
    return Status::Ok();
  });
  const auto drop = Does([&](ProcessorContext&, const Record&) {
    in_flight--;
    return Status::Ok();
  });
  ASSERT_EQ(Said(RunTopology(Two(explode, drop))), "");
  EXPECT_EQ(in_flight, 0);
  EXPECT_LE(most, 2000);
}

TEST_F(StagesRun, AnInputThatGrowsLeavesTheTopicBetweenAsItIs) {
  for (const std::string app : {"", "app"}) {
    options_.app = app;
    options_.exit_at_end = false;
    options_.home.consumer = {{"topic.metadata.refresh.interval.ms", "1000"}};
    cluster_ = transport::memory::MemoryCluster();
    process_ = transport::memory::MemoryCluster(std::string(kInProcess));
    cluster_.CreateTopic("in", 2);
    Topics({"out"});
    std::vector<std::function<void()>> steps(5, [] {});
    steps.push_back([&] {
      cluster_.GrowTopic("in", 3);
      cluster_.Produce("in", 2, {.value = "new"});
    });
    steps.insert(steps.end(), 40, [&] { clock_->Advance(std::chrono::seconds(1)); });
    const Status status = RunSteps(Two(), std::move(steps));
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(Values("out"), ElementsAre("new")) << app;
  }
}

TEST_F(StagesRun, ADryRunLeavesHomeAloneAndIsForRunsWithoutAGroup) {
  ProduceMany(10);
  options_.dry_run = true;
  ASSERT_EQ(Said(RunTopology(Two())), "");
  EXPECT_EQ(counts_.written, 10);
  EXPECT_THAT(Values("out"), IsEmpty());
  options_.app = "app";
  options_.dry_run = false;
  ASSERT_EQ(Said(RunTopology(Two())), "");
  options_.dry_run = true;
  EXPECT_THAT(Said(RunTopology(Two())), HasSubstr("leave out --app"));
}

TEST_F(StagesRun, ALimitCountsOutputsAndNotWhatIsOnItsWay) {
  ProduceMany(100);
  options_.limit = 7;
  for (const std::string app : {"", "app"}) {
    options_.app = app;
    cluster_.DeleteTopic("out");
    Topics({"out"});
    ASSERT_EQ(Said(RunTopology(Two())), "");
    EXPECT_EQ(Values("out").size(), 7u) << app;
    EXPECT_EQ(counts_.written, 7) << app;
  }
  options_.limit.reset();
  ASSERT_EQ(Said(RunTopology(Two())), "");
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_)) << "the rest, and nothing twice";
}

TEST_F(StagesRun, AReplacedThreadGoesOnAfterTheLastCommit) {
  ProduceMany(50);
  options_.app = "app";
  options_.commit_interval = std::chrono::hours(1);
  bool failed = false;
  const auto fails_once = Does([&](ProcessorContext& context, const Record& record) {
    if (record.value == "31" && !std::exchange(failed, true)) {
      return Status(StatusCode::kState, "a disk is away");
    }
    return context.Forward(record);
  });
  std::vector<std::string> told;
  LoopCallbacks callbacks;
  callbacks.on_error = [&](const Status& status, int thread) {
    told.push_back(std::string(status.message()) + " in " + std::to_string(thread));
    return ErrorResponse::kReplaceThread;
  };
  std::vector<bool> ready;
  callbacks.on_ready = [&](int, bool now, int) {
    if (ready.empty() || ready.back() != now) ready.push_back(now);
  };
  SourceSpec in;
  in.inputs = {TopicNamed("in")};
  TopologyBuilder builder;
  builder.AddSource("in", in).AddProcessor("p", fails_once, {"in"}).AddSink("out", sink_, {"p"});
  ASSERT_EQ(Said(RunTopology(*builder.Build(), callbacks)), "");
  EXPECT_THAT(told, ElementsAre(HasSubstr("a disk is away")));
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_)) << "nothing lost, nothing twice";
  EXPECT_THAT(ready, ElementsAre(false, true, false, true));
}

TEST_F(StagesRun, WithoutAGroupAFailureEndsTheRunWhateverTheHandlerSays) {
  ProduceMany(50);
  int asked = 0;
  LoopCallbacks callbacks;
  callbacks.on_error = [&](const Status&, int) {
    asked++;
    return ErrorResponse::kReplaceThread;
  };
  const auto fails = Does([](ProcessorContext&, const Record&) {
    return Status(StatusCode::kState, "a disk is away");
  });
  const Status status = RunTopology(Two(fails), callbacks);
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_EQ(asked, 1);
}

TEST_F(StagesRun, ThreadsWithoutTasksEndAndHoldNobody) {
  ProduceMany(20);
  options_.threads = 8;
  ASSERT_EQ(Said(RunTopology(Two())), "");
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(sent_));
}

// The broadcast topic is read by a second task when another input grows: the first one goes on
// where it stood, the second begins at the beginning.
TEST_F(StagesRun, ABroadcastInputThatIsSharedLaterIsNotReadAgain) {
  cluster_.CreateTopic("rules", 1);
  cluster_.CreateTopic("one", 1);
  options_.app = "app";
  options_.exit_at_end = false;
  options_.grouper = "broadcast:rules";
  options_.home.consumer = {{"topic.metadata.refresh.interval.ms", "1000"}};
  SourceSpec in;
  in.inputs = {TopicNamed("one"), TopicNamed("rules")};
  std::vector<std::string> seen;
  const auto notes = Does([&](ProcessorContext& context, const Record& record) {
    seen.push_back(std::string(context.task()) + " " + std::string(*record.value));
    return Status::Ok();
  });
  TopologyBuilder builder;
  builder.AddSource("in", in).AddProcessor("p", notes, {"in"});
  const Topology topology = *builder.Build();
  cluster_.Produce("rules", 0, {.value = "r1"});
  std::vector<std::function<void()>> steps(6, [] {});
  ASSERT_EQ(Said(RunSteps(topology, steps)), "");
  EXPECT_THAT(seen, ElementsAre("0_0 r1"));
  seen.clear();
  cluster_.GrowTopic("one", 2);
  cluster_.Produce("one", 1, {.value = "x", .timestamp = 5});
  steps.insert(steps.end(), 20, [&] { clock_->Advance(std::chrono::seconds(1)); });
  ASSERT_EQ(Said(RunSteps(topology, steps)), "");
  EXPECT_THAT(seen, UnorderedElementsAre("0_1 r1", "0_1 x"));
  seen.clear();
  cluster_.Produce("rules", 0, {.value = "r2"});
  ASSERT_EQ(Said(RunSteps(topology, steps)), "");
  EXPECT_THAT(seen, UnorderedElementsAre("0_0 r2", "0_1 r2"));
}

// A source by a pattern beside one of a repartition topic, in one stage.
TEST_F(StagesRun, APatternNeverReadsWhatLiesBetweenStages) {
  options_.app = "app";
  Produce("in", {"1"});
  SourceSpec in, by_pattern, between;
  in.inputs = {TopicNamed("in")};
  by_pattern.inputs = {TopicNamed("^app.*")};
  between.inputs = {Location::Repartition("by-key")};
  SinkSpec by_key;
  by_key.output = Location::Repartition("by-key");
  cluster_.CreateTopic("apples", 1);
  Produce("apples", {"2"});
  std::vector<std::string> seen;
  const auto notes = [&](const std::string& who) {
    return Does([&seen, who](ProcessorContext&, const Record& record) {
      seen.push_back(who + " " + std::string(*record.value));
      return Status::Ok();
    });
  };
  TopologyBuilder builder;
  builder.AddSource("in", in)
      .AddSink("by-key", by_key, {"in"})
      .AddSource("pattern", by_pattern)
      .AddProcessor("a", notes("pattern"), {"pattern"})
      .AddSource("between", between)
      .AddProcessor("b", notes("between"), {"between", "pattern"});
  const auto topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  ASSERT_EQ(Said(RunTopology(*topology)), "");
  EXPECT_THAT(seen, UnorderedElementsAre("pattern 2", "between 2", "between 1"));
}

}  // namespace
}  // namespace kstream::runtime
