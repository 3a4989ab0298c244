// Transactions on a real broker, and with a broker that is slow or gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int16_t kEndTxn = 26;

std::unique_ptr<Producer> New(Cluster* cluster, const std::string& id, size_t buffer = 1 << 20) {
  return Must(cluster->NewProducer({.transactional_id = id, .buffer_bytes = buffer}));
}
void Start(Producer* producer) {
  ASSERT_OK(producer->InitTransactions());
  ASSERT_OK(producer->Begin());
}
Status Await(Producer* producer) {
  for (;;) {
    auto done = producer->Commit(milliseconds(100));
    if (!done.ok()) return done.status();
    if (*done) return Status::Ok();
  }
}

class TransactionsOnBroker : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    if (IsSkipped()) return;
    topic_ = NewTopic(1);
    in_ = NewTopic(1);
    id_ = RandomName("id");
    group_ = RandomName("g");
  }
  // A producer with an open transaction and the topic.
  void Open() {
    producer_ = New(cluster_.get(), id_);
    out_ = Must(producer_->Open(topic_, {.track_offsets = true}));
    Start(producer_.get());
  }
  Status Send(const std::string& value, uint32_t tag = 0) {
    return producer_->Send(out_, 0, Make("k", value), tag);
  }
  std::unique_ptr<Consumer> Join() {
    auto member = Must(cluster_->NewConsumer({.group = group_, .instance_id = "", .threads = 1}));
    EXPECT_TRUE(member->Subscribe({in_}).ok());
    auto batch = member->NewBatch();
    EXPECT_TRUE(PollUntil(member.get(), batch.get(), [&] { return batch->rebalanced; }));
    EXPECT_TRUE(PollUntil(member.get(), batch.get(), [&] { return true; }));
    return member;
  }
  int64_t Committed() {
    auto reader = Must(cluster_->NewConsumer({.group = group_, .instance_id = "", .threads = 1}));
    const TopicPartition in{in_, 0};
    return Must(reader->Committed({&in, 1}))[0].offset;
  }
  std::vector<std::string> Written() {
    return Values(ReadTopic(cluster_.get(), topic_, 1).records);
  }
  int64_t High() {
    const TopicPartition out{topic_, 0};
    return Must(admin_->Offsets({&out, 1}))[out].high;
  }

  std::string topic_, in_, id_, group_;
  std::unique_ptr<Producer> producer_;
  Producer::Topic* out_ = nullptr;
};

TEST_F(TransactionsOnBroker, RecordsAndOffsetsBecomeVisibleTogether) {
  const auto member = Join();
  Open();
  ASSERT_OK(Send("a"));
  ASSERT_OK(producer_->Flush(seconds(20)));
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 0), 0);
  EXPECT_EQ(producer_->Acknowledged(out_, 0, 1), kNoOffset);
  EXPECT_EQ(High(), 1);  // of a read_uncommitted reader
  EXPECT_THAT(Written(), IsEmpty());
  ASSERT_OK(producer_->Seal({{{in_, 0}, 7, "m"}}, member.get()));
  ASSERT_OK(Await(producer_.get()));
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_EQ(Committed(), 7);
  // The position of a reader at the end lies behind the marker.
  EXPECT_EQ((ReadTopic(cluster_.get(), topic_, 1).ends.at({topic_, 0})), 2);
}

TEST_F(TransactionsOnBroker, WhatIsSentWhileCommittingKeepsItsOrder) {
  Open();
  std::vector<std::string> values;
  for (int i = 0; i < 3000; i++) {
    values.push_back(std::to_string(i));
    ASSERT_OK(Send(values.back(), static_cast<uint32_t>(i / 1000)));
    if (i % 1000 == 499) {
      if (i > 1000) ASSERT_OK(Await(producer_.get()));
      ASSERT_OK(producer_->Seal({}, nullptr));
      EXPECT_FALSE(*producer_->Commit(milliseconds(0)));
    }
  }
  ASSERT_OK(Await(producer_.get()));
  ASSERT_OK(producer_->Seal({}, nullptr));
  ASSERT_OK(Await(producer_.get()));
  EXPECT_EQ(producer_->Pending(0) + producer_->Pending(1), 0u);
  EXPECT_EQ(Written(), values);
}

TEST_F(TransactionsOnBroker, AFullBufferWaitsForTheCommit) {
  producer_ = New(cluster_.get(), id_, 1);
  out_ = Must(producer_->Open(topic_));
  Start(producer_.get());
  ASSERT_OK(Send("a", 0));
  ASSERT_OK(producer_->Seal({}, nullptr));
  ASSERT_OK(Send("b", 1));
  ASSERT_OK(Send("c", 1));
  EXPECT_THAT(Written(), ElementsAre("a"));
  EXPECT_TRUE(*producer_->Commit(milliseconds(0)));
  ASSERT_OK(producer_->Seal({}, nullptr));
  ASSERT_OK(Await(producer_.get()));
  EXPECT_THAT(Written(), ElementsAre("a", "b", "c"));
}

TEST_F(TransactionsOnBroker, AnAbortLeavesNothing) {
  const auto member = Join();
  Open();
  ASSERT_OK(Send("a", 0));
  ASSERT_OK(producer_->Flush(seconds(20)));
  ASSERT_OK(producer_->Seal({{{in_, 0}, 7, ""}}, member.get()));
  ASSERT_OK(Send("b", 1));
  ASSERT_OK(producer_->Abort());
  EXPECT_EQ(producer_->Pending(0) + producer_->Pending(1), 0u);
  ASSERT_OK(producer_->Begin());
  ASSERT_OK(Send("c"));
  ASSERT_OK(producer_->Seal({}, nullptr));
  ASSERT_OK(Await(producer_.get()));
  EXPECT_THAT(Written(), ElementsAre("c"));
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(TransactionsOnBroker, TheNextHolderOfTheIdFencesAndAborts) {
  Open();
  ASSERT_OK(Send("old"));
  ASSERT_OK(producer_->Flush(seconds(20)));
  auto next = New(cluster_.get(), id_);
  auto* out = Must(next->Open(topic_));
  Start(next.get());
  ASSERT_OK(next->Send(out, 0, Make("k", "new"), 0));
  ASSERT_OK(next->Seal({}, nullptr));
  ASSERT_OK(Await(next.get()));
  ASSERT_OK(producer_->Seal({}, nullptr));
  const Status status = Await(producer_.get());
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_THAT(status.message(), HasSubstr(id_));
  EXPECT_FALSE(producer_->recoverable());
  EXPECT_EQ(Send("late").code(), StatusCode::kFenced);
  EXPECT_FALSE(producer_->Abort().ok());
  producer_.reset();
  EXPECT_THAT(Written(), ElementsAre("new"));
}

// It is told by the records that it has queued, before it is asked about a transaction.
TEST_F(TransactionsOnBroker, AFencedProducerSaysSoWhateverBecomesOfItsRecords) {
  Open();
  auto next = New(cluster_.get(), id_);
  Must(next->Open(topic_));
  Start(next.get());
  for (int i = 0; producer_->failure().ok() && i < 200; i++) {
    static_cast<void>(Send("late"));
    producer_->Poll(milliseconds(50));
  }
  EXPECT_EQ(producer_->failure().code(), StatusCode::kFenced) << producer_->failure().message();
  EXPECT_FALSE(producer_->recoverable());
}

TEST_F(TransactionsOnBroker, OneThatOutlivesItsTimeoutWritesNothing) {
  const auto hasty = Connect(brokers_, {}, {{"transaction.timeout.ms", "1000"}}, seconds(15));
  producer_ = New(hasty.get(), id_);
  out_ = Must(producer_->Open(topic_));
  Start(producer_.get());
  ASSERT_OK(Send("old"));
  ASSERT_OK(producer_->Flush(seconds(20)));
  // The broker has aborted it when a reader gets past it.
  auto reader = Must(cluster_->NewConsumer({}));
  const PartitionOffset begin{{topic_, 0}, kOffsetBeginning, ""};
  ASSERT_OK(reader->Assign({&begin, 1}));
  auto batch = reader->NewBatch();
  ASSERT_TRUE(PollUntil(reader.get(), batch.get(),
                        [&] { return !batch->ends.empty() && batch->ends[0].offset == 2; }));
  static_cast<void>(Send("late"));
  static_cast<void>(producer_->Seal({}, nullptr));
  const Status status = Await(producer_.get());
  EXPECT_EQ(status.code(), StatusCode::kCluster) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("transaction.timeout.ms"));
  EXPECT_TRUE(producer_->recoverable());
  static_cast<void>(producer_->Abort());
  producer_.reset();
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(TransactionsOnBroker, AMemberOfAnOlderGenerationCommitsNothing) {
  const auto member = Join();
  Open();
  ASSERT_OK(Send("a"));
  // It leaves, and another has its place.
  ASSERT_OK(producer_->Seal({{{in_, 0}, 7, ""}}, member.get()));
  ASSERT_OK(member->Close());
  const Status status = Await(producer_.get());
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_TRUE(producer_->recoverable());
  ASSERT_OK(producer_->Abort());
  producer_.reset();
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_EQ(Committed(), kNoOffset);
}

TEST_F(TransactionsOnBroker, ATopicOfSmallBatchesThatIsOpenedLateLosesNothing) {
  Open();
  const std::string small = NewTopic(1, {{"max.message.bytes", "500"}});
  auto* to_small = Must(producer_->Open(small));
  std::vector<std::string> values;
  for (int i = 0; i < 100; i++) {
    values.push_back(std::to_string(i));
    ASSERT_OK(producer_->Send(to_small, 0, Make("k", values.back()), 0));
  }
  EXPECT_EQ(producer_->Send(to_small, 0, Make("k", std::string(600, 'x')), 0).code(),
            StatusCode::kData);
  ASSERT_OK(producer_->Seal({}, nullptr));
  ASSERT_OK(Await(producer_.get()));
  EXPECT_EQ(Values(ReadTopic(cluster_.get(), small, 1).records), values);
}

TEST_F(TransactionsOnBroker, ARefusedBatchFailsItsTransactionAndTheNextHasSmallerOnes) {
  Open();
  SetTopicConfig(brokers_, topic_, "max.message.bytes", "2000");
  for (int tries = 0; tries < 20; tries++) {
    Status status;
    for (int i = 0; i < 200 && status.ok(); i++) status = Send(std::to_string(i));
    if (status.ok()) status = producer_->Seal({}, nullptr);
    if (status.ok()) status = Await(producer_.get());
    if (status.ok()) break;
    EXPECT_EQ(status.code(), StatusCode::kCluster) << status.message();
    EXPECT_TRUE(producer_->recoverable());
    ASSERT_OK(producer_->Abort());
    // Without the limits, which a new look at the topic would tell.
    producer_.reset();
    Open();
  }
  std::vector<std::string> values;
  for (int i = 0; i < 200; i++) values.push_back(std::to_string(i));
  EXPECT_EQ(Written(), values);
}

TEST_F(TransactionsOnBroker, ARecordRefusedAloneIsData) {
  Open();
  SetTopicConfig(brokers_, topic_, "max.message.bytes", "500");
  ASSERT_OK(Send(std::string(1000, 'x')));
  const Status status = producer_->Flush(seconds(20));
  EXPECT_EQ(status.code(), StatusCode::kData) << status.message();
  EXPECT_FALSE(producer_->recoverable());
  ASSERT_OK(producer_->Abort());
  EXPECT_THAT(Written(), IsEmpty());
}

class TransactionsOnMock : public MockTest {};

TEST_F(TransactionsOnMock, ACommitGoesOnWhereItTimedOut) {
  NewTopic("out", 1);
  const auto cluster = Connect(brokers_);
  auto producer = New(cluster.get(), "id");
  auto* out = Must(producer->Open("out"));
  Start(producer.get());
  ASSERT_OK(producer->Send(out, 0, Make("k", "a"), 0));
  ASSERT_OK(producer->Flush(seconds(10)));
  // Longer than one turn of the calls that block.
  rd_kafka_mock_broker_push_request_error_rtts(mock_, 1, kEndTxn, 1, RD_KAFKA_RESP_ERR_NO_ERROR,
                                               1200);
  ASSERT_OK(producer->Seal({}, nullptr));
  EXPECT_FALSE(*producer->Commit(milliseconds(0)));
  ASSERT_OK(producer->Send(out, 0, Make("k", "b"), 1));
  EXPECT_EQ(producer->Pending(1), 1u);
  ASSERT_OK(Await(producer.get()));
  ASSERT_OK(producer->Flush(seconds(10)));
  EXPECT_THAT(Values(ReadTopic(cluster.get(), "out", 1).records), ElementsAre("a", "b"));
}

TEST_F(TransactionsOnMock, OfAClusterThatIsGoneTheProducerCanBeDestroyed) {
  NewTopic("out", 1);
  const auto cluster = Connect(brokers_, {}, {{"transaction.timeout.ms", "2000"}});
  auto producer = New(cluster.get(), "id");
  auto* out = Must(producer->Open("out"));
  Start(producer.get());
  ASSERT_OK(producer->Send(out, 0, Make("k", "a"), 0));
  ASSERT_OK(producer->Flush(seconds(10)));
  rd_kafka_mock_broker_set_down(mock_, 1);
  ASSERT_OK(producer->Seal({}, nullptr));
  EXPECT_EQ(Await(producer.get()).code(), StatusCode::kCluster);
  EXPECT_TRUE(producer->recoverable());
  const auto begin = std::chrono::steady_clock::now();
  producer.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

}  // namespace
}  // namespace kstream::transport::kafka
