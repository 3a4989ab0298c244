// Which tasks of others an instance follows, from what the group says of itself.
#include "runtime/standby_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using transport::GroupDescription;
using transport::TopicPartition;

constexpr int kTasks = 60;

// Instance i of `instances` owns every task whose number is i, modulo their number.
class StandbyChoiceTest : public testing::Test {
 protected:
  StandbyChoiceTest() {
    plan_.stages.resize(1);
    plan_.stages[0].lead = {"in", {{0, kTasks}}};
    for (int32_t i = 0; i < kTasks; i++) {
      plan_.stages[0].tasks.push_back({{"", "in", i}});
      tasks_.insert({0, i});
    }
  }

  static std::string Name(int instance) { return fmt::format("{:08x}", 0xabc0 + instance); }

  static LiveInstances Live(int instances) {
    GroupDescription group{.state = "Stable", .members = {}};
    for (int i = 0; i < instances; i++) {
      auto& member = group.members.emplace_back();
      member.client_id = MemberTag{"1f", 0, Name(i), 0}.ToClientId();
      for (int32_t p = i; p < kTasks; p += instances) member.assigned.push_back({"in", p});
    }
    return LiveInstances::Of(group);
  }

  // How many instances follow each task.
  std::map<TaskId, int> Followers(int instances, int copies) const {
    std::map<TaskId, int> followers;
    const LiveInstances live = Live(instances);
    for (int i = 0; i < instances; i++) {
      for (const TaskId id : TasksToFollow(live, plan_, tasks_, {}, Name(i), copies)) {
        EXPECT_NE(id.number % instances, i) << "its own task";
        followers[id]++;
      }
    }
    return followers;
  }

  RunPlan plan_;
  std::set<TaskId> tasks_;
};

TEST_F(StandbyChoiceTest, EachTaskHasAsManyFollowersAsAskedForAndThereAre) {
  for (const auto& [copies, most] : std::map<int, int>{{1, 1}, {2, 2}, {4, 4}, {7, 4}}) {
    const auto followers = Followers(5, copies);
    EXPECT_EQ(followers.size(), kTasks);
    for (const auto& [id, count] : followers) EXPECT_EQ(count, most) << id.ToString();
  }
  EXPECT_THAT(Followers(5, RuntimeOptions::kAllStandbys),
              testing::Each(testing::Pair(testing::_, 4)));
  EXPECT_THAT(Followers(1, 3), IsEmpty());
}

TEST_F(StandbyChoiceTest, TheWorkIsSpread) {
  const LiveInstances live = Live(4);
  for (int i = 0; i < 4; i++) {
    const size_t followed = TasksToFollow(live, plan_, tasks_, {}, Name(i), 1).size();
    EXPECT_GT(followed, kTasks / 4 / 2) << i;
    EXPECT_LT(followed, kTasks / 4 * 2) << i;
  }
}

// Those who stay follow what they followed, as far as it did not come to them, and what the one
// that is gone had followed.
TEST_F(StandbyChoiceTest, AnInstanceThatGoesChangesItsOwnShareAlone) {
  LiveInstances live = Live(4);
  std::map<int, std::set<TaskId>> before;
  for (int i = 0; i < 4; i++) before[i] = TasksToFollow(live, plan_, tasks_, {}, Name(i), 1);
  live.names.erase(Name(3));
  for (int i = 0; i < 3; i++) {
    const auto now = TasksToFollow(live, plan_, tasks_, {}, Name(i), 1);
    for (const TaskId id : before[i]) EXPECT_TRUE(now.contains(id)) << id.ToString();
    for (const TaskId id : now) {
      EXPECT_TRUE(before[i].contains(id) || before[3].contains(id)) << id.ToString();
    }
  }
}

TEST_F(StandbyChoiceTest, WhoIsNotInTheGroupFollowsNothing) {
  EXPECT_THAT(TasksToFollow(Live(3), plan_, tasks_, {}, Name(3), 2), IsEmpty());
}

// Its thread has not heard yet that the task is its own.
TEST_F(StandbyChoiceTest, AWarmTaskThatComesToItsInstanceStaysWarm) {
  const TaskId own{0, 1};
  EXPECT_TRUE(TasksToFollow(Live(2), plan_, tasks_, {own}, Name(1), 1).contains(own));
  EXPECT_FALSE(TasksToFollow(Live(2), plan_, tasks_, {}, Name(1), 1).contains(own));
}

TEST_F(StandbyChoiceTest, ThreadsOfOneProcessAreOneInstanceAndStrangersNone) {
  GroupDescription group{.state = "Stable", .members = {}};
  const auto add = [&](std::string client, std::string instance, int32_t partition) {
    auto& member = group.members.emplace_back();
    member.client_id = std::move(client);
    member.instance_id = std::move(instance);
    member.assigned = {{"in", partition}};
  };
  add(MemberTag{"1f", 0, "0000aaaa", 0}.ToClientId(), "", 0);
  add(MemberTag{"1f", 0, "0000aaaa", 1}.ToClientId(), "", 1);
  add("rdkafka", "", 2);
  // A static one is called by its id: what it shows else may be of a process before it.
  add(MemberTag{"1f", 0, "0000bbbb", 0}.ToClientId(), "my-host-0", 3);
  const LiveInstances live = LiveInstances::Of(group);
  EXPECT_THAT(live.names, ElementsAre("0000aaaa", "my-host"));
  EXPECT_EQ(live.owners,
            (std::map<TopicPartition, std::string>{
                {{"in", 0}, "0000aaaa"}, {{"in", 1}, "0000aaaa"}, {{"in", 3}, "my-host"}}));
  EXPECT_EQ(InstanceName(MemberTag{"1f", 0, "0000bbbb", 7}, "my-host"), "my-host");
  EXPECT_EQ(InstanceName(MemberTag{"1f", 0, "0000bbbb", 7}, ""), "0000bbbb");
}

}  // namespace
}  // namespace kstream::runtime
