#include <gtest/gtest.h>

#include <set>

#include "kstream/topology.h"

namespace kstream {
namespace {

Location File(std::string name) { return {Location::Kind::kFile, "", std::move(name)}; }
ProcessorSupplier Does(std::string description = {}) {
  return {[] { return nullptr; }, std::move(description)};
}
Topology Built(const TopologyBuilder& builder) {
  Result<Topology> topology = builder.Build();
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  return *std::move(topology);
}

TopologyBuilder Everything() {
  TopologyBuilder builder;
  builder
      .AddSource("orders",
                 {.inputs = {Location::Topic("orders"), Location::Topic("^more-", "west")},
                  .serdes = SerdeNames{"string", "hex"},
                  .key = *Expression::Compile(".user"),
                  .timestamp = ".at",
                  .timestamp_expression = *Expression::Compile(".at"),
                  .timestamp_unit = "s"})
      .AddSource("prices",
                 {.inputs = {File("prices.csv")}, .format = "csv", .timestamp = "wallclock"})
      .AddProcessor("big", Does("filter .amount\n  > 100"), {"orders"})
      .AddProcessor("join", Does(), {"big", "prices"})
      .AddStore("seen", InMemoryKeyValueStore(), {"join", "big"})
      .AddSink("by-user", {.output = Location::Repartition("by-user")}, {"join"})
      .AddSink("any", {.topic_of_record = true, .partition_of_record = true}, {"big", "join"})
      .AddSource("users", {.inputs = {Location::Repartition("by-user")},
                           .extractor = [](const Record&, int64_t) { return int64_t{0}; }})
      .AddSink("out", {.output = File("-"), .format = "format", .format_text = "%k"}, {"users"});
  return builder;
}

TEST(Describe, SaysAllThatMakesAProgram) {
  EXPECT_EQ(Built(Everything()).Describe(), R"(stage 0
  source orders
    input topic:orders
    input topic:west:^more-
    serdes key=string value=hex
    key .user
    timestamp-unit s
    timestamp-expression .at
    --> big
  source prices
    input file:prices.csv
    format csv
    timestamp wallclock
    --> join
  processor big
    does filter .amount
        > 100
    uses seen
    --> join
    --> any
    <-- orders
  processor join
    uses seen
    --> by-user
    --> any
    <-- big
    <-- prices
  sink by-user
    output repartition:by-user
    <-- join
  sink any
    output the record's topic
    partition the record's
    <-- big
    <-- join
  store seen
stage 1 (after 0)
  source users
    input repartition:by-user
    timestamp of a function
    --> out
  sink out
    output -
    format format
    format-text %k
    <-- users
)");
}

// Members of one application compare it, on whatever machine: a new value for the same topology
// means that they refuse each other during an upgrade.
TEST(Hash, IsTheSameOnEveryMachine) { EXPECT_EQ(Built(Everything()).Hash(), "2c772e1e09ed5f48"); }

TEST(Hash, DiffersWithAnythingThatIsSaid) {
  std::set<std::string> hashes;
  size_t programs = 0;
  const auto add = [&](const SourceSpec& source, const std::string& does, const SinkSpec& sink) {
    TopologyBuilder builder;
    builder.AddSource("in", source)
        .AddProcessor("p", Does(does), {"in"})
        .AddSink("out", sink, {"p"});
    hashes.insert(Built(builder).Hash());
    programs++;
  };
  const SourceSpec source{.inputs = {File("a")}};
  const SinkSpec sink{.output = File("b")};
  const auto from = [&](auto change) {
    SourceSpec changed = source;
    change(&changed);
    add(changed, "filter .a", sink);
  };
  const auto to = [&](auto change) {
    SinkSpec changed = sink;
    change(&changed);
    add(source, "filter .a", changed);
  };
  add(source, "filter .a", sink);
  add(source, "filter .b", sink);
  add(source, "filter .a\n    uses s", sink);
  from([](SourceSpec* spec) { spec->inputs = {Location::Topic("a")}; });
  from([](SourceSpec* spec) { spec->inputs = {Location::Topic("^a")}; });
  from([](SourceSpec* spec) { spec->inputs.push_back(File("c")); });
  from([](SourceSpec* spec) { spec->format = "raw"; });
  from([](SourceSpec* spec) { spec->serdes.emplace(); });
  from([](SourceSpec* spec) { spec->serdes = {"json", "json"}; });
  from([](SourceSpec* spec) { spec->key = *Expression::Compile(".k"); });
  from([](SourceSpec* spec) { spec->key = *Expression::Compile(".l"); });
  from([](SourceSpec* spec) { spec->timestamp = "wallclock"; });
  from([](SourceSpec* spec) { spec->timestamp_expression = *Expression::Compile(".t"); });
  from([](SourceSpec* spec) {
    spec->timestamp_expression = *Expression::Compile(".t");
    spec->timestamp_unit = "us";
  });
  from([](SourceSpec* spec) {
    spec->extractor = [](const Record&, int64_t) { return int64_t{0}; };
  });
  to([](SinkSpec* spec) { spec->output = Location::Topic("b"); });
  to([](SinkSpec* spec) { spec->output = Location::Topic("b", "west"); });
  to([](SinkSpec* spec) { spec->format = "csv"; });
  to([](SinkSpec* spec) { spec->format = "format"; });
  to([](SinkSpec* spec) {
    spec->format = "format";
    spec->format_text = "%k";
  });
  to([](SinkSpec* spec) { spec->serdes.emplace(); });
  to([](SinkSpec* spec) { spec->topic_of_record = true; });
  to([](SinkSpec* spec) { spec->partition_of_record = true; });
  EXPECT_EQ(hashes.size(), programs);
}

TEST(Hash, DiffersWithStoresAndEdges) {
  std::set<std::string> hashes;
  for (const bool second_store : {false, true}) {
    for (const char* parent : {"p", "q"}) {
      TopologyBuilder builder;
      builder.AddSource("in", {.inputs = {File("a")}})
          .AddProcessor("p", Does(), {"in"})
          .AddProcessor("q", Does(), {"in"})
          .AddStore("s", InMemoryKeyValueStore(), {"p", second_store ? "q" : "p"})
          .AddSink("out", {.output = File("b")}, {parent});
      hashes.insert(Built(builder).Hash());
    }
  }
  EXPECT_EQ(hashes.size(), 4u);
}

}  // namespace
}  // namespace kstream
