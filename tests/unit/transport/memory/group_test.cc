#include "transport/memory/group.h"

#include <gmock/gmock.h>

namespace kstream::transport::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Partitions = std::vector<TopicPartition>;

Partitions Take(std::vector<TopicPartition>* told) { return std::exchange(*told, {}); }

class GroupTest : public testing::Test {
 protected:
  Group::MemberPtr Join(const std::vector<std::string>& topics = {"t"}) {
    const Group::MemberPtr member = *group_.Join(topics);
    group_.Rebalance(all_);
    return member;
  }
  Group group_;
  Partitions all_{{"t", 0}, {"t", 1}, {"t", 2}, {"t", 3}};
};

TEST_F(GroupTest, TheOnlyMemberGetsAll) { EXPECT_EQ(Take(&Join()->assigned), all_); }

TEST_F(GroupTest, AMoveWaitsForTheOwner) {
  const Group::MemberPtr a = Join();
  Take(&a->assigned);
  const Group::MemberPtr b = Join();
  EXPECT_THAT(Take(&a->revoked), UnorderedElementsAre(TopicPartition{"t", 2}, all_[3]));
  EXPECT_THAT(b->assigned, IsEmpty());
  group_.Rebalance(all_);
  EXPECT_THAT(a->revoked, IsEmpty()) << "it has been told";

  Group::GiveBack(a, Partitions{{"t", 2}, {"t", 3}});
  group_.Rebalance(all_);
  EXPECT_THAT(Take(&b->assigned), ElementsAre(TopicPartition{"t", 2}, all_[3]));
  EXPECT_THAT(a->assigned, IsEmpty());
}

TEST_F(GroupTest, WhatAMemberHasNotHeardOfMovesAtOnce) {
  const Group::MemberPtr a = Join();
  const Group::MemberPtr b = Join();
  EXPECT_THAT(a->assigned, ElementsAre(all_[0], all_[1]));
  EXPECT_THAT(a->revoked, IsEmpty());
  EXPECT_THAT(b->assigned, ElementsAre(all_[2], all_[3]));
}

TEST_F(GroupTest, ALoadThatDiffersByOneStays) {
  all_.pop_back();
  const Group::MemberPtr a = Join();
  Take(&a->assigned);
  Join();
  EXPECT_THAT(a->revoked, ElementsAre(all_[2]));
}

TEST_F(GroupTest, TheOthersInheritFromOneThatLeaves) {
  const Group::MemberPtr a = Join();
  const Group::MemberPtr b = Join();
  Take(&b->assigned);
  group_.Leave(a);
  group_.Rebalance(all_);
  EXPECT_THAT(b->assigned, ElementsAre(all_[0], all_[1]));
}

TEST_F(GroupTest, AnEvictedMemberLosesAllAndComesLast) {
  all_.resize(2);
  const Group::MemberPtr a = Join();
  const Group::MemberPtr b = Join();
  Take(&a->assigned);
  Take(&b->assigned);
  const Group::MemberPtr c = Join();
  group_.Evict(all_[0]);
  group_.Rebalance(all_);
  EXPECT_THAT(a->lost, ElementsAre(all_[0]));
  EXPECT_THAT(a->assigned, IsEmpty());
  EXPECT_THAT(c->assigned, ElementsAre(all_[0]));
}

TEST_F(GroupTest, MembersGetOnlyWhatTheyFollow) {
  all_ = {{"__x", 0}, {"a1", 0}, {"b1", 0}, {"b2", 0}};
  const Group::MemberPtr a = Join({"^b", "^__"});
  const Group::MemberPtr b = Join({"a1", "b1"});
  EXPECT_THAT(a->assigned, ElementsAre(all_[2], all_[3]));
  EXPECT_THAT(b->assigned, ElementsAre(all_[1]));
  EXPECT_EQ(group_.Join({"^("}).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::transport::memory
