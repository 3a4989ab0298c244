#include "runtime/group_check.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using transport::GroupDescription;
using Verdict = GroupCheck::Verdict;

class ManualClock final : public Clock {
 public:
  int64_t WallMs() const override { return 0; }
  Instant Steady() const override { return now; }
  Instant now;
};

// Answers what the test says.
class FakeAdmin final : public transport::Admin {
 public:
  explicit FakeAdmin(std::function<Result<GroupDescription>()> answer)
      : answer_(std::move(answer)) {}
  Result<std::string> ClusterId() override { return No(); }
  Result<std::map<std::string, int32_t>> Topics(const std::string&) override { return No(); }
  Result<std::optional<int32_t>> FindTopic(const std::string&) override { return No(); }
  Result<std::map<transport::TopicPartition, Watermarks>> Offsets(
      std::span<const transport::TopicPartition>) override {
    return No();
  }
  Result<std::map<transport::TopicPartition, int64_t>> OffsetsForTime(
      std::span<const transport::TopicPartition>, int64_t) override {
    return No();
  }
  Result<std::map<std::string, std::string>> TopicConfig(const std::string&) override {
    return No();
  }
  Result<bool> CreateTopic(const std::string&, int32_t, int16_t,
                           const std::map<std::string, std::string>&) override {
    return No();
  }
  Status CreatePartitions(const std::string&, int32_t) override { return No(); }
  Status DeleteTopic(const std::string&) override { return No(); }
  Status DeleteRecords(const std::map<transport::TopicPartition, int64_t>&) override {
    return No();
  }
  Result<GroupDescription> DescribeGroup(const std::string& group) override {
    EXPECT_EQ(group, "shop");
    return answer_();
  }
  Result<std::vector<transport::PartitionOffset>> GroupOffsets(const std::string&) override {
    return No();
  }
  Status SetGroupOffsets(const std::string&, std::span<const transport::PartitionOffset>) override {
    return No();
  }
  Status DeleteGroupOffsets(const std::string&,
                            std::span<const transport::TopicPartition>) override {
    return No();
  }

 private:
  static Status No() { return Status::Usage("not asked for"); }
  std::function<Result<GroupDescription>()> answer_;
};

class GroupCheckTest : public testing::Test {
 protected:
  static MemberTag Tag(const std::string& hash, int64_t version = 0,
                       const std::string& instance = "00000001") {
    return {.hash = hash, .version = version, .instance = instance, .thread = 0};
  }
  std::unique_ptr<GroupCheck> Of(const MemberTag& mine) {
    return std::make_unique<GroupCheck>(
        GroupCheck::Options{.app = "shop", .mine = mine, .instance_id = static_},
        std::make_unique<FakeAdmin>([this]() -> Result<GroupDescription> {
          asked_++;
          if (!failure_.ok()) return failure_;
          GroupDescription group{.state = "Stable", .members = {}};
          for (const auto& [client_id, there] : members_) {
            if (!there) continue;
            group.members.push_back({.client_id = client_id,
                                     .instance_id = instances_[client_id],
                                     .member_id = "m",
                                     .host = "/10.0.0.7",
                                     .assigned = {}});
          }
          return group;
        }),
        &clock_);
  }
  void Join(const MemberTag& tag) { members_["user;" + tag.ToClientId()] = true; }
  void Leave(const MemberTag& tag) { members_.at("user;" + tag.ToClientId()) = false; }

  static void ExpectRefused(const Result<Verdict>& verdict,
                            const testing::Matcher<std::string>& message) {
    ASSERT_FALSE(verdict.ok()) << (*verdict == Verdict::kGo ? "go" : "wait");
    EXPECT_EQ(verdict.status().code(), StatusCode::kRefused);
    EXPECT_THAT(std::string(verdict.status().message()), message);
  }
  static void ExpectVerdict(const Result<Verdict>& verdict, Verdict expected) {
    ASSERT_TRUE(verdict.ok()) << verdict.status().message();
    EXPECT_EQ(*verdict, expected);
  }

  ManualClock clock_;
  std::map<std::string, bool> members_;
  std::map<std::string, std::string> instances_;  // of client ids
  std::string static_;                            // our --instance-id
  Status failure_;
  int asked_ = 0;
};

TEST(MemberTagTest, IsReadBack) {
  const MemberTag tag{
      .hash = "0123456789abcdef", .version = 7, .instance = "deadbeef", .thread = 3};
  EXPECT_EQ(tag.ToClientId(), "kstream=0123456789abcdef;version=7;instance=deadbeef;thread=3");
  EXPECT_EQ(MemberTag::Parse(tag.ToClientId()), tag);
  EXPECT_EQ(MemberTag::Parse("my app;" + tag.ToClientId()), tag);
  EXPECT_EQ(MemberTag::Parse("kstream;" + tag.ToClientId()), tag);
  MemberTag negative = tag;
  negative.version = INT64_MIN;
  EXPECT_EQ(MemberTag::Parse(negative.ToClientId()), negative);
}

TEST(MemberTagTest, WhatTheUserWroteBeforeItIsNotRead) {
  const MemberTag tag{.hash = "aa", .version = 0, .instance = "00000001", .thread = 0};
  const MemberTag forged{.hash = "bb", .version = 99, .instance = "00000002", .thread = 0};
  EXPECT_EQ(MemberTag::Parse(forged.ToClientId() + ";" + tag.ToClientId()), tag);
}

TEST(MemberTagTest, AnythingElseIsNone) {
  for (const std::string text :
       {"", "rdkafka", "kstream", "kstream=", "kstream=aa", "kstream=aa;version=1",
        "kstream=aa;version=1;instance=00000001", "kstream=aa;version=1;instance=00000001;thread=",
        "kstream=aa;version=1;instance=00000001;thread=-1",
        "kstream=aa;version=1;instance=00000001;thread=0;",
        "kstream=aa;version=1;instance=1;thread=0",
        "kstream=AA;version=1;instance=00000001;thread=0",
        "kstream=;version=1;instance=00000001;thread=0",
        "kstream=aa;version=9223372036854775808;instance=00000001;thread=0",
        "kstream=aa;version= 1;instance=00000001;thread=0",
        "kstream=aa;instance=00000001;version=1;thread=0",
        "mykstream=aa;version=1;instance=00000001;thread=0"}) {
    EXPECT_EQ(MemberTag::Parse(text), std::nullopt) << text;
  }
}

TEST_F(GroupCheckTest, MembersWithOurTopologyAreNoHindrance) {
  const auto check = Of(Tag("aa"));
  Join(Tag("aa"));
  Join(Tag("aa", 0, "00000002"));
  Join(Tag("aa", 5, "00000003"));  // the same program, whatever it is called
  ExpectVerdict(check->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, AStaticMemberThatComesBackIsShownAsItWas) {
  static_ = "left";
  const auto check = Of(Tag("aa", 0, "00000002"));
  Join(Tag("aa"));
  instances_["user;" + Tag("aa").ToClientId()] = "left-side-0";
  ExpectVerdict(check->Check(), Verdict::kWait);  // of another, whose name begins so
  instances_["user;" + Tag("aa").ToClientId()] = "left-0";
  ExpectVerdict(check->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, AStaticMemberWithANewTopologyWaitsUntilTheOldOneIsForgotten) {
  static_ = "left";
  const auto check = Of(Tag("aa", 2, "00000002"));
  Join(Tag("bb", 1));
  instances_["user;" + Tag("bb", 1).ToClientId()] = "left-0";
  ExpectRefused(check->Check(), AllOf(HasSubstr("shop"), HasSubstr("instance left"),
                                      HasSubstr("--instance-id"), HasSubstr("(45 s)")));
}

TEST_F(GroupCheckTest, GoesOnlyOnceTheOthersCanSeeUs) {
  const auto check = Of(Tag("aa"));
  Join(Tag("aa", 0, "00000002"));
  ExpectVerdict(check->Check(), Verdict::kWait);
  clock_.now += seconds(29);
  ExpectVerdict(check->Check(), Verdict::kWait);
  Join(Tag("aa"));
  ExpectVerdict(check->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, AGroupThatNeverListsUsIsAFailure) {
  const auto check = Of(Tag("aa"));
  ExpectVerdict(check->Check(), Verdict::kWait);
  clock_.now += seconds(30);
  EXPECT_EQ(check->Check().status().code(), StatusCode::kCluster);
}

TEST_F(GroupCheckTest, APassIsForGood) {
  const auto check = Of(Tag("aa"));
  Join(Tag("aa"));
  ExpectVerdict(check->Check(), Verdict::kGo);
  Join(Tag("bb", 0, "00000002"));
  Join(Tag("cc", -1, "00000003"));
  members_["kcat"] = true;
  ExpectVerdict(check->Check(), Verdict::kGo);
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(check->Recheck().ok());
}

TEST_F(GroupCheckTest, AStrangerIsRefused) {
  const auto check = Of(Tag("aa"));
  Join(Tag("aa"));
  members_["kcat"] = true;
  ExpectRefused(check->Check(),
                AllOf(HasSubstr("application shop"), HasSubstr("client.id \"kcat\""),
                      HasSubstr("/10.0.0.7"), HasSubstr("-G")));
  members_["kcat"] = false;
  ExpectRefused(check->Check(), HasSubstr("kcat"));  // for good: another thread hears the same
}

TEST_F(GroupCheckTest, OfTwoThatStartAtOnceTheSmallerHashStays) {
  const auto small = Of(Tag("aa", 0, "00000001")), large = Of(Tag("bb", 0, "00000002"));
  Join(Tag("aa", 0, "00000001"));
  Join(Tag("bb", 0, "00000002"));
  ExpectVerdict(small->Check(), Verdict::kWait);
  ExpectRefused(large->Check(), AllOf(HasSubstr("shop"), HasSubstr("aa"), HasSubstr("bb"),
                                      HasSubstr("-G"), HasSubstr("session.timeout.ms (45 s)")));
  Leave(Tag("bb", 0, "00000002"));
  ExpectVerdict(small->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, OneThatIsEstablishedStaysWhateverItsHash) {
  for (const auto& [first, second] : {std::pair("aa", "bb"), std::pair("bb", "aa")}) {
    members_.clear();
    const auto established = Of(Tag(first, 0, "00000001")), later = Of(Tag(second, 0, "00000002"));
    Join(Tag(first, 0, "00000001"));
    ExpectVerdict(established->Check(), Verdict::kGo);
    Join(Tag(second, 0, "00000002"));
    EXPECT_TRUE(established->Recheck().ok());
    Result<Verdict> verdict = later->Check();
    if (std::string(second) == "aa") {
      ExpectVerdict(verdict, Verdict::kWait);
      clock_.now += seconds(10) - std::chrono::milliseconds(1);
      ExpectVerdict(later->Check(), Verdict::kWait);
      clock_.now += std::chrono::milliseconds(1);
      verdict = later->Check();
    }
    ExpectRefused(verdict, HasSubstr("runs another topology"));
    EXPECT_TRUE(established->Recheck().ok());
  }
}

TEST_F(GroupCheckTest, TheSmallestOfMoreThanTwoStays) {
  const auto middle = Of(Tag("bb", 0, "00000002"));
  for (const auto& tag : {Tag("aa"), Tag("bb", 0, "00000002"), Tag("cc", 0, "00000003")}) Join(tag);
  ExpectRefused(middle->Check(), HasSubstr("aa"));
}

TEST_F(GroupCheckTest, TheLargerVersionTakesOver) {
  const auto older = Of(Tag("aa", 1)), newer = Of(Tag("bb", 2, "00000002"));
  Join(Tag("aa", 1));
  ExpectVerdict(older->Check(), Verdict::kGo);
  EXPECT_TRUE(older->Recheck().ok());
  Join(Tag("bb", 2, "00000002"));
  ExpectVerdict(newer->Check(), Verdict::kWait);
  const Status leaves = older->Recheck();
  EXPECT_EQ(leaves.code(), StatusCode::kRefused);
  EXPECT_THAT(std::string(leaves.message()),
              AllOf(HasSubstr("bb, version 2"), HasSubstr("aa, version 1")));
  Leave(Tag("aa", 1));
  ExpectVerdict(newer->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, AnOlderVersionMustNotCome) {
  const auto older = Of(Tag("aa", 1));
  Join(Tag("bb", 2, "00000002"));
  ExpectRefused(older->Check(), HasSubstr("takes over"));
}

TEST_F(GroupCheckTest, AnOlderMemberThatWasKilledIsWaitedFor) {
  const auto newer = Of(Tag("bb", 2));
  Join(Tag("aa", 1, "00000009"));
  Join(Tag("bb", 2));
  ExpectVerdict(newer->Check(), Verdict::kWait);
  clock_.now += seconds(49);  // beyond its session
  ExpectVerdict(newer->Check(), Verdict::kWait);
  clock_.now += seconds(1);
  ExpectRefused(newer->Check(), HasSubstr("must leave first"));
}

TEST_F(GroupCheckTest, EachWaitHasItsOwnTime) {
  const auto check = Of(Tag("aa", 1));
  ExpectVerdict(check->Check(), Verdict::kWait);  // for ourselves
  clock_.now += seconds(25);
  Join(Tag("aa", 1));
  Join(Tag("bb", 1, "00000002"));
  ExpectVerdict(check->Check(), Verdict::kWait);  // for bb
  clock_.now += seconds(9);
  ExpectVerdict(check->Check(), Verdict::kWait);
  Leave(Tag("bb", 1, "00000002"));
  ExpectVerdict(check->Check(), Verdict::kGo);
}

TEST_F(GroupCheckTest, AFaultThatPassesIsWaitedFor) {
  const auto check = Of(Tag("aa"));
  Join(Tag("aa"));
  failure_ = Status::Cluster("no answer in time");
  ExpectVerdict(check->Check(), Verdict::kWait);
  clock_.now += seconds(29);
  ExpectVerdict(check->Check(), Verdict::kWait);
  failure_ = Status::Ok();
  ExpectVerdict(check->Check(), Verdict::kGo);
  failure_ = Status::Cluster("no answer in time");
  EXPECT_TRUE(check->Recheck().ok());
}

TEST_F(GroupCheckTest, AFaultThatStaysIsTheEnd) {
  const auto check = Of(Tag("aa"));
  failure_ = Status::Cluster("no answer in time");
  ExpectVerdict(check->Check(), Verdict::kWait);
  clock_.now += seconds(30);
  EXPECT_EQ(check->Check().status().message(), "no answer in time");
}

TEST_F(GroupCheckTest, WhoMayNotLookGoesOn) {
  const auto check = Of(Tag("aa"));
  failure_ = Status::Cluster("asking for the members of group shop: not authorised for the group");
  testing::internal::CaptureStderr();
  ExpectVerdict(check->Check(), Verdict::kGo);
  ExpectVerdict(check->Check(), Verdict::kGo);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("not authorised"));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1);
}

TEST_F(GroupCheckTest, MembersOfACluster) {
  transport::memory::MemoryCluster cluster;
  cluster.CreateTopic("in", 2);
  const auto join = [&](const MemberTag& tag) {
    auto consumer = *cluster.NewConsumer(
        {.group = "shop", .instance_id = {}, .threads = 1, .client_id = tag.ToClientId()});
    EXPECT_TRUE(consumer->Subscribe({"in"}).ok());
    return consumer;
  };
  GroupCheck check({.app = "shop", .mine = Tag("aa")}, *cluster.NewAdmin(), &clock_);
  ExpectVerdict(check.Check(), Verdict::kWait);
  const auto ours = join(Tag("aa"));
  const auto other = join(Tag("bb", 0, "00000002"));
  ExpectVerdict(check.Check(), Verdict::kWait);
  ASSERT_TRUE(other->Close().ok());
  ExpectVerdict(check.Check(), Verdict::kGo);
}

}  // namespace
}  // namespace kstream::runtime
