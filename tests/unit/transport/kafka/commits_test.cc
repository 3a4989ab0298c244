// How long a commit is waited for. The member's joins are told by hand, and nothing answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "fixture.h"
#include "transport/kafka/consumer_commits.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

constexpr int16_t kJoinGroup = 11;

// A consumer of a group in a cluster that is down.
class CommitsTest : public MockTest {
 protected:
  CommitsTest() { rd_kafka_mock_broker_set_down(mock_, -1); }
  void Begin(milliseconds deadline) {
    Options options;
    options.bootstrap = brokers_;
    options.deadline = deadline;
    ConsumerOptions consumer;
    consumer.group = "g";
    handle_ = Must(
        Handle::New(RD_KAFKA_CONSUMER, Must(ConsumerConf(options, consumer)), options, nullptr));
    queue_.reset(rd_kafka_queue_new(handle_->get()));
    commits_.emplace(handle_.get(), queue_.get(), &joins_);
  }
  // librdkafka does not end a client with a commit that nobody answers.
  void TearDown() override { handle_->Abandon(); }
  Status Wait(bool owed) {
    const Clock::time_point begin = Clock::now();
    Status status = commits_->Wait({{{"in", 0}, 1, ""}}, owed);
    took_ = Clock::now() - begin;
    return status;
  }

  std::unique_ptr<Handle> handle_;
  Queue queue_;
  Joins joins_;
  std::optional<Commits> commits_;
  Clock::duration took_{};
};

TEST_F(CommitsTest, AGroupThatDoesNotSettleIsToldWithItsLimit) {
  Begin(milliseconds(200));
  joins_.Sent(kJoinGroup);
  const Status status = Wait(false);
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the group has not settled within 0.2 s"));
  EXPECT_FALSE(commits_->unanswered()) << "nothing was asked";
}

TEST_F(CommitsTest, AGroupThatDoesNotSettleIsGivenFiveSeconds) {
  Begin(seconds(60));
  joins_.Sent(kJoinGroup);
  const Status status = Wait(false);
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_THAT(std::string(status.message()), HasSubstr("within 5 s"));
  EXPECT_GE(took_, seconds(5));
  EXPECT_LT(took_, seconds(30));
}

// The commit is on its way when the group begins to move, and is not answered any more.
TEST_F(CommitsTest, AJoinBehindACommitCutsTheWaitForItsAnswer) {
  Begin(seconds(60));
  std::jthread join([&] {
    std::this_thread::sleep_for(milliseconds(300));
    joins_.Sent(kJoinGroup);
  });
  EXPECT_EQ(Wait(false).code(), StatusCode::kFenced);
  EXPECT_TRUE(commits_->unanswered());
  EXPECT_GE(took_, seconds(5));
  EXPECT_LT(took_, seconds(30));
}

TEST_F(CommitsTest, AGroupThatWaitsForThisMemberIsGivenTwoSeconds) {
  Begin(seconds(60));
  const Status status = Wait(true);
  EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_THAT(std::string(status.message()), HasSubstr("within 2 s"));
  EXPECT_GE(took_, seconds(2));
  EXPECT_LT(took_, seconds(30));
}

// It has not begun to move, so it is the cluster that is waited for: all the deadline.
TEST_F(CommitsTest, ACoordinatorThatIsNotThereIsGivenTheDeadline) {
  Begin(seconds(7));
  EXPECT_EQ(Wait(false).code(), StatusCode::kCluster);
  EXPECT_TRUE(commits_->unanswered());
  EXPECT_GE(took_, seconds(7));
}

}  // namespace
}  // namespace kstream::transport::kafka
