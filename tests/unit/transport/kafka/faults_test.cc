// Faults that the mock cluster injects: which of them a stage may feel, and as what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

constexpr int16_t kProduce = 0, kOffsetCommit = 8, kHeartbeat = 12;
const TopicPartition kIn0{"in", 0};

class Faults : public MockTest {
 protected:
  Faults() : MockTest(2) {
    NewTopic("in", 1);
    cluster_ = Connect(brokers_, {{"heartbeat.interval.ms", "100"}}, {}, seconds(10));
  }
  void Inject(int16_t api, const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(mock_, api, errors.size(), errors.data());
  }
  // A member of group "g" that owns in[0].
  void Join(Cluster* cluster = nullptr) {
    ConsumerOptions options;
    options.group = "g";
    consumer_ = Must((cluster == nullptr ? cluster_.get() : cluster)->NewConsumer(options));
    batch_ = consumer_->NewBatch();
    ASSERT_OK(consumer_->Subscribe({"in"}));
    ASSERT_TRUE(
        PollUntil(consumer_.get(), batch_.get(), [&] { return !batch_->assigned.empty(); }));
    const PartitionOffset from{kIn0, 0, ""};
    ASSERT_OK(consumer_->Assign({&from, 1}));
  }
  // The outcome of a commit by way of CommitAsync.
  Status CommitAsync(int64_t offset) {
    std::optional<Status> outcome;
    consumer_->CommitAsync({{kIn0, offset, ""}}, [&](Status status) { outcome = status; });
    EXPECT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] { return outcome.has_value(); }));
    return outcome.value_or(Status::Cluster("none"));
  }
  int64_t Committed() { return Must(consumer_->Committed({&kIn0, 1}))[0].offset; }

  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Consumer> consumer_;
  std::unique_ptr<Batch> batch_;
};

TEST_F(Faults, WhatAProducerCanRetryIsWrittenOnceAndInOrder) {
  // One request at a time: the mock does not check sequence numbers, so it would take a batch
  // behind one that failed, which librdkafka rightly reads as an acknowledgement of both.
  const auto cluster =
      Connect(brokers_, {}, {{"max.in.flight.requests.per.connection", "1"}}, seconds(10));
  auto producer = Must(cluster->NewProducer());
  auto* out = Must(producer->Open("in"));
  Inject(kProduce, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
                    RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT});
  std::vector<std::string> values;
  for (int i = 0; i < 200; i++) {
    values.push_back(std::to_string(i));
    ASSERT_OK(producer->Send(out, 0, Make("k", values.back()), 0));
    if (i % 50 == 0) producer->Poll(milliseconds(30));
  }
  ASSERT_OK(producer->Flush(seconds(30)));
  EXPECT_EQ(Values(ReadTopic(cluster_.get(), "in", 1).records), values);
}

TEST_F(Faults, AProducerWithoutTheRightToWriteSaysSo) {
  auto producer = Must(cluster_->NewProducer());
  auto* out = Must(producer->Open("in"));
  Inject(kProduce, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  ASSERT_OK(producer->Send(out, 0, Make("k", "v"), 0));
  const Status status = producer->Flush(seconds(30));
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not authorised for the topic"));
}

TEST_F(Faults, ACommitIsRepeatedUntilItIsTaken) {
  Join();
  const std::vector<rd_kafka_resp_err_t> passing = {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS,
                                                    RD_KAFKA_RESP_ERR_NOT_COORDINATOR,
                                                    RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS};
  Inject(kOffsetCommit, passing);
  ASSERT_OK(CommitAsync(5));
  EXPECT_EQ(Committed(), 5);
  Inject(kOffsetCommit, passing);
  ASSERT_OK(consumer_->CommitSync({{kIn0, 6, ""}}));
  EXPECT_EQ(Committed(), 6);
}

// However often the group is asked: the cluster's deadline is not for it.
class Refusals : public Faults, public ::testing::WithParamInterface<rd_kafka_resp_err_t> {};

TEST_P(Refusals, ACommitThatTheGroupAlwaysRefusesEndsInSeconds) {
  const auto patient = Connect(brokers_, {{"heartbeat.interval.ms", "100"}}, {}, seconds(60));
  Join(patient.get());
  Inject(kOffsetCommit, std::vector<rd_kafka_resp_err_t>(1000, GetParam()));
  const auto begin = std::chrono::steady_clock::now();
  const Status status = consumer_->CommitSync({{kIn0, 5, ""}});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not settled within 5 s"));
  EXPECT_GE(took, seconds(5));
  EXPECT_LT(took, seconds(30));
}

INSTANTIATE_TEST_SUITE_P(OfTheGroup, Refusals,
                         ::testing::Values(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
                                           RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION),
                         [](const auto& info) { return rd_kafka_err2name(info.param); });

// That is no refusal: the group cannot be asked yet.
TEST_F(Faults, ACoordinatorThatIsNotReadyIsGivenTheDeadline) {
  const auto cluster = Connect(brokers_, {}, {}, seconds(7));
  Join(cluster.get());
  Inject(kOffsetCommit,
         std::vector<rd_kafka_resp_err_t>(1000, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(consumer_->CommitSync({{kIn0, 5, ""}}).code(), StatusCode::kCluster);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, seconds(7));
}

TEST_F(Faults, ACommitThatIsNotAllowedFails) {
  Join();
  Inject(kOffsetCommit, {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED});
  const Status status = consumer_->CommitSync({{kIn0, 5, ""}});
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(status.message()), HasSubstr("not authorised for the group"));
}

TEST_F(Faults, ACommitOfAMemberThatWasPutOutIsFenced) {
  Join();
  Inject(kOffsetCommit, {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID});
  EXPECT_EQ(consumer_->CommitSync({{kIn0, 5, ""}}).code(), StatusCode::kFenced);
}

TEST_F(Faults, AMemberThatTheGroupForgotLosesAllAndJoinsAgain) {
  // The group waits for who it knew before, until that session is over.
  auto cluster =
      Connect(brokers_, {{"session.timeout.ms", "4000"}, {"heartbeat.interval.ms", "100"}});
  Join(cluster.get());
  Inject(kHeartbeat, {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID});
  std::set<TopicPartition> lost;
  bool again = false;
  ASSERT_TRUE(PollUntil(consumer_.get(), batch_.get(), [&] {
    lost.insert(batch_->lost.begin(), batch_->lost.end());
    again = again || (!lost.empty() && !batch_->assigned.empty());
    return again;
  }));
  EXPECT_EQ(lost, std::set{kIn0});
  const PartitionOffset from{kIn0, 0, ""};
  ASSERT_OK(consumer_->Assign({&from, 1}));
  ASSERT_OK(CommitAsync(7));
  EXPECT_EQ(Committed(), 7);
}

TEST_F(Faults, ACoordinatorThatMovesTakesCommitsAlong) {
  rd_kafka_mock_coordinator_set(mock_, "group", "g", 1);
  Join();
  ASSERT_OK(CommitAsync(5));
  rd_kafka_mock_coordinator_set(mock_, "group", "g", 2);
  ASSERT_OK(CommitAsync(6));
  EXPECT_EQ(Committed(), 6);
  rd_kafka_mock_coordinator_set(mock_, "group", "g", 1);
  ASSERT_OK(consumer_->CommitSync({{kIn0, 7, ""}}));
  EXPECT_EQ(Committed(), 7);
}

// librdkafka goes on looking for a coordinator after the question that it was wanted for has timed
// out, and ends the process when it has found it.
TEST_F(Faults, ACoordinatorThatComesBackAfterTheDeadlineIsAskedAgain) {
  constexpr int32_t kCoordinator = 2;
  rd_kafka_mock_coordinator_set(mock_, "group", "g", kCoordinator);
  rd_kafka_mock_broker_set_down(mock_, kCoordinator);
  const auto cluster = Connect(brokers_, {}, {}, seconds(1));
  auto admin = Must(cluster->NewAdmin());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(admin->GroupOffsets("g").status().code(), StatusCode::kCluster);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  rd_kafka_mock_broker_set_up(mock_, kCoordinator);
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  while (!admin->GroupOffsets("g").ok()) ASSERT_LT(std::chrono::steady_clock::now(), end);
}

}  // namespace
}  // namespace kstream::transport::kafka
