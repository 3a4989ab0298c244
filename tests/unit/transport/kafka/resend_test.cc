// What a refused batch must not do: lose a record, or let a later one overtake an earlier one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

constexpr int16_t kProduce = 0;

class ResendTest : public MockTest {
 protected:
  void SetUp() override {
    NewTopic("out", 2);
    // Small batches, so that several are under way when the first is refused.
    cluster_ = Connect(brokers_, {}, {{"batch.num.messages", "10"}, {"linger.ms", "1"}});
    producer_ = Must(cluster_->NewProducer());
    out_ = Must(producer_->Open("out"));
  }
  void Refuse(std::vector<rd_kafka_resp_err_t> errors) {
    rd_kafka_mock_push_request_errors_array(mock_, kProduce, errors.size(), errors.data());
  }
  std::vector<std::string> Send(int count, int32_t partition) {
    std::vector<std::string> values;
    for (int i = 0; i < count; i++) {
      values.push_back(std::to_string(sent_++));
      EXPECT_TRUE(producer_->Send(out_, partition, Make("k", values.back()), 0).ok());
    }
    return values;
  }
  std::vector<std::string> Written(int32_t partition) {
    std::vector<std::string> values;
    for (const Owned& record : ReadTopic(cluster_.get(), "out", 2).records) {
      if (record.partition == partition) values.push_back(*record.value);
    }
    return values;
  }
  int sent_ = 0;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Producer> producer_;
  Producer::Topic* out_ = nullptr;
};

TEST_F(ResendTest, ARefusedBatchIsWrittenAllTheSameAndInOrder) {
  Refuse({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  const auto values = Send(200, 0);
  ASSERT_OK(producer_->Flush(seconds(60)));
  EXPECT_EQ(producer_->Pending(0), 0u);
  EXPECT_EQ(Written(0), values);
}

TEST_F(ResendTest, OrderHoldsWhenALaterBatchIsRefused) {
  Refuse({RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_NO_ERROR,
          RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP});
  const auto values = Send(200, 0);
  ASSERT_OK(producer_->Flush(seconds(60)));
  EXPECT_EQ(Written(0), values);
}

TEST_F(ResendTest, OtherPartitionsLoseNothing) {
  Refuse({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  const auto left = Send(100, 0);
  const auto right = Send(100, 1);
  ASSERT_OK(producer_->Flush(seconds(60)));
  EXPECT_EQ(Written(0), left);
  EXPECT_EQ(Written(1), right);
}

TEST_F(ResendTest, ARecordRefusedAloneIsTheFailureAndNothingFollowsIt) {
  const auto before = Send(10, 0);
  ASSERT_OK(producer_->Flush(seconds(60)));
  Refuse({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  Send(1, 0);
  const Status status = producer_->Flush(seconds(60));
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(status.message(), HasSubstr("out[0] refuses a record"));
  EXPECT_EQ(producer_->Pending(0), 0u);
  EXPECT_EQ(producer_->Send(out_, 0, Make("k", "later"), 0).code(), StatusCode::kData);
  EXPECT_EQ(Written(0), before);
}

TEST_F(ResendTest, KeysHeadersAndTimestampsSurvive) {
  Refuse({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  const Header headers[] = {{"a", std::nullopt}, {"a", ""}};
  Record record = Make(std::nullopt, "", 77);
  record.headers = headers;
  ASSERT_OK(producer_->Send(out_, 1, record, 1));
  ASSERT_OK(producer_->Flush(seconds(60)));
  const auto records = ReadTopic(cluster_.get(), "out", 2).records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].key, std::nullopt);
  EXPECT_EQ(records[0].value, "");
  EXPECT_EQ(records[0].timestamp, 77);
  ASSERT_EQ(records[0].headers.size(), 2u);
  EXPECT_EQ(records[0].headers[0].second, std::nullopt);
  EXPECT_EQ(records[0].headers[1].second, "");
}

TEST_F(ResendTest, AnErrorThatGoesAwayIsNoFailure) {
  Refuse({RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS});
  const auto values = Send(50, 0);
  ASSERT_OK(producer_->Flush(seconds(60)));
  EXPECT_EQ(Written(0), values);
}

}  // namespace
}  // namespace kstream::transport::kafka
