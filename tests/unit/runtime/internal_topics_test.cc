#include "kstream/internal_topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kstream/operators.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Location kOrders = Location::Topic("orders");
const Location kReturns = Location::Topic("returns");

RuntimeOptions Shop(const std::string& grouper = "default") {
  RuntimeOptions options;
  options.app = "shop";
  options.grouper = grouper;
  return options;
}

// The topics by name; one that is not certain with a question mark.
std::vector<std::string> Needs(const std::vector<Location>& inputs,
                               const RuntimeOptions& options = Shop()) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = inputs}).AddSink("out", {.output = {}}, {"in"});
  const Result<Topology> topology = builder.Build();
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  std::vector<std::string> names;
  for (const InternalTopicNeed& need : InternalTopics(*topology, options)) {
    names.push_back(need.topic + (need.certain ? "" : "?"));
  }
  return names;
}

TEST(InternalTopics, OnePlainInputNeedsNone) { EXPECT_THAT(Needs({kOrders}), IsEmpty()); }

TEST(InternalTopics, NothingIsMadeWithoutAGroup) {
  EXPECT_THAT(Needs({kOrders, kReturns}, RuntimeOptions()), IsEmpty());
  EXPECT_THAT(Needs({Location{.kind = Location::Kind::kFile, .cluster = {}, .name = "a"},
                     Location{.kind = Location::Kind::kFile, .cluster = {}, .name = "b"}}),
              IsEmpty());
}

TEST(InternalTopics, SeveralInputsAtHomeNeedAManifest) {
  EXPECT_THAT(Needs({kOrders, kReturns}), ElementsAre("shop.kstream"));
}

TEST(InternalTopics, TasksOfItsOwnWhereNoInputCanStandForThem) {
  EXPECT_THAT(Needs({Location::Topic("^orders-.*")}), ElementsAre("shop.kstream", "shop.tasks"));
  EXPECT_THAT(Needs({kOrders}, Shop("single")), ElementsAre("shop.kstream", "shop.tasks"));
  EXPECT_THAT(Needs({Location::Topic("orders", "eu")}), ElementsAre("shop.kstream", "shop.tasks"));
}

TEST(InternalTopics, InputsHereAndElsewhereDependOnTheirPartitions) {
  EXPECT_THAT(Needs({kOrders, Location::Topic("orders", "eu")}),
              ElementsAre("shop.kstream", "shop.tasks?"));
}

TEST(InternalTopics, ARepartitionTopicIsMadeOnce) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {kOrders}})
      .AddSink("to", {.output = Location::Repartition("by-user")}, {"in"})
      .AddSource("a", {.inputs = {Location::Repartition("by-user")}})
      .AddSource("b", {.inputs = {Location::Repartition("by-user")}})
      .AddSink("out", {.output = kReturns}, {"a", "b"});
  const Result<Topology> topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  const auto needs = InternalTopics(*topology, Shop());
  ASSERT_EQ(needs.size(), 2u);
  EXPECT_EQ(needs[0].topic, "shop.kstream");
  EXPECT_EQ(needs[1].topic, "shop-by-user-repartition");
  EXPECT_EQ(ToString(needs[1].kind), "repartition");
}

TEST(InternalTopics, BroadcastIsAboutTheStagesThatReadItsTopic) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {kOrders}})
      .AddSink("to", {.output = Location::Repartition("by-user")}, {"in"})
      .AddSource("between", {.inputs = {Location::Repartition("by-user")}})
      .AddSink("out", {.output = kReturns}, {"between"});
  const Topology topology = *builder.Build();
  const auto has_tasks = [&](const std::string& grouper) {
    const auto needs = InternalTopics(topology, Shop(grouper));
    return std::ranges::any_of(
        needs, [](const InternalTopicNeed& need) { return need.topic == "shop.tasks"; });
  };
  EXPECT_FALSE(has_tasks("broadcast:elsewhere"));
  EXPECT_TRUE(has_tasks("broadcast:orders"));
  EXPECT_TRUE(has_tasks("broadcast:shop-by-user-repartition"));
  EXPECT_TRUE(has_tasks("single"));
}

// A stage with a store that the runtime keeps, and one that is the user's own.
Topology Counts(bool changelog = true) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {kOrders}})
      .AddProcessor("count", *Map({.value = *Expression::Compile(".")}), {"in"})
      .AddStore({.name = "cnt", .changelog = changelog}, {"count"})
      .AddStore("own", InMemoryKeyValueStore(), {"count"});
  return *builder.Build();
}

TEST(InternalTopics, AStoreThatIsKeptHasAChangelogUnlessItIsSaid) {
  const auto needs = InternalTopics(Counts(), Shop());
  ASSERT_EQ(needs.size(), 2u);
  EXPECT_EQ(needs[1].topic, "shop-cnt-changelog");
  EXPECT_EQ(ToString(needs[1].kind), "changelog");
  EXPECT_EQ(InternalTopics(Counts(false), Shop()).size(), 1u);
  EXPECT_THAT(InternalTopics(Counts(), RuntimeOptions()), IsEmpty());
}

TEST(NeedsStateDirectory, WhereSomethingOutlivesTheProcess) {
  TopologyBuilder plain;
  plain.AddSource("in", {.inputs = {kOrders}}).AddSink("out", {.output = kReturns}, {"in"});
  const Topology stateless = *plain.Build();
  EXPECT_FALSE(NeedsStateDirectory(stateless, Shop()));
  EXPECT_TRUE(NeedsStateDirectory(Counts(), Shop()));
  EXPECT_TRUE(NeedsStateDirectory(Counts(false), Shop()));
  EXPECT_FALSE(NeedsStateDirectory(Counts(), RuntimeOptions())) << "without an app";
  RuntimeOptions options = Shop();
  options.instance_id = "auto";
  EXPECT_TRUE(NeedsStateDirectory(stateless, options));
  options.dry_run = true;
  EXPECT_FALSE(NeedsStateDirectory(stateless, options));
  options = Shop();
  options.guarantee = Guarantee::kExactlyOnce;
  EXPECT_TRUE(NeedsStateDirectory(stateless, options)) << "for the id of its transactions";
}

}  // namespace
}  // namespace kstream
