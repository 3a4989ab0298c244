// Group membership: what is assigned waits for Assign, what is revoked for Unassign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>
#include <utility>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::UnorderedElementsAre;

// One member of the group, polled by hand.
struct Member {
  Member(Cluster* cluster, const std::string& group, const std::string& topic) {
    ConsumerOptions options;
    options.group = group;
    consumer = Must(cluster->NewConsumer(options));
    batch = consumer->NewBatch();
    EXPECT_TRUE(consumer->Subscribe({topic}).ok());
  }
  // One short poll; what is assigned is taken at once unless `hold`.
  void Turn(bool hold = false) {
    Status status = consumer->Poll(milliseconds(20), batch.get());
    ASSERT_TRUE(status.ok()) << status.message();
    for (const Record& record : batch->records) seen.push_back(Own(record));
    revoked.insert(batch->revoked.begin(), batch->revoked.end());
    lost.insert(batch->lost.begin(), batch->lost.end());
    for (const TopicPartition& partition : batch->assigned) {
      assigned.insert(partition);
      if (!hold) Take(partition);
    }
  }
  void Take(const TopicPartition& partition) {
    const PartitionOffset from{partition, kOffsetBeginning, ""};
    EXPECT_TRUE(consumer->Assign({&from, 1}).ok());
  }
  void Give(const TopicPartition& partition) {
    EXPECT_TRUE(consumer->Unassign({&partition, 1}).ok());
    revoked.erase(partition);
    assigned.erase(partition);
  }

  std::unique_ptr<Consumer> consumer;
  std::unique_ptr<Batch> batch;
  std::vector<Owned> seen;
  std::set<TopicPartition> assigned, revoked, lost;
};

template <typename F>
bool Until(F enough, std::initializer_list<Member*> members, bool hold = false) {
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  while (!enough()) {
    if (std::chrono::steady_clock::now() > end) return false;
    for (Member* member : members) member->Turn(hold);
  }
  return true;
}

// How many members the group has, as the broker says; 0 while they have not all agreed.
int StableMembers(const std::string& brokers, const std::string& group) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256];
  rd_kafka_conf_set(conf, "bootstrap.servers", brokers.c_str(), error, sizeof error);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
  const rd_kafka_group_list* list = nullptr;
  int members = 0;
  if (rd_kafka_list_groups(client, group.c_str(), &list, 5000) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (list->group_cnt == 1 && std::string(list->groups[0].state) == "Stable")
      members = list->groups[0].member_cnt;
    rd_kafka_group_list_destroy(list);
  }
  rd_kafka_destroy(client);
  return members;
}

class Group : public BrokerTest {
 protected:
  void SetUp() override {
    BrokerTest::SetUp();
    if (IsSkipped()) return;
    topic_ = NewTopic(4);
    for (int32_t i = 0; i < 4; i++) WriteAll(cluster_.get(), topic_, i, {std::to_string(i)});
  }
  std::string topic_;
};

TEST_F(Group, NothingIsDeliveredBeforeAssign) {
  Member member(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return member.assigned.size() == 4; }, {&member}, true));
  for (int i = 0; i < 10; i++) member.Turn(true);
  EXPECT_TRUE(member.seen.empty());
  member.Take({topic_, 2});
  ASSERT_TRUE(Until([&] { return !member.seen.empty(); }, {&member}, true));
  EXPECT_EQ(member.seen[0].value, "2");
}

// However many records have been fetched and wait for a slow stage.
TEST_F(Group, ARebalanceDoesNotWaitBehindRecords) {
  constexpr size_t kRecords = 20'000;
  const std::string topic = NewTopic(2);
  for (int32_t i = 0; i < 2; i++) {
    WriteAll(cluster_.get(), topic, i, std::vector<std::string>(kRecords / 2, "x"));
  }
  auto quick = Connect(brokers_, {{"heartbeat.interval.ms", "100"}}, {}, seconds(15));
  Member first(quick.get(), topic, topic);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 2; }, {&first}, true));
  for (const TopicPartition& partition : first.assigned) first.Take(partition);
  Member second(quick.get(), topic, topic);
  size_t seen = 0;
  while (first.batch->revoked.empty() && seen < kRecords) {
    ASSERT_OK(first.consumer->Poll(milliseconds(20), first.batch.get(), 1));
    seen += first.batch->records.size();
    second.Turn();
  }
  EXPECT_LT(seen, kRecords / 2);
}

TEST_F(Group, AnAssignmentEndsTheWaitForRecords) {
  Member member(cluster_.get(), topic_, topic_);
  const auto start = std::chrono::steady_clock::now();
  do {
    ASSERT_OK(member.consumer->Poll(seconds(60), member.batch.get()));
  } while (member.batch->assigned.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(50));
}

TEST_F(Group, APartitionCanBePutBackWhileTheGroupWaits) {
  Member first(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 4; }, {&first}));
  ASSERT_TRUE(Until([&] { return first.seen.size() == 4; }, {&first}));
  Member second(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.revoked.size() == 2; }, {&first, &second}));
  TopicPartition stays;
  for (const TopicPartition& partition : first.assigned) {
    if (!first.revoked.contains(partition)) stays = partition;
  }
  ASSERT_OK(first.consumer->Unassign({&stays, 1}));
  first.seen.clear();
  first.Take(stays);
  for (int i = 0; i < 20; i++) {
    first.Turn();
    second.Turn();
  }
  EXPECT_TRUE(second.assigned.empty());
  for (const TopicPartition& partition : std::set(first.revoked)) first.Give(partition);
  ASSERT_TRUE(Until([&] { return !first.seen.empty(); }, {&first, &second}));
  EXPECT_EQ(first.seen[0].value, std::to_string(stays.partition));
}

TEST_F(Group, APartitionRevokedBeforeItWasTakenIsGivenTheSameWay) {
  Member first(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 4; }, {&first}, true));
  Member second(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.revoked.size() == 2; }, {&first, &second}, true));
  for (const TopicPartition& partition : std::set(first.revoked)) first.Give(partition);
  ASSERT_TRUE(Until([&] { return second.assigned.size() == 2; }, {&first, &second}, true));
}

TEST_F(Group, WhoClosesHandsOverAtOnce) {
  Member first(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 4; }, {&first}));
  ASSERT_OK(first.consumer->CommitSync({{{topic_, 0}, 1, "x"}}));
  Member second(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return !first.revoked.empty(); }, {&first, &second}));
  ASSERT_OK(first.consumer->Close());
  ASSERT_TRUE(Until([&] { return second.assigned.size() == 4; }, {&second}));
  const TopicPartition partition{topic_, 0};
  EXPECT_EQ(Must(second.consumer->Committed({&partition, 1}))[0].offset, 1);
}

// Whoever had no partition must leave as well, or the group waits for it until its session is over.
TEST_F(Group, WhoClosesWithoutAPartitionIsNotWaitedFor) {
  const std::string topic = NewTopic(1);
  Member first(cluster_.get(), topic, topic);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 1; }, {&first}));
  auto idle = std::make_unique<Member>(cluster_.get(), topic, topic);
  ASSERT_TRUE(Until([&] { return StableMembers(brokers_, topic) == 2; }, {&first, idle.get()}));
  ASSERT_TRUE(idle->assigned.empty());
  ASSERT_OK(idle->consumer->Close());
  ASSERT_OK(first.consumer->Close());
  const auto start = std::chrono::steady_clock::now();
  Member next(cluster_.get(), topic, topic);
  ASSERT_TRUE(Until([&] { return next.assigned.size() == 1; }, {&next}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30)) << "a session is 45 s";
}

TEST_F(Group, AMemberWithoutPartitionsLearnsThatItHasJoined) {
  const std::string topic = NewTopic(1);
  Member first(cluster_.get(), topic, topic);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 1; }, {&first}));
  Member second(cluster_.get(), topic, topic);
  bool joined = false;
  ASSERT_TRUE(
      Until([&] { return joined = joined || second.batch->rebalanced; }, {&first, &second}));
  EXPECT_TRUE(second.assigned.empty());
  second.Turn();
  EXPECT_FALSE(second.batch->rebalanced) << "told once";
}

TEST_F(Group, PartitionsOfATopicNotSubscribedToAreReadAndCommittedToo) {
  const std::string other = NewTopic(4);
  WriteAll(cluster_.get(), other, 1, {"other"});
  Member member(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return member.assigned.size() == 4; }, {&member}, true));
  member.Take({other, 1});
  ASSERT_TRUE(Until([&] { return !member.seen.empty(); }, {&member}, true));
  EXPECT_EQ(member.seen[0].value, "other");
  ASSERT_OK(member.consumer->CommitSync({{{other, 1}, 1, "meta"}}));
  const TopicPartition partition{other, 1};
  EXPECT_EQ(Must(member.consumer->Committed({&partition, 1}))[0].metadata, "meta");
}

// Commits that are sent while the member joins would cost it all that it has (see
// consumer_joins.h). Others' heartbeats make the join last: they learn late that there is one. One
// round may still meet the moment before librdkafka has sent that it joins.
TEST_F(Group, CommittingWhileOthersComeAndGoCostsNothing) {
  auto quick = Connect(brokers_, {{"heartbeat.interval.ms", "100"}}, {}, seconds(15));
  auto slow = Connect(brokers_, {{"heartbeat.interval.ms", "1000"}}, {}, seconds(15));
  Member busy(quick.get(), topic_, topic_), idle(slow.get(), topic_, topic_);
  int64_t commits = 0, decided = 0;
  int costly = 0;  // rounds
  const auto turn = [&](std::initializer_list<Member*> others) {
    busy.Turn();
    for (const TopicPartition& partition : std::set(busy.revoked)) busy.Give(partition);
    for (Member* other : others) {
      other->Turn();
      for (const TopicPartition& partition : std::set(other->revoked)) other->Give(partition);
    }
    std::vector<PartitionOffset> offsets;
    for (const TopicPartition& partition : busy.assigned) {
      offsets.push_back({partition, commits % 1000, ""});
    }
    commits++;
    busy.consumer->CommitAsync(offsets, [&](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.message();
      decided++;
    });
  };
  for (int round = 0; round < 4; round++) {
    Member guest(round % 2 == 0 ? quick.get() : slow.get(), topic_, topic_);
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (guest.assigned.empty() && std::chrono::steady_clock::now() < end) turn({&idle, &guest});
    EXPECT_FALSE(guest.assigned.empty());
    ASSERT_OK(guest.consumer->Close());
    while (busy.assigned.size() + idle.assigned.size() < 4 &&
           std::chrono::steady_clock::now() < end) {
      turn({&idle});
    }
    EXPECT_EQ(busy.assigned.size() + idle.assigned.size(), 4u);
    costly += std::exchange(busy.lost, {}).empty() ? 0 : 1;
  }
  EXPECT_LE(costly, 1);
  EXPECT_GT(decided, 0);
}

// A rebalance begins while a member fills a batch, again and again; the member reads in circles.
// With what librdkafka drops then not read again, twelve rounds found a gap in one run of four.
TEST_F(Group, WhatStaysIsReadWithoutAGapWhileOthersComeAndGo) {
  const std::string topic = NewTopic(2);
  constexpr int64_t kRecords = 50'000;
  const std::vector<std::string> values(kRecords, "v");
  for (int32_t i = 0; i < 2; i++) WriteAll(cluster_.get(), topic, i, values);
  const auto quick = Connect(brokers_, {{"heartbeat.interval.ms", "100"}});
  Member reader(quick.get(), topic, topic);
  std::map<TopicPartition, int64_t> next;
  const auto read = [&] {
    ASSERT_OK(reader.consumer->Poll(milliseconds(20), reader.batch.get()));
    for (const Record& record : reader.batch->records) {
      int64_t& expected = next[{std::string(record.topic), record.partition}];
      ASSERT_EQ(record.offset, expected) << "of partition " << record.partition;
      expected++;
    }
    for (const TopicPartition& partition : reader.batch->revoked) reader.Give(partition);
    std::vector<TopicPartition> begin = reader.batch->assigned;
    for (const auto& [partition, offset] : next) {
      if (offset < kRecords || !reader.assigned.contains(partition)) continue;
      ASSERT_OK(reader.consumer->Unassign({&partition, 1}));
      begin.push_back(partition);
    }
    for (const TopicPartition& partition : begin) {
      reader.assigned.insert(partition);
      reader.Take(partition);
      next[partition] = 0;
    }
  };
  const auto end = std::chrono::steady_clock::now() + seconds(60);
  for (int round = 0; round < 8; round++) {
    Member guest(quick.get(), topic, topic);
    while (guest.assigned.empty() && std::chrono::steady_clock::now() < end) {
      ASSERT_NO_FATAL_FAILURE(read());
      guest.Turn();
    }
    EXPECT_FALSE(guest.assigned.empty());
    ASSERT_OK(guest.consumer->Close());
    while (reader.assigned.size() < 2 && std::chrono::steady_clock::now() < end) {
      ASSERT_NO_FATAL_FAILURE(read());
    }
  }
}

// Every member left alone for longer than the poll interval loses what it had.
TEST_F(Group, AMemberThatDoesNotPollIsPutOut) {
  auto cluster = Connect(brokers_, {{"max.poll.interval.ms", "2000"},
                                    {"session.timeout.ms", "2000"},
                                    {"heartbeat.interval.ms", "300"}});
  Member first(cluster.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 4; }, {&first}));
  Member second(cluster_.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return second.assigned.size() == 4; }, {&second}));
  Status status;
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (status.ok() && std::chrono::steady_clock::now() < end) {
    status = first.consumer->Poll(milliseconds(20), first.batch.get());
    first.lost.insert(first.batch->lost.begin(), first.batch->lost.end());
  }
  EXPECT_EQ(status.code(), StatusCode::kFenced);
}

// Two members that do not poll for more than twice their interval: one says that it is at work.
TEST_F(Group, WhoKeepsAliveIsNotPutOutForASlowBatch) {
  auto cluster = Connect(brokers_, {{"max.poll.interval.ms", "2000"},
                                    {"session.timeout.ms", "2000"},
                                    {"heartbeat.interval.ms", "100"}});
  Member busy(cluster.get(), topic_ + "-busy", topic_), silent(cluster.get(), topic_, topic_);
  const auto both = [&] { return busy.seen.size() == 4 && silent.seen.size() == 4; };
  ASSERT_TRUE(Until(both, {&busy, &silent}));
  const auto end = std::chrono::steady_clock::now() + milliseconds(4500);
  while (std::chrono::steady_clock::now() < end) {
    busy.consumer->KeepAlive();
    std::this_thread::sleep_for(milliseconds(20));
  }
  for (int i = 0; i < 10; i++) busy.Turn();
  EXPECT_TRUE(busy.lost.empty());
  ASSERT_OK(busy.consumer->CommitSync({{{topic_, 0}, 1, ""}}));
  Status status;
  const auto limit = std::chrono::steady_clock::now() + seconds(30);
  while (status.ok() && std::chrono::steady_clock::now() < limit) {
    status = silent.consumer->Poll(milliseconds(20), silent.batch.get());
  }
  EXPECT_EQ(status.code(), StatusCode::kFenced);
}

// Two processes with one name: the first is put out, and not by a mere failure.
TEST_F(Group, WhoeverTakesAStaticMembersNamePutsItOut) {
  const Properties name = {{"group.instance.id", "same"}, {"heartbeat.interval.ms", "100"}};
  auto cluster = Connect(brokers_, name, {}, seconds(15));
  Member first(cluster.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 4; }, {&first}));
  Member second(cluster.get(), topic_, topic_);
  ASSERT_TRUE(Until([&] { return second.assigned.size() == 4; }, {&second}));
  Status status;
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (status.ok() && std::chrono::steady_clock::now() < end) {
    status = first.consumer->Poll(milliseconds(20), first.batch.get());
    second.Turn();
  }
  EXPECT_EQ(status.code(), StatusCode::kFenced) << status.message();
  EXPECT_NE(status.message().find("group.instance.id"), std::string_view::npos);
}

class GroupMock : public MockTest {
 protected:
  GroupMock() { NewTopic("in", 1); }
};

TEST_F(GroupMock, ACommitThatNobodyAnswersEndsAtTheDeadline) {
  auto cluster = Connect(brokers_, {}, {}, seconds(2));
  Member member(cluster.get(), "g", "in");
  ASSERT_TRUE(Until([&] { return member.assigned.size() == 1; }, {&member}));
  ASSERT_OK(member.consumer->CommitSync({{{"in", 0}, 1, ""}}));
  rd_kafka_mock_broker_set_down(mock_, -1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(member.consumer->CommitSync({{{"in", 0}, 2, ""}}).code(), StatusCode::kCluster);
  static_cast<void>(member.consumer->Close());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(20));
}

// The group waits for the answer to a revocation, so a commit before it may not take long; and the
// answer can be given although the commit failed.
TEST_F(GroupMock, ACommitBeforeARevocationIsAnsweredHoldsTheGroupUpForTwoSeconds) {
  constexpr int16_t kOffsetCommit = 8;
  NewTopic("two", 2);
  // The mock lets a join wait for almost a session.
  auto cluster =
      Connect(brokers_, {{"session.timeout.ms", "4000"}, {"heartbeat.interval.ms", "100"}}, {},
              seconds(60));
  Member first(cluster.get(), "g", "two");
  ASSERT_TRUE(Until([&] { return first.assigned.size() == 2; }, {&first}));
  Member second(cluster.get(), "g", "two");
  ASSERT_TRUE(Until([&] { return first.revoked.size() == 1; }, {&first, &second}));
  const std::vector<rd_kafka_resp_err_t> refused(1000, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS);
  rd_kafka_mock_push_request_errors_array(mock_, kOffsetCommit, refused.size(), refused.data());
  const auto start = std::chrono::steady_clock::now();
  const Status status = first.consumer->CommitSync({{*first.revoked.begin(), 1, ""}});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(status.code(), StatusCode::kFenced) << status.message();
  EXPECT_NE(status.message().find("within 2 s"), std::string_view::npos) << status.message();
  EXPECT_GE(took, seconds(2));
  EXPECT_LT(took, seconds(30));
  first.Give(*std::set(first.revoked).begin());
  EXPECT_TRUE(Until([&] { return second.assigned.size() == 1; }, {&first, &second}));
}

// librdkafka aborts the process when it is closed in this state.
TEST_F(GroupMock, AMemberWhoseJoinIsNeverFinishedClosesAtTheDeadline) {
  constexpr int16_t kSyncGroup = 14;
  constexpr int kNeverMs = 600000;
  rd_kafka_mock_broker_push_request_error_rtts(mock_, 1, kSyncGroup, 1, RD_KAFKA_RESP_ERR_NO_ERROR,
                                               kNeverMs);
  // The mock takes three seconds to answer a first join.
  auto cluster = Connect(brokers_, {}, {}, seconds(5));
  Member member(cluster.get(), "g", "in");
  const auto start = std::chrono::steady_clock::now();
  ASSERT_OK(member.consumer->Close());
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, seconds(5));
  EXPECT_LT(took, seconds(30));
}

}  // namespace
}  // namespace kstream::transport::kafka
