#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ConsumerTest : public MockTest {
 protected:
  void SetUp() override {
    NewTopic("in", 2);
    cluster_ = Connect(brokers_);
    WriteAll(cluster_.get(), "in", 0, {"0", "1", "2", "3", "4"});
    consumer_ = Must(cluster_->NewConsumer({}));
    batch_ = consumer_->NewBatch();
  }
  Status Assign(int64_t offset) {
    const PartitionOffset from{{"in", 0}, offset, ""};
    return consumer_->Assign({&from, 1});
  }
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Consumer> consumer_;
  std::unique_ptr<Batch> batch_;
  const TopicPartition in0_{"in", 0};
};

TEST_F(ConsumerTest, ReadsFromTheOffsetGivenToTheEnd) {
  ASSERT_OK(Assign(2));
  const Contents contents = ReadToEnd(consumer_.get(), 1);
  EXPECT_THAT(Values(contents.records), ElementsAre("2", "3", "4"));
  EXPECT_EQ(contents.ends.at(in0_), 5);
  EXPECT_EQ(contents.records[0].timestamp, 1700000000000);
}

TEST_F(ConsumerTest, AnEmptyPartitionIsAtItsEndAtOnce) {
  const PartitionOffset from{{"in", 1}, kOffsetBeginning, ""};
  ASSERT_OK(consumer_->Assign({&from, 1}));
  const Contents contents = ReadToEnd(consumer_.get(), 1);
  EXPECT_THAT(contents.records, IsEmpty());
  EXPECT_EQ(contents.ends.at({"in", 1}), 0);
}

TEST_F(ConsumerTest, ABatchHasNoMoreRecordsThanAskedFor) {
  ASSERT_OK(Assign(kOffsetBeginning));
  std::vector<Owned> seen;
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (seen.size() < 5 && std::chrono::steady_clock::now() < end) {
    ASSERT_OK(consumer_->Poll(milliseconds(50), batch_.get(), 2));
    EXPECT_LE(batch_->records.size(), 2u);
    for (const Record& record : batch_->records) seen.push_back(Own(record));
  }
  EXPECT_THAT(Values(seen), ElementsAre("0", "1", "2", "3", "4"));
}

TEST_F(ConsumerTest, FromTheEndOnlyWhatComesLater) {
  ASSERT_OK(Assign(kOffsetEnd));
  EXPECT_EQ(ReadToEnd(consumer_.get(), 1).ends.at(in0_), 5);
  WriteAll(cluster_.get(), "in", 0, {"5"});
  EXPECT_THAT(Values(ReadToEnd(consumer_.get(), 1).records), ElementsAre("5"));
}

TEST_F(ConsumerTest, APartitionPutBackIsReadFromThereAndNothingOfBefore) {
  ASSERT_OK(Assign(kOffsetBeginning));
  // All five are fetched when one is here.
  ASSERT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] { return !batch_->records.empty(); }));
  ASSERT_OK(consumer_->Unassign({&in0_, 1}));
  ASSERT_OK(Assign(3));
  EXPECT_THAT(Values(ReadToEnd(consumer_.get(), 1).records), ElementsAre("3", "4"));
}

// Each time it stops being read, which librdkafka does behind the call, and is read again.
TEST_F(ConsumerTest, APartitionCanBePutBackAgainAndAgain) {
  ASSERT_OK(Assign(kOffsetBeginning));
  for (int round = 0; round < 30; round++) {
    ASSERT_OK(consumer_->Unassign({&in0_, 1}));
    ASSERT_OK(Assign(3));
    EXPECT_THAT(Values(ReadToEnd(consumer_.get(), 1).records), ElementsAre("3", "4"));
  }
}

TEST_F(ConsumerTest, ARecordEndsTheWaitForIt) {
  ASSERT_OK(Assign(kOffsetEnd));
  ReadToEnd(consumer_.get(), 1);
  WriteAll(cluster_.get(), "in", 0, {"5"});
  const auto start = std::chrono::steady_clock::now();
  do {
    ASSERT_OK(consumer_->Poll(seconds(60), batch_.get()));
  } while (batch_->records.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(50));
}

// A fetch brings one batch here, and each fills the queue: librdkafka alone takes a second for
// each.
TEST_F(ConsumerTest, AQueueThatWasFullIsFilledAgainAtOnce) {
  constexpr size_t kBatches = 20;
  for (size_t i = 5; i < kBatches; i++) WriteAll(cluster_.get(), "in", 0, {"more"});
  cluster_ = Connect(brokers_, {{"queued.min.messages", "1"}});
  consumer_ = Must(cluster_->NewConsumer({}));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_OK(Assign(kOffsetBeginning));
  EXPECT_EQ(ReadToEnd(consumer_.get(), 1).records.size(), kBatches);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(8));
}

TEST_F(ConsumerTest, NothingComesOfAnUnassignedPartition) {
  ASSERT_OK(Assign(kOffsetBeginning));
  ASSERT_OK(consumer_->Unassign({&in0_, 1}));
  const PartitionOffset other{{"in", 1}, kOffsetBeginning, ""};
  ASSERT_OK(consumer_->Assign({&other, 1}));
  const Contents contents = ReadToEnd(consumer_.get(), 1);
  EXPECT_THAT(contents.records, IsEmpty());
  EXPECT_FALSE(contents.ends.contains(in0_));
}

TEST_F(ConsumerTest, UnassigningWhatIsNotReadIsNoError) {
  ASSERT_OK(consumer_->Unassign({&in0_, 1}));
}

TEST_F(ConsumerTest, APausedPartitionDeliversAgainFromWhereItWas) {
  ASSERT_OK(Assign(kOffsetBeginning));
  EXPECT_THAT(Values(ReadToEnd(consumer_.get(), 1).records), ElementsAre("0", "1", "2", "3", "4"));
  ASSERT_OK(consumer_->Pause({&in0_, 1}));
  WriteAll(cluster_.get(), "in", 0, {"5"});
  WriteAll(cluster_.get(), "in", 1, {"other"});
  // The record of the other partition shows that fetching goes on.
  const PartitionOffset other{{"in", 1}, kOffsetBeginning, ""};
  ASSERT_OK(consumer_->Assign({&other, 1}));
  ASSERT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] { return !batch_->records.empty(); }));
  EXPECT_EQ(batch_->records[0].value, "other");
  ASSERT_OK(consumer_->Resume({&in0_, 1}));
  ASSERT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] { return !batch_->records.empty(); }));
  EXPECT_EQ(batch_->records[0].value, "5");
}

TEST_F(ConsumerTest, RecordsLiveAsLongAsTheirBatchEvenWithoutTheConsumer) {
  ASSERT_OK(Assign(kOffsetBeginning));
  ASSERT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] { return !batch_->records.empty(); }));
  consumer_.reset();
  EXPECT_EQ(batch_->records[0].topic, "in");
  EXPECT_EQ(batch_->records[0].value, "0");
}

TEST_F(ConsumerTest, AConsumerWithoutAGroupHasNoCommits) {
  EXPECT_EQ(Must(consumer_->Committed({&in0_, 1}))[0].offset, kNoOffset);
}

TEST(Unreachable, TheConsumerGivesUpAtTheDeadline) {
  auto cluster = Connect("127.0.0.1:1", {}, {}, milliseconds(700));
  auto consumer = Must(cluster->NewConsumer({}));
  auto batch = consumer->NewBatch();
  const PartitionOffset from{{"in", 0}, kOffsetBeginning, ""};
  ASSERT_OK(consumer->Assign({&from, 1}));
  Status status;
  while (status.ok()) status = consumer->Poll(milliseconds(50), batch.get());
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("cannot reach 127.0.0.1:1"));
  EXPECT_THAT(status.message(), HasSubstr("-b"));
}

TEST(Unreachable, AdminAndProducerGiveUpAtTheDeadline) {
  auto cluster = Connect("127.0.0.1:1", {}, {}, milliseconds(300));
  Status status = Must(cluster->NewAdmin())->Topics("in").status();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("cannot reach 127.0.0.1:1"));
  status = Must(cluster->NewProducer())->Open("in").status();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("cannot reach 127.0.0.1:1"));
}

TEST_F(ConsumerTest, ABrokerThatGoesAndComesBackIsNoFailure) {
  auto cluster = Connect(brokers_, {{"reconnect.backoff.max.ms", "100"}}, {}, seconds(4));
  auto consumer = Must(cluster->NewConsumer({}));
  const PartitionOffset from{in0_, kOffsetBeginning, ""};
  ASSERT_OK(consumer->Assign({&from, 1}));
  ReadToEnd(consumer.get(), 1);
  rd_kafka_mock_broker_set_down(mock_, -1);
  auto batch = consumer->NewBatch();
  for (int i = 0; i < 10; i++) ASSERT_OK(consumer->Poll(milliseconds(50), batch.get()));
  rd_kafka_mock_broker_set_up(mock_, -1);
  // Idle beyond the deadline: no record comes, and still there is contact.
  const auto end = std::chrono::steady_clock::now() + milliseconds(4500);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_OK(consumer->Poll(milliseconds(100), batch.get()));
  }
  rd_kafka_mock_broker_set_down(mock_, -1);
  Status status;
  while (status.ok()) status = consumer->Poll(milliseconds(50), batch.get());
  EXPECT_EQ(status.code(), StatusCode::kCluster);
}

}  // namespace
}  // namespace kstream::transport::kafka
