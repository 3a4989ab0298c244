// What an admin changes and tells of groups, against a real broker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class AdminTest : public BrokerTest {
 protected:
  std::unique_ptr<Consumer> Join(Cluster* cluster, const std::string& topic,
                                 const std::string& client_id,
                                 const std::string& instance_id = "") {
    ConsumerOptions options;
    options.group = topic;
    options.client_id = client_id;
    options.instance_id = instance_id;
    auto consumer = Must(cluster->NewConsumer(options));
    EXPECT_TRUE(consumer->Subscribe({topic}).ok());
    return consumer;
  }
  // Polls until the group has settled with this consumer in it.
  void Settle(Consumer* consumer) {
    auto batch = consumer->NewBatch();
    ASSERT_TRUE(PollUntil(consumer, batch.get(), [&] { return batch->rebalanced; }));
  }
};

TEST_F(AdminTest, AGroupIsToldWithItsMembers) {
  const std::string topic = NewTopic(2);
  EXPECT_EQ(Must(admin_->DescribeGroup(topic)).state, "");
  EXPECT_THAT(Must(admin_->DescribeGroup(topic)).members, IsEmpty());

  auto dynamic = Join(cluster_.get(), topic, "v1;hash=abc");
  Settle(dynamic.get());
  const GroupDescription one = Must(admin_->DescribeGroup(topic));
  EXPECT_EQ(one.state, "Stable");
  ASSERT_EQ(one.members.size(), 1u);
  EXPECT_EQ(one.members[0].client_id, "kstream;v1;hash=abc");
  EXPECT_EQ(one.members[0].instance_id, "");
  EXPECT_FALSE(one.members[0].member_id.empty());
  EXPECT_FALSE(one.members[0].host.empty());
  EXPECT_THAT(one.members[0].assigned,
              ElementsAre(TopicPartition{topic, 0}, TopicPartition{topic, 1}));
  ASSERT_OK(dynamic->CommitSync({{{topic, 0}, 1, ""}}));
  ASSERT_OK(dynamic->Close());

  const GroupDescription none = Must(admin_->DescribeGroup(topic));
  EXPECT_EQ(none.state, "Empty");
  EXPECT_THAT(none.members, IsEmpty());

  auto named = Connect(brokers_, {{"client.id", "mine"}});
  auto fixed = Join(named.get(), topic, "ours", "host-1");
  Settle(fixed.get());
  const GroupDescription statics = Must(admin_->DescribeGroup(topic));
  ASSERT_EQ(statics.members.size(), 1u);
  EXPECT_EQ(statics.members[0].client_id, "mine;ours");
  EXPECT_EQ(statics.members[0].instance_id, "host-1");
}

TEST_F(AdminTest, AMemberGetsThePartitionsThatItsTopicGrowsBy) {
  const std::string topic = NewTopic(1);
  auto cluster = Connect(brokers_, {{"topic.metadata.refresh.interval.ms", "200"}});
  auto consumer = Join(cluster.get(), topic, "");
  Settle(consumer.get());
  ASSERT_OK(admin_->CreatePartitions(topic, 3));
  EXPECT_THAT(Must(admin_->Topics(topic)), ElementsAre(Pair(topic, 3)));
  std::set<TopicPartition> assigned;
  auto batch = consumer->NewBatch();
  ASSERT_TRUE(PollUntil(consumer.get(), batch.get(), [&] {
    assigned.insert(batch->assigned.begin(), batch->assigned.end());
    return assigned.size() == 2;
  }));
  EXPECT_THAT(assigned, ElementsAre(TopicPartition{topic, 1}, TopicPartition{topic, 2}));
  ASSERT_OK(admin_->CreatePartitions(topic, 2));
  EXPECT_THAT(Must(admin_->Topics(topic)), ElementsAre(Pair(topic, 3)));
  const Status missing = admin_->CreatePartitions(topic + "x", 2);
  EXPECT_EQ(missing.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("does not exist"));
}

TEST_F(AdminTest, RecordsBelowAnOffsetAreDeleted) {
  const std::string topic = NewTopic(2);
  WriteAll(cluster_.get(), topic, 0, {"a", "b", "c"});
  const TopicPartition partition{topic, 0};
  ASSERT_OK(admin_->DeleteRecords({{partition, 2}, {{topic, 1}, 0}}));
  EXPECT_EQ(Must(admin_->Offsets({&partition, 1}))[partition].low, 2);
  ASSERT_OK(admin_->DeleteRecords({{partition, 1}}));
  EXPECT_EQ(Must(admin_->Offsets({&partition, 1}))[partition].low, 2);
  ASSERT_OK(admin_->DeleteRecords({}));
  EXPECT_EQ(admin_->DeleteRecords({{partition, 9}}).code(), StatusCode::kCluster);

  const std::string compacted = NewTopic(1, {{"cleanup.policy", "compact"}});
  WriteAll(cluster_.get(), compacted, 0, {"a"});
  const Status refused = admin_->DeleteRecords({{{compacted, 0}, 1}});
  EXPECT_EQ(refused.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(refused.message()), HasSubstr(compacted));
}

TEST_F(AdminTest, TheCommitsOfAGroupAreChangedWhenNobodyIsInIt) {
  const std::string topic = NewTopic(3);
  const TopicPartition zero{topic, 0}, one{topic, 1}, two{topic, 2};
  EXPECT_THAT(Must(admin_->GroupOffsets(topic)), IsEmpty());
  ASSERT_OK(admin_->DeleteGroupOffsets(topic, std::vector{zero}));
  ASSERT_OK(admin_->SetGroupOffsets(topic,
                                    std::vector<PartitionOffset>{{zero, 5, "said"}, {one, 6, ""}}));
  const auto tell = [&] {
    std::map<TopicPartition, std::pair<int64_t, std::string>> all;
    for (const auto& o : Must(admin_->GroupOffsets(topic))) {
      all[o.partition] = {o.offset, o.metadata};
    }
    return all;
  };
  EXPECT_THAT(tell(), ElementsAre(Pair(zero, Pair(5, "said")), Pair(one, Pair(6, ""))));

  auto consumer = Join(cluster_.get(), topic, "");
  Settle(consumer.get());
  const Status set = admin_->SetGroupOffsets(topic, std::vector<PartitionOffset>{{zero, 0, ""}});
  EXPECT_EQ(set.code(), StatusCode::kRefused) << set.message();
  const Status deleted = admin_->DeleteGroupOffsets(topic, std::vector{zero});
  EXPECT_EQ(deleted.code(), StatusCode::kRefused) << deleted.message();
  ASSERT_OK(consumer->Close());

  ASSERT_OK(admin_->SetGroupOffsets(topic, std::vector<PartitionOffset>{{zero, 0, ""}}));
  ASSERT_OK(admin_->DeleteGroupOffsets(topic, std::vector{one, two}));
  EXPECT_THAT(tell(), ElementsAre(Pair(zero, Pair(0, ""))));
  ASSERT_OK(admin_->SetGroupOffsets(topic, {}));
  ASSERT_OK(admin_->DeleteTopic(topic));
}

TEST_F(AdminTest, ATopicIsDeletedOnceAndMissingIsFine) {
  const std::string topic = NewTopic(1);
  ASSERT_OK(admin_->DeleteTopic(topic));
  ASSERT_OK(admin_->DeleteTopic(topic));
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (admin_->Topics(topic).ok() && std::chrono::steady_clock::now() < end) continue;
  EXPECT_EQ(admin_->Topics(topic).status().code(), StatusCode::kCluster);
}

}  // namespace
}  // namespace kstream::transport::kafka
