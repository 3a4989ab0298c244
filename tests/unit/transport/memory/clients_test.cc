// The clients of a memory cluster, through the interfaces of transport/.
#include <gmock/gmock.h>

#include "record/partitioner.h"
#include "transport/memory/memory_cluster.h"

namespace kstream::transport::memory {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr milliseconds kNow{0};
const TopicPartition kT0{"t", 0}, kT1{"t", 1};

class Clients : public testing::Test {
 protected:
  Clients() { cluster_.CreateTopic("t", 2); }

  std::unique_ptr<Consumer> NewConsumer(const std::string& group = "") {
    return *cluster_.NewConsumer({.group = group, .instance_id = "", .threads = 1});
  }
  std::vector<int64_t> Poll(Consumer* consumer) {
    if (batch_ == nullptr) batch_ = consumer->NewBatch();
    EXPECT_TRUE(consumer->Poll(kNow, batch_.get()).ok());
    std::vector<int64_t> offsets;
    for (const Record& record : batch_->records) offsets.push_back(record.offset);
    return offsets;
  }
  std::vector<int64_t> Ends() {
    std::vector<int64_t> ends;
    for (const PartitionOffset& end : batch_->ends) ends.push_back(end.offset);
    return ends;
  }
  static Status Assign(Consumer* consumer, const TopicPartition& partition, int64_t offset) {
    const PartitionOffset position[] = {{partition, offset, ""}};
    return consumer->Assign(position);
  }

  MemoryCluster cluster_{"east"};
  std::unique_ptr<Batch> batch_;
};

TEST_F(Clients, ARecordArrivesWithAllItsFields) {
  cluster_.Produce("t", 1,
                   {.key = "",
                    .value = std::nullopt,
                    .headers = {{"a", "1"}, {"a", std::nullopt}},
                    .timestamp = 7,
                    .timestamp_type = TimestampType::kLogAppendTime});
  const auto consumer = NewConsumer();
  ASSERT_TRUE(Assign(consumer.get(), kT1, kOffsetBeginning).ok());
  ASSERT_THAT(Poll(consumer.get()), ElementsAre(0));
  const Record& record = batch_->records[0];
  EXPECT_EQ(record.cluster, "east");
  EXPECT_EQ(record.topic, "t");
  EXPECT_EQ(record.partition, 1);
  EXPECT_EQ(record.key, "");
  EXPECT_EQ(record.value, std::nullopt);
  EXPECT_EQ(record.timestamp, 7);
  EXPECT_EQ(record.timestamp_type, TimestampType::kLogAppendTime);
  ASSERT_EQ(record.headers.size(), 2u);
  EXPECT_EQ(record.headers[0].value, "1");
  EXPECT_EQ(record.headers[1].value, std::nullopt);
}

TEST_F(Clients, AnEndIsToldOnceAndAgainAfterNewRecords) {
  const auto consumer = NewConsumer();
  ASSERT_TRUE(Assign(consumer.get(), kT0, 0).ok());
  EXPECT_THAT(Poll(consumer.get()), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre(0));
  Poll(consumer.get());
  EXPECT_THAT(Ends(), IsEmpty());
  cluster_.Produce("t", 0, {});
  EXPECT_THAT(Poll(consumer.get()), ElementsAre(0));
  EXPECT_THAT(Ends(), ElementsAre(1));
}

TEST_F(Clients, TheEndIsBelowAnOpenTransactionAndBehindItsMarker) {
  cluster_.Produce("t", 0, {});
  const Transaction open = cluster_.BeginTransaction();
  cluster_.Produce("t", 0, {}, open);
  const auto consumer = NewConsumer();
  ASSERT_TRUE(Assign(consumer.get(), kT0, 0).ok());
  EXPECT_THAT(Poll(consumer.get()), ElementsAre(0));
  EXPECT_THAT(Ends(), ElementsAre(1));
  cluster_.EndTransaction(open, false);
  EXPECT_THAT(Poll(consumer.get()), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre(3));
}

TEST_F(Clients, AFullBatchEndsNowhere) {
  for (int i = 0; i < 3; i++) cluster_.Produce("t", 0, {});
  cluster_.LimitPolls(2);
  const auto consumer = NewConsumer();
  ASSERT_TRUE(Assign(consumer.get(), kT0, 0).ok());
  EXPECT_THAT(Poll(consumer.get()), ElementsAre(0, 1));
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_THAT(Poll(consumer.get()), ElementsAre(2));
  EXPECT_THAT(Ends(), ElementsAre(3));
}

TEST_F(Clients, PauseKeepsThePosition) {
  const auto consumer = NewConsumer();
  ASSERT_TRUE(Assign(consumer.get(), kT0, 0).ok());
  ASSERT_TRUE(consumer->Pause(std::span(&kT0, 1)).ok());
  cluster_.Produce("t", 0, {});
  EXPECT_THAT(Poll(consumer.get()), IsEmpty());
  EXPECT_THAT(Ends(), IsEmpty());
  ASSERT_TRUE(consumer->Resume(std::span(&kT0, 1)).ok());
  EXPECT_THAT(Poll(consumer.get()), ElementsAre(0));
}

TEST_F(Clients, AnOffsetOutsideTheLogFailsWithNumbers) {
  for (int i = 0; i < 3; i++) cluster_.Produce("t", 0, {});
  cluster_.DeleteRecords(kT0, 2);
  const auto consumer = NewConsumer();
  batch_ = consumer->NewBatch();
  for (const int64_t offset : {1, 4}) {
    ASSERT_TRUE(Assign(consumer.get(), kT0, offset).ok());
    const Status status = consumer->Poll(kNow, batch_.get());
    EXPECT_EQ(status.code(), StatusCode::kCluster);
    EXPECT_THAT(std::string(status.message()), HasSubstr("log is from 2 to 3"));
  }
}

TEST_F(Clients, ARevokedPartitionIsReadUntilItIsGivenBack) {
  const auto a = NewConsumer("g"), b = NewConsumer("g");
  ASSERT_TRUE(a->Subscribe({"t"}).ok());
  Poll(a.get());
  EXPECT_THAT(batch_->assigned, ElementsAre(kT0, kT1));
  ASSERT_TRUE(Assign(a.get(), kT1, 0).ok());
  ASSERT_TRUE(b->Subscribe({"t"}).ok());
  cluster_.Produce("t", 1, {});
  EXPECT_THAT(Poll(a.get()), ElementsAre(0));
  EXPECT_THAT(batch_->revoked, ElementsAre(kT1));
  Poll(b.get());
  EXPECT_THAT(batch_->assigned, IsEmpty());
  ASSERT_TRUE(a->Unassign(std::span(&kT1, 1)).ok());
  Poll(b.get());
  EXPECT_THAT(batch_->assigned, ElementsAre(kT1));
  cluster_.Produce("t", 1, {});
  EXPECT_THAT(Poll(a.get()), IsEmpty());
}

TEST_F(Clients, ALostPartitionBringsNothingMore) {
  const auto a = NewConsumer("g");
  ASSERT_TRUE(a->Subscribe({"t"}).ok());
  Poll(a.get());
  ASSERT_TRUE(Assign(a.get(), kT0, 0).ok());
  cluster_.Produce("t", 0, {});
  cluster_.Evict("g", kT0);
  EXPECT_THAT(Poll(a.get()), IsEmpty());
  EXPECT_THAT(batch_->lost, ElementsAre(kT0, kT1));
  EXPECT_THAT(batch_->assigned, ElementsAre(kT0, kT1)) << "it joins again";
}

TEST_F(Clients, CommitsKeepMetadataAndAreReportedByAPoll) {
  const auto consumer = NewConsumer("g");
  ASSERT_TRUE(consumer->Subscribe({"t"}).ok());
  int reported = 0;
  consumer->CommitAsync({{kT0, 5, "meta"}}, [&](const Status& status) {
    EXPECT_TRUE(status.ok());
    reported++;
  });
  EXPECT_EQ(reported, 0);
  Poll(consumer.get());
  EXPECT_EQ(reported, 1);
  const TopicPartition both[] = {kT0, kT1};
  const auto committed = *consumer->Committed(both);
  EXPECT_EQ(committed[0].offset, 5);
  EXPECT_EQ(committed[0].metadata, "meta");
  EXPECT_EQ(committed[1].offset, kNoOffset);

  cluster_.FailCommits(Status(StatusCode::kFenced, "fenced"));
  EXPECT_EQ(consumer->CommitSync({{kT0, 6, ""}}).code(), StatusCode::kFenced);
  EXPECT_EQ(cluster_.Committed("g", kT0), 5);
}

TEST_F(Clients, NothingIsWrittenOrAcknowledgedWhileHeld) {
  const auto producer = *cluster_.NewProducer();
  Producer::Topic* const topic = *producer->Open("t");
  Record record;
  record.key = "key";
  cluster_.HoldAcks(true);
  ASSERT_TRUE(producer->Send(topic, -1, record, 4).ok());
  ASSERT_TRUE(producer->Send(topic, -1, record, 5).ok());
  producer->Poll(kNow);
  EXPECT_EQ(producer->Pending(4), 1u);
  EXPECT_EQ(producer->Pending(5), 1u);
  EXPECT_EQ(producer->Flush(kNow).code(), StatusCode::kCluster);
  EXPECT_THAT(cluster_.Read("t"), IsEmpty());

  cluster_.OnIdle([this] { cluster_.HoldAcks(false); });
  EXPECT_TRUE(producer->Flush(milliseconds(60'000)).ok());
  EXPECT_EQ(producer->Pending(4), 0u);
  const auto written = cluster_.Read("t");
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].partition, PartitionOfKey("key", 2, 0));
}

TEST_F(Clients, AFailedDeliveryIsNotWrittenAndDoesNotHeal) {
  const auto producer = *cluster_.NewProducer();
  Producer::Topic* const topic = *producer->Open("t");
  ASSERT_TRUE(producer->Send(topic, 0, Record(), 0).ok());
  cluster_.FailDeliveries(Status::Cluster("gone"));
  producer->Poll(kNow);
  EXPECT_EQ(producer->Pending(0), 0u);
  cluster_.FailDeliveries(Status::Ok());
  EXPECT_EQ(producer->failure().message(), "gone");
  EXPECT_EQ(producer->Flush(kNow).message(), "gone");
  EXPECT_THAT(cluster_.Read("t"), IsEmpty());
}

TEST_F(Clients, ARecordThatTheTopicRefusesIsDataAlone) {
  cluster_.CreateTopic("small", 1, {{"max.message.bytes", "10"}});
  const auto producer = *cluster_.NewProducer();
  Producer::Topic* const topic = *producer->Open("small");
  Record record;
  record.value = "0123456789";
  EXPECT_TRUE(producer->Send(topic, 0, record, 0).ok());
  record.key = "k";
  EXPECT_EQ(producer->Send(topic, 0, record, 0).code(), StatusCode::kData);
  EXPECT_EQ(producer->Send(topic, 1, Record(), 0).code(), StatusCode::kData);
  EXPECT_EQ(producer->Pending(0), 1u);
  EXPECT_EQ(producer->Open("none").status().code(), StatusCode::kCluster);
}

TEST_F(Clients, TheAdminSeesOpenTransactionsAndOnlyMatchingTopics) {
  const auto admin = *cluster_.NewAdmin();
  EXPECT_TRUE(*admin->CreateTopic("t2", 3, 1, {{"a", "b"}}));
  EXPECT_FALSE(*admin->CreateTopic("t2", 5, 1, {}));
  cluster_.CreateTopic("__internal_t", 1);
  EXPECT_THAT(*admin->Topics("^.*t"), ElementsAre(std::pair("t", 2), std::pair("t2", 3)));
  EXPECT_THAT(*admin->Topics("t2"), ElementsAre(std::pair("t2", 3)));
  EXPECT_EQ(admin->Topics("none").status().code(), StatusCode::kCluster);
  EXPECT_EQ(*admin->FindTopic("t2"), 3);
  EXPECT_EQ(*admin->FindTopic("none"), std::nullopt);
  EXPECT_EQ(admin->TopicConfig("t2")->at("a"), "b");

  cluster_.Produce("t", 0, {.timestamp = 10});
  cluster_.Produce("t", 0, {.timestamp = 20}, cluster_.BeginTransaction());
  cluster_.DeleteRecords(kT0, 1);
  const auto marks = *admin->Offsets(std::span(&kT0, 1));
  EXPECT_EQ(marks.at(kT0).low, 1);
  EXPECT_EQ(marks.at(kT0).high, 2);
  EXPECT_EQ(admin->OffsetsForTime(std::span(&kT0, 1), 20)->at(kT0), 1);
  EXPECT_EQ(admin->OffsetsForTime(std::span(&kT0, 1), 21)->at(kT0), 2);
}

}  // namespace
}  // namespace kstream::transport::memory
