// Tables: of topics, and of grouped streams; and which of them repartition.
#include "kstream/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kstream/stream.h"
#include "unit/dsl/aggregate_run.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// One stage of what `build` adds, with its store "rows".
class TableRun : public TaskRun {
 public:
  template <typename BuildIt>
  TableRun(const BuildIt& build, LastingStore* store, size_t stage = 0, SerdeNames serdes = {})
      : TaskRun(Built(build, std::move(serdes)), stage, store->Kept()) {}

 private:
  template <typename BuildIt>
  static Result<Topology> Built(const BuildIt& build, SerdeNames serdes) {
    StreamBuilder builder(std::move(serdes));
    build(builder);
    return builder.Build();
  }
};

std::string Described(const StreamBuilder& builder) {
  const Result<Topology> topology = builder.Build();
  return topology.ok() ? topology->Describe() : std::string(topology.status().message());
}

// A tombstone deletes; the text `null` is a value; nothing is no JSON (STATE-2).
TEST(Table, TellsTombstoneEmptyAndNullApart) {
  LastingStore store;
  TableRun run(
      [](StreamBuilder& builder) {
        builder.Table(Location::Topic("t"), "rows").ToStream().To(Location::Topic("o"), "out");
      },
      &store);
  EXPECT_TRUE(run.Process(R"({"v":1})", "a", {}, 7).ok());
  EXPECT_TRUE(run.Process(R"({"v":2})", "b").ok());
  EXPECT_TRUE(run.Process(std::nullopt, "a").ok());
  EXPECT_TRUE(run.Process("null", "b").ok());
  EXPECT_EQ(run.Process("", "c").code(), StatusCode::kData);
  EXPECT_EQ(run.Process("{", "b").code(), StatusCode::kData);
  EXPECT_TRUE(run.Process("1").ok());
  EXPECT_EQ(store.At("a"), "(none)");
  EXPECT_EQ(store.At("b"), "null");
  EXPECT_EQ(store.At("c"), "(none)");
  EXPECT_THAT(run.out().Values(), ElementsAre(R"({"v":1})", R"({"v":2})", "(null)", "null"));
}

TEST(Table, OfStringsTakesAnEmptyOne) {
  LastingStore store;
  TableRun run(
      [](StreamBuilder& builder) {
        builder.Table(Location::Topic("t"), "rows").ToStream().To(Location::Topic("o"), "out");
      },
      &store, 0, {.key = "string", .value = "string"});
  EXPECT_TRUE(run.Process("", "c").ok());
  EXPECT_EQ(store.At("c"), "");
}

TEST(Table, OfAReKeyedSourceIsRepartitioned) {
  StreamBuilder plain;
  EXPECT_EQ(plain.Table(Location::Topic("t"), "rows").store(), "rows");
  EXPECT_THAT(Described(plain), Not(HasSubstr("repartition")));
  StreamBuilder keyed;
  SourceSpec source{.inputs = {Location::Topic("t")}};
  source.key = Compile(".id");
  keyed.Table(source, "rows");
  EXPECT_THAT(Described(keyed), HasSubstr("repartition:rows"));
}

TEST(GroupedStream, CountsByTheKeyWithoutARepartitionTopic) {
  LastingStore store;
  const auto build = [](StreamBuilder& builder) {
    builder.Source(Location::Topic("t"))
        .GroupByKey()
        .Count("rows")
        .ToStream()
        .To(Location::Topic("o"), "out");
  };
  StreamBuilder builder;
  build(builder);
  EXPECT_THAT(Described(builder), Not(HasSubstr("repartition")));
  TableRun run(build, &store);
  for (const char* key : {"b", "a", "b"}) EXPECT_TRUE(run.Process("1", key).ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.out().Values(),
              ElementsAre(R"({"key":"a","count":1})", R"({"key":"b","count":2})"));
  EXPECT_EQ(store.At("b"), R"({"count":2})");
}

TEST(GroupedStream, RepartitionsWhenTheKeyHasChanged) {
  StreamBuilder by;
  by.Source(Location::Topic("t")).GroupBy(".user", "by-user").Count("rows");
  EXPECT_THAT(Described(by), HasSubstr("repartition:by-user"));
  StreamBuilder selected;
  selected.Source(Location::Topic("t")).SelectKey(".user").GroupByKey("again").Count("rows");
  EXPECT_THAT(Described(selected), HasSubstr("repartition:again"));
  StreamBuilder nameless;
  nameless.Source(Location::Topic("t")).SelectKey(".user").GroupByKey().Count("rows");
  EXPECT_THAT(Described(nameless), HasSubstr("repartitioned without a name"));
}

TEST(GroupedStream, SendsOnlyWhatIsOfAGroupThroughTheTopic) {
  const auto form = [](bool function) {
    return [function](StreamBuilder& builder) {
      const Stream in = builder.Source(Location::Topic("t"));
      const GroupedStream grouped = function ? in.GroupBy(
                                                   [](const Record& record) -> MadeBytes {
                                                     if (*record.value == "{}") return std::nullopt;
                                                     return "u1";
                                                   },
                                                   "by")
                                             : in.GroupBy(".user", "by");
      grouped.Count("rows").ToStream().To(Location::Topic("o"), "out");
    };
  };
  for (const bool function : {false, true}) {
    LastingStore store;
    TableRun run(form(function), &store);
    EXPECT_TRUE(run.Process(R"({"user":"u1"})", "k").ok());
    EXPECT_TRUE(run.Process("{}", "k").ok());
    EXPECT_TRUE(run.Process(std::nullopt, "k").ok());
    EXPECT_THAT(run.out("by-sink").Keys(), ElementsAre("u1"));
  }
}

TEST(GroupedStream, ReducesByAnExpressionOrAFunction) {
  const auto expression = [](const GroupedStream& grouped) {
    return grouped.Reduce("if . > $acc then . else $acc end", "rows");
  };
  const auto function = [](const GroupedStream& grouped) {
    return grouped.Reduce(
        [](std::string_view aggregate, const Record& record) -> MadeBytes {
          return std::string(std::max(aggregate, *record.value));
        },
        "rows");
  };
  const auto run_it = [](const auto& reduce) {
    LastingStore store;
    TableRun run(
        [&](StreamBuilder& builder) {
          reduce(builder.Source(Location::Topic("t")).GroupByKey())
              .ToStream()
              .To(Location::Topic("o"), "out");
        },
        &store);
    for (const char* value : {"5", "7", "6"}) EXPECT_TRUE(run.Process(value, "k").ok());
    EXPECT_TRUE(run.Flush().ok());
    EXPECT_THAT(run.out().Values(), ElementsAre("7"));
    EXPECT_EQ(store.At("k"), "7");
  };
  run_it(expression);
  run_it(function);
}

TEST(GroupedStream, AggregatesByFunctionsThatMayDelete) {
  LastingStore store;
  const auto build = [](StreamBuilder& builder) {
    builder.Source(Location::Topic("t"))
        .GroupByKey()
        .Aggregate([] { return std::string("<"); },
                   [](const Record& record, std::string_view aggregate) -> MadeBytes {
                     if (*record.value == "0") return std::nullopt;
                     if (*record.value == "9") return Status::Data("nine");
                     return std::string(aggregate) + std::string(*record.value);
                   },
                   "rows")
        .ToStream()
        .To(Location::Topic("o"), "out");
  };
  {
    TableRun run(build, &store);
    EXPECT_TRUE(run.Process("1", "k").ok());
    EXPECT_EQ(run.Process("9", "k").code(), StatusCode::kData);
    EXPECT_TRUE(run.Process("2", "k").ok());
    EXPECT_TRUE(run.Flush().ok());
    EXPECT_EQ(store.At("k"), "<12");
    EXPECT_TRUE(run.Process("0", "k").ok());
    EXPECT_TRUE(run.Flush().ok());
    EXPECT_EQ(store.At("k"), "(none)");
    EXPECT_THAT(run.out().Values(), ElementsAre("<12", "(null)"));
    // The group begins anew, with its time, as it would in the next process.
    EXPECT_TRUE(run.Process("3", "k", {}, 400).ok());
    EXPECT_TRUE(run.Flush().ok());
    EXPECT_EQ(run.out().records.back().timestamp, 400);
  }
  TableRun next(build, &store);
  EXPECT_TRUE(next.Process("4", "k").ok());
  EXPECT_TRUE(next.Flush().ok());
  EXPECT_THAT(next.out().Values(), ElementsAre("<34"));
}

TEST(GroupedStream, NeedsTheNameOfItsStore) {
  StreamBuilder builder;
  builder.Source(Location::Topic("t"), "in").GroupByKey().Count("");
  EXPECT_THAT(Described(builder), HasSubstr("'in': a table is made of it without the name"));
}

TEST(GroupedStream, GivesJsonRowsOfOtherValues) {
  LastingStore store;
  TableRun run(
      [](StreamBuilder& builder) {
        builder.Source(Location::Topic("t"))
            .GroupByKey()
            .Count("rows")
            .ToStream()
            .MapValues(".count + 1")
            .To(Location::Topic("o"), "out");
      },
      &store, 0, {.key = "string", .value = "string"});
  EXPECT_TRUE(run.Process("no JSON", "k").ok());
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.out().Values(), ElementsAre("2"));
}

}  // namespace
}  // namespace kstream
