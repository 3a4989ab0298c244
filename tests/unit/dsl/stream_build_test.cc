// What streams become: nodes, names, stages, and what is said about mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kstream/operators.h"
#include "kstream/stream.h"
#include "topology/graph.h"
#include "unit/dsl/task_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Location kIn = Location::Topic("in");
const Location kOut = Location::Topic("out");

std::vector<std::string> NodesOf(const Result<Topology>& topology) {
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  std::vector<std::string> names;
  if (!topology.ok()) return names;
  for (const TopologyNode& node : topology->graph().nodes) names.push_back(node.name);
  return names;
}

const TopologyNode& NodeOf(const Topology& topology, std::string_view name) {
  const auto& nodes = topology.graph().nodes;
  return *std::ranges::find(nodes, name, &TopologyNode::name);
}

Result<bool> Yes(const Record&) { return true; }
MadeBytes One(const Record&) { return "1"; }
Status Pass(const Record& record, const Emit& emit) { return emit(record); }
Status Look(const Record&) { return Status::Ok(); }

class Idle : public Processor {
 public:
  Status Process(const Record&) override { return Status::Ok(); }
};
std::unique_ptr<Processor> MakeIdle() { return std::make_unique<Idle>(); }

TEST(StreamNames, CountTheUnnamedAndKeepTheGiven) {
  StreamBuilder builder;
  builder.Source(kIn)
      .Filter(". > 1")
      .SelectKey(".u", "by user")
      .MapValues(One)
      .Through(Location::Topic("mid"))
      .Repartition("again")
      .To(kOut);
  EXPECT_THAT(NodesOf(builder.Build()),
              testing::UnorderedElementsAre("source-1", "filter-2", "by user", "map-values-3",
                                            "through-4-sink", "through-4-source", "again-sink",
                                            "again-source", "sink-5"));
  StreamBuilder other;
  EXPECT_EQ(other.Source(kIn).name(), "source-1");
}

TEST(StreamTopics, JoinStagesAndLeaveSerdesAsTheyAre) {
  StreamBuilder builder({.key = "hex", .value = "string"});
  builder.Source(kIn)
      .SelectKey("$key")
      .Repartition("by-key")
      .Through(Location::Topic("mid"), "mid")
      .To(kOut, "out");
  const Result<Topology> topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->graph().stages.size(), 3u);
  EXPECT_EQ(NodeOf(*topology, "by-key-sink").sink.output, Location::Repartition("by-key"));
  EXPECT_THAT(NodeOf(*topology, "by-key-source").source.inputs,
              ElementsAre(Location::Repartition("by-key")));
  EXPECT_EQ(NodeOf(*topology, "mid-sink").sink.output, Location::Topic("mid"));
  EXPECT_THAT(NodeOf(*topology, "mid-source").source.inputs, ElementsAre(Location::Topic("mid")));
  for (const TopologyNode& node : topology->graph().nodes) {
    const auto& serdes =
        node.kind == TopologyNode::Kind::kSource ? node.source.serdes : node.sink.serdes;
    if (node.kind == TopologyNode::Kind::kProcessor) continue;
    ASSERT_TRUE(serdes) << node.name;
    EXPECT_EQ(serdes->key + " " + serdes->value, "hex string") << node.name;
  }
}

TEST(StreamTopics, PassBytesHeadersAndTimestampsUntouched) {
  StreamBuilder builder;
  builder.Source(kIn).Repartition("again").To(kOut, "out");
  const Result<Topology> topology = builder.Build();
  const Header headers[] = {{"h", std::nullopt}};
  TaskRun before(topology, 0), after(topology, 1);
  EXPECT_TRUE(before.Process(R"({ "a":1.0})", "k", headers).ok());
  EXPECT_TRUE(after.Process(R"({ "a":1.0})", "k", headers).ok());
  for (const Kept& kept :
       {before.out("again-sink").records.at(0), after.out("out").records.at(0)}) {
    EXPECT_EQ(kept.value, R"({ "a":1.0})");
    EXPECT_EQ(kept.key, "k");
    EXPECT_EQ(kept.timestamp, 1000);
    EXPECT_EQ(kept.headers.size(), 1u);
  }
}

TEST(StreamSerdes, OfASourceReplaceThoseOfTheBuilder) {
  StreamBuilder builder({.value = "string"});
  builder.Source({.inputs = {kIn}, .serdes = SerdeNames{.value = "hex"}}, "in")
      .MapValues(". + \"ff\"")
      .To(kOut, "out");
  builder.Source(Location::Topic("text")).MapValues(". + \"ff\"").To(kOut, "out2");
  const Result<Topology> topology = builder.Build();
  TaskRun hex(topology, 0), text(topology, 1);
  EXPECT_TRUE(hex.Process("\x01").ok());
  EXPECT_TRUE(text.Process("\x01").ok());
  EXPECT_THAT(hex.out("out").Values(), ElementsAre("\x01\xFF"));
  EXPECT_THAT(text.out("out2").Values(), ElementsAre("\x01"
                                                     "ff"));
}

TEST(StreamRekeyed, FollowsWhatMayChangeTheKey) {
  struct Case {
    const char* what;
    bool from_keyed, from_rekeyed;  // what becomes of a stream that is not, or is, re-keyed
    std::function<Stream(const Stream&)> form;
  };
  const Case cases[] = {
      {"Filter", false, true, [](auto& s) { return s.Filter(".a"); }},
      {"Filter()", false, true, [](auto& s) { return s.Filter(Yes); }},
      {"FilterNot", false, true, [](auto& s) { return s.FilterNot(".a"); }},
      {"FilterNot()", false, true, [](auto& s) { return s.FilterNot(Yes); }},
      {"Map", false, true, [](auto& s) { return s.Map({.value = ".a"}); }},
      {"Map with key", true, true, [](auto& s) { return s.Map({.key = ".a"}); }},
      {"Map()", true, true, [](auto& s) { return s.Map(Pass); }},
      {"FlatMap", false, true, [](auto& s) { return s.FlatMap({.value = ".a"}); }},
      {"FlatMap with key", true, true, [](auto& s) { return s.FlatMap({.key = ".a"}); }},
      {"FlatMap()", true, true, [](auto& s) { return s.FlatMap(Pass); }},
      {"MapValues", false, true, [](auto& s) { return s.MapValues(".a"); }},
      {"MapValues()", false, true, [](auto& s) { return s.MapValues(One); }},
      {"FlatMapValues", false, true, [](auto& s) { return s.FlatMapValues(".a"); }},
      {"FlatMapValues()", false, true, [](auto& s) { return s.FlatMapValues(Pass); }},
      {"SelectKey", true, true, [](auto& s) { return s.SelectKey(".a"); }},
      {"SelectKey()", true, true, [](auto& s) { return s.SelectKey(One); }},
      {"Branch", false, true,
       [](auto& s) {
         return s.Branch({{"b", Yes}}, "o")[0];
       }},
      {"Branch's rest", false, true,
       [](auto& s) {
         return s.Branch({{"b", Yes}}, "o")[1];
       }},
      {"Merge", false, true, [](auto& s) { return s.Merge(s.Filter(".a")); }},
      {"Merge with re-keyed", true, true,
       [](auto& s) { return s.Filter(".a").Merge(s.Map(Pass)); }},
      {"Peek", false, true, [](auto& s) { return s.Peek(Look); }},
      {"Process", true, true, [](auto& s) { return s.Process(MakeIdle); }},
      {"Through", false, false, [](auto& s) { return s.Through(Location::Topic("t")); }},
      {"Repartition", false, false, [](auto& s) { return s.Repartition("r"); }},
  };
  for (const Case& c : cases) {
    for (const bool before : {false, true}) {
      StreamBuilder builder;
      const Stream in = builder.Source(kIn);
      const Stream out = c.form(before ? in.SelectKey(".k") : in);
      EXPECT_EQ(out.rekeyed(), before ? c.from_rekeyed : c.from_keyed) << c.what << " " << before;
      out.To(kOut);
      EXPECT_TRUE(builder.Build().ok()) << c.what << ": " << builder.Build().status().message();
    }
  }
}

TEST(StreamRekeyed, ASourceWithAKeyOfItsOwnIsSoOnATopic) {
  const Expression key = *Expression::Compile(".k");
  const Location file{Location::Kind::kFile, "", "f"};
  StreamBuilder builder;
  EXPECT_FALSE(builder.Source(kIn).rekeyed());
  EXPECT_TRUE(builder.Source({.inputs = {kIn}, .key = key}).rekeyed());
  EXPECT_TRUE(builder.Source({.inputs = {file, kIn}, .key = key}).rekeyed());
  EXPECT_FALSE(builder.Source({.inputs = {file}, .key = key}).rekeyed());
}

TEST(StreamMistakes, AreReportedByBuildWithTheName) {
  struct Case {
    StatusCode code;
    std::string message;
    std::function<void(StreamBuilder&, const Stream&)> make;
  };
  StreamBuilder another;
  const Stream foreign = another.Source(kIn, "elsewhere");
  constexpr StatusCode kBad = StatusCode::kExpression;
  const Case cases[] = {
      {kBad, "'filter-1': 1:", [](auto&, auto& s) { s.Filter(".a >"); }},
      {kBad,
       "'mine': 1:", [](auto&, auto& s) { s.FilterNot(Expression::Compile("nonsense("), "mine"); }},
      {kBad, "'map-1': 1:", [](auto&, auto& s) { s.Map({.value = ".a", .key = "$left"}); }},
      {kBad, "'map-values-1': 1:", [](auto&, auto& s) { s.MapValues("$out"); }},
      {kBad, "'select-key-1': 1:", [](auto&, auto& s) { s.SelectKey("}"); }},
      {kBad, "'filter-1': its function is empty", [](auto&, auto& s) { s.Filter(Predicate()); }},
      {kBad, "'map-1': its function is empty", [](auto&, auto& s) { s.Map(Mapper()); }},
      {kBad, "'peek-1': its function is empty", [](auto&, auto& s) { s.Peek(Action()); }},
      {kBad, "'branch-1': there are no branches", [](auto&, auto& s) { s.Branch({}); }},
      {kBad, "'branch-1': there are no branches", [](auto&, auto& s) { s.Branch({}, "rest"); }},
      {kBad, "'branch-1': a branch without a name",
       [](auto&, auto& s) {
         s.Branch({{"", Yes}});
       }},
      {kBad, "'branch-1': branch 'b': 1:",
       [](auto&, auto& s) {
         s.Branch({{"b", "("}});
       }},
      {kBad, "'branch-1': the function of branch 'b' is empty",
       [](auto&, auto& s) {
         s.Branch({{"b", Predicate()}});
       }},
      {kBad, "two nodes are named 'b'",
       [](auto&, auto& s) {
         s.Branch({{"b", Yes}, {"b", Yes}});
       }},
      {kBad, "two nodes are named 'x'",
       [](auto&, auto& s) { s.Filter(".a", "x").Filter(".b", "x"); }},
      {kBad, "'merge-1': stream 'elsewhere' is of another StreamBuilder",
       [&](auto&, auto& s) { s.Merge(foreign); }},
      {kBad, "'merge-1': stream 'in' is merged with itself", [](auto&, auto& s) { s.Merge(s); }},
      {kBad, "'m': 'in' and 'hex' are seen through different serdes",
       [](auto& b, auto& s) {
         s.Merge(b.Source({.inputs = {kIn}, .serdes = SerdeNames{.value = "hex"}}, "hex"), "m");
       }},
      {StatusCode::kUsage, "'yaml': 'yaml' is not a serde",
       [](auto& b, auto&) {
         b.Source({.inputs = {kIn}, .serdes = SerdeNames{.value = "yaml"}}, "yaml");
       }},
      {kBad, "'through-1': file:x is not a topic",
       [](auto&, auto& s) {
         s.Through({Location::Kind::kFile, "", "x"});
       }},
      {kBad, "'through-1': topic:^a.* is not a topic",
       [](auto&, auto& s) { s.Through(Location::Topic("^a.*")); }},
      {kBad, "sink 'x': topic:^a.* is a pattern",
       [](auto&, auto& s) { s.To(Location::Topic("^a.*"), "x"); }},
      {kBad, "'in': it is repartitioned without a name", [](auto&, auto& s) { s.Repartition(""); }},
      {kBad, "'by user'", [](auto&, auto& s) { s.Repartition("by user"); }},
      {kBad, "'count': no store is named 'counts'",
       [](auto&, auto& s) { s.Process(MakeIdle, "count", {"counts"}); }},
      {kBad, "store 'counts' is used by no processor",
       [](auto& b, auto&) { b.AddStore("counts", InMemoryKeyValueStore()); }},
      {kBad, "processor 'process-1' has no supplier",
       [](auto&, auto& s) { s.Process(ProcessorSupplier()); }},
  };
  for (const Case& c : cases) {
    StreamBuilder builder;
    const Stream in = builder.Source(kIn, "in");
    in.To(kOut, "out");
    ASSERT_TRUE(builder.Build().ok());
    c.make(builder, in);
    const Status status = builder.Build().status();
    EXPECT_EQ(status.code(), c.code) << status.message();
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

TEST(StreamMistakes, TheFirstIsToldAndTheChainGoesOn) {
  StreamBuilder builder;
  builder.Source(kIn).Filter("(", "first").MapValues("(", "second").To(kOut);
  EXPECT_THAT(std::string(builder.Build().status().message()), testing::StartsWith("'first'"));
}

TEST(StreamBuilder, MayBeMovedAndBuiltTwice) {
  StreamBuilder first;
  const Stream in = first.Source(kIn, "in");
  StreamBuilder second = std::move(first);
  in.Filter(".a", "f").To(kOut, "out");
  EXPECT_THAT(NodesOf(second.Build()), ElementsAre("in", "f", "out"));
  EXPECT_EQ(second.Build()->Hash(), second.Build()->Hash());
}

TEST(Streams, OfExpressionsKeepNothingBetweenRecords) {
  StreamBuilder builder;
  const Stream in = builder.Source(kIn, "in");
  in.Filter(".a").Map({.key = ".b"}).SelectKey(".c").Branch({{"of expressions", ".d"}}, "rest");
  in.Merge(in.MapValues(".e"));
  const Stream function = in.Filter(Yes, "function");
  function.Branch({{"of functions", Yes}}, {}, "branch by function");
  const Result<Topology> topology = builder.Build();
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  for (const TopologyNode& node : topology->graph().nodes) {
    if (node.kind != TopologyNode::Kind::kProcessor) continue;
    EXPECT_EQ(node.supplier.stateless, !node.name.ends_with("function")) << node.name;
  }
}

// The description of the one processor that `form` makes.
std::string DescriptionOf(const std::function<void(const Stream&)>& form, SerdeNames serdes = {}) {
  StreamBuilder builder(std::move(serdes));
  form(builder.Source(kIn, "in"));
  const Result<Topology> topology = builder.Build();
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  return topology.ok() ? topology->graph().nodes[1].supplier.description : "";
}

TEST(StreamDescriptions, SayAllThatAnOperatorDoes) {
  using D = std::string;
  const auto of = DescriptionOf;
  EXPECT_EQ(of([](auto& s) { s.Filter(".a > 1"); }, {}), D("filter '.a > 1'"));
  EXPECT_EQ(of([](auto& s) { s.FilterNot(".a"); }, {}), D("filter-not .a"));
  EXPECT_EQ(of([](auto& s) { s.Filter(".a"); }, {.key = "hex", .value = "<q"}),
            D("filter .a -s key=hex -s value='<q'"));
  EXPECT_EQ(of([](auto& s) { s.Filter(R"({"var":"a"})"); }, {}),
            D(R"(filter jsonlogic '{"var":"a"}')"));
  EXPECT_EQ(of([](auto& s) { s.Filter(". == \"it's\"\n or .a"); }, {}),
            D(R"(filter '. == "it'\''s"'$'\n'' or .a')"));
  EXPECT_EQ(of(
                [](auto& s) {
                  s.Map({.value = ".v",
                         .tombstone = ".t",
                         .key = ".k",
                         .headers = {{"h", ".h"}, {"i", "$out"}},
                         .to = ".to",
                         .partition = ".p"});
                },
                {}),
            D("map .v --tombstone .t --set-key .k --header h=.h --header i='$out' --to .to "
              "--partition .p"));
  EXPECT_EQ(of([](auto& s) { s.FlatMapValues(".[]"); }, {}), D("flat-map '.[]'"));
  EXPECT_EQ(of([](auto& s) { s.SelectKey(".u"); }, {.key = "json"}),
            D("select-key .u -s key=json"));
  EXPECT_EQ(of(
                [](auto& s) {
                  s.Branch({{"a", ".x"}, {"b", Yes}}, "c");
                },
                {}),
            D("branch a=.x b=(function) otherwise c"));
  EXPECT_EQ(of([](auto& s) { s.Filter(Yes); }, {}), D("filter (function)"));
  EXPECT_EQ(of([](auto& s) { s.FlatMapValues(Pass); }, {}), D("flat-map-values (function)"));
}

TEST(StreamDescriptions, OfToolsOperatorsSayWhereRecordsGo) {
  FilterSpec filter{.keep = *Expression::Compile(".a"), .kept = "out", .rest = "rest"};
  filter.route.partition = *Expression::Compile("$partition");
  EXPECT_EQ(Filter(filter)->description,
            "filter .a kept-to out rest-to rest --partition '$partition'");
}

TEST(StreamDescriptions, MakeTwoFiltersTwoPrograms) {
  std::set<std::string> hashes;
  for (const char* text : {".a > 1", ".a > 2"}) {
    for (const bool negate : {false, true}) {
      StreamBuilder builder;
      const Stream in = builder.Source(kIn, "in");
      (negate ? in.FilterNot(text, "f") : in.Filter(text, "f")).To(kOut, "out");
      hashes.insert(builder.Build()->Hash());
    }
  }
  EXPECT_EQ(hashes.size(), 4u);
}

TEST(StreamBuilderTest, WhatWasMovedFromIsAsNew) {
  StreamBuilder from;
  from.Source(Location::Topic("in")).To(Location::Topic("out"));
  const StreamBuilder to = std::move(from);
  EXPECT_TRUE(to.Build().ok());
  EXPECT_EQ(from.Build().status().code(), StatusCode::kExpression);
  from.Source(Location::Topic("in")).To(Location::Topic("out"));
  EXPECT_TRUE(from.Build().ok());
}

}  // namespace
}  // namespace kstream
