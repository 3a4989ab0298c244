#include "topology/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

Location T(std::string name, std::string cluster = {}) {
  return Location::Topic(std::move(name), std::move(cluster));
}
SourceSpec From(std::vector<Location> inputs) { return {.inputs = std::move(inputs)}; }
SinkSpec To(Location output) { return {.output = std::move(output)}; }
ProcessorSupplier None() {
  return [] { return nullptr; };
}

// The graph of a topology that builds, by names.
class Built {
 public:
  explicit Built(const TopologyBuilder& builder) : topology_(builder.Build()) {
    EXPECT_TRUE(topology_.ok()) << topology_.status().message();
  }
  size_t size() const { return stages().size(); }
  const TopologyStage& operator[](size_t i) const { return stages().at(i); }
  Names Nodes(size_t stage) const { return NamesOf(stages().at(stage).nodes); }
  Names Sources(size_t stage) const { return NamesOf(stages().at(stage).sources); }

 private:
  const std::vector<TopologyStage>& stages() const { return topology_->graph().stages; }
  Names NamesOf(const std::vector<size_t>& nodes) const {
    Names names;
    for (const size_t node : nodes) names.push_back(topology_->graph().nodes[node].name);
    return names;
  }
  Result<Topology> topology_;
};

std::string Why(const TopologyBuilder& builder) {
  const Status status = builder.Build().status();
  EXPECT_EQ(status.code(), StatusCode::kExpression);
  return std::string(status.message());
}

// Two sources on their own, with the inputs given.
size_t StagesOf(std::vector<Location> one, std::vector<Location> other) {
  TopologyBuilder builder;
  builder.AddSource("one", From(std::move(one))).AddSource("other", From(std::move(other)));
  return Built(builder).size();
}

TEST(Stages, ADiamondIsOne) {
  TopologyBuilder builder;
  builder.AddSink("out", To(T("out")), {"left", "right"})
      .AddProcessor("left", None(), {"in"})
      .AddProcessor("right", None(), {"in"})
      .AddSource("in", From({T("a")}));
  const Built built(builder);
  ASSERT_EQ(built.size(), 1u);
  EXPECT_THAT(built.Nodes(0), ElementsAre("in", "left", "right", "out"));
  EXPECT_THAT(built.Sources(0), ElementsAre("in"));
  EXPECT_THAT(built[0].upstream, IsEmpty());
  EXPECT_EQ(built[0].level, 0);
  EXPECT_FALSE(built[0].co_partitioned);
}

TEST(Stages, WhatNothingConnectsIsApartInTheOrderOfFirstSources) {
  TopologyBuilder builder;
  builder.AddProcessor("late", None(), {"second"})
      .AddSource("first", From({T("a")}))
      .AddSource("second", From({T("b")}))
      .AddSource("third", From({T("c")}))
      .AddProcessor("early", None(), {"first", "third"});
  const Built built(builder);
  ASSERT_EQ(built.size(), 2u);
  EXPECT_THAT(built.Nodes(0), ElementsAre("first", "third", "early"));
  EXPECT_THAT(built.Sources(0), ElementsAre("first", "third"));
  EXPECT_THAT(built.Nodes(1), ElementsAre("second", "late"));
}

TEST(Stages, ASharedStoreJoins) {
  TopologyBuilder builder;
  builder.AddSource("x", From({T("a")}))
      .AddSource("y", From({T("b")}))
      .AddProcessor("writes", None(), {"x"})
      .AddProcessor("asks", None(), {"y"})
      .AddStore("alone", InMemoryKeyValueStore(), {"asks"})
      .AddStore("both", InMemoryKeyValueStore(), {"writes", "asks"});
  const Built built(builder);
  ASSERT_EQ(built.size(), 1u);
  EXPECT_THAT(built[0].stores, ElementsAre(0, 1));
  EXPECT_TRUE(built[0].co_partitioned);
}

TEST(Stages, ATopicThatTwoSourcesReadJoins) {
  EXPECT_EQ(StagesOf({T("a"), T("b")}, {T("c"), T("b")}), 1u);
  EXPECT_EQ(StagesOf({T("a")}, {T("b")}), 2u);
  EXPECT_EQ(StagesOf({T("a", "west")}, {T("a", "west")}), 1u);
  EXPECT_EQ(StagesOf({T("a")}, {T("a", "west")}), 2u);
}

TEST(Stages, APatternJoinsWhatItMatchesAndItself) {
  EXPECT_EQ(StagesOf({T("^or")}, {T("orders")}), 1u);
  EXPECT_EQ(StagesOf({T("orders")}, {T("^or")}), 1u);
  EXPECT_EQ(StagesOf({T("^or")}, {T("^or")}), 1u);
  EXPECT_EQ(StagesOf({T("^or")}, {T("clicks")}), 2u);
  EXPECT_EQ(StagesOf({T("^or")}, {T("orders", "west")}), 2u);
  EXPECT_EQ(StagesOf({T("^or")}, {T("^ord")}), 2u);
  EXPECT_EQ(StagesOf({T("^.*")}, {T("__consumer_offsets")}), 2u);
}

TEST(Stages, FilesConnectNothing) {
  const Location file{Location::Kind::kFile, "", "a"};
  EXPECT_EQ(StagesOf({file}, {file}), 2u);
  EXPECT_EQ(StagesOf({file}, {T("a")}), 2u);

  TopologyBuilder builder;
  builder.AddSource("in", From({file})).AddSink("out", To(file), {"in"});
  const Built built(builder);
  EXPECT_EQ(built.size(), 1u);
  EXPECT_THAT(built[0].upstream, IsEmpty());
}

TEST(Stages, TopicsBetweenThemGiveTheirLevels) {
  TopologyBuilder builder;
  builder.AddSource("last", From({T("^mid-"), Location::Repartition("by-user")}))
      .AddSource("first", From({T("a")}))
      .AddSink("to-mid", To(T("mid-1")), {"first"})
      .AddSource("second", From({T("mid-1", "west"), T("b")}))
      .AddSink("to-west", To(T("mid-1", "west")), {"first"})
      .AddSink("to-users", To(Location::Repartition("by-user")), {"second"})
      .AddSink("end", To(T("end")), {"last"});
  const Built built(builder);
  ASSERT_EQ(built.size(), 3u);
  EXPECT_THAT(built.Sources(0), ElementsAre("last"));
  EXPECT_THAT(built[0].upstream, ElementsAre(1, 2));
  EXPECT_EQ(built[0].level, 2);
  EXPECT_THAT(built.Sources(1), ElementsAre("first"));
  EXPECT_THAT(built[1].upstream, IsEmpty());
  EXPECT_EQ(built[1].level, 0);
  EXPECT_THAT(built.Sources(2), ElementsAre("second"));
  EXPECT_THAT(built[2].upstream, ElementsAre(1));
  EXPECT_EQ(built[2].level, 1);
}

TEST(Stages, SeveralMayWriteOneTopic) {
  TopologyBuilder builder;
  builder.AddSource("x", From({T("a")}))
      .AddSource("y", From({T("b")}))
      .AddSource("users", From({Location::Repartition("by-user")}))
      .AddSink("x-out", To(Location::Repartition("by-user")), {"x"})
      .AddSink("y-out", To(Location::Repartition("by-user")), {"y"});
  const Built built(builder);
  ASSERT_EQ(built.size(), 3u);
  EXPECT_THAT(built[2].upstream, ElementsAre(0, 1));
  EXPECT_EQ(built[2].level, 1);
}

TEST(Stages, ASinkThatGoesByTheRecordConnectsNothing) {
  TopologyBuilder builder;
  SinkSpec by_record = To(T("a"));
  by_record.topic_of_record = true;
  builder.AddSource("in", From({T("a")})).AddSink("out", by_record, {"in"});
  EXPECT_THAT(Built(builder)[0].upstream, IsEmpty());
}

TEST(Stages, RefusesAStageThatReadsWhatItWrites) {
  TopologyBuilder plain;
  plain.AddSource("in", From({T("b"), T("a")})).AddSink("out", To(T("a")), {"in"});
  EXPECT_EQ(
      Why(plain),
      "sink 'out' writes topic:a, which source 'in' reads: the stage would read what it writes");

  TopologyBuilder pattern;
  pattern.AddSource("in", From({T("^or")})).AddSink("out", To(T("orders")), {"in"});
  EXPECT_EQ(Why(pattern),
            "sink 'out' writes topic:orders, which source 'in' reads as topic:^or: the stage would "
            "read what it writes");

  TopologyBuilder repartition;
  const Location by_user = Location::Repartition("by-user");
  repartition.AddSource("in", From({by_user})).AddSink("out", To(by_user), {"in"});
  EXPECT_EQ(Why(repartition),
            "sink 'out' writes repartition:by-user, which source 'in' reads: the stage would read "
            "what it writes");

  // The second source is in the stage because of the store alone.
  TopologyBuilder store;
  store.AddSource("x", From({T("a")}))
      .AddProcessor("p", None(), {"x"})
      .AddSink("out", To(T("mid")), {"p"})
      .AddSource("y", From({T("mid")}))
      .AddProcessor("q", None(), {"y"})
      .AddStore("s", InMemoryKeyValueStore(), {"p", "q"});
  EXPECT_EQ(
      Why(store),
      "sink 'out' writes topic:mid, which source 'y' reads: the stage would read what it writes");
}

TEST(Stages, RefusesACycleThroughTopics) {
  TopologyBuilder builder;
  builder.AddSource("a", From({T("a"), T("start")}))
      .AddSource("b", From({T("b")}))
      .AddSource("c", From({Location::Repartition("c")}))
      .AddSink("to-b", To(T("b")), {"a"})
      .AddSink("to-c", To(Location::Repartition("c")), {"b"})
      .AddSink("to-a", To(T("a")), {"c"});
  EXPECT_EQ(Why(builder),
            "sink 'to-a' writes topic:a, which source 'a' reads: the stage above would read what "
            "the one below it writes");
}

TEST(Stages, ARepartitionTopicHasAWriterAndAReader) {
  TopologyBuilder unwritten;
  unwritten.AddSource("in", From({T("a"), Location::Repartition("by-user")}))
      .AddSink("out", To(T("by-user")), {"in"});
  EXPECT_EQ(Why(unwritten), "source 'in' reads repartition topic 'by-user', which no sink writes");

  TopologyBuilder unread;
  unread.AddSource("in", From({T("a")}))
      .AddSource("other", From({T("by-user")}))
      .AddSink("out", To(Location::Repartition("by-user")), {"in"});
  EXPECT_EQ(Why(unread), "sink 'out' writes repartition topic 'by-user', which no source reads");
}

// A store behind `through`, which a source with `inputs` feeds, beside one that another feeds.
bool CoPartitioned(std::vector<Location> inputs, bool other_reaches_store) {
  TopologyBuilder builder;
  builder.AddSource("in", From(std::move(inputs)))
      .AddSource("other", From({T("other")}))
      .AddProcessor("through", None(), {"in"})
      .AddProcessor("counts", None(),
                    other_reaches_store ? Names{"through", "other"} : Names{"through"})
      .AddProcessor("merge", None(), {"counts", "other"})
      .AddStore("counts", InMemoryKeyValueStore(), {"counts"});
  const Built built(builder);
  EXPECT_EQ(built.size(), 1u);
  return built[0].co_partitioned;
}

TEST(Stages, AreCoPartitionedWhenInputsMeetInAStore) {
  EXPECT_FALSE(CoPartitioned({T("a")}, false));
  EXPECT_TRUE(CoPartitioned({T("a")}, true));
  EXPECT_TRUE(CoPartitioned({T("a"), T("b")}, false));
  EXPECT_TRUE(CoPartitioned({T("^a")}, false));
}

TEST(Reads, IsAboutOneTopicOfOneClusterOrOneFile) {
  const auto reads = [](const Location& input, const Location& output) {
    const Result<bool> result = Reads(input, output);
    EXPECT_TRUE(result.ok());
    return result.ok() && *result;
  };
  const Location file{Location::Kind::kFile, "", "a"};
  const Location stream{Location::Kind::kFile, "", "-"};
  EXPECT_TRUE(reads(T("a"), T("a")));
  EXPECT_FALSE(reads(T("a"), T("b")));
  EXPECT_FALSE(reads(T("a"), T("a", "west")));
  EXPECT_FALSE(reads(T("a"), file));
  EXPECT_FALSE(reads(T("a"), Location::Repartition("a")));
  EXPECT_TRUE(reads(Location::Repartition("a"), Location::Repartition("a")));
  EXPECT_TRUE(reads(file, file));
  EXPECT_FALSE(reads(stream, stream));
  EXPECT_TRUE(reads(T("^a+$"), T("aa")));
  EXPECT_FALSE(reads(T("^a+$"), T("ab")));
  EXPECT_FALSE(reads(T("^a"), T("^a")));
  EXPECT_FALSE(reads(T("^"), Location::Repartition("a")));
  EXPECT_EQ(Reads(T("^("), T("a")).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
