// Joins with tables, for each order of arrival, in the real task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kstream/joins.h"
#include "kstream/stream.h"
#include "kstream/table.h"
#include "unit/testdriver/word_count.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The topics "l" and "r", of one partition each, joined to "out".
class Joined {
 public:
  template <typename BuildIt>
  explicit Joined(const BuildIt& build) : driver_(Driver(Built(build))) {}

  Joined& Left(const char* value, int64_t time) { return Put("l", value, time); }
  Joined& Right(const char* value, int64_t time) { return Put("r", value, time); }
  // Since the last call: VALUE@TIME, a tombstone as -.
  std::vector<std::string> Out() {
    std::vector<std::string> out;
    for (const TestRecord& record : *driver_->Read("out")) {
      out.push_back(record.value.value_or("-") + "@" + std::to_string(*record.timestamp));
    }
    return out;
  }
  TestDriver& driver() { return *driver_; }

 private:
  template <typename BuildIt>
  static Topology Built(const BuildIt& build) {
    StreamBuilder builder;
    build(builder);
    return *builder.Build();
  }
  Joined& Put(const char* topic, const char* value, int64_t time) {
    TestRecord record{.key = "k", .timestamp = time};
    if (value) record.value = value;
    const Status piped = driver_->Pipe(topic, record);
    EXPECT_TRUE(piped.ok()) << piped.message();
    return *this;
  }

  std::unique_ptr<TestDriver> driver_;
};

constexpr const char* kBoth = "[$left, $right]";

// The stream's source is the first, so that its records would be first where times are equal.
Joined StreamAndTable(JoinType type) {
  return Joined([type](StreamBuilder& builder) {
    const Stream left = builder.Source(Location::Topic("l"));
    const Table table = builder.Table(Location::Topic("r"), "rows");
    (type == JoinType::kLeft ? left.LeftJoin(table, "join", kBoth)
                             : left.Join(table, "join", kBoth))
        .To(Location::Topic("out"));
  });
}

Joined Tables(JoinType type) {
  return Joined([type](StreamBuilder& builder) {
    const Table left = builder.Table(Location::Topic("l"), "lefts");
    const Table right = builder.Table(Location::Topic("r"), "rights");
    (type == JoinType::kInner  ? left.Join(right, "join", kBoth)
     : type == JoinType::kLeft ? left.LeftJoin(right, "join", kBoth)
                               : left.OuterJoin(right, "join", kBoth))
        .ToStream()
        .To(Location::Topic("out"));
  });
}

TEST(StreamTableJoin, MeetsTheRowAsItIs) {
  Joined join = StreamAndTable(JoinType::kInner);
  join.Left("1", 10).Right("2", 20).Left("3", 5).Right("4", 30).Left("5", 40);
  join.Right(nullptr, 50).Left("6", 60);
  EXPECT_THAT(join.Out(), ElementsAre("[3,2]@5", "[5,4]@40"));
}

TEST(StreamTableJoin, LeftComesAloneToo) {
  Joined join = StreamAndTable(JoinType::kLeft);
  join.Left("1", 10).Right("2", 20).Left("3", 30).Left(nullptr, 35).Right(nullptr, 50);
  join.Left("6", 60);
  EXPECT_THAT(join.Out(), ElementsAre("[1,null]@10", "[3,2]@30", "[6,null]@60"));
}

// In whichever order they came; of equal times the row comes first.
TEST(StreamTableJoin, GoesByTimeWhereBothAreThere) {
  Joined join = StreamAndTable(JoinType::kInner);
  join.driver().Hold();
  join.Left("1", 10).Left("5", 12).Right("2", 9).Right("3", 10).Right("4", 11).Right("6", 13);
  ASSERT_TRUE(join.driver().Release().ok());
  EXPECT_THAT(join.Out(), ElementsAre("[1,3]@10", "[5,4]@12"));
}

TEST(StreamTableJoin, HasOneStoreWithTheTable) {
  Joined join = StreamAndTable(JoinType::kInner);
  join.Right("2", 10);
  EXPECT_EQ(join.driver().Entries("rows")->size(), 1u);
  EXPECT_FALSE(join.driver().Entries("join").ok());
}

TEST(StreamTableJoin, ATableThatIsRekeyedIsATableStill) {
  Joined join([](StreamBuilder& builder) {
    const Stream left = builder.Source(Location::Topic("l"));
    const Table table = builder.Table(
        SourceSpec{.inputs = {Location::Topic("r")}, .key = *Expression::Compile(".k")}, "rows");
    left.SelectKey(".k").Join(table, "join", "[$left.v, $right.v]").To(Location::Topic("out"));
  });
  join.driver().Hold();
  join.Left(R"({"k":"a","v":1})", 10).Right(R"({"k":"a","v":2})", 10);
  ASSERT_TRUE(join.driver().Release().ok());
  EXPECT_THAT(join.Out(), ElementsAre("[1,2]@10"));
}

TEST(StreamTableJoin, MeetsRowsOfAnAggregate) {
  Joined join([](StreamBuilder& builder) {
    const Table counts =
        builder.Source(Location::Topic("r")).GroupBy(".", "by-value").Count("counts");
    builder.Source(Location::Topic("l"))
        .SelectKey(".")
        .Join(counts, "join", "[$left, $right.count]")
        .To(Location::Topic("out"));
  });
  join.Right("\"x\"", 10).Right("\"x\"", 11);
  ASSERT_TRUE(join.driver().Advance(std::chrono::seconds(2)).ok());  // they come with a commit
  join.Left("\"x\"", 12).Left("\"y\"", 13);
  EXPECT_THAT(join.Out(), ElementsAre("[\"x\",2]@12"));
}

// Bytes that are no JSON, and headers.
TEST(StreamTableJoin, OfAFunction) {
  StreamBuilder builder(SerdeNames{.key = "string", .value = "string"});
  const Table table = builder.Table(Location::Topic("r"), "rows");
  builder.Source(Location::Topic("l"))
      .LeftJoin(table, "join",
                [](const Record* left, const Record* right) -> MadeBytes {
                  if (!right) return std::nullopt;
                  return std::string(*left->value) + "+" + std::string(*right->value);
                })
      .To(Location::Topic("out"));
  auto driver = Driver(*builder.Build());
  ASSERT_TRUE(driver->Pipe("r", {.key = "k", .value = "{row", .timestamp = 1}).ok());
  ASSERT_TRUE(
      driver
          ->Pipe("l",
                 {.key = "k", .value = "{left", .timestamp = 2, .headers = {{"h", "of the left"}}})
          .ok());
  ASSERT_TRUE(driver->Pipe("l", {.key = "other", .value = "{left", .timestamp = 3}).ok());
  const auto out = *driver->Read("out");
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].value, "{left+{row");
  EXPECT_EQ(out[0].headers.at(0).second, "of the left");
  EXPECT_EQ(out[1].value, std::nullopt);
}

TEST(StreamTableJoin, GoesOnWithItsRows) {
  Joined join = StreamAndTable(JoinType::kInner);
  join.Right("2", 10);
  ASSERT_TRUE(join.driver().Restart().ok());
  join.Left("1", 11);
  EXPECT_THAT(join.Out(), ElementsAre("[1,2]@11"));
}

// What the rows of "r" come out as, in "out", by the key that .id makes: KEY=VALUE, or KEY= where
// it is deleted.
TEST(RekeyTableTest, RowsAreDeletedUnderTheKeyTheyHad) {
  TopologyBuilder builder;
  builder.AddSource("r", {.inputs = {Location::Topic("r")}})
      .AddProcessor("rekey", *RekeyTable({.key = *Expression::Compile(".id"), .store = "keys"}),
                    {"r"})
      .AddStore(StoreSpec{.name = "keys"}, {"rekey"})
      .AddSink("out", {.output = Location::Topic("out")}, {"rekey"});
  auto driver = Driver(*builder.Build());
  const auto put = [&](std::optional<std::string> key, std::optional<std::string> value) {
    ASSERT_TRUE(driver->Pipe("r", {.key = std::move(key), .value = std::move(value)}).ok());
  };
  put("a", R"({"id":1})");
  put("a", R"({"id":1})");
  put("a", R"({"id":2})");
  ASSERT_TRUE(driver->Restart().ok());
  put("a", std::nullopt);
  put("a", std::nullopt);
  put("b", R"({"id":3})");
  put("b", R"({})");  // has no key any more
  put(std::nullopt, R"({"id":4})");
  std::vector<std::string> out;
  for (const TestRecord& record : *driver->Read("out")) {
    out.push_back(*record.key + "=" + record.value.value_or(""));
  }
  EXPECT_THAT(out, ElementsAre(R"(1={"id":1})", R"(1={"id":1})", "1=", R"(2={"id":2})",
                               "2=", R"(3={"id":3})", "3=", R"(4={"id":4})"));
  EXPECT_THAT(*driver->Entries("keys"), IsEmpty());
}

TEST(TablesJoin, InnerHasARowWhileBothAreThere) {
  Joined join = Tables(JoinType::kInner);
  join.Left("1", 10).Right("2", 20).Left("3", 15).Right("4", 30);
  EXPECT_THAT(join.Out(), ElementsAre("[1,2]@20", "[3,2]@20", "[3,4]@30"));
  join.Left(nullptr, 40).Right(nullptr, 50).Left(nullptr, 60);
  EXPECT_THAT(join.Out(), ElementsAre("-@40"));
}

TEST(TablesJoin, LeftHasARowWhileTheLeftIsThere) {
  Joined join = Tables(JoinType::kLeft);
  join.Right("2", 5).Left("1", 10).Right(nullptr, 20).Right("4", 30).Left(nullptr, 40);
  join.Right("5", 50);
  EXPECT_THAT(join.Out(), ElementsAre("[1,2]@10", "[1,null]@20", "[1,4]@30", "-@40"));
}

TEST(TablesJoin, OuterHasARowWhileOneIsThere) {
  Joined join = Tables(JoinType::kOuter);
  join.Right("2", 5).Left("1", 10).Right(nullptr, 20).Left(nullptr, 40).Right("5", 50);
  join.Right(nullptr, 60);
  EXPECT_THAT(join.Out(),
              ElementsAre("[null,2]@5", "[1,2]@10", "[1,null]@20", "-@40", "[null,5]@50", "-@60"));
}

// What was there before follows from the rows, as they were committed.
TEST(TablesJoin, GoesOnWithItsRows) {
  Joined join = Tables(JoinType::kInner);
  join.Left("1", 10).Right("2", 20);
  ASSERT_TRUE(join.driver().Restart().ok());
  join.Right("3", 30);
  ASSERT_TRUE(join.driver().Restart().ok());
  join.Left(nullptr, 40);
  EXPECT_THAT(join.Out(), ElementsAre("[1,2]@20", "[1,3]@30", "-@40"));
}

TEST(TablesJoin, ARowWithoutAValueCeases) {
  Joined join([](StreamBuilder& builder) {
    const Table left = builder.Table(Location::Topic("l"), "lefts");
    left.Join(builder.Table(Location::Topic("r"), "rights"), "join",
              "if $left > $right then $left else empty end")
        .ToStream()
        .To(Location::Topic("out"));
  });
  join.Left("5", 10).Right("4", 20).Right("6", 30).Right("1", 40);
  EXPECT_THAT(join.Out(), ElementsAre("5@20", "-@30", "5@40"));
}

// Of the store of the result, as of any table.
TEST(TablesJoin, IsATable) {
  Joined join = Tables(JoinType::kOuter);
  join.Left("1", 10).Right("2", 20).Right(nullptr, 30);
  EXPECT_EQ(*join.driver().Get("join", "k"), "[1,null]");
}

TEST(TablesJoin, RefusesWhatItCannotBe) {
  EXPECT_THAT(JoinTable({.type = JoinType::kOuter, .store = "rows"}).status().message(),
              HasSubstr("inner or left"));
  EXPECT_THAT(JoinTable({}).status().message(), HasSubstr("store"));
  EXPECT_THAT(JoinTables({}).status().message(), HasSubstr("store"));
  StreamBuilder one, other;
  const Table table = other.Table(Location::Topic("r"), "rows");
  one.Source(Location::Topic("l")).Join(table, "join");
  EXPECT_THAT(one.Build().status().message(), HasSubstr("of another StreamBuilder"));
}

}  // namespace
}  // namespace kstream
