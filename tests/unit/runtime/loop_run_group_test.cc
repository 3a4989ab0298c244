// A stage on topics as a member of a group, and tasks of several partitions.
#include <mutex>

#include "runtime/loop_run.h"
#include "runtime/stream_thread.h"
#include "unit/runtime/memory_run.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;
using transport::kNoOffset;
using transport::TopicPartition;

// Another member of the group, which the test moves.
class OtherMember {
 public:
  OtherMember(transport::memory::MemoryCluster* cluster, const std::string& topic,
              const std::string& client_id)
      : consumer_(*cluster->NewConsumer(
            {.group = "app", .instance_id = "", .threads = 1, .client_id = client_id})),
        batch_(consumer_->NewBatch()) {
    EXPECT_TRUE(consumer_->Subscribe({topic}).ok());
  }
  // What it has been assigned since the last call.
  std::vector<TopicPartition> Assigned() {
    EXPECT_TRUE(consumer_->Poll(milliseconds(0), batch_.get()).ok());
    return batch_->assigned;
  }

 private:
  std::unique_ptr<transport::Consumer> consumer_;
  std::unique_ptr<transport::Batch> batch_;
};

class KafkaRunGroup : public MemoryRun {
 protected:
  KafkaRunGroup() {
    Topics({"out"});
    options_.app = "app";
  }
  std::optional<OtherMember> other_;
};

TEST_F(KafkaRunGroup, WhatIsRevokedIsCommittedBeforeItIsGivenBack) {
  cluster_.CreateTopic("in", 2);
  options_.commit_interval = std::chrono::hours(1);
  cluster_.Produce("in", 0, {.value = "0"});
  cluster_.Produce("in", 1, {.value = "1"});
  cluster_.HoldAcks(true);
  ASSERT_TRUE(RunSteps({[&] {
                          other_.emplace(&cluster_, "in", ClientId());
                          EXPECT_THAT(other_->Assigned(), IsEmpty());
                        },
                        // The stage waits for its acknowledgements now.
                        [&] {
                          EXPECT_THAT(other_->Assigned(), IsEmpty());
                          EXPECT_EQ(Committed("in", 1), kNoOffset);
                          cluster_.HoldAcks(false);
                        },
                        [&] {
                          EXPECT_THAT(other_->Assigned(), ElementsAre(TopicPartition{"in", 1}));
                          EXPECT_EQ(Committed("in", 1), 1);
                          cluster_.Produce("in", 0, {.value = "2"});
                          cluster_.Produce("in", 1, {.value = "not ours"});
                        }})
                  .ok());
  EXPECT_THAT(Values("out"), ElementsAre("0", "1", "2"));
  EXPECT_EQ(Committed("in", 0), 2);
  EXPECT_EQ(Committed("in", 1), 1);
}

TEST_F(KafkaRunGroup, WhatIsLostIsNeverCommitted) {
  Topics({"in"});
  Produce("in", {"1"});
  cluster_.HoldAcks(true);
  ASSERT_TRUE(RunSteps({[&] { other_.emplace(&cluster_, "in", ClientId()); },
                        [&] {
                          cluster_.Evict("app", {"in", 0});
                        },
                        [&] {
                          EXPECT_THAT(other_->Assigned(), ElementsAre(TopicPartition{"in", 0}));
                          cluster_.HoldAcks(false);
                        },
                        [&] { EXPECT_THAT(Values("out"), ElementsAre("1")); }})
                  .ok());
  EXPECT_EQ(Committed("in"), kNoOffset);
}

TEST_F(KafkaRunGroup, AMemberThatIsPutOutStartsAtTheCommitAgain) {
  Topics({"in"});
  Produce("in", {"1"});
  ASSERT_TRUE(RunSteps({[&] {
                          EXPECT_EQ(Committed("in"), 1);
                          cluster_.Evict("app", {"in", 0});
                          Produce("in", {"2"});
                        },
                        [&] { EXPECT_EQ(Committed("in"), 2); }})
                  .ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
}

TEST_F(KafkaRunGroup, AMemberThatIsPutOutForGoodEndsAndCommitsNothingMore) {
  Topics({"in"});
  Produce("in", {"1"});
  const Status status = RunSteps({[&] {
    cluster_.FailPolls(Status(StatusCode::kFenced, "put out"));
    Produce("in", {"2"});
  }});
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRunGroup, ALastCommitThatTheGroupHasMovedPastIsNoFailure) {
  Topics({"in"});
  Produce("in", {"1"});
  ASSERT_TRUE(RunSteps({[&] {
                cluster_.FailCommits(Status(StatusCode::kFenced, "moved on"));
                Produce("in", {"2"});
              }}).ok());
  EXPECT_EQ(Committed("in"), 1);
}

// A thread whose process stands still: its tasks have moved, and it knows nothing of it.
TEST_F(KafkaRunGroup, AThreadThatStoodStillThrowsAwayWhatItHadBegun) {
  Topics({"in"});
  Produce("in", {"1"});
  RunState state(Build(), options_);
  state.clock = clock_;
  state.from = *FromSpec::Parse(options_.from, 0);
  state.clusters[""] = std::make_unique<transport::memory::MemoryCluster>(cluster_);
  cluster_.OnIdle([] {});
  OutputFiles files;
  RunShared shared(&state, &files);
  ASSERT_TRUE(shared.Open().ok());
  Clock::Instant since;
  bool stopped = false;
  shared.stood_still = [&](Clock::Instant instant) {
    since = instant;
    return stopped;
  };
  StreamThread thread(&shared, 0);
  ASSERT_TRUE(thread.Open().ok());
  const auto turn = [&] {
    clock_->Advance(std::chrono::milliseconds(200));
    return thread.Turn();
  };
  for (int i = 0; i < 100 && Committed("in") != 1; i++) ASSERT_TRUE(turn().ok());
  ASSERT_EQ(Committed("in"), 1);

  // Time that it spent itself.
  clock_->Advance(std::chrono::seconds(50));
  ASSERT_TRUE(turn().ok());
  EXPECT_FALSE(thread.stood_still());

  stopped = true;
  const Clock::Instant before = clock_->Steady();
  Produce("in", {"2"});
  clock_->Advance(std::chrono::seconds(50));
  const Status status = turn().status();
  EXPECT_EQ(
      status.message(),
      "thread 0 stood still for 50 s, longer than its session: its tasks have moved, it joins "
      "again");
  EXPECT_EQ(since, before);
  EXPECT_TRUE(thread.stood_still());
  EXPECT_EQ(thread.Finish(status).code(), StatusCode::kFenced);
  EXPECT_THAT(Values("out"), ElementsAre("1"));
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRunGroup, ACommitRefusedForAWhileIsMadeUpFor) {
  Topics({"in"});
  Produce("in", {"1"});
  ASSERT_TRUE(RunSteps({[&] {
                          cluster_.FailCommits(Status::Cluster("rebalancing"));
                          Produce("in", {"2"});
                        },
                        [] {},
                        [&] {
                          EXPECT_EQ(Committed("in"), 1);
                          cluster_.FailCommits(Status::Ok());
                        },
                        [&] { EXPECT_EQ(Committed("in"), 2); }})
                  .ok());
}

TEST_F(KafkaRunGroup, AMemberWithoutTasksWaitsForThoseThatHaveThem) {
  Topics({"in"});
  Produce("in", {"1"});
  options_.exit_at_end = true;
  other_.emplace(&cluster_, "in", ClientId());
  ASSERT_EQ(other_->Assigned().size(), 1u);
  ASSERT_TRUE(RunSteps({[] {}, [] {}, [&] { other_.reset(); }}).ok());
  EXPECT_THAT(Values("out"), ElementsAre("1")) << "it died without a commit: its work came here";
}

TEST_F(KafkaRunGroup, AMemberAtItsEndWaitsForWhatADeadOneStillHas) {
  cluster_.CreateTopic("in", 2);
  cluster_.Produce("in", 0, {.value = "0"});
  cluster_.Produce("in", 1, {.value = "1"});
  options_.exit_at_end = true;
  other_.emplace(&cluster_, "in", ClientId());
  const auto dies = [&] {
    EXPECT_EQ(std::max(Committed("in", 0), Committed("in", 1)), 1);
    EXPECT_EQ(std::min(Committed("in", 0), Committed("in", 1)), kNoOffset);
    cluster_.Crash("app", ClientId());
  };
  ASSERT_TRUE(RunSteps({[] {}, [] {}, [] {}, dies}).ok());
  EXPECT_THAT(Values("out"), testing::UnorderedElementsAre("0", "1"));
}

TEST_F(KafkaRunGroup, TwoThreadsShareTheTasksAndRepeatNothing) {
  constexpr int kPartitions = 4, kRounds = 25;
  cluster_.CreateTopic("in", kPartitions);
  cluster_.LimitPolls(1);
  options_.threads = 2;
  std::vector<std::string> expected;
  const auto produce = [&] {
    for (int i = 0; i < kPartitions * kRounds; i++) {
      expected.push_back(std::to_string(expected.size()));
      cluster_.Produce("in", i % kPartitions, {.value = expected.back()});
    }
  };
  const auto committed = [&] {
    int64_t sum = 0;
    for (int i = 0; i < kPartitions; i++) sum += Committed("in", i);
    return static_cast<size_t>(sum) == expected.size();
  };
  produce();
  std::mutex mutex;
  bool shared = false;
  cluster_.OnIdle([&] {
    const std::lock_guard lock(mutex);
    if (!shared && cluster_.Members("app") == std::vector<size_t>{2, 2}) {
      shared = true;
      produce();
    } else if (shared && committed()) {
      state_->stop = true;
    }
  });
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), UnorderedElementsAreArray(expected));
}

TEST_F(KafkaRunGroup, TheLeadStandsForEveryTopicOfTheStage) {
  Topics({"small"});
  cluster_.CreateTopic("large", 2);
  source_.inputs = {TopicNamed("small"), TopicNamed("large")};
  options_.exit_at_end = true;
  cluster_.Produce("small", 0, {.value = "1", .timestamp = 1});
  cluster_.Produce("large", 0, {.value = "2", .timestamp = 2});
  cluster_.Produce("large", 1, {.value = "3", .timestamp = 3});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), testing::UnorderedElementsAre("1", "2", "3"));
  EXPECT_EQ(Committed("small"), 1);
  EXPECT_EQ(Committed("large", 0), 1);
  EXPECT_EQ(Committed("large", 1), 1);
}

TEST_F(KafkaRunGroup, EveryTopicOfAPatternIsRead) {
  Topics({"in-a", "in-b", "__in-c"});
  source_.inputs = {TopicNamed("^.*in-")};
  options_.exit_at_end = true;
  Produce("in-a", {"1"});
  Produce("in-b", {"2"});
  Produce("__in-c", {"3"});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), testing::UnorderedElementsAre("1", "2"));
  EXPECT_EQ(Committed("in-a"), 1);
  EXPECT_EQ(Committed("in-b"), 1);
}

TEST_F(KafkaRunGroup, ATopicThatComesLaterIsReadFromItsBeginning) {
  Topics({"in-a"});
  Produce("in-a", {"before the start"});
  source_.inputs = {TopicNamed("^in-")};
  options_.from = "end";
  options_.home.consumer = {{"topic.metadata.refresh.interval.ms", "50"}};
  ASSERT_TRUE(RunSteps({[&] {
                          Topics({"in-b"});
                          Produce("in-b", {"1"});
                          Produce("in-a", {"2"});
                        },
                        [&] { EXPECT_EQ(Committed("in-b"), 1); }})
                  .ok());
  EXPECT_THAT(Values("out"), testing::UnorderedElementsAre("1", "2"));
}

TEST_F(KafkaRunGroup, TheEndWhereARunBeganIsKeptThroughARebalance) {
  Topics({"in"});
  options_.from = "end";
  ASSERT_TRUE(RunSteps({[&] {
                          cluster_.Evict("app", {"in", 0});
                          Produce("in", {"1"});
                        },
                        [&] { EXPECT_EQ(Committed("in"), 1); }})
                  .ok());
  EXPECT_THAT(Values("out"), ElementsAre("1"));
}

// One task that merges two topics by time.
class KafkaRunMerge : public KafkaRunGroup {
 protected:
  KafkaRunMerge() {
    Topics({"a", "b"});
    source_.inputs = {TopicNamed("a"), TopicNamed("b")};
    options_.exit_at_end = true;
  }
  void At(int64_t time, const std::string& topic, const std::string& value) {
    cluster_.Produce(topic, 0, {.value = value, .timestamp = time});
  }
};

TEST_F(KafkaRunMerge, GoesByTimeAndThenByTheOrderOfInputs) {
  At(1, "a", "1");
  At(5, "a", "5");
  At(2, "b", "2");
  At(5, "b", "6");
  cluster_.LimitPolls(1);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "5", "6"));
  EXPECT_EQ(Committed("a"), 2);
  EXPECT_EQ(Committed("b"), 2);
}

TEST_F(KafkaRunMerge, TopicsOfOneNameInTwoClustersAreTwo) {
  transport::memory::MemoryCluster& east =
      others_.try_emplace("east", transport::memory::MemoryCluster("east")).first->second;
  east.CreateTopic("a", 1);
  source_.inputs = {TopicNamed("a"), {Location::Kind::kTopic, "east", "a"}};
  options_.app = "";
  At(1, "a", "1");
  At(4, "a", "4");
  east.Produce("a", 0, {.value = "2", .timestamp = 2});
  east.Produce("a", 0, {.value = "3", .timestamp = 3});
  east.Produce("a", 0, {.value = "5", .timestamp = 5});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(KafkaRunMerge, EndsLieBehindMarkers) {
  At(3, "a", "3");
  const auto committed = cluster_.BeginTransaction(), aborted = cluster_.BeginTransaction();
  cluster_.Produce("b", 0, {.value = "1", .timestamp = 1}, committed);
  cluster_.Produce("b", 0, {.value = "2", .timestamp = 2}, aborted);
  cluster_.EndTransaction(committed, true);
  cluster_.EndTransaction(aborted, false);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "3"));
  EXPECT_EQ(Committed("a"), 1);
  EXPECT_EQ(Committed("b"), 4);
}

TEST_F(KafkaRunMerge, AnOpenTransactionAtTheEndHoldsNothingElse) {
  At(1, "a", "1");
  const auto open = cluster_.BeginTransaction();
  cluster_.Produce("b", 0, {.value = "2", .timestamp = 2}, open);
  ASSERT_TRUE(RunSteps({[&] {
                EXPECT_THAT(Values("out"), ElementsAre("1"));
                cluster_.EndTransaction(open, true);
              }}).ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
}

TEST_F(KafkaRunMerge, WhatIsOnlyQueuedIsNotCommitted) {
  options_.exit_at_end = false;
  options_.limit = 2;
  At(1, "a", "1");
  At(9, "a", "9");
  At(2, "b", "2");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("a"), 1);
  EXPECT_EQ(Committed("b"), 1);
}

TEST_F(KafkaRunMerge, TheEndOfTheRunKeepsLaterRecordsForTheNext) {
  options_.from = "@0:5";
  At(1, "a", "1");
  At(5, "a", "5");
  At(2, "b", "2");
  At(7, "b", "7");
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("a"), 1);
  EXPECT_EQ(Committed("b"), 1);
}

TEST_F(KafkaRunMerge, ABadRecordStopsTheCommitOfItsPartitionThere) {
  At(1, "a", "1");
  At(3, "a", "{");
  At(2, "b", "2");
  At(4, "b", "4");
  EXPECT_EQ(Run().code(), StatusCode::kData);
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("a"), 1);
  EXPECT_EQ(Committed("b"), 1);
}

}  // namespace
}  // namespace kstream::runtime
