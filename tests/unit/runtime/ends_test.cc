#include "runtime/ends.h"

#include "runtime/planner.h"
#include "task/commit_metadata.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using std::chrono::seconds;

class EndsTest : public MemoryRun {
 protected:
  EndsTest() {
    options_.app = "app";
    options_.exit_at_end = true;
    cluster_.CreateTopic("in", 2);
    Topics({"out"});
  }

  // A member of the group and what it knows of ends.
  struct Member {
    Member(EndsTest* test, const Topology& topology) : state(topology, test->options_) {
      test->Prepare(&state);
      const Status status = planner.Open();
      EXPECT_TRUE(status.ok()) << status.message();
      plan = planner.plan();
      consumer = *state.clusters.at("")->NewConsumer({.group = "app", .instance_id = {}});
    }
    std::optional<int64_t> Of(const std::string& topic, int32_t partition) {
      const std::string cluster(state.grouped() || topic == "in" ? "" : kInProcess);
      return ends.Of(*plan, {cluster, topic, partition});
    }
    void Update() { EXPECT_TRUE(ends.Update(*plan, consumer.get()).ok()); }
    bool AllDone() { return ends.AllDone(*plan, consumer.get()); }
    bool Complete(size_t stage = 0) { return ends.IsComplete(*plan, stage, consumer.get()); }

    RunState state;
    Admins admins{&state};
    Planner planner{&state, &admins};
    Ends ends{&state, &admins};
    std::shared_ptr<const RunPlan> plan;
    std::unique_ptr<transport::Consumer> consumer;
  };

  static Topology Two() { return *TwoStages({TopicNamed("in")}, TopicNamed("out")).Build(); }
  void Commit(int32_t partition, int64_t offset) {
    cluster_.Commit("app", {{"in", partition}, offset, ""});
  }
  // Only after a second the group is asked again.
  void ASecondLater() { clock_->Advance(seconds(1)); }
};

TEST_F(EndsTest, OfWhatIsNotDoneHereTheGroupTells) {
  Produce("in", {"1", "2"});
  cluster_.Produce("in", 1, {.value = "3"});
  Member member(this, Build());
  member.ends.Completed({0, 0});
  EXPECT_FALSE(member.AllDone());
  Commit(1, 1);
  EXPECT_FALSE(member.AllDone()) << "the group is asked once a second";
  ASecondLater();
  EXPECT_TRUE(member.AllDone()) << "what is done here need not be committed yet";
  EXPECT_FALSE(member.Complete());
  member.ends.Left({0, 0});
  ASecondLater();
  EXPECT_FALSE(member.AllDone());
  member.ends.Completed({0, 0});
  member.ends.Completed({0, 1});
  EXPECT_TRUE(member.AllDone()) << "nobody has to be asked";
}

TEST_F(EndsTest, InAGroupAnInnerTopicEndsWhenTheStageAboveIsCommitted) {
  Produce("in", {"1", "2"});
  cluster_.Produce("in", 1, {.value = "3"});
  Member member(this, Two());
  const std::string between = "app-by-key-repartition";
  EXPECT_EQ(member.Of("in", 0), 2);
  EXPECT_EQ(member.Of("in", 1), 1);
  member.Update();
  EXPECT_EQ(member.Of(between, 0), std::nullopt);

  Produce(between, {"1", "2", "3"});
  Commit(0, 2);
  ASecondLater();
  member.Update();
  EXPECT_EQ(member.Of(between, 0), std::nullopt) << "in[1] is not committed";
  EXPECT_FALSE(member.Complete(1)) << "nobody knows its end";

  Commit(1, 1);
  member.Update();
  EXPECT_EQ(member.Of(between, 0), std::nullopt) << "the group is asked once a second";
  const int before = member.ends.version();
  ASecondLater();
  member.Update();
  EXPECT_EQ(member.Of(between, 0), 3);
  EXPECT_EQ(member.Of(between, 1), 0);
  EXPECT_EQ(member.ends.version(), before + 1);

  Produce(between, {"of a later run"});
  ASecondLater();
  member.Update();
  EXPECT_EQ(member.Of(between, 0), 3) << "once known it stands";
  EXPECT_EQ(member.ends.version(), before + 1);
  EXPECT_FALSE(member.Complete(1));
  cluster_.Commit("app", {{between, 0}, 3, ""});
  ASecondLater();
  EXPECT_TRUE(member.Complete(1));
}

TEST_F(EndsTest, WithoutAGroupEveryTaskSaysThatItIsCompleted) {
  options_.app.clear();
  Produce("in", {"1", "2"});
  Member member(this, Two());
  const std::string between = "by-key-repartition";
  process_.Produce(between, 1, {.value = "1"});
  member.ends.Completed({0, 0});
  member.ends.Completed({0, 0});
  member.Update();
  EXPECT_EQ(member.Of(between, 1), std::nullopt) << "one of two";
  EXPECT_FALSE(member.Complete());
  member.ends.Completed({0, 1});
  member.Update();
  EXPECT_EQ(member.Of(between, 0), 0);
  EXPECT_EQ(member.Of(between, 1), 1);
  EXPECT_FALSE(member.Complete(1));
}

TEST_F(EndsTest, NothingToDoIsDone) {
  Member member(this, Two());
  EXPECT_TRUE(member.Complete()) << "an empty log needs no commit";
}

TEST_F(EndsTest, ACommitThatTheLogDoesNotHoldIsNoEnd) {
  Produce("in", {"1", "2", "3"});
  Member member(this, Two());
  Produce("in", {"4", "5", "6"});
  cluster_.DeleteRecords({"in", 0}, 5);
  Commit(0, 3);
  EXPECT_FALSE(member.Complete()) << "at the end of the run, and before the log";
  Commit(0, 7);
  ASecondLater();
  EXPECT_FALSE(member.Complete()) << "behind the log";
  Commit(0, 5);
  ASecondLater();
  EXPECT_TRUE(member.Complete());
}

TEST_F(EndsTest, WhatIsReadElsewhereIsCommittedWithTheLead) {
  auto& east = others_.try_emplace("east", "east").first->second;
  east.CreateTopic("far", 1);
  east.Produce("far", 0, {.value = "1"});
  source_.inputs = {Location::Topic("far", "east")};
  Member member(this, Build());
  ASSERT_EQ(member.plan->LeadOf({0, 0}), (transport::TopicPartition{"app.tasks", 0}));
  EXPECT_FALSE(member.Complete());
  const auto commit = [&](const std::string& metadata) {
    cluster_.Commit("app", {{"app.tasks", 0}, 0, metadata});
    ASecondLater();
  };
  const task::CommitMetadata kept{.stream_time = 1, .positions = {{{"east", "far", 0}, 1}}};
  commit("ks1 t=");
  EXPECT_FALSE(member.Complete()) << "damaged";
  commit(*kept.Encode());
  EXPECT_TRUE(member.Complete());
}

TEST_F(EndsTest, AFailureToAskIsANo) {
  Member member(this, Two());
  cluster_.DeleteTopic("in");
  EXPECT_FALSE(member.Complete());
  cluster_.CreateTopic("in", 2);
  ASecondLater();
  EXPECT_TRUE(member.Complete());
}

}  // namespace
}  // namespace kstream::runtime
