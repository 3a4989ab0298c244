#include "runtime/committer.h"

#include <gmock/gmock.h>

#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::kNoOffset;
using transport::PartitionOffset;
using transport::TopicPartition;

const TopicPartition kA{"in", 0}, kB{"in", 1};
constexpr std::chrono::minutes kInterval{1};

Topology WritesOut() {
  SourceSpec source;
  source.inputs = {{.kind = Location::Kind::kTopic, .cluster = "", .name = "in"}};
  SinkSpec sink;
  sink.output = {.kind = Location::Kind::kTopic, .cluster = "", .name = "out"};
  TopologyBuilder builder;
  builder.AddSource("in", source).AddSink("out", sink, {"in"});
  return *builder.Build();
}

class CommitterTest : public testing::Test, public CommitHost {
 protected:
  explicit CommitterTest(const std::string& transactional_id = "")
      : state_(WritesOut(), {}), outputs_(&state_, &files_, transactional_id) {
    cluster_.CreateTopic("in", 2);
    cluster_.CreateTopic("out", 1);
    state_.clusters[""] = std::make_unique<transport::memory::MemoryCluster>(cluster_);
    EXPECT_TRUE(outputs_.Open().ok());
    consumer_ = *cluster_.NewConsumer({.group = "app", .instance_id = "", .threads = 1});
    EXPECT_TRUE(consumer_->Subscribe({"in"}).ok());
    committer_.emplace(&outputs_, consumer_.get(), kInterval, this, clock_, &metrics_);
  }

  // CommitHost: what is asked of it, in order.
  Status FlushTasks() override {
    calls_ += "flush ";
    return Status::Ok();
  }
  Status SealStores() override {
    calls_ += "seal ";
    return Status::Ok();
  }
  Result<std::vector<PartitionOffset>> Positions(bool all) override {
    calls_ += "positions ";
    asked_++;
    all_ = all;
    return positions_;
  }
  std::function<void()> WhenCommitted() override {
    return [this, seal = asked_] { told_ = seal; };
  }
  Result<bool> KeepStores(bool wait) override {
    calls_ += "keep ";
    KSTREAM_RETURN_IF_ERROR(keep_);
    return wait || !at_it_;
  }

  void Write() {
    Record record;
    record.value = "1";
    ASSERT_TRUE(outputs_.SinkOf(state_.topology.graph().nodes.back())->Write(record).ok());
  }
  // A turn in which the interval is over again.
  Status Turn() {
    clock_.Advance(kInterval);
    return committer_->Turn();
  }
  // A turn in which it is not.
  Status EarlyTurn() { return committer_->Turn(); }
  // Reports the outcome of asynchronous commits.
  void Poll() {
    const auto batch = consumer_->NewBatch();
    EXPECT_TRUE(consumer_->Poll(milliseconds(0), batch.get()).ok());
  }
  int64_t Committed(const TopicPartition& partition) {
    return cluster_.Committed("app", partition);
  }

  transport::memory::MemoryCluster cluster_;
  RunState state_;
  OutputFiles files_;
  ThreadOutputs outputs_;
  std::unique_ptr<transport::Consumer> consumer_;
  std::vector<PartitionOffset> positions_{{kA, 1, ""}};
  int asked_ = 0;
  int told_ = 0;      // the seal whose positions are known to be committed
  bool all_ = false;  // when last asked
  std::string calls_;
  Status keep_;
  bool at_it_ = false;  // stores are, as long as nobody waits for them
  ManualClock clock_;
  CommitMetrics metrics_;
  std::optional<Committer> committer_;
};

TEST_F(CommitterTest, NothingHappensBeforeTheIntervalIsOver) {
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(asked_, 0);
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(Committed(kA), 1) << "nothing was sent: nothing to wait for";
}

TEST_F(CommitterTest, ASealedEpochWaitsForItsOwnRecordsOnly) {
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  positions_ = {{kA, 2, ""}};
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(asked_, 1) << "one epoch at a time is sealed";
  EXPECT_EQ(Committed(kA), kNoOffset);

  cluster_.HoldAcks(false);
  outputs_.Poll();
  cluster_.HoldAcks(true);
  Write();  // of the open epoch
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(Committed(kA), 1) << "the position at the seal";
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(Committed(kA), 1);
  cluster_.HoldAcks(false);
  outputs_.Poll();
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(Committed(kA), 2);
}

TEST_F(CommitterTest, AFailedDeliveryEndsAllCommits) {
  Write();
  ASSERT_TRUE(Turn().ok());
  cluster_.FailDeliveries(Status::Cluster("lost"));
  outputs_.Poll();
  EXPECT_EQ(Turn().message(), "lost");
  EXPECT_EQ(committer_->Finish().message(), "lost");
  EXPECT_EQ(Committed(kA), kNoOffset);
}

TEST_F(CommitterTest, FinishWaitsAndCommitsEveryPosition) {
  cluster_.HoldAcks(true);
  Write();
  positions_ = {{kA, 1, ""}, {kB, 7, ""}};
  ASSERT_TRUE(Turn().ok());
  positions_ = {{kA, 2, ""}, {kB, 7, ""}};
  cluster_.OnIdle([&] {
    EXPECT_EQ(Committed(kA), kNoOffset);
    cluster_.HoldAcks(false);
  });
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_TRUE(all_) << "one that was sealed and has not moved since is asked for too";
  EXPECT_EQ(Committed(kA), 2);
  EXPECT_EQ(Committed(kB), 7);
}

TEST_F(CommitterTest, WhatWasLostIsForgotten) {
  cluster_.HoldAcks(true);
  Write();
  positions_ = {{kA, 1, ""}, {kB, 7, ""}};
  ASSERT_TRUE(Turn().ok());
  committer_->Forget({kB});
  cluster_.HoldAcks(false);
  outputs_.Poll();
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(Committed(kA), 1);
  EXPECT_EQ(Committed(kB), kNoOffset);
}

TEST_F(CommitterTest, AfterARefusedCommitEveryPositionIsAskedFor) {
  cluster_.FailCommits(Status::Cluster("rebalancing"));
  ASSERT_TRUE(Turn().ok());
  Poll();
  EXPECT_FALSE(all_);
  cluster_.FailCommits(Status::Ok());
  ASSERT_TRUE(Turn().ok());
  Poll();
  EXPECT_TRUE(all_);
  EXPECT_EQ(Committed(kA), 1);
  ASSERT_TRUE(Turn().ok());
  EXPECT_FALSE(all_);
}

TEST_F(CommitterTest, CommitsThatAreAlwaysRefusedEndTheStage) {
  cluster_.FailCommits(Status::Cluster("rebalancing"));
  int turns = 0;
  Status status;
  for (; status.ok() && turns < 100; turns++) {
    status = Turn();
    Poll();
  }
  EXPECT_EQ(status.message(), "rebalancing");
  EXPECT_GT(turns, 10);
  EXPECT_LT(turns, 100);
}

TEST_F(CommitterTest, ACommitThatTheGroupHasMovedPastIsMadeUpFor) {
  cluster_.FailCommits(Status(StatusCode::kFenced, "put out"));
  ASSERT_TRUE(Turn().ok());
  Poll();
  cluster_.FailCommits(Status::Ok());
  EXPECT_TRUE(Turn().ok()) << "the next poll tells what has become of us";
  EXPECT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(Committed(kA), 1);
}

TEST_F(CommitterTest, EveryPositionIsAskedForNowAndThen) {
  ASSERT_TRUE(Turn().ok());
  EXPECT_FALSE(all_);
  clock_.Advance(std::chrono::hours(1));
  ASSERT_TRUE(Turn().ok());
  EXPECT_TRUE(all_) << "the broker would forget what is not committed again";
  ASSERT_TRUE(Turn().ok());
  EXPECT_FALSE(all_);
}

TEST_F(CommitterTest, WithoutAConsumerNothingIsCommitted) {
  Committer committer(&outputs_, nullptr, kInterval, this, clock_, &metrics_);
  Write();
  clock_.Advance(kInterval);
  ASSERT_TRUE(committer.Turn().ok());
  ASSERT_TRUE(committer.Finish().ok());
  EXPECT_EQ(Committed(kA), kNoOffset);
  EXPECT_EQ(cluster_.Read("out").size(), 1u);
}

TEST_F(CommitterTest, StoresAreSealedBeforePositionsAreTakenAndKeptBeforeTheyAreCommitted) {
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(calls_, "flush seal positions ");
  cluster_.HoldAcks(false);
  outputs_.Poll();
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(calls_, "flush seal positions keep ");
  calls_.clear();
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(calls_, "flush seal keep positions ");
}

TEST_F(CommitterTest, WhatStoresCannotKeepIsNotCommitted) {
  keep_ = Status(StatusCode::kState, "the disk is full");
  ASSERT_TRUE(committer_.has_value());
  EXPECT_EQ(Turn().code(), StatusCode::kState);
  Poll();
  EXPECT_EQ(Committed(kA), kNoOffset);
}

TEST_F(CommitterTest, WhileStoresAreAtItNothingIsCommittedAndNothingIsSealed) {
  at_it_ = true;
  ASSERT_TRUE(Turn().ok());
  ASSERT_TRUE(Turn().ok());
  Poll();
  EXPECT_EQ(calls_, "flush seal positions keep keep ");
  EXPECT_EQ(Committed(kA), kNoOffset);
  EXPECT_EQ(committer_->kept(), 0);
  at_it_ = false;
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(Committed(kA), 1);
  EXPECT_EQ(committer_->kept(), 1);
}

TEST_F(CommitterTest, TheEndWaitsForStoresThatAreAtIt) {
  at_it_ = true;
  ASSERT_TRUE(Turn().ok());
  positions_ = {{kA, 2, ""}};
  calls_.clear();
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(calls_, "keep flush seal keep positions ");
  EXPECT_EQ(Committed(kA), 2);
}

TEST_F(CommitterTest, ThatPositionsAreCommittedIsToldWhenTheyAre) {
  cluster_.FailCommits(Status::Cluster("rebalancing"));
  ASSERT_TRUE(Turn().ok());
  Poll();
  EXPECT_EQ(told_, 0);
  cluster_.FailCommits(Status::Ok());
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  Poll();
  EXPECT_EQ(told_, 0) << "sealed, and not acknowledged";
  cluster_.HoldAcks(false);
  outputs_.Poll();
  ASSERT_TRUE(EarlyTurn().ok());
  Poll();
  EXPECT_EQ(told_, 2);
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(told_, 3);
}

TEST_F(CommitterTest, WithoutAConsumerWhatIsKeptCountsAsCommitted) {
  Committer committer(&outputs_, nullptr, kInterval, this, clock_, &metrics_);
  Write();
  clock_.Advance(kInterval);
  ASSERT_TRUE(committer.Turn().ok());
  outputs_.Poll();
  ASSERT_TRUE(committer.Turn().ok());
  EXPECT_EQ(told_, 1);
}

class TransactionCommitterTest : public CommitterTest {
 protected:
  TransactionCommitterTest() : CommitterTest("app-id-0") { Poll(); }
  size_t Visible() const { return cluster_.Read("out").size(); }
};

TEST_F(TransactionCommitterTest, RecordsAndOffsetsAreCommittedTogetherAndThenStoresKept) {
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(calls_, "flush seal positions ");
  cluster_.HoldAcks(false);
  EXPECT_EQ(Visible(), 0u);
  EXPECT_EQ(told_, 0);
  EXPECT_EQ(outputs_.TakeWritten(), 0);
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(calls_, "flush seal positions keep ");
  EXPECT_EQ(Visible(), 1u);
  EXPECT_EQ(outputs_.TakeWritten(), 1);
  EXPECT_EQ(told_, 1);
  EXPECT_EQ(Committed(kA), 1);
  EXPECT_EQ(committer_->kept(), 1);
}

TEST_F(TransactionCommitterTest, WhatFollowsTheSealIsOfTheNextEpoch) {
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  Write();
  positions_ = {{kA, 2, ""}};
  cluster_.HoldAcks(false);
  ASSERT_TRUE(EarlyTurn().ok());
  EXPECT_EQ(Visible(), 1u);
  EXPECT_EQ(Committed(kA), 1);
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(Visible(), 2u);
  EXPECT_EQ(Committed(kA), 2);
}

TEST_F(TransactionCommitterTest, PositionsAloneAreATransactionAndNothingIsNone) {
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(Committed(kA), 1);
  positions_.clear();
  calls_.clear();
  cluster_.FailTransaction(Status::Cluster("a transaction was made"), false);
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(calls_, "flush seal positions keep ");
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(committer_->kept(), 1);
}

TEST_F(TransactionCommitterTest, FinishWaitsForBothEpochs) {
  cluster_.HoldAcks(true);
  Write();
  ASSERT_TRUE(Turn().ok());
  Write();
  positions_ = {{kA, 2, ""}};
  cluster_.OnIdle([&] { cluster_.HoldAcks(false); });
  ASSERT_TRUE(committer_->Finish().ok());
  EXPECT_EQ(Visible(), 2u);
  EXPECT_EQ(Committed(kA), 2);
}

TEST_F(TransactionCommitterTest, StoresKeepNothingOfATransactionThatFailed) {
  Write();
  cluster_.FailTransaction(Status::Cluster("aborted"), false);
  EXPECT_EQ(Turn().code(), StatusCode::kCluster);
  EXPECT_EQ(calls_, "flush seal positions ");
  EXPECT_EQ(EarlyTurn().code(), StatusCode::kCluster);
  EXPECT_TRUE(outputs_.recoverable());
  EXPECT_EQ(Committed(kA), kNoOffset);

  outputs_.Drop();
  committer_->Reset();
  ASSERT_TRUE(outputs_.Open().ok());
  Write();
  ASSERT_TRUE(Turn().ok());
  EXPECT_EQ(Visible(), 1u);
  EXPECT_EQ(Committed(kA), 1);
}

}  // namespace
}  // namespace kstream::runtime
