#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kstream/topology.h"
#include "topology/graph.h"

namespace kstream {
namespace {

SourceSpec FromFile() {
  SourceSpec spec;
  spec.inputs.push_back({Location::Kind::kFile, "", "in"});
  return spec;
}
ProcessorSupplier None() {
  return [] { return nullptr; };
}
std::string Why(const TopologyBuilder& builder) {
  return std::string(builder.Build().status().message());
}

TEST(TopologyBuilder, PutsParentsBeforeChildrenWhateverTheOrderGiven) {
  TopologyBuilder builder;
  builder.AddSink("out", {}, {"b"})
      .AddProcessor("b", None(), {"a"})
      .AddProcessor("a", None(), {"in"})
      .AddSource("in", FromFile());
  const Result<Topology> topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  const auto& nodes = topology->graph().nodes;
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].name, "in");
  EXPECT_EQ(nodes[1].name, "a");
  EXPECT_EQ(nodes[3].name, "out");
  EXPECT_EQ(nodes[0].children, std::vector<size_t>{1});
}

TEST(TopologyBuilder, NamesTheNodeOfEachMistake) {
  TopologyBuilder twice;
  twice.AddSource("in", FromFile()).AddProcessor("in", None(), {"in"});
  EXPECT_EQ(Why(twice), "two nodes are named 'in': give each its own name");

  TopologyBuilder doubled;
  doubled.AddSource("in", FromFile()).AddProcessor("p", None(), {"in", "in"});
  EXPECT_EQ(Why(doubled), "node 'p' names its parent 'in' twice: each record would come twice");

  TopologyBuilder unknown;
  unknown.AddSource("in", FromFile()).AddSink("out", {}, {"inn"});
  EXPECT_EQ(Why(unknown), "node 'out' names an unknown parent 'inn'");

  TopologyBuilder cycle;
  cycle.AddSource("in", FromFile())
      .AddProcessor("a", None(), {"in", "b"})
      .AddProcessor("b", None(), {"a"});
  EXPECT_EQ(Why(cycle), "node 'a' is on a cycle or behind one");

  TopologyBuilder orphan;
  orphan.AddSource("in", FromFile()).AddProcessor("a", None(), {});
  EXPECT_EQ(Why(orphan), "node 'a' has no parent: no source reaches it");

  TopologyBuilder sink;
  sink.AddSource("in", FromFile()).AddSink("out", {}, {"in"}).AddProcessor("a", None(), {"out"});
  EXPECT_EQ(Why(sink), "sink 'out' cannot have a child 'a'");

  TopologyBuilder empty;
  empty.AddSource("in", {});
  EXPECT_EQ(Why(empty), "source 'in' has no input");

  TopologyBuilder nameless;
  nameless.AddSource("", FromFile());
  EXPECT_EQ(Why(nameless), "a node without a name: give it one");

  TopologyBuilder nothing;
  nothing.AddSource("in", FromFile()).AddProcessor("a", {}, {"in"});
  EXPECT_EQ(Why(nothing), "processor 'a' has no supplier");

  EXPECT_EQ(Why(TopologyBuilder()), "a topology without a source: add one");

  EXPECT_EQ(nothing.Build().status().code(), StatusCode::kExpression);
}

TEST(TopologyBuilder, RefusesAPatternThatIsNone) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("^a("), Location::Topic("b")}});
  EXPECT_EQ(builder.Build().status().code(), StatusCode::kExpression);
  EXPECT_THAT(Why(builder), testing::StartsWith("source 'in': ^a( is no valid topic pattern: "));
}

TEST(TopologyBuilder, RefusesASinkThatIsAPattern) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("^a.*")}});
  EXPECT_TRUE(builder.Build().ok());
  builder.AddSink("out", {.output = Location::Topic("^b.*")}, {"in"});
  EXPECT_EQ(builder.Build().status().code(), StatusCode::kExpression);
  EXPECT_EQ(Why(builder), "sink 'out': topic:^b.* is a pattern: only sources read by one");
}

TEST(TopologyBuilder, ConnectsAStoreToItsProcessorsOnce) {
  TopologyBuilder builder;
  builder.AddStore("x", InMemoryKeyValueStore(), {"b"})
      .AddStore("y", InMemoryKeyValueStore(), {"a", "b", "a"})
      .AddProcessor("a", None(), {"in"})
      .AddProcessor("b", None(), {"in"})
      .AddSource("in", FromFile());
  const Result<Topology> topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  const auto& graph = topology->graph();
  ASSERT_EQ(graph.stores.size(), 2u);
  EXPECT_EQ(graph.stores[1].name(), "y");
  EXPECT_THAT(graph.nodes[1].stores, testing::ElementsAre(1));
  EXPECT_THAT(graph.nodes[2].stores, testing::ElementsAre(0, 1));
}

TEST(TopologyBuilder, NamesTheStoreOfEachMistake) {
  const auto why = [](std::string name, StoreSupplier supplier,
                      std::vector<std::string> processors) {
    TopologyBuilder builder;
    builder.AddSource("in", FromFile())
        .AddProcessor("a", None(), {"in"})
        .AddSink("out", {}, {"a"})
        .AddStore("counts", InMemoryKeyValueStore(), {"a"})
        .AddStore(std::move(name), std::move(supplier), std::move(processors));
    EXPECT_EQ(builder.Build().status().code(), StatusCode::kExpression);
    return Why(builder);
  };
  const StoreSupplier memory = InMemoryKeyValueStore();
  EXPECT_EQ(why("counts", memory, {"a"}), "two stores are named 'counts': give each its own name");
  EXPECT_EQ(why("sums", memory, {"a", "b"}), "store 'sums' names an unknown processor 'b'");
  EXPECT_EQ(why("sums", memory, {}), "store 'sums' is used by no processor");
  EXPECT_EQ(why("sums", memory, {"in"}),
            "store 'sums' names 'in', which is a source: only processors use stores");
  EXPECT_EQ(why("sums", memory, {"out"}),
            "store 'sums' names 'out', which is a sink: only processors use stores");
  EXPECT_EQ(why("sums", {}, {"a"}), "store 'sums' has no supplier");
  EXPECT_EQ(why("", memory, {"a"}), "a store without a name: give it one");
}

TEST(TopologyBuilder, RefusesARepartitionTopicThatCannotBeATopic) {
  for (const char* name : {"by user", "a/b", "^a", "\xc3\xa4"}) {
    const std::string rule = fmt::format(
        "repartition topic '{}' needs a name of letters, digits, '.', '_' and '-'", name);
    TopologyBuilder reads;
    reads.AddSource("in", {.inputs = {Location::Repartition(name)}});
    EXPECT_EQ(Why(reads), "source 'in': " + rule);
    TopologyBuilder writes;
    writes.AddSource("in", FromFile())
        .AddSink("out", {.output = Location::Repartition(name)}, {"in"});
    EXPECT_EQ(Why(writes), "sink 'out': " + rule);
  }
}

TEST(TopologyBuilder, ChecksTheNamesOfTopicsNodesAndStores) {
  const std::string rule = "needs a name of letters, digits, '.', '_' and '-'";
  TopologyBuilder topic;
  topic.AddSource("in", {.inputs = {Location::Topic("a b")}});
  EXPECT_EQ(Why(topic), "source 'in': topic 'a b' " + rule);
  TopologyBuilder node;
  node.AddSource("a\nb", FromFile());
  EXPECT_EQ(Why(node), "node 'a\\u000ab' needs a name of UTF-8 without control characters");
  TopologyBuilder store;
  store.AddSource("in", FromFile())
      .AddProcessor("a", None(), {"in"})
      .AddStore("..", InMemoryKeyValueStore(), {"a"});
  EXPECT_EQ(Why(store), "store '..' " + rule);
}

TEST(TopologyBuilder, WhatWasMovedFromIsAsNew) {
  TopologyBuilder from;
  from.AddSource("in", FromFile());
  const TopologyBuilder to = std::move(from);
  EXPECT_TRUE(to.Build().ok());
  EXPECT_EQ(Why(from), "a topology without a source: add one");
  EXPECT_TRUE(from.AddSource("in", FromFile()).Build().ok());
}

TEST(TopologyBuilder, BuildsTheSameGraphAgain) {
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", None(), {"in"})
      .AddStore("s", InMemoryKeyValueStore(), {"a"});
  EXPECT_EQ(builder.Build()->Describe(), builder.Build()->Describe());
}

}  // namespace
}  // namespace kstream
