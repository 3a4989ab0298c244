// Members of groups in memory: static ones, crashes, topics that grow, and many members polled in
// turn by one thread.
#include <gmock/gmock.h>

#include <set>

#include "transport/memory/memory_cluster.h"

namespace kstream::transport::memory {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const TopicPartition kT0{"t", 0}, kT1{"t", 1}, kT2{"t", 2};

// A member that takes what it is assigned and gives what is revoked at once.
class Polled {
 public:
  Polled(MemoryCluster* cluster, const std::string& client_id, const std::string& instance_id = "")
      : consumer_(*cluster->NewConsumer(
            {.group = "g", .instance_id = instance_id, .threads = 1, .client_id = client_id})),
        batch_(consumer_->NewBatch()) {
    EXPECT_TRUE(consumer_->Subscribe({"t"}).ok());
  }
  Status Turn(size_t most = SIZE_MAX) {
    KSTREAM_RETURN_IF_ERROR(consumer_->Poll(milliseconds(0), batch_.get(), most));
    joined = joined || batch_->rebalanced;
    for (const TopicPartition& partition : batch_->assigned) {
      const PartitionOffset from{partition, 0, ""};
      KSTREAM_RETURN_IF_ERROR(consumer_->Assign({&from, 1}));
      owned.insert(partition);
    }
    for (const TopicPartition& partition : batch_->lost) owned.erase(partition);
    for (const TopicPartition& partition : batch_->revoked) owned.erase(partition);
    if (batch_->revoked.empty()) return Status::Ok();
    return consumer_->Unassign(batch_->revoked);
  }
  Consumer* operator->() { return consumer_.get(); }
  const Batch& batch() const { return *batch_; }

  std::set<TopicPartition> owned;
  bool joined = false;

 private:
  std::unique_ptr<Consumer> consumer_;
  std::unique_ptr<Batch> batch_;
};

class Membership : public testing::Test {
 protected:
  Membership() { cluster_.CreateTopic("t", 3); }
  GroupDescription Describe(const std::string& group = "g") {
    return *(*cluster_.NewAdmin())->DescribeGroup(group);
  }
  static void Turns(std::initializer_list<Polled*> members) {
    for (int i = 0; i < 5; i++) {
      for (Polled* member : members) ASSERT_TRUE(member->Turn().ok());
    }
  }
  MemoryCluster cluster_;
};

TEST_F(Membership, MembersPolledInTurnByOneThreadSettle) {
  Polled a(&cluster_, "a");
  Turns({&a});
  EXPECT_THAT(a.owned, SizeIs(3));
  Polled b(&cluster_, "b"), c(&cluster_, "c"), d(&cluster_, "d");
  Turns({&a, &b, &c, &d});
  EXPECT_THAT(a.owned, ElementsAre(kT0));
  EXPECT_THAT(b.owned, SizeIs(1));
  EXPECT_THAT(c.owned, SizeIs(1));
  EXPECT_THAT(d.owned, IsEmpty());
  EXPECT_TRUE(d.joined) << "it learns that there is nothing for it";
  ASSERT_TRUE(b->Close().ok());
  Turns({&a, &c, &d});
  EXPECT_THAT(d.owned, SizeIs(1));
}

TEST_F(Membership, AGroupIsToldWithItsMembers) {
  EXPECT_EQ(Describe("unknown").state, "");
  Polled a(&cluster_, "id-a"), b(&cluster_, "id-b", "host-b");
  Turns({&a, &b});
  const GroupDescription group = Describe();
  EXPECT_EQ(group.state, "Stable");
  ASSERT_THAT(group.members, SizeIs(2));
  EXPECT_EQ(group.members[0].client_id, "id-a");
  EXPECT_EQ(group.members[0].instance_id, "");
  EXPECT_EQ(group.members[1].client_id, "id-b");
  EXPECT_EQ(group.members[1].instance_id, "host-b");
  EXPECT_NE(group.members[0].member_id, group.members[1].member_id);
  EXPECT_THAT(group.members[0].assigned, ElementsAre(kT0, kT1));
  EXPECT_THAT(group.members[1].assigned, ElementsAre(kT2));
}

TEST_F(Membership, AGroupThatWaitsForAnAnswerTellsNoAssignment) {
  Polled a(&cluster_, "a");
  Turns({&a});
  Polled b(&cluster_, "b");
  EXPECT_EQ(Describe().state, "PreparingRebalance");
  EXPECT_THAT(Describe().members[0].assigned, IsEmpty());
  Turns({&a, &b});
  EXPECT_EQ(Describe().state, "Stable");
  ASSERT_TRUE(a->CommitSync({{kT0, 1, ""}}).ok());
  ASSERT_TRUE(a->Close().ok());
  ASSERT_TRUE(b->Close().ok());
  EXPECT_EQ(Describe().state, "Empty");
}

TEST_F(Membership, TheCommitsOfAGroupAreChangedWhenNobodyIsInIt) {
  const auto admin = *cluster_.NewAdmin();
  EXPECT_THAT(*admin->GroupOffsets("g"), IsEmpty());
  EXPECT_TRUE(admin->DeleteGroupOffsets("g", std::vector{kT0}).ok());
  ASSERT_TRUE(
      admin->SetGroupOffsets("g", std::vector<PartitionOffset>{{kT0, 5, "x"}, {kT1, 6, ""}}).ok());
  Polled a(&cluster_, "a");
  Turns({&a});
  EXPECT_EQ(admin->SetGroupOffsets("g", std::vector<PartitionOffset>{{kT0, 0, ""}}).code(),
            StatusCode::kRefused);
  EXPECT_EQ(admin->DeleteGroupOffsets("g", std::vector{kT0}).code(), StatusCode::kRefused);
  ASSERT_TRUE(a->Close().ok());
  ASSERT_TRUE(admin->DeleteGroupOffsets("g", std::vector{kT1, kT2}).ok());
  const auto offsets = *admin->GroupOffsets("g");
  ASSERT_THAT(offsets, SizeIs(1));
  EXPECT_EQ(offsets[0].partition, kT0);
  EXPECT_EQ(offsets[0].offset, 5);
  EXPECT_EQ(offsets[0].metadata, "x");
}

TEST_F(Membership, AStaticMemberComesBackToWhatItHad) {
  Polled a(&cluster_, "a");
  std::optional<Polled> b(std::in_place, &cluster_, "b", "host-b");
  Turns({&a, &*b});
  const std::set<TopicPartition> had = b->owned;
  ASSERT_THAT(had, Not(IsEmpty()));
  ASSERT_TRUE((*b)->Close().ok());
  Turns({&a});
  Polled other(&cluster_, "other");
  Turns({&a, &other});
  for (const TopicPartition& partition : had) {
    EXPECT_FALSE(a.owned.contains(partition) || other.owned.contains(partition));
  }
  ASSERT_TRUE(other->Close().ok());
  Turns({&a});
  b.emplace(&cluster_, "b", "host-b");
  Turns({&a, &*b});
  EXPECT_EQ(b->owned, had);
}

TEST_F(Membership, WhoeverTakesAStaticMembersNameFencesIt) {
  Polled old(&cluster_, "b", "host-b");
  Turns({&old});
  Polled next(&cluster_, "b", "host-b");
  EXPECT_EQ(old.Turn().code(), StatusCode::kFenced);
  EXPECT_EQ(old->CommitSync({{kT0, 1, ""}}).code(), StatusCode::kFenced);
  ASSERT_TRUE(old->Close().ok());
  Turns({&next});
  EXPECT_THAT(next.owned, SizeIs(3));
  EXPECT_THAT(Describe().members, SizeIs(1));
}

TEST_F(Membership, TheSessionOfAStaticMemberEnds) {
  Polled a(&cluster_, "a"), b(&cluster_, "b", "host-b");
  Turns({&a, &b});
  ASSERT_TRUE(b->Close().ok());
  Turns({&a});
  EXPECT_THAT(a.owned, SizeIs(2));
  cluster_.ExpireStatic("g", "host-b");
  Turns({&a});
  EXPECT_THAT(a.owned, SizeIs(3));
}

TEST_F(Membership, NothingThatACrashedMemberDoesCounts) {
  Polled a(&cluster_, "a"), b(&cluster_, "b");
  Turns({&a, &b});
  cluster_.Crash("g", "a");
  Turns({&b});
  EXPECT_THAT(b.owned, SizeIs(3));
  EXPECT_EQ(a.Turn().code(), StatusCode::kFenced);
  EXPECT_EQ(a->CommitSync({{kT0, 9, ""}}).code(), StatusCode::kFenced);
  ASSERT_TRUE(a->Close().ok());
  EXPECT_EQ(cluster_.Committed("g", kT0), kNoOffset);
}

TEST_F(Membership, ATopicThatGrowsIsSharedOut) {
  Polled a(&cluster_, "a"), b(&cluster_, "b");
  Turns({&a, &b});
  const auto admin = *cluster_.NewAdmin();
  ASSERT_TRUE(admin->CreatePartitions("t", 4).ok());
  Turns({&a, &b});
  EXPECT_THAT(a.owned, SizeIs(2));
  EXPECT_THAT(b.owned, SizeIs(2));
  cluster_.GrowTopic("t", 6);
  Turns({&a, &b});
  EXPECT_THAT(b.owned, SizeIs(3));
  ASSERT_TRUE(admin->CreatePartitions("t", 2).ok());
  EXPECT_EQ(admin->Topics("t")->at("t"), 6);
  EXPECT_EQ(admin->CreatePartitions("none", 2).code(), StatusCode::kCluster);
}

TEST_F(Membership, AProducerWritesToThePartitionsItsTopicGrewBy) {
  const auto producer = *cluster_.NewProducer();
  Producer::Topic* const topic = *producer->Open("t");
  EXPECT_EQ(producer->Send(topic, 3, Record(), 0).code(), StatusCode::kData);
  cluster_.GrowTopic("t", 4);
  producer->Poll(milliseconds(0));
  ASSERT_TRUE(producer->Send(topic, 3, Record(), 0).ok());
  ASSERT_TRUE(producer->Flush(milliseconds(0)).ok());
  EXPECT_EQ(cluster_.Read("t")[0].partition, 3);
}

TEST_F(Membership, ABatchHasNoMoreRecordsThanAskedFor) {
  for (int i = 0; i < 3; i++) cluster_.Produce("t", 0, {});
  Polled a(&cluster_, "a");
  Turns({&a});
  const PartitionOffset from{kT0, 0, ""};
  ASSERT_TRUE(a->Assign({&from, 1}).ok());
  ASSERT_TRUE(a.Turn(2).ok());
  EXPECT_THAT(a.batch().records, SizeIs(2));
  ASSERT_TRUE(a.Turn(2).ok());
  EXPECT_THAT(a.batch().records, SizeIs(1));
}

TEST_F(Membership, MetadataThatABrokerWouldNotTakeIsRefused) {
  Polled a(&cluster_, "a");
  const std::string longest(kMaxCommitMetadata, 'm');
  ASSERT_TRUE(a->CommitSync({{kT0, 1, longest}}).ok());
  EXPECT_EQ((*a->Committed({&kT0, 1}))[0].metadata, longest);
  EXPECT_EQ(a->CommitSync({{kT0, 2, longest + "m"}}).code(), StatusCode::kCluster);
  EXPECT_EQ(cluster_.Committed("g", kT0), 1);
}

TEST_F(Membership, RecordsAreDeletedAsABrokerDoes) {
  for (int i = 0; i < 3; i++) cluster_.Produce("t", 0, {});
  cluster_.CreateTopic("compacted", 1, {{"cleanup.policy", "compact"}});
  const auto admin = *cluster_.NewAdmin();
  ASSERT_TRUE(admin->DeleteRecords({{kT0, 2}}).ok());
  EXPECT_EQ(admin->Offsets({&kT0, 1})->at(kT0).low, 2);
  EXPECT_EQ(admin->DeleteRecords({{kT0, 9}}).code(), StatusCode::kCluster);
  EXPECT_EQ(admin->DeleteRecords({{{"none", 0}, 1}}).code(), StatusCode::kCluster);
  EXPECT_EQ(admin->DeleteRecords({{{"compacted", 0}, 0}}).code(), StatusCode::kCluster);
  ASSERT_TRUE(admin->DeleteTopic("t").ok());
  ASSERT_TRUE(admin->DeleteTopic("t").ok());
  EXPECT_EQ(admin->Topics("t").status().code(), StatusCode::kCluster);
}

}  // namespace
}  // namespace kstream::transport::memory
