// Aggregates of tables: rows that change, move between groups and cease. The oracle is what the
// rows that are left give when they are all there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "unit/dsl/aggregate_run.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AggregateSpec Everything() {
  AggregateSpec spec{.functions = {{}}};
  for (const Kind kind : {Kind::kSum, Kind::kAvg, Kind::kMin, Kind::kMax, Kind::kCollect,
                          Kind::kCollectSet, Kind::kDistinct}) {
    spec.functions.push_back(Of(kind, ".n"));
  }
  spec.fold =
      FoldSpec{.init = Compile("0"), .add = Compile("$acc + 1"), .sub = Compile("$acc - 1")};
  spec.table = true;
  spec.emit = RowsOut::kChange;
  spec.store = "rows";
  return spec;
}

// A table grouped by ".g" in the store "table", and its aggregate in the store "rows", in one task.
class TableAggregate {
 public:
  explicit TableAggregate(const AggregateSpec& spec, LastingStore* table, LastingStore* rows)
      : run_(Built(spec), 0, {{"table", table->Open()}, {"rows", rows->Open()}}) {}

  Status Put(Bytes key, Bytes value, int64_t time = 1000) {
    return run_.Process(value, key, {}, time);
  }
  TaskRun* operator->() { return &run_; }
  // The last row of each group.
  std::map<std::string, std::string> Last() {
    std::map<std::string, std::string> last;
    for (const Kept& row : run_.out().records) last[*row.key] = *row.value;
    return last;
  }

 private:
  static Result<Topology> Built(const AggregateSpec& spec) {
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {Location::Topic("in")}})
        .AddProcessor("group", *GroupBy({.by = Compile(".g"), .table = "table"}), {"in"})
        .AddStore(StoreSpec{.name = "table"}, {"group"})
        .AddProcessor("agg", *Aggregate(spec), {"group"})
        .AddStore(StoreSpec{.name = "rows"}, {"agg"})
        .AddSink("out", {.output = Location::Topic("out")}, {"agg"});
    return builder.Build();
  }
  TaskRun run_;
};

TEST(TableAggregate, ARowThatMovesLeavesItsGroupFirst) {
  LastingStore table, rows;
  AggregateSpec spec{.functions = {{}, Of(Kind::kSum, ".n")}};
  spec.table = true;
  spec.emit = RowsOut::kChange;
  spec.store = "rows";
  TableAggregate run(spec, &table, &rows);
  EXPECT_TRUE(run.Put("r1", R"({"g":"a","n":5})").ok());
  EXPECT_TRUE(run.Put("r2", R"({"g":"a","n":0.1})").ok());
  EXPECT_TRUE(run.Put("r1", R"({"g":"b","n":6})").ok());
  EXPECT_TRUE(run.Put("r1", R"({"g":"b","n":7})").ok());  // within its group: one change
  EXPECT_TRUE(run.Put("r2", std::nullopt).ok());
  EXPECT_TRUE(run.Put("r3", std::nullopt).ok());  // was never there
  EXPECT_TRUE(run.Put(std::nullopt, R"({"g":"b","n":7})").ok());
  EXPECT_THAT(run->out().Values(),
              ElementsAre(R"({"key":"a","count":1,"sum":5})", R"({"key":"a","count":2,"sum":5.1})",
                          R"({"key":"a","count":1,"sum":0.1})", R"({"key":"b","count":1,"sum":6})",
                          R"({"key":"b","count":1,"sum":7})", R"({"key":"a","count":0,"sum":0})"));
  EXPECT_EQ(table.At("r1"), R"({"g":"b","n":7})");
  EXPECT_EQ(table.At("r2"), "(none)");
}

TEST(TableAggregate, TakesOutBySpellingAndShowsByValue) {
  LastingStore table, rows;
  TableAggregate run(Everything(), &table, &rows);
  EXPECT_TRUE(run.Put("r1", R"({"g":"a","n":1.0})").ok());
  EXPECT_TRUE(run.Put("r2", R"({"g":"a","n":1})").ok());
  EXPECT_TRUE(run.Put("r3", R"({"g":"a","n":1e300})").ok());
  EXPECT_TRUE(run.Put("r3", std::nullopt).ok());
  EXPECT_EQ(run.Last()["a"],
            R"({"key":"a","count":2,"sum":2,"avg":1,"min":1,"max":1,"collect":[1,1.0],)"
            R"("collect_set":[1],"distinct":1,"value":2})");
  EXPECT_TRUE(run.Put("r2", std::nullopt).ok());
  EXPECT_TRUE(run.Put("r1", std::nullopt).ok());
  EXPECT_EQ(run.Last()["a"],
            R"({"key":"a","count":0,"sum":0,"avg":null,"min":null,"max":null,"collect":[],)"
            R"("collect_set":null,"distinct":null,"value":0})");
}

// A value that no aggregate takes makes a bad record, and counts as no row.
TEST(TableAggregate, ABadRowCountsAsNone) {
  LastingStore table, rows;
  AggregateSpec spec{.functions = {{}, Of(Kind::kSum, ".n"), Of(Kind::kMin, ".m")}};
  spec.table = true;
  spec.emit = RowsOut::kChange;
  spec.store = "rows";
  TableAggregate run(spec, &table, &rows);
  EXPECT_TRUE(run.Put("r1", R"({"g":"a","n":5,"m":1})").ok());
  EXPECT_TRUE(run.Put("r2", R"({"g":"a","n":1,"m":2})").ok());
  EXPECT_EQ(run.Put("r1", R"({"g":"a","n":"x"})").code(), StatusCode::kData);
  EXPECT_EQ(run.Last()["a"], R"({"key":"a","count":1,"sum":1,"min":2})");
  EXPECT_EQ(run.Put("r1", R"({"g":"a","n":1,"m":"numbers and strings"})").code(),
            StatusCode::kData);
  EXPECT_EQ(run.Last()["a"], R"({"key":"a","count":1,"sum":1,"min":2})");
  EXPECT_TRUE(run.Put("r1", R"({"g":"a","n":7,"m":0})").ok());
  EXPECT_EQ(run.Last()["a"], R"({"key":"a","count":2,"sum":8,"min":0})");
  // What is no JSON, or of no group that can be told, leaves the table as it is.
  EXPECT_EQ(run.Put("r1", "{").code(), StatusCode::kData);
  EXPECT_EQ(table.At("r1"), R"({"g":"a","n":7,"m":0})");
}

TEST(TableAggregate, OfNoGroupIsLeftOutUntilItIsOfOne) {
  LastingStore table, rows;
  AggregateSpec spec{.functions = {{}}};
  spec.table = true;
  spec.emit = RowsOut::kChange;
  spec.store = "rows";
  TableAggregate run(spec, &table, &rows);
  EXPECT_TRUE(run.Put("r1", R"({"g":null})").ok());
  EXPECT_TRUE(run.Put("r1", R"({"g":"a"})").ok());
  EXPECT_TRUE(run.Put("r1", "{}").ok());
  EXPECT_THAT(run->out().Values(),
              ElementsAre(R"({"key":"a","count":1})", R"({"key":"a","count":0})"));
}

// Any history gives what its last rows alone would give, in this process and in the next.
TEST(TableAggregate, AHistoryGivesWhatItsLastRowsGive) {
  const std::vector<std::string> values = {"1",  "1.0", "0.1",  "0.2",   "0.3", "1e17",
                                           "-7", "3.5", "null", "1e-20", "2",   "33"};
  for (uint32_t seed = 1; seed <= 40; seed++) {
    Dice dice(seed);
    LastingStore table, rows;
    std::map<std::string, std::string> now;  // the table
    std::map<std::string, std::string> shown;
    for (int life = 0; life < 3; life++) {
      TableAggregate run(Everything(), &table, &rows);
      for (int step = 0; step < 40; step++) {
        const std::string key = "r" + std::to_string(dice(6));
        if (dice(4) == 0) {
          now.erase(key);
          ASSERT_TRUE(run.Put(key, std::nullopt).ok());
          continue;
        }
        now[key] = R"({"g":"g)" + std::to_string(dice(3)) + R"(","n":)" +
                   values[dice(static_cast<uint32_t>(values.size()))] + "}";
        ASSERT_TRUE(run.Put(key, now[key]).ok());
      }
      ASSERT_TRUE(run->Flush().ok());
      for (const auto& [group, row] : run.Last()) shown[group] = row;
    }
    LastingStore clean_table, clean_rows;
    TableAggregate clean(Everything(), &clean_table, &clean_rows);
    // By falling keys, so that the order differs too.
    for (auto row = now.rbegin(); row != now.rend(); ++row) {
      ASSERT_TRUE(clean.Put(row->first, row->second).ok());
    }
    for (const auto& [group, row] : clean.Last()) EXPECT_EQ(shown[group], row) << "seed " << seed;
    for (const auto& [group, row] : shown) {
      if (clean.Last().contains(group)) continue;
      EXPECT_THAT(row, HasSubstr(R"("count":0,"sum":0)"));
    }
  }
}

TEST(TableAggregate, RefusesWhatCannotBeUndone) {
  const auto why = [](AggregateSpec spec) {
    spec.table = true;
    return std::string(Aggregate(spec).status().message());
  };
  EXPECT_THAT(why({.functions = {Of(Kind::kFirst, ".")}}), HasSubstr("goes by arrival"));
  EXPECT_THAT(why({.functions = {Of(Kind::kLast, ".")}}), HasSubstr("goes by arrival"));
  EXPECT_THAT(why({.fold = FoldSpec{.init = Compile("0"), .add = Compile("1")}}),
              HasSubstr("needs --sub"));
  EXPECT_THAT(why({.functions = {{}}, .window = *WindowSpec::Parse("tumbling:1s")}),
              HasSubstr("no windows"));
  EXPECT_THAT(
      Aggregate({.fold = FoldSpec{.init = Compile("0"), .add = Compile("1"), .sub = Compile("2")}})
          .status()
          .message(),
      HasSubstr("rows of a table"));
}

}  // namespace
}  // namespace kstream
