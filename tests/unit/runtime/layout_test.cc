#include "runtime/layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "runtime/run_state.h"

namespace kstream::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Tasks = std::vector<std::string>;

// "orders[0] orders[1]" for each task.
Tasks Text(const TaskLayout& layout) {
  Tasks tasks;
  for (const auto& task : layout) {
    std::string& text = tasks.emplace_back();
    for (const InputPartition& partition : task) {
      if (!text.empty()) text += " ";
      if (!partition.cluster.empty()) text += partition.cluster + ":";
      text += fmt::format("{}[{}]", partition.topic, partition.partition);
    }
  }
  return tasks;
}

class LayoutTest : public testing::Test {
 protected:
  GrouperChoice Choice() const {
    Result<GrouperChoice> choice = GrouperChoice::Parse(grouper_, custom_);
    EXPECT_TRUE(choice.ok()) << choice.status().message();
    return *choice;
  }
  // What the application's first start records.
  void Record(const std::vector<InputTopic>& topics) {
    recorded_ = {Choice().ToString(), *LayOut(Choice(), topics, nullptr, {})};
  }
  Result<TaskLayout> LayOutNow(const std::vector<InputTopic>& topics) const {
    return LayOut(Choice(), topics, recorded_ ? &*recorded_ : nullptr, rules_);
  }
  Tasks Now(const std::vector<InputTopic>& topics) const {
    Result<TaskLayout> layout = LayOutNow(topics);
    return layout.ok() ? Text(*layout) : Tasks{std::string(layout.status().message())};
  }
  void ExpectFailure(const std::vector<InputTopic>& topics, StatusCode code,
                     const testing::Matcher<std::string>& message) const {
    const Result<TaskLayout> layout = LayOutNow(topics);
    ASSERT_FALSE(layout.ok()) << testing::PrintToString(Text(*layout));
    EXPECT_EQ(layout.status().code(), code);
    EXPECT_THAT(std::string(layout.status().message()), message);
  }
  // A function that answers this whatever it is asked.
  void Gives(TaskLayout layout) {
    custom_ = [layout](const std::vector<InputTopic>&) { return layout; };
  }

  std::string grouper_ = "default";
  Grouper custom_;
  std::optional<RecordedLayout> recorded_;
  LayoutRules rules_;
};

TEST_F(LayoutTest, AGrouperSeesFilesByTheNamesOfTheCommandLine) {
  std::vector<InputTopic> seen;
  const Grouper one = [&seen](const std::vector<InputTopic>& topics) -> Result<TaskLayout> {
    seen = topics;
    TaskLayout layout(1);
    for (const InputTopic& topic : topics) layout[0].push_back({topic.cluster, topic.topic, 0});
    return layout;
  };
  const std::string files(kFiles);
  const auto layout = LayOut(*GrouperChoice::Parse("default", one),
                             {{files, "in", 1}, {files, "-", 1}, {"", "in", 1}}, nullptr, {});
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(seen, (std::vector<InputTopic>{{"", "file:in", 1}, {"", "file:-", 1}, {"", "in", 1}}));
  EXPECT_EQ(*layout, (TaskLayout{{{files, "in", 0}, {files, "-", 0}, {"", "in", 0}}}));
}

TEST_F(LayoutTest, NamesOfGroupers) {
  for (const std::string name : {"default", "single", "by-topic", "broadcast:east:rates"}) {
    EXPECT_EQ(GrouperChoice::Parse(name)->ToString(), name);
  }
  Gives({});
  EXPECT_EQ(GrouperChoice::Parse("default", custom_)->ToString(), "custom");
  for (const std::string name : {"", "broadcast:", "broadcast", "Single", "custom"}) {
    EXPECT_EQ(GrouperChoice::Parse(name).status().code(), StatusCode::kUsage) << name;
  }
}

TEST_F(LayoutTest, DefaultPutsEqualNumbersTogether) {
  EXPECT_EQ(Now({{"", "a", 2}, {"east", "b", 3}}),
            (Tasks{"a[0] east:b[0]", "a[1] east:b[1]", "east:b[2]"}));
}

TEST_F(LayoutTest, SingleIsOneTask) {
  grouper_ = "single";
  EXPECT_EQ(Now({{"", "b", 2}, {"", "a", 1}}), (Tasks{"b[0] b[1] a[0]"}));
}

TEST_F(LayoutTest, ByTopicIsATaskATopic) {
  grouper_ = "by-topic";
  EXPECT_EQ(Now({{"", "b", 2}, {"", "a", 1}}), (Tasks{"b[0] b[1]", "a[0]"}));
}

TEST_F(LayoutTest, BroadcastIsInEveryTask) {
  grouper_ = "broadcast:rates";
  EXPECT_EQ(Now({{"", "a", 2}, {"", "rates", 3}, {"", "b", 1}}),
            (Tasks{"a[0] rates[0] rates[1] rates[2] b[0]", "a[1] rates[0] rates[1] rates[2]"}));
}

TEST_F(LayoutTest, BroadcastNeedsItsTopicAndAnother) {
  grouper_ = "broadcast:rates";
  const Status missing = Choice().CheckRead({{"", "a", 2}, {"east", "rates", 3}});
  EXPECT_EQ(missing.code(), StatusCode::kUsage);
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr("broadcast:rates"), HasSubstr("a, east:rates")));
  EXPECT_TRUE(Choice().CheckRead({{"", "a", 2}, {"", "rates", 3}}).ok());
  ExpectFailure({{"", "rates", 3}}, StatusCode::kUsage, HasSubstr("there is none"));
}

TEST_F(LayoutTest, BroadcastIsDefaultToAStageThatDoesNotReadItsTopic) {
  const std::vector<InputTopic> without{{"", "a", 2}, {"east", "rates", 1}};
  const std::vector<InputTopic> with{{"", "a", 2}, {"", "rates", 1}};
  const GrouperChoice choice = *GrouperChoice::Parse("broadcast:rates");
  EXPECT_EQ(choice.OfStage(without).ToString(), "default");
  EXPECT_EQ(choice.OfStage(with).ToString(), "broadcast:rates");
  EXPECT_EQ(GrouperChoice::Parse("broadcast:east:rates")->OfStage(without).ToString(),
            "broadcast:east:rates");
  for (const std::string name : {"default", "single", "by-topic"}) {
    EXPECT_EQ(GrouperChoice::Parse(name)->OfStage(without).ToString(), name);
    EXPECT_TRUE(GrouperChoice::Parse(name)->CheckRead(without).ok()) << name;
  }
  Gives({});
  EXPECT_EQ(Choice().OfStage(without).ToString(), "custom");
}

TEST_F(LayoutTest, ABroadcastTopicThatVanishedIsToldAsSuch) {
  grouper_ = "broadcast:rates";
  Record({{"", "a", 2}, {"", "rates", 3}});
  grouper_ = "default";  // as it is to the stage now
  ExpectFailure({{"", "a", 2}}, StatusCode::kCluster, HasSubstr("rates had 3 partitions"));
}

TEST_F(LayoutTest, NothingNewIsTheSame) {
  for (const std::string name : {"default", "single", "by-topic", "broadcast:a"}) {
    grouper_ = name;
    const std::vector<InputTopic> topics{{"", "a", 2}, {"", "b", 3}};
    for (const bool stateful : {false, true}) {
      rules_.stateful = stateful;
      Record(topics);
      rules_.max_tasks = recorded_->tasks.size();
      EXPECT_EQ(Now(topics), Text(recorded_->tasks)) << name;
    }
  }
}

TEST_F(LayoutTest, NewPartitionsJoinTheTaskOfTheirNumberOrMakeOne) {
  Record({{"", "a", 4}, {"", "b", 2}});
  EXPECT_EQ(Now({{"", "a", 5}, {"", "b", 6}}),
            (Tasks{"a[0] b[0]", "a[1] b[1]", "a[2] b[2]", "a[3] b[3]", "a[4] b[4]", "b[5]"}));
}

TEST_F(LayoutTest, WhatTheLeadCannotCarryGoesRound) {
  Record({{"", "a", 2}, {"", "b", 1}});
  rules_.max_tasks = 3;  // a has grown to 3
  EXPECT_EQ(Now({{"", "a", 3}, {"", "b", 5}}),
            (Tasks{"a[0] b[0] b[3]", "a[1] b[1] b[4]", "a[2] b[2]"}));
}

TEST_F(LayoutTest, WhatWentRoundStaysThereWhenTheLeadGrows) {
  Record({{"", "a", 2}});
  rules_.max_tasks = 2;
  recorded_->tasks = *LayOutNow({{"", "a", 2}, {"", "b", 4}});
  ASSERT_EQ(Text(recorded_->tasks), (Tasks{"a[0] b[0] b[2]", "a[1] b[1] b[3]"}));
  rules_.max_tasks = 4;
  EXPECT_EQ(Now({{"", "a", 4}, {"", "b", 4}}),
            (Tasks{"a[0] b[0] b[2]", "a[1] b[1] b[3]", "a[2]", "a[3]"}));
}

TEST_F(LayoutTest, NewTopicsOfAPatternComeLastByTopic) {
  grouper_ = "by-topic";
  Record({{"", "log-b", 1}, {"", "log-d", 1}});
  EXPECT_EQ(Now({{"", "log-a", 1}, {"", "log-b", 2}, {"", "log-c", 1}, {"", "log-d", 1}}),
            (Tasks{"log-b[0] log-b[1]", "log-d[0]", "log-a[0]", "log-c[0]"}));
}

TEST_F(LayoutTest, AllOfABroadcastTopicReachesNewTasksToo) {
  grouper_ = "broadcast:r";
  Record({{"", "a", 1}, {"", "r", 1}});
  EXPECT_EQ(Now({{"", "a", 2}, {"", "r", 2}}), (Tasks{"a[0] r[0] r[1]", "a[1] r[0] r[1]"}));
}

TEST_F(LayoutTest, StoresStopATopicThatGrows) {
  Record({{"", "orders", 4}, {"", "clicks", 2}});
  rules_.stateful = true;
  ExpectFailure({{"", "orders", 6}, {"", "clicks", 2}}, StatusCode::kCluster,
                AllOf(HasSubstr("orders had 4 partitions"), HasSubstr("has 6 now")));
  // There are tasks for them, but keys have moved all the same.
  ExpectFailure({{"", "orders", 4}, {"", "clicks", 4}}, StatusCode::kCluster,
                AllOf(HasSubstr("clicks had 2 partitions"), HasSubstr("has 4 now")));
}

TEST_F(LayoutTest, StoresTakeANewTopicThatFits) {
  Record({{"", "a", 2}});
  rules_.stateful = true;
  EXPECT_EQ(Now({{"", "a", 2}, {"", "b", 2}}), (Tasks{"a[0] b[0]", "a[1] b[1]"}));
  ExpectFailure({{"", "a", 2}, {"", "b", 3}}, StatusCode::kCluster,
                AllOf(HasSubstr("b is new and has 3 partitions"), HasSubstr("2 tasks")));
}

TEST_F(LayoutTest, StoresTakeAGrowingTopicThatIsKeptTogether) {
  rules_.stateful = true;
  grouper_ = "single";
  Record({{"", "a", 1}});
  EXPECT_EQ(Now({{"", "a", 2}}), (Tasks{"a[0] a[1]"}));
  grouper_ = "by-topic";
  Record({{"", "a", 1}, {"", "b", 1}});
  EXPECT_EQ(Now({{"", "a", 2}, {"", "b", 1}}), (Tasks{"a[0] a[1]", "b[0]"}));
  grouper_ = "broadcast:b";
  Record({{"", "a", 1}, {"", "b", 1}});
  EXPECT_EQ(Now({{"", "a", 1}, {"", "b", 2}}), (Tasks{"a[0] b[0] b[1]"}));
}

TEST_F(LayoutTest, ANewTaskThatTheStageCannotHave) {
  grouper_ = "by-topic";
  Record({{"", "a", 1}});
  rules_.max_tasks = 1;
  ExpectFailure({{"", "a", 1}, {"", "b", 1}}, StatusCode::kCluster, HasSubstr("b is new"));
}

TEST_F(LayoutTest, WhatVanishedOrShrankIsToldWithCounts) {
  for (const std::string name : {"default", "single", "by-topic"}) {
    grouper_ = name;
    Record({{"", "a", 2}, {"east", "b", 4}});
    ExpectFailure({{"", "a", 2}}, StatusCode::kCluster,
                  AllOf(HasSubstr("east:b had 4 partitions"), HasSubstr("no input now")));
    ExpectFailure({{"", "a", 1}, {"east", "b", 4}}, StatusCode::kCluster,
                  AllOf(HasSubstr("a had 2 partitions"), HasSubstr("has 1 now")));
  }
}

TEST_F(LayoutTest, AnotherGrouperIsRefused) {
  Record({{"", "a", 2}});
  grouper_ = "single";
  ExpectFailure({{"", "a", 2}}, StatusCode::kRefused,
                AllOf(HasSubstr("default"), HasSubstr("single")));
}

TEST_F(LayoutTest, AFunctionIsAskedWithTheTopics) {
  custom_ = [](const std::vector<InputTopic>& topics) -> Result<TaskLayout> {
    TaskLayout layout;
    for (const InputTopic& topic : topics) {
      layout.push_back({{topic.cluster, topic.topic, 1}, {topic.cluster, topic.topic, 0}});
    }
    return layout;
  };
  EXPECT_EQ(Now({{"", "b", 2}, {"", "a", 2}}), (Tasks{"b[0] b[1]", "a[0] a[1]"}));
}

TEST_F(LayoutTest, AFunctionThatFailsIsNamed) {
  custom_ = [](const std::vector<InputTopic>&) -> Result<TaskLayout> {
    return Status::Usage("three topics please");
  };
  ExpectFailure({{"", "a", 1}}, StatusCode::kUsage, "grouper: three topics please");
}

TEST_F(LayoutTest, AFunctionsMistakesAreTold) {
  const std::vector<InputTopic> topics{{"", "a", 2}};
  const std::pair<TaskLayout, std::string> mistakes[] = {
      {{}, "no task"},
      {{{{"", "a", 0}, {"", "a", 1}}, {}}, "task 1 empty"},
      {{{{"", "a", 0}, {"", "a", 1}, {"", "a", 2}}}, "a[2] into task 0, but there is none"},
      {{{{"", "a", -1}, {"", "a", 0}, {"", "a", 1}}}, "a[-1] into task 0, but there is none"},
      {{{{"x", "a", 0}, {"", "a", 0}, {"", "a", 1}}}, "x:a[0] into task 0, but there is none"},
      {{{{"", "a", 0}}}, "a[1] into no task"},
      {{{{"", "a", 0}, {"", "a", 0}, {"", "a", 1}}}, "a[0] into task 0 twice"}};
  for (const auto& [layout, message] : mistakes) {
    Gives(layout);
    ExpectFailure(topics, StatusCode::kUsage, HasSubstr(message));
  }
}

TEST_F(LayoutTest, AFunctionMayNotMoveWhatIsThere) {
  Gives({{{"", "a", 0}}, {{"", "a", 1}}});
  Record({{"", "a", 2}});
  Gives({{{"", "a", 0}, {"", "a", 1}}, {{"", "a", 2}}});
  ExpectFailure({{"", "a", 3}}, StatusCode::kRefused,
                HasSubstr("moves a[1] from task 1 to task 0"));
  Gives({{{"", "a", 0}, {"", "a", 1}}, {{"", "a", 1}}});
  ExpectFailure({{"", "a", 2}}, StatusCode::kRefused,
                HasSubstr("moves a[1] from task 1 to tasks 0, 1"));
  Gives({{{"", "a", 0}, {"", "a", 1}}});
  ExpectFailure({{"", "a", 2}}, StatusCode::kRefused, AllOf(HasSubstr("1 task"), HasSubstr("2")));
}

TEST_F(LayoutTest, AFunctionPutsNewPartitionsWhereItLikes) {
  Gives({{{"", "a", 0}}, {{"", "a", 1}}});
  Record({{"", "a", 2}});
  Gives({{{"", "a", 0}, {"", "a", 3}}, {{"", "a", 1}}, {{"", "a", 2}, {"", "a", 0}}});
  EXPECT_EQ(Now({{"", "a", 4}}), (Tasks{"a[0] a[3]", "a[1]", "a[0] a[2]"}));
  rules_.max_tasks = 2;
  ExpectFailure({{"", "a", 4}}, StatusCode::kRefused, HasSubstr("3 tasks"));
}

TEST_F(LayoutTest, AFunctionThatKeepsKeysWithTheirStores) {
  Gives({{{"", "a", 0}}, {{"", "a", 1}}});
  Record({{"", "a", 2}});
  rules_.stateful = true;
  Gives({{{"", "a", 0}, {"", "a", 2}}, {{"", "a", 1}}});
  EXPECT_EQ(Now({{"", "a", 3}}), (Tasks{"a[0] a[2]", "a[1]"}));
  Gives({{{"", "a", 0}}, {{"", "a", 1}}, {{"", "a", 2}}});
  ExpectFailure({{"", "a", 3}}, StatusCode::kCluster,
                AllOf(HasSubstr("a had 2 partitions"), HasSubstr("a[2]")));
}

TEST(LeadOfTest, TheLargestInputAtHome) {
  const LeadChoice lead = LeadOf({}, false, {{"", "a", 2}, {"", "b", 4}, {"", "c", 4}});
  EXPECT_FALSE(lead.internal);
  EXPECT_EQ(lead.topic, "b");
  EXPECT_EQ(lead.partitions, 4);
  EXPECT_EQ(LeadOf({}, false, {{"east", "a", 2}, {"", "b", 2}}).topic, "b");
}

TEST(LeadOfTest, InternalWhereNoInputStandsForTheTasks) {
  const std::vector<InputTopic> topics{{"", "a", 2}};
  EXPECT_TRUE(LeadOf({}, true, topics).internal);
  for (const std::string name : {"single", "by-topic", "broadcast:a"}) {
    EXPECT_TRUE(LeadOf(*GrouperChoice::Parse(name), false, topics).internal) << name;
  }
  EXPECT_TRUE(LeadOf({}, false, {{"east", "a", 2}}).internal);
  EXPECT_TRUE(LeadOf({}, false, {{"east", "a", 3}, {"", "b", 2}}).internal);
}

}  // namespace
}  // namespace kstream::runtime
