// InternalTopics guesses from a topology what the planner will decide with the counts of brokers in
// hand, and the planner asks for the topics of that guess alone. So both are asked about generated
// topologies, and must agree.
#include <algorithm>
#include <random>

#include "kstream/internal_topics.h"
#include "runtime/planner.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using Kind = InternalTopicNeed::Kind;

class InternalTopicsPlan : public MemoryRun {
 protected:
  size_t Upto(size_t most) { return std::uniform_int_distribution<size_t>(0, most)(random_); }
  template <typename T>
  T OneOf(const std::vector<T>& all) {
    return all[Upto(all.size() - 1)];
  }

  // Empty clusters with the same topics of other counts.
  void MakeTopics() {
    cluster_ = transport::memory::MemoryCluster();
    others_["east"] = transport::memory::MemoryCluster("east");
    const auto count = [this] { return static_cast<int32_t>(Upto(2) + 1); };
    for (const std::string topic : {"a", "b"}) cluster_.CreateTopic(topic, count());
    for (const std::string topic : {"d", "e"}) others_["east"].CreateTopic(topic, count());
  }

  // One source of some inputs, perhaps with a store, perhaps with a second stage behind it.
  Result<Topology> Generate() {
    const std::vector<Location> all{
        Location::Topic("a"),         Location::Topic("b"),      Location::Topic("d", "east"),
        Location::Topic("e", "east"), Location::Topic("^[ab]$"), Location::Topic("^[de]$", "east")};
    SourceSpec in;
    for (size_t i = Upto(2) + 1; i > 0; i--) {
      const Location input = OneOf(all);
      if (std::ranges::find(in.inputs, input) == in.inputs.end()) in.inputs.push_back(input);
    }
    TopologyBuilder builder;
    builder.AddSource("in", in).AddProcessor("first", Passes(), {"in"});
    std::string last = "first";
    if (Upto(1) == 0) {
      const Location by_key = Location::Repartition("by-key");
      SourceSpec between{.inputs = {by_key}};
      if (Upto(2) == 0) between.inputs.push_back(Location::Topic("e", "east"));
      builder.AddSink("to", {.output = by_key}, {"first"})
          .AddSource("between", between)
          .AddProcessor("second", Passes(), {"between"});
      last = "second";
    }
    if (Upto(2) == 0) {
      StoreSpec store;
      store.name = "cnt";
      builder.AddStore(store, {last});
    }
    return builder.Build();
  }

  std::mt19937 random_{1};
};

TEST_F(InternalTopicsPlan, WhatIsExpectedIsWhatIsPlanned) {
  options_.app = "app";
  int planned = 0, perhaps_internal = 0, perhaps_not = 0;
  for (int i = 0; i < 2000; i++) {
    MakeTopics();
    options_.grouper =
        OneOf<std::string>({"default", "default", "single", "by-topic", "broadcast:a",
                            "broadcast:east:d", "broadcast:app-by-key-repartition"});
    const Result<Topology> topology = Generate();
    if (!topology.ok()) continue;
    RunState state(*topology, options_);
    Prepare(&state);
    Admins admins(&state);
    Planner planner(&state, &admins);
    // A broadcast that nobody reads, or counts that do not fit together.
    if (!planner.Open().ok()) continue;
    planned++;

    const std::string about = topology->Describe() + "grouper " + options_.grouper;
    const std::vector<InternalTopicNeed> needs = InternalTopics(*topology, options_);
    const auto expected = std::ranges::find(needs, Kind::kTasks, &InternalTopicNeed::kind);
    const bool internal = std::ranges::any_of(planner.plan()->stages, [](const StagePlan& stage) {
      return stage.lead.topic == TasksTopic("app");
    });
    if (expected != needs.end() && !expected->certain) {
      (internal ? perhaps_internal : perhaps_not)++;
    } else {
      ASSERT_EQ(internal, expected != needs.end()) << about;
    }
    const auto manifest = *ManifestLog(&cluster_, "app", clock_.get()).Read();
    ASSERT_EQ(manifest.has_value(), !needs.empty()) << about;
    for (size_t t = 0; manifest && t < manifest->topics.size(); t++) {
      ASSERT_NE(std::ranges::find(needs, manifest->topics[t].name, &InternalTopicNeed::topic),
                needs.end())
          << manifest->topics[t].name << " of " << about;
    }
  }
  EXPECT_GT(planned, 500);
  EXPECT_GT(perhaps_internal, 20);
  EXPECT_GT(perhaps_not, 20);
}

}  // namespace
}  // namespace kstream::runtime
