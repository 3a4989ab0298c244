// Filter and Map inside the real task, with a sink that keeps what arrives.
#include "kstream/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kstream/topology.h"
#include "unit/dsl/task_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Expression Compiled(std::string_view text) {
  Result<Expression> expression = Expression::Compile(text, Language::kAuto, {"out"});
  EXPECT_TRUE(expression.ok()) << expression.status().message();
  return *expression;
}

// One operator between a source and the sinks "out" and "rest".
class OperatorRun : public TaskRun {
 public:
  explicit OperatorRun(const Result<ProcessorSupplier>& supplier)
      : TaskRun(TopologyBuilder()
                    .AddSource("in", {.inputs = {{Location::Kind::kFile, "", "in"}}})
                    .AddProcessor("op", ProcessorSupplier(*supplier).Unnamed(), {"in"})
                    .AddSink("out", {}, {"op"})
                    .AddSink("rest", {}, {"op"})
                    .Build()) {}
};

FilterSpec Keep(std::string_view text) { return {.keep = Compiled(text), .kept = "out"}; }
MapSpec To(std::string_view text) { return {.value = Compiled(text)}; }

TEST(Filter, KeepsTheBytesOfWhatItKeeps) {
  OperatorRun run(Filter(Keep(".keep != false")));
  const char* spelled = R"({"k":1, "v":2.0,"p":1.10,"e":1e2,"z":-0.0})";
  EXPECT_TRUE(run.Process(spelled, "k1").ok());
  EXPECT_TRUE(run.Process(R"({"keep":false})").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre(spelled));
  EXPECT_EQ(run.out().records[0].key, "k1");
}

TEST(Filter, SendsTheRestElsewhereAndTurnsAroundWhenNegated) {
  FilterSpec spec = Keep(". > 1");
  spec.rest = "rest";
  OperatorRun run(Filter(spec));
  EXPECT_TRUE(run.Process("1").ok());
  EXPECT_TRUE(run.Process("2").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("2"));
  EXPECT_THAT(run.out("rest").Values(), ElementsAre("1"));

  spec.negate = true;
  OperatorRun negated(Filter(spec));
  EXPECT_TRUE(negated.Process("1").ok());
  EXPECT_THAT(negated.out().Values(), ElementsAre("1"));
}

// A row is a tombstone on the side where it is not, whether or not it was there.
TEST(Filter, OfATableDeletesWhatDoesNotFit) {
  FilterSpec spec = Keep(". > 1");
  spec.table = true;
  spec.rest = "rest";
  OperatorRun run(Filter(spec));
  for (const char* value : {"1", "2"}) EXPECT_TRUE(run.Process(value, "k").ok());
  EXPECT_TRUE(run.Process(std::nullopt, "k").ok());
  EXPECT_TRUE(run.Process("2").ok());  // no key: no row
  EXPECT_EQ(run.Process("{", "k").code(), StatusCode::kData);
  EXPECT_THAT(run.out().Values(), ElementsAre("(null)", "2", "(null)"));
  EXPECT_THAT(run.out("rest").Values(), ElementsAre("1", "(null)", "(null)"));
  EXPECT_THAT(run.out("rest").Keys(), ElementsAre("k", "k", "k"));
}

TEST(Filter, MirrorsPartitionsByExpression) {
  FilterSpec spec = Keep("true");
  spec.route.partition = Compiled("$partition");
  OperatorRun run(Filter(spec));
  EXPECT_TRUE(run.Process("1").ok());
  EXPECT_EQ(run.out().records[0].partition, 3);
}

TEST(Filter, PassesANullPayloadAndRefusesAnEmptyOne) {
  OperatorRun run(Filter(Keep(". == null or true")));
  EXPECT_TRUE(run.Process(std::nullopt, "a").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("(null)"));
  EXPECT_EQ(run.Process("").code(), StatusCode::kData);
}

TEST(Map, MakesAnyNumberOfRecords) {
  OperatorRun run(Map(To(".[]")));
  EXPECT_TRUE(run.Process("[1, 2.50, \"x\"]").ok());
  EXPECT_TRUE(run.Process("[]").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("1", "2.50", "\"x\""));
}

TEST(Map, ForwardsNothingOfARecordThatFailsHalfway) {
  OperatorRun run(Map(To(".[] | 1 / .")));
  EXPECT_EQ(run.Process("[1, 0]").code(), StatusCode::kData);
  EXPECT_THAT(run.out().Values(), IsEmpty());
}

TEST(Map, MakesExactlyOneWhereAskedTo) {
  MapSpec spec = To(".[]");
  spec.single = true;
  OperatorRun run(Map(spec));
  EXPECT_EQ(run.Process("[]").code(), StatusCode::kData);
  EXPECT_EQ(run.Process("[1,2]").code(), StatusCode::kData);
  EXPECT_TRUE(run.Process("[3]").ok());
  EXPECT_TRUE(run.Process(std::nullopt).ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("3", "(null)"));
}

TEST(Map, RefusesARecordThatBecomesTooMany) {
  OperatorRun run(Map(To("range(.)")));
  EXPECT_TRUE(run.Process("3").ok());
  EXPECT_EQ(run.Process("100000000").message(), "one record becomes more than 256 MB of records");
  EXPECT_EQ(run.out().records.size(), 3u);
}

TEST(Map, TellsJsonNullFromANullPayload) {
  OperatorRun run(Map(To(".")));
  EXPECT_TRUE(run.Process("null").ok());
  EXPECT_TRUE(run.Process(std::nullopt, "gone").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("null", "(null)"));
  EXPECT_EQ(run.out().records[1].key, "gone");
}

TEST(Map, WritesATombstoneWhereAskedTo) {
  MapSpec spec = To(".");
  spec.tombstone = Compiled(".deleted");
  OperatorRun run(Map(spec));
  EXPECT_TRUE(run.Process(R"({"deleted":true})", "a").ok());
  EXPECT_TRUE(run.Process(R"({"deleted":false})", "b").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("(null)", R"({"deleted":false})"));
}

TEST(Map, SetsKeysFromWhatWasReadAndWhatWasMade) {
  MapSpec spec = To(".items[]");
  spec.key = Compiled("if $out == 9007199254740993 then null else .user end");
  OperatorRun run(Map(spec));
  EXPECT_TRUE(run.Process(R"({"user":"u1","items":[1,9007199254740993]})", "old").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("1", "9007199254740993"));
  EXPECT_EQ(run.out().records[0].key, "u1");
  EXPECT_EQ(run.out().records[1].key, std::nullopt);
}

TEST(Map, AppendsHeadersBehindThoseThatWereThere) {
  MapSpec spec = To(".[]");
  spec.headers.emplace_back("n", Compiled("$out"));
  spec.headers.emplace_back("none", Compiled("null"));
  OperatorRun run(Map(spec));
  const Header had[] = {{"h", "1"}, {"h", std::nullopt}};
  EXPECT_TRUE(run.Process("[5,6]", std::nullopt, had).ok());
  ASSERT_EQ(run.out().records.size(), 2u);
  using H = std::pair<std::string, std::optional<std::string>>;
  EXPECT_THAT(run.out().records[1].headers,
              ElementsAre(H{"h", "1"}, H{"h", std::nullopt}, H{"n", "6"}, H{"none", std::nullopt}));
}

TEST(Map, ChoosesATopicPerRecord) {
  MapSpec spec = To(".v");
  spec.route.to = Compiled("\"out-\\(.country)\"");
  OperatorRun run(Map(spec));
  EXPECT_TRUE(run.Process(R"({"country":"de","v":1})").ok());
  EXPECT_EQ(run.out().records[0].topic, "out-de");
  spec.route.to = Compiled(".country");
  OperatorRun none(Map(spec));
  EXPECT_EQ(none.Process(R"({"country":7,"v":1})").code(), StatusCode::kData);
  EXPECT_EQ(none.Process(R"({"v":1})").code(), StatusCode::kData);
}

TEST(Map, WritesValuesByTheirSerde) {
  MapSpec spec = To("ascii_upcase");
  spec.serdes.value = "string";
  OperatorRun run(Map(spec));
  EXPECT_TRUE(run.Process("abc").ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("ABC"));
}

TEST(Operators, RefuseAnUnknownSerde) {
  MapSpec spec = To(".");
  spec.serdes.key = "yaml";
  EXPECT_EQ(Map(spec).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
