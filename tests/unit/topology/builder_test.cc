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
}

}  // namespace
}  // namespace kstream
