#include "runtime/partition_plan.h"

#include "unit/runtime/memory_run.h"

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PartitionPlanTest : public testing::Test {
 protected:
  PartitionPlanTest() {
    cluster_.CreateTopic("one", 1);
    cluster_.CreateTopic("two", 2);
    cluster_.CreateTopic("pair", 2);
  }

  Result<PartitionPlan> Make(const std::vector<std::string>& inputs) {
    SourceSpec source;
    for (const std::string& input : inputs) source.inputs.push_back(TopicNamed(input));
    SinkSpec sink;
    sink.output = TopicNamed("out");
    TopologyBuilder builder;
    builder.AddSource("in", source).AddSink("out", sink, {"in"});
    RunState state(*builder.Build(), options_);
    state.from = *FromSpec::Parse(options_.from, 0);
    std::map<std::string, std::unique_ptr<transport::Admin>> admins;
    admins[""] = *cluster_.NewAdmin();
    return PartitionPlan::Make(state, admins);
  }

  transport::memory::MemoryCluster cluster_;
  RuntimeOptions options_;
};

TEST_F(PartitionPlanTest, TheFirstOfThoseWithMostPartitionsLeads) {
  EXPECT_EQ(Make({"one", "two", "pair"})->lead, "two");
  EXPECT_EQ(Make({"pair", "two"})->lead, "pair");
  EXPECT_EQ(Make({"one"})->lead, "one");
}

TEST_F(PartitionPlanTest, APatternHasNoLead) {
  const auto plan = Make({"one", "^p", "^two|pair"});
  EXPECT_EQ(plan->lead, "");
  std::vector<std::string> names;
  for (const InputTopic& topic : plan->topics) names.push_back(topic.topic);
  EXPECT_THAT(names, ElementsAre("one", "pair", "two")) << "each once, in the order of the inputs";
}

TEST_F(PartitionPlanTest, ATaskHasItsPartitionOfEveryTopicThatHasOne) {
  const auto plan = Make({"one", "two"});
  EXPECT_EQ(plan->Tasks(), 2);
  const auto task0 = plan->PartitionsOfTask(0), task1 = plan->PartitionsOfTask(1);
  ASSERT_EQ(task0.size(), 2u);
  EXPECT_EQ(task0[0].partition, (transport::TopicPartition{"one", 0}));
  EXPECT_EQ(task0[1].partition, (transport::TopicPartition{"two", 0}));
  ASSERT_EQ(task1.size(), 1u);
  EXPECT_EQ(task1[0].partition, (transport::TopicPartition{"two", 1}));
}

TEST_F(PartitionPlanTest, WhatIsMissingIsNamed) {
  const Status topic = Make({"one", "absent"}).status();
  EXPECT_EQ(topic.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(topic.message()), HasSubstr("absent"));
  const Status pattern = Make({"^absent"}).status();
  EXPECT_EQ(pattern.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(pattern.message()), HasSubstr("^absent"));
  EXPECT_EQ(Make({"^("}).status().code(), StatusCode::kUsage);
}

TEST_F(PartitionPlanTest, EndsAreTheHighWatermarksOrTheTimeGiven) {
  cluster_.Produce("two", 1, {.timestamp = 10});
  cluster_.Produce("two", 1, {.timestamp = 20}, cluster_.BeginTransaction());
  EXPECT_TRUE(Make({"two"})->ends.empty()) << "a run without an end";

  options_.exit_at_end = true;
  const auto at_end = Make({"two"});
  EXPECT_EQ(at_end->ends.at({"", {"two", 0}}), 0);
  EXPECT_EQ(at_end->ends.at({"", {"two", 1}}), 2) << "an open transaction counts";

  options_.exit_at_end = false;
  options_.from = "@1:20";
  EXPECT_EQ(Make({"two"})->ends.at({"", {"two", 1}}), 1);
}

}  // namespace
}  // namespace kstream::runtime
