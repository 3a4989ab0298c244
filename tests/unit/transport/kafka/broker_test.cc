// The Kafka transport against a real broker: transactions, limits, deleted records, administration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fixture.h"
#include "transport/kafka/raii.h"
#include "transport/kafka/topic_limits.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Pair;

// A plain librdkafka producer with transactions, which the transport itself does not write yet.
class Transactions {
 public:
  Transactions(const std::string& brokers, const std::string& topic) : topic_(topic) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char error[256];
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), error, sizeof error);
    rd_kafka_conf_set(conf, "transactional.id", topic.c_str(), error, sizeof error);
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
    Error failed(rd_kafka_init_transactions(client_, 30000));
    EXPECT_EQ(failed, nullptr);
  }
  ~Transactions() { rd_kafka_destroy(client_); }
  void Begin(const std::vector<std::string>& values) {
    Error failed(rd_kafka_begin_transaction(client_));
    EXPECT_EQ(failed, nullptr);
    for (const std::string& value : values) {
      EXPECT_EQ(rd_kafka_producev(client_, RD_KAFKA_V_TOPIC(topic_.c_str()),
                                  RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                  RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                                  RD_KAFKA_V_END),
                RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    EXPECT_EQ(rd_kafka_flush(client_, 30000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void Commit() {
    Error failed(rd_kafka_commit_transaction(client_, 30000));
    EXPECT_EQ(failed, nullptr);
  }
  void Abort() {
    Error failed(rd_kafka_abort_transaction(client_, 30000));
    EXPECT_EQ(failed, nullptr);
  }

 private:
  const std::string topic_;
  rd_kafka_t* client_;
};

void DeleteRecordsBelow(const std::string& brokers, const TopicPartition& partition,
                        int64_t offset) {
  Administer(brokers, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    PartitionList before = NewPartitionList();
    Add(before, partition, offset);
    rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(before.get());
    rd_kafka_DeleteRecords(client, &request, 1, nullptr, queue);
    rd_kafka_DeleteRecords_destroy(request);
  });
}

void DeleteTopic(const std::string& brokers, const std::string& name) {
  Administer(brokers, [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
    rd_kafka_DeleteTopics(client, &topic, 1, nullptr, queue);
    rd_kafka_DeleteTopic_destroy(topic);
  });
}

std::vector<std::string> Numbers(int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; i++) values.push_back(std::to_string(i));
  return values;
}

// Polls until the consumer fails.
Status FailureOf(Consumer* consumer) {
  auto batch = consumer->NewBatch();
  const auto end = std::chrono::steady_clock::now() + seconds(40);
  Status status;
  while (status.ok() && std::chrono::steady_clock::now() < end) {
    status = consumer->Poll(milliseconds(50), batch.get());
  }
  return status;
}

using Broker = BrokerTest;

TEST_F(Broker, MarkersAndAbortedRecordsAreNeitherShownNorWaitedFor) {
  const std::string topic = NewTopic(1);
  Transactions transactions(brokers_, topic);
  transactions.Begin({"a"});
  transactions.Commit();
  transactions.Begin({"b1", "b2"});
  transactions.Abort();
  WriteAll(cluster_.get(), topic, 0, {"c"});
  transactions.Begin({"d"});
  transactions.Commit();

  const Contents committed = ReadTopic(cluster_.get(), topic, 1);
  EXPECT_THAT(Values(committed.records), ElementsAre("a", "c", "d"));
  EXPECT_EQ(committed.ends.at({topic, 0}), 8);  // past the last marker

  auto all = Connect(brokers_, {{"isolation.level", "read_uncommitted"}});
  EXPECT_THAT(Values(ReadTopic(all.get(), topic, 1).records),
              ElementsAre("a", "b1", "b2", "c", "d"));
}

TEST_F(Broker, TheHighWatermarkCountsOpenTransactionsAndThePositionDoesNot) {
  const std::string topic = NewTopic(1);
  WriteAll(cluster_.get(), topic, 0, {"a"});
  Transactions transactions(brokers_, topic);
  transactions.Begin({"b", "c"});
  const TopicPartition partition{topic, 0};
  EXPECT_EQ(Must(admin_->Offsets({&partition, 1}))[partition].high, 3);
  const Contents below = ReadTopic(cluster_.get(), topic, 1);
  EXPECT_THAT(Values(below.records), ElementsAre("a"));
  EXPECT_EQ(below.ends.at(partition), 1);
  transactions.Abort();
}

TEST_F(Broker, ARecordLargerThanItsTopicTakesIsRefusedAlone) {
  const std::string topic = NewTopic(1, {{"max.message.bytes", "1000"}});
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  ASSERT_OK(producer->Send(out, 0, Make("k", "before"), 0));
  const Status status = producer->Send(out, 0, Make("k", std::string(5000, 'x')), 0);
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(status.message(), HasSubstr("max.message.bytes (1000)"));
  ASSERT_OK(producer->Send(out, 0, Make("k", "after"), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_THAT(Values(ReadTopic(cluster_.get(), topic, 1).records), ElementsAre("before", "after"));
}

// Whatever is admitted the broker must take, and what it takes must be admitted: to the byte.
TEST_F(Broker, TheLimitOfATopicIsKnownToTheByte) {
  const std::string topic = NewTopic(1, {{"max.message.bytes", "1000"}});
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  const Header headers[] = {{"name", "value"}, {"null", std::nullopt}};
  Record record = Make("key", "");
  record.headers = headers;
  std::string value;
  while (record.value = value, BatchBytes(record) < 1000) value += 'x';
  ASSERT_EQ(BatchBytes(record), 1000);
  ASSERT_OK(producer->Send(out, 0, record, 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  value += 'x';
  record.value = value;
  EXPECT_EQ(producer->Send(out, 0, record, 0).code(), StatusCode::kData);
  // The broker agrees that one byte more is too much, as soon as it goes by the new limit.
  SetTopicConfig(brokers_, topic, "max.message.bytes", "999");
  value.pop_back();
  record.value = value;
  Status refused;
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (refused.ok() && std::chrono::steady_clock::now() < deadline) {
    ASSERT_OK(producer->Send(out, 0, record, 0));
    refused = producer->Flush(seconds(30));
  }
  EXPECT_EQ(refused.code(), StatusCode::kData);
}

TEST_F(Broker, SmallRecordsForATopicOfSmallBatchesTravelInSmallBatches) {
  const std::string small = NewTopic(1, {{"max.message.bytes", "500"}}), large = NewTopic(1);
  auto producer = Must(cluster_->NewProducer());
  auto* to_small = Must(producer->Open(small));
  auto* to_large = Must(producer->Open(large));
  for (const std::string& value : Numbers(1000)) {
    ASSERT_OK(producer->Send(to_small, 0, Make("k", value), 0));
    ASSERT_OK(producer->Send(to_large, 0, Make("k", value), 0));
  }
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_EQ(Values(ReadTopic(cluster_.get(), small, 1).records), Numbers(1000));
  EXPECT_EQ(Values(ReadTopic(cluster_.get(), large, 1).records), Numbers(1000));
}

TEST_F(Broker, ATopicThatTakesLargeRecordsGetsThem) {
  const std::string topic = NewTopic(1, {{"max.message.bytes", "8000000"}});
  const std::string large(6000000, 'x');
  WriteAll(cluster_.get(), topic, 0, {"a", large, "b"});
  EXPECT_THAT(Values(ReadTopic(cluster_.get(), topic, 1).records), ElementsAre("a", large, "b"));
}

TEST_F(Broker, ALimitLoweredMeanwhileLosesNothingAndKeepsTheOrder) {
  const std::string topic = NewTopic(1);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  SetTopicConfig(brokers_, topic, "max.message.bytes", "2000");
  for (const std::string& value : Numbers(200)) {
    ASSERT_OK(producer->Send(out, 0, Make("k", value), 0));
  }
  ASSERT_OK(producer->Flush(seconds(60)));
  EXPECT_EQ(Values(ReadTopic(cluster_.get(), topic, 1).records), Numbers(200));
}

TEST_F(Broker, ATimestampTooFarAheadIsRefusedAlone) {
  const std::string topic = NewTopic(1, {{"message.timestamp.after.max.ms", "1000"}});
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  const auto now =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  ASSERT_OK(producer->Send(out, 0, Make("k", "a", now.count()), 0));
  EXPECT_EQ(producer->Send(out, 0, Make("k", "b", now.count() + 100000), 0).code(),
            StatusCode::kData);
  ASSERT_OK(producer->Send(out, 0, Make("k", "c", 1), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_THAT(Values(ReadTopic(cluster_.get(), topic, 1).records), ElementsAre("a", "c"));
}

TEST_F(Broker, ACompactedTopicRefusesARecordWithoutAKeyAlone) {
  const std::string topic = NewTopic(1, {{"cleanup.policy", "compact"}});
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  EXPECT_EQ(producer->Send(out, 0, Make(std::nullopt, "a"), 0).code(), StatusCode::kData);
  ASSERT_OK(producer->Send(out, 0, Make("k", std::nullopt), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_EQ(ReadTopic(cluster_.get(), topic, 1).records[0].value, std::nullopt);
}

TEST_F(Broker, DeletedRecordsMoveTheLowWatermark) {
  const std::string topic = NewTopic(1);
  WriteAll(cluster_.get(), topic, 0, Numbers(10));
  const TopicPartition partition{topic, 0};
  DeleteRecordsBelow(brokers_, partition, 4);
  auto marks = Must(admin_->Offsets({&partition, 1}))[partition];
  EXPECT_EQ(marks.low, 4);
  EXPECT_EQ(marks.high, 10);
  const auto records = ReadTopic(cluster_.get(), topic, 1).records;
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records[0].offset, 4);
}

TEST_F(Broker, AnOffsetThatTheLogLostIsToldWithNumbers) {
  const std::string topic = NewTopic(1);
  const TopicPartition partition{topic, 0};
  WriteAll(cluster_.get(), topic, 0, Numbers(100));
  DeleteRecordsBelow(brokers_, partition, 75);
  ConsumerOptions grouped;
  grouped.group = topic;
  for (const auto& [committed, expected] : std::vector<std::pair<int64_t, std::string>>{
           {50, "committed 50, log starts at 75, 25 records gone"},
           {150, "committed 150, log ends at 100"}}) {
    auto consumer = Must(cluster_->NewConsumer(grouped));
    ASSERT_OK(consumer->CommitSync({{partition, committed, ""}}));
    const auto from = Must(consumer->Committed({&partition, 1}));
    ASSERT_OK(consumer->Assign(from));
    const Status status = FailureOf(consumer.get());
    EXPECT_EQ(status.code(), StatusCode::kCluster);
    EXPECT_THAT(status.message(), HasSubstr(topic + "[0]: " + expected));
    ASSERT_OK(consumer->Close());
  }
}

TEST_F(Broker, ATopicDeletedWhileItIsReadIsAFailure) {
  const std::string topic = NewTopic(1);
  WriteAll(cluster_.get(), topic, 0, {"a"});
  auto cluster = Connect(brokers_, {{"topic.metadata.refresh.interval.ms", "500"}});
  auto consumer = Must(cluster->NewConsumer({}));
  const PartitionOffset from{{topic, 0}, kOffsetBeginning, ""};
  ASSERT_OK(consumer->Assign({&from, 1}));
  ReadToEnd(consumer.get(), 1);
  DeleteTopic(brokers_, topic);
  const Status status = FailureOf(consumer.get());
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr(topic));
  EXPECT_THAT(status.message(), HasSubstr("does not exist"));
}

TEST_F(Broker, CommitsKeepOffsetAndMetadata) {
  const std::string topic = NewTopic(2);
  ConsumerOptions grouped;
  grouped.group = topic;
  auto consumer = Must(cluster_->NewConsumer(grouped));
  const std::vector<TopicPartition> both = {{topic, 0}, {topic, 1}};
  EXPECT_EQ(Must(consumer->Committed(both))[0].offset, kNoOffset);
  std::string metadata = "{\"t\":1}\n\t\x7f \u00e9\u20ac\U0001f600";
  metadata.append(kMaxCommitMetadata - metadata.size(), 'm');
  ASSERT_OK(consumer->CommitSync({{{topic, 0}, 7, metadata}}));
  EXPECT_EQ(consumer->CommitSync({{{topic, 0}, 8, metadata + "m"}}).code(), StatusCode::kCluster);
  bool done = false;
  consumer->CommitAsync({{{topic, 1}, 9, ""}}, [&](Status status) {
    EXPECT_TRUE(status.ok()) << status.message();
    done = true;
  });
  EXPECT_FALSE(done);
  auto batch = consumer->NewBatch();
  ASSERT_TRUE(PollUntil(consumer.get(), batch.get(), [&] { return done; }));
  const auto committed = Must(consumer->Committed(both));
  EXPECT_EQ(committed[0].offset, 7);
  EXPECT_EQ(committed[0].metadata, metadata);
  EXPECT_EQ(committed[1].offset, 9);
  EXPECT_EQ(committed[1].metadata, "");
}

TEST_F(Broker, TopicsAreFoundByNameAndByPattern) {
  const std::string a = NewTopic(3), b = NewTopic(1);
  EXPECT_THAT(Must(admin_->Topics(a)), ElementsAre(Pair(a, 3)));
  EXPECT_THAT(Must(admin_->Topics("^t-[0-9]+$")), IsSupersetOf({Pair(a, 3), Pair(b, 1)}));
  EXPECT_FALSE(Must(admin_->Topics("^.*")).contains("__consumer_offsets"));
  EXPECT_EQ(admin_->Topics("^(").status().code(), StatusCode::kUsage);
  const Status missing = admin_->Topics("no-such-topic").status();
  EXPECT_EQ(missing.code(), StatusCode::kCluster);
  EXPECT_THAT(missing.message(), HasSubstr("topic no-such-topic does not exist"));
  EXPECT_EQ(Must(admin_->FindTopic(a)), 3);
  EXPECT_EQ(Must(admin_->FindTopic("no-such-topic")), std::nullopt);
  EXPECT_EQ(cluster_->NewProducer().ok(), true);
  EXPECT_EQ(Must(cluster_->NewProducer())->Open("no-such-topic").status().code(),
            StatusCode::kCluster);
}

TEST_F(Broker, ATopicIsCreatedOnceWithItsConfiguration) {
  const std::string topic = NewTopic(2, {{"retention.ms", "-1"}});
  EXPECT_FALSE(Must(admin_->CreateTopic(topic, 5, 1, {}))) << "it is there already";
  EXPECT_EQ(Must(admin_->Topics(topic))[topic], 2);
  EXPECT_EQ(Must(admin_->TopicConfig(topic))["retention.ms"], "-1");
  EXPECT_EQ(admin_->CreateTopic(topic + "x", 1, 99, {}).status().code(), StatusCode::kCluster);
  EXPECT_EQ(admin_->CreateTopic(topic + "x", 1, 1, {{"no.such", "1"}}).status().code(),
            StatusCode::kCluster);
}

TEST_F(Broker, OffsetsAreFoundByTime) {
  const std::string topic = NewTopic(1);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open(topic));
  for (int64_t time : {1000, 2000, 3000})
    ASSERT_OK(producer->Send(out, 0, Make("k", "v", time), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  const TopicPartition partition{topic, 0};
  EXPECT_EQ(Must(admin_->OffsetsForTime({&partition, 1}, 1500))[partition], 1);
  EXPECT_EQ(Must(admin_->OffsetsForTime({&partition, 1}, 3000))[partition], 2);
  EXPECT_EQ(Must(admin_->OffsetsForTime({&partition, 1}, 3001))[partition], 3);
}

}  // namespace
}  // namespace kstream::transport::kafka
