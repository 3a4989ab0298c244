#include <gtest/gtest.h>

#include <thread>

#include "transport/kafka/consumer_joins.h"

namespace kstream::transport::kafka {
namespace {

constexpr int16_t kOffsetCommit = 8, kJoinGroup = 11, kHeartbeat = 12, kSyncGroup = 14;

TEST(Joins, ACommitWaitsFromTheJoinToTheAssignment) {
  Joins joins;
  EXPECT_FALSE(joins.under_way());
  EXPECT_FALSE(joins.asked());
  joins.Sent(kHeartbeat);
  joins.Sent(kOffsetCommit);
  EXPECT_FALSE(joins.under_way());
  joins.Sent(kJoinGroup);
  EXPECT_TRUE(joins.under_way());
  EXPECT_TRUE(joins.asked());
  joins.Answered(kJoinGroup);
  joins.Sent(kSyncGroup);
  EXPECT_TRUE(joins.under_way());
  joins.Answered(kSyncGroup);
  EXPECT_TRUE(joins.under_way()) << "it may be an error";
  joins.Served(false);
  EXPECT_FALSE(joins.under_way());
}

TEST(Joins, AnAnsweredJoinIsOverSoonEvenIfNobodyServesTheAssignment) {
  Joins joins;
  joins.Sent(kJoinGroup);
  joins.Answered(kSyncGroup);
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (joins.under_way() && Clock::now() < end) std::this_thread::yield();
  EXPECT_FALSE(joins.under_way());
}

TEST(Joins, AfterARevocationAnotherJoinIsExpected) {
  Joins joins;
  joins.Sent(kJoinGroup);
  joins.Answered(kSyncGroup);
  joins.Served(false);  // the revocation, whose commit may go
  EXPECT_FALSE(joins.under_way());
  joins.Served(true);  // the assignment that follows it
  EXPECT_TRUE(joins.under_way());
  joins.Sent(kJoinGroup);
  joins.Served(false);
  EXPECT_TRUE(joins.under_way()) << "what was served came before this join";
}

}  // namespace
}  // namespace kstream::transport::kafka
