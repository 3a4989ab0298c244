#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kstream/stages.h"
#include "kstream/store.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Nothing : public Processor {
 public:
  Status Process(const Record&) override { return Status::Ok(); }
};

// orders -> [repartition by] -> sums, with a store.
Topology TwoStages() {
  const ProcessorSupplier nothing([] { return std::make_unique<Nothing>(); });
  TopologyBuilder builder;
  builder.AddSource("orders", {.inputs = {Location::Topic("orders")}})
      .AddProcessor("rekey", nothing, {"orders"})
      .AddSink("by-sink", {.output = Location::Repartition("by")}, {"rekey"})
      .AddSource("by-source", {.inputs = {Location::Repartition("by")}})
      .AddProcessor("sums", nothing, {"by-source"})
      .AddStore(StoreSpec{.name = "kept"}, {"sums"})
      .AddSink("out", {.output = Location::Topic("out")}, {"sums"});
  return *builder.Build();
}

TEST(StageListTest, EachStageHasItsNodesPlacesAndStores) {
  const std::vector<Stage> stages = StagesOf(TwoStages());
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_THAT(stages[0].nodes, ElementsAre("orders", "rekey", "by-sink"));
  EXPECT_THAT(stages[0].stores, IsEmpty());
  EXPECT_THAT(stages[0].upstream, IsEmpty());
  EXPECT_THAT(stages[1].inputs, ElementsAre(Location::Repartition("by")));
  EXPECT_THAT(stages[1].outputs, ElementsAre(Location::Topic("out")));
  EXPECT_THAT(stages[1].stores, ElementsAre("kept"));
  EXPECT_THAT(stages[1].upstream, ElementsAre(0));
}

TEST(StageListTest, OneStageAloneMeetsTheOthersInTopics) {
  const Result<Topology> first = OnlyStage(TwoStages(), "rekey", "app");
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_THAT(StagesOf(*first)[0].outputs, ElementsAre(Location::Topic("app-by-repartition")));
  const Result<Topology> second = OnlyStage(TwoStages(), "out", "app");
  ASSERT_TRUE(second.ok()) << second.status().message();
  const std::vector<Stage> stages = StagesOf(*second);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_THAT(stages[0].inputs, ElementsAre(Location::Topic("app-by-repartition")));
  EXPECT_THAT(stages[0].stores, ElementsAre("kept"));
}

TEST(StageListTest, AnUnknownNodeIsToldTheNearest) {
  const Result<Topology> none = OnlyStage(TwoStages(), "sum", "app");
  EXPECT_EQ(none.status().code(), StatusCode::kUsage);
  EXPECT_THAT(none.status().message(), HasSubstr("there is no node 'sum': did you mean 'sums'?"));
}

}  // namespace
}  // namespace kstream
