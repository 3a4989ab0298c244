// Transactions of a memory cluster: what becomes visible, and when it does not.
#include <gmock/gmock.h>

#include "transport/memory/memory_cluster.h"

namespace kstream::transport::memory {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr milliseconds kNow{0};
const TopicPartition kIn{"in", 0}, kOut{"out", 0};

class Transactions : public testing::Test {
 protected:
  Transactions() {
    cluster_.CreateTopic("in", 1);
    cluster_.CreateTopic("out", 1);
    member_ = Join();
    producer_ = Begun();
    out_ = Out(producer_.get());
  }
  std::unique_ptr<Consumer> Join() {
    auto consumer = *cluster_.NewConsumer({.group = "g", .instance_id = "", .threads = 1});
    EXPECT_TRUE(consumer->Subscribe({"in"}).ok());
    const auto batch = consumer->NewBatch();
    EXPECT_TRUE(consumer->Poll(kNow, batch.get()).ok());
    return consumer;
  }
  std::unique_ptr<Producer> Begun(size_t buffer_bytes = 1 << 20) {
    auto producer = *cluster_.NewProducer({.transactional_id = "id", .buffer_bytes = buffer_bytes});
    EXPECT_TRUE(producer->InitTransactions().ok());
    EXPECT_TRUE(producer->Begin().ok());
    return producer;
  }
  static Producer::Topic* Out(Producer* producer) {
    return *producer->Open("out", {.track_offsets = true});
  }
  static Status Send(Producer* producer, Producer::Topic* to, std::string_view value,
                     uint32_t tag = 0) {
    Record record;
    record.value = value;
    return producer->Send(to, 0, record, tag);
  }
  Status Send(std::string_view value, uint32_t tag = 0) {
    return Send(producer_.get(), out_, value, tag);
  }
  Status Seal(int64_t offset) { return producer_->Seal({{kIn, offset, "m"}}, member_.get()); }
  std::vector<std::string> Written() const {
    std::vector<std::string> values;
    for (const StoredRecord& record : cluster_.Read("out")) values.push_back(*record.value);
    return values;
  }
  int64_t Committed() const { return cluster_.Committed("g", kIn); }

  MemoryCluster cluster_;
  std::unique_ptr<Consumer> member_;
  std::unique_ptr<Producer> producer_;
  Producer::Topic* out_ = nullptr;
};

TEST_F(Transactions, RecordsAndOffsetsBecomeVisibleTogether) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  EXPECT_EQ(producer_->Pending(0), 0u);
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_EQ((*cluster_.NewAdmin())->Offsets(std::span(&kOut, 1))->at(kOut).high, 1);
  ASSERT_TRUE(Seal(7).ok());
  EXPECT_EQ(Committed(), kNoOffset);
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_EQ(Committed(), 7);
}

TEST_F(Transactions, WhatFollowsTheSealBelongsToTheNextTransaction) {
  cluster_.HoldAcks(true);
  ASSERT_TRUE(Send("a", 0).ok());
  ASSERT_TRUE(Seal(1).ok());
  ASSERT_TRUE(Send("b", 1).ok());
  ASSERT_TRUE(Send("c", 1).ok());
  EXPECT_FALSE(*producer_->Commit(kNow));
  EXPECT_EQ(producer_->Pending(0), 1u);
  EXPECT_EQ(producer_->Pending(1), 2u);
  cluster_.HoldAcks(false);
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_EQ(producer_->Pending(1), 2u);
  ASSERT_TRUE(Send("d", 1).ok());
  ASSERT_TRUE(Seal(2).ok());
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(Committed(), 2);
}

TEST_F(Transactions, AnAbortLeavesNothing) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  ASSERT_TRUE(Seal(7).ok());
  ASSERT_TRUE(Send("b", 1).ok());
  ASSERT_TRUE(producer_->Abort().ok());
  EXPECT_EQ(producer_->Pending(0) + producer_->Pending(1), 0u);
  ASSERT_TRUE(producer_->Begin().ok());
  ASSERT_TRUE(Send("c").ok());
  ASSERT_TRUE(producer_->Seal({}, nullptr).ok());
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("c"));
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(Transactions, TheNextHolderOfTheIdFencesAndAborts) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  const auto next = Begun();
  ASSERT_TRUE(Send(next.get(), Out(next.get()), "b").ok());
  ASSERT_TRUE(next->Seal({}, nullptr).ok());
  EXPECT_TRUE(*next->Commit(kNow));
  ASSERT_TRUE(Seal(7).ok());
  EXPECT_EQ(producer_->Commit(kNow).status().code(), StatusCode::kFenced);
  EXPECT_FALSE(producer_->recoverable());
  EXPECT_EQ(Send("late").code(), StatusCode::kFenced);
  EXPECT_EQ(producer_->Abort().code(), StatusCode::kFenced);
  EXPECT_THAT(Written(), ElementsAre("b"));
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(Transactions, AProducerThatIsGoneLeavesItsTransactionToTheNext) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  producer_.reset();
  cluster_.Produce("out", 0, {.value = "other"});
  EXPECT_THAT(Written(), IsEmpty());  // behind the open transaction
  producer_ = Begun();
  EXPECT_THAT(Written(), ElementsAre("other"));
}

TEST_F(Transactions, AMemberThatLostItsPartitionsCommitsNothing) {
  ASSERT_TRUE(Send("a").ok());
  ASSERT_TRUE(Seal(7).ok());
  cluster_.Evict("g", kIn);
  EXPECT_EQ(producer_->Commit(kNow).status().code(), StatusCode::kCluster);
  EXPECT_TRUE(producer_->recoverable());
  ASSERT_TRUE(producer_->Abort().ok());
  EXPECT_EQ(producer_->Begin().code(), StatusCode::kCluster);
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(Transactions, AFailedDeliveryPoisonsTheTransaction) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  ASSERT_TRUE(Send("b").ok());
  cluster_.FailDeliveries(Status::Cluster("gone"));
  producer_->Poll(kNow);
  cluster_.FailDeliveries(Status::Ok());
  EXPECT_EQ(Send("c").message(), "gone");
  EXPECT_EQ(Seal(7).message(), "gone");
  ASSERT_TRUE(producer_->Abort().ok());
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(Transactions, AFailedCommitIsForGood) {
  cluster_.FailCommits(Status::Cluster("no answer"));
  ASSERT_TRUE(Send("a").ok());
  ASSERT_TRUE(Seal(7).ok());
  EXPECT_EQ(producer_->Commit(kNow).status().message(), "no answer");
  cluster_.FailCommits(Status::Ok());
  EXPECT_EQ(producer_->Commit(kNow).status().message(), "no answer");
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(Transactions, OneThatIsAbortedForItsAgeLeavesNothing) {
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  cluster_.ExpireTransaction("id");
  cluster_.Produce("out", 0, {.value = "other"});
  EXPECT_THAT(Written(), ElementsAre("other"));
  ASSERT_TRUE(Seal(7).ok());
  EXPECT_EQ(producer_->Commit(kNow).status().code(), StatusCode::kCluster);
  EXPECT_TRUE(producer_->recoverable());
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(Transactions, AnAnswerThatGetsLostSaysNothingOfTheOutcome) {
  for (const bool committed : {false, true}) {
    producer_ = Begun();
    out_ = Out(producer_.get());
    ASSERT_TRUE(Send("a").ok());
    ASSERT_TRUE(Seal(7).ok());
    cluster_.FailTransaction(Status::Cluster("no answer"), committed);
    EXPECT_EQ(producer_->Commit(kNow).status().message(), "no answer");
    EXPECT_TRUE(producer_->recoverable());
    EXPECT_EQ(Send("b").message(), "no answer");
    EXPECT_EQ(Written().size(), committed ? 1u : 0u);
    EXPECT_EQ(Committed(), committed ? 7 : kNoOffset);
  }
  // The next one is like any other.
  producer_ = Begun();
  out_ = Out(producer_.get());
  ASSERT_TRUE(Send("c").ok());
  ASSERT_TRUE(Seal(8).ok());
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("a", "c"));
}

TEST_F(Transactions, DeliveriesFailSoManyTimes) {
  cluster_.FailDeliveries(Status::Cluster("gone"), 1);
  ASSERT_TRUE(Send("a").ok());
  producer_->Poll(kNow);
  EXPECT_EQ(producer_->failure().message(), "gone");
  producer_ = Begun();
  out_ = Out(producer_.get());
  ASSERT_TRUE(Send("b").ok());
  producer_->Poll(kNow);
  EXPECT_TRUE(producer_->failure().ok());
}

// A task reads its lead, which the group gives it, and others, which it takes by itself.
TEST_F(Transactions, OffsetsOfPartitionsBesideThoseOfTheGroupAreTheMembersOwn) {
  cluster_.CreateTopic("beside", 1);
  ASSERT_TRUE(Send("a").ok());
  ASSERT_TRUE(producer_->Seal({{kIn, 7, ""}, {{"beside", 0}, 3, ""}}, member_.get()).ok());
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_EQ(cluster_.Committed("g", {"beside", 0}), 3);
  // But not of one that was put out.
  cluster_.Evict("g", kIn);
  ASSERT_TRUE(producer_->Seal({{{"beside", 0}, 4, ""}}, member_.get()).ok());
  EXPECT_EQ(producer_->Commit(kNow).status().code(), StatusCode::kCluster);
  EXPECT_EQ(cluster_.Committed("g", {"beside", 0}), 3);
}

TEST_F(Transactions, AFullBufferWaitsForTheOutcome) {
  producer_ = Begun(2);
  out_ = Out(producer_.get());
  cluster_.HoldAcks(true);
  ASSERT_TRUE(Send("a").ok());
  ASSERT_TRUE(Seal(1).ok());
  ASSERT_TRUE(Send("bb", 1).ok());
  int turns = 0;
  cluster_.OnIdle([&] {
    EXPECT_EQ(producer_->Pending(0), 1u);
    if (++turns == 3) cluster_.HoldAcks(false);
  });
  ASSERT_TRUE(Send("c", 1).ok());
  EXPECT_EQ(turns, 3);
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_TRUE(*producer_->Commit(kNow));  // says so once
  ASSERT_TRUE(Seal(2).ok());
  EXPECT_TRUE(*producer_->Commit(kNow));
  EXPECT_THAT(Written(), ElementsAre("a", "bb", "c"));
}

TEST_F(Transactions, OffsetsAreToldByTag) {
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 0), kNoOffset);
  ASSERT_TRUE(Send("a", 0).ok());
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 0), kNoOffset);
  ASSERT_TRUE(Seal(1).ok());
  ASSERT_TRUE(*producer_->Commit(kNow));
  ASSERT_TRUE(Send("b", 1).ok());
  producer_->Poll(kNow);
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 0), 0);
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 1), 2);  // a marker lies between
  EXPECT_EQ(producer_->Acknowledged(out_, 1, 0), kNoOffset);
}

TEST_F(Transactions, CallsOutOfTurnAreUsage) {
  const auto plain = *cluster_.NewProducer();
  EXPECT_EQ(plain->InitTransactions().code(), StatusCode::kUsage);
  EXPECT_EQ(plain->Abort().code(), StatusCode::kUsage);
  EXPECT_EQ(producer_->InitTransactions().code(), StatusCode::kUsage);
  EXPECT_EQ(producer_->Begin().code(), StatusCode::kUsage);
  EXPECT_EQ(producer_->Commit(kNow).status().code(), StatusCode::kUsage);
  ASSERT_TRUE(Seal(1).ok());
  EXPECT_EQ(Seal(2).code(), StatusCode::kUsage);
  EXPECT_THAT(Seal(2).message(), HasSubstr("Seal"));
}

}  // namespace
}  // namespace kstream::transport::memory
