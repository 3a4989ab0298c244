#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class ProducerTest : public MockTest {
 protected:
  void SetUp() override { cluster_ = Connect(brokers_); }
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ProducerTest, NullAndEmptyAndHeadersComeBackAsTheyWere) {
  NewTopic("out", 1);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open("out"));
  const std::string zero("\0x\0", 3);
  const Header headers[] = {{"b", "1"}, {"a", std::nullopt}, {"b", ""}, {"b", zero}};
  Record record = Make(std::nullopt, std::nullopt, 5);
  record.headers = headers;
  ASSERT_OK(producer->Send(out, 0, record, 0));
  ASSERT_OK(producer->Send(out, 0, Make("", ""), 0));
  ASSERT_OK(producer->Send(out, 0, Make(zero, "null"), 0));
  ASSERT_OK(producer->Send(out, 0, Make(std::string_view(), std::string_view()), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  const auto records = ReadTopic(cluster_.get(), "out", 1).records;
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].key, std::nullopt);
  EXPECT_EQ(records[0].value, std::nullopt);
  EXPECT_EQ(records[0].timestamp, 5);
  EXPECT_THAT(records[0].headers,
              ElementsAre(Pair("b", "1"), Pair("a", std::nullopt), Pair("b", ""), Pair("b", zero)));
  EXPECT_EQ(records[1].key, "");
  EXPECT_EQ(records[1].value, "");
  EXPECT_EQ(records[2].key, zero);
  EXPECT_EQ(records[2].value, "null");
  EXPECT_EQ(records[3].key, "");
  EXPECT_EQ(records[3].value, "");
}

// Where Java's producer puts these keys.
TEST_F(ProducerTest, KeysArePlacedWithMurmur2) {
  const struct {
    std::string key;
    int partitions, expected;
  } table[] = {{"TT0124", 15, 10},
               {"fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32, 26},
               {"354afe16-939a-4ea8-8e17-8bb0840b6886", 10, 4},
               {"f562ac3b-2224-4e25-a0ab-56094e10c239", 10, 5},
               {"alice", 3, 0},
               {"", 4, 1}};
  auto producer = Must(cluster_->NewProducer());
  for (const auto& row : table) {
    const std::string topic = "keys-" + std::to_string(row.partitions) + "-" + row.key;
    NewTopic(topic, row.partitions);
    auto* out = Must(producer->Open(topic));
    for (int i = 0; i < 3; i++) ASSERT_OK(producer->Send(out, -1, Make(row.key, "v"), 0));
    ASSERT_OK(producer->Flush(seconds(30)));
    for (const Owned& record : ReadTopic(cluster_.get(), topic, row.partitions).records) {
      EXPECT_EQ(record.partition, row.expected) << row.key;
    }
  }
}

TEST_F(ProducerTest, AMissingTopicIsToldWithTheWayOut) {
  // The mock makes unknown topics on sight, as a broker may: the answer must come before.
  rd_kafka_mock_topic_set_error(mock_, "gone", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  auto producer = Must(cluster_->NewProducer());
  const Status status = producer->Open("gone").status();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("topic gone does not exist"));
  EXPECT_THAT(status.message(), HasSubstr("--create-output"));
}

TEST_F(ProducerTest, AMissingPartitionRefusesOneRecordAlone) {
  NewTopic("out", 2);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open("out"));
  ASSERT_OK(producer->Send(out, 0, Make("k", "a"), 0));
  EXPECT_EQ(producer->Send(out, 2, Make("k", "b"), 0).code(), StatusCode::kData);
  ASSERT_OK(producer->Send(out, 0, Make("k", "c"), 0));
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_THAT(Values(ReadTopic(cluster_.get(), "out", 2).records), ElementsAre("a", "c"));
}

TEST_F(ProducerTest, EveryTagIsCountedByItself) {
  NewTopic("out", 1);
  rd_kafka_mock_broker_set_rtt(mock_, -1, 200);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open("out"));
  for (int i = 0; i < 3; i++) ASSERT_OK(producer->Send(out, 0, Make("k", "v"), 6));
  ASSERT_OK(producer->Send(out, 0, Make("k", "v"), 7));
  EXPECT_EQ(producer->Pending(6), 3u);
  EXPECT_EQ(producer->Pending(7), 1u);
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_EQ(producer->Pending(6), 0u);
  EXPECT_EQ(producer->Pending(7), 0u);
}

TEST_F(ProducerTest, AFullQueueWaitsForRoom) {
  NewTopic("out", 1);
  auto cluster = Connect(brokers_, {}, {{"queue.buffering.max.messages", "10"}});
  std::vector<std::string> values;
  for (int i = 0; i < 500; i++) values.push_back(std::to_string(i));
  WriteAll(cluster.get(), "out", 0, values);
  EXPECT_EQ(Values(ReadTopic(cluster.get(), "out", 1).records), values);
}

TEST_F(ProducerTest, ARecordThatCannotBeDeliveredIsAFailureForGood) {
  NewTopic("out", 1);
  auto cluster = Connect(brokers_, {}, {{"message.timeout.ms", "300"}});
  auto producer = Must(cluster->NewProducer());
  auto* out = Must(producer->Open("out"));
  rd_kafka_mock_broker_set_down(mock_, -1);
  ASSERT_OK(producer->Send(out, 0, Make("k", "v"), 0));
  const Status status = producer->Flush(seconds(30));
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("out[0]"));
  rd_kafka_mock_broker_set_up(mock_, -1);
  EXPECT_EQ(producer->Send(out, 0, Make("k", "v"), 0).code(), StatusCode::kCluster);
  EXPECT_EQ(producer->failure().message(), status.message());
}

// What is written of a record that waits in a producer while its owner is cut off for longer than
// its session. By then another owner may have written newer values, so it has to be nothing. The
// session lasts 1.5 s, which really pass; the user would let a record wait for a minute.
std::vector<std::string> WrittenAfterTheSession(const ProducerOptions& options,
                                                rd_kafka_mock_cluster_t* mock) {
  const auto session = milliseconds(1500);
  const std::string brokers = rd_kafka_mock_cluster_bootstraps(mock);
  const auto owner =
      Connect(brokers, {{"session.timeout.ms", "1500"}}, {{"message.timeout.ms", "60000"}});
  auto producer = Must(owner->NewProducer(options));
  auto* out = Must(producer->Open("out"));
  rd_kafka_mock_broker_set_down(mock, -1);
  const auto cut_off = std::chrono::steady_clock::now();
  EXPECT_TRUE(producer->Send(out, 0, Make("k", "old"), 0).ok());
  while (std::chrono::steady_clock::now() < cut_off + session) producer->Poll(milliseconds(50));
  rd_kafka_mock_broker_set_up(mock, -1);
  static_cast<void>(producer->Flush(seconds(30)));
  return Values(ReadTopic(owner.get(), "out", 1).records);
}

TEST_F(ProducerTest, NothingOfAnOwnerOutlivesItsSession) {
  NewTopic("out", 1);
  EXPECT_THAT(WrittenAfterTheSession({.idempotent = true}, mock_), IsEmpty());
}

TEST_F(ProducerTest, WithoutALimitAnOldValueIsWrittenBehindNewOnes) {
  NewTopic("out", 1);
  EXPECT_THAT(WrittenAfterTheSession({.idempotent = false}, mock_), ElementsAre("old"));
}

TEST_F(ProducerTest, FlushTellsWhatIsLeftWhenItsTimeIsOver) {
  NewTopic("out", 1);
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open("out"));
  rd_kafka_mock_broker_set_down(mock_, -1);
  ASSERT_OK(producer->Send(out, 0, Make("k", "v"), 0));
  const Status status = producer->Flush(milliseconds(200));
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(status.message(), HasSubstr("1 records not acknowledged"));
}

}  // namespace
}  // namespace kstream::transport::kafka
