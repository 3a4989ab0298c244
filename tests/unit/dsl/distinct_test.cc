// What repeats is left out: the edges of times, records out of order, stores that memory does not
// hold, and restarts, each against a plain model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/operators.h"
#include "kstream/topology.h"
#include "unit/dsl/distinct_model.h"
#include "unit/dsl/join_run.h"
#include "unit/dsl/task_run.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kWithin = 10;

DistinctSpec Spec(std::optional<milliseconds> grace = std::nullopt) {
  return {.by = *Expression::Compile("$key"),
          .within = milliseconds(kWithin),
          .grace = grace,
          .kept = "out",
          .rest = "rest"};
}

Topology DistinctOf(DistinctSpec spec, const SmallStore* store) {
  if (store) spec.store = "rows";
  TopologyBuilder builder;
  const Result<ProcessorSupplier> supplier = Distinct(std::move(spec));
  EXPECT_TRUE(supplier.ok()) << supplier.status().message();
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("unique", *supplier, {"in"})
      .AddSink("out", {.output = Location::Topic("out")}, {"unique"})
      .AddSink("rest", {.output = Location::Topic("rest")}, {"unique"});
  if (store) builder.AddStore(StoreSpec{.name = "rows"}, {"unique"});
  return *builder.Build();
}

class DistinctRun : public TaskRun {
 public:
  explicit DistinctRun(DistinctSpec spec, SmallStore* store = nullptr,
                       std::optional<int64_t> stream_time = std::nullopt)
      : TaskRun(DistinctOf(std::move(spec), store), 0, KeptStores(store), stream_time) {}

  Status Give(const KeyedTime& record) {
    offset = record.number;
    return Process(std::to_string(record.number), record.key, {}, record.time);
  }
  std::vector<int> Numbers(const std::string& sink = "out") {
    std::vector<int> numbers;
    for (const std::string& value : out(sink).Values()) numbers.push_back(std::stoi(value));
    return numbers;
  }

 private:
  static task::Task::KeptStores KeptStores(SmallStore* store) {
    task::Task::KeptStores kept;
    if (store) kept["rows"] = store;
    return kept;
  }
};

// Which of the records at these times is kept, by its number.
std::vector<int> Kept(const std::vector<int64_t>& times, int64_t grace = kWithin) {
  DistinctRun run(Spec(milliseconds(grace)));
  for (size_t i = 0; i < times.size(); i++) {
    EXPECT_TRUE(run.Give({"a", times[i], static_cast<int>(i)}).ok());
  }
  return run.Numbers();
}

// The rows of the table in share/doc/kstream/unique.md.
TEST(DistinctTest, Edges) {
  EXPECT_THAT(Kept({100, 100}), ElementsAre(0)) << "of equal times the first that comes";
  EXPECT_THAT(Kept({100, 110}), ElementsAre(0)) << "within is within";
  EXPECT_THAT(Kept({100, 111}), ElementsAre(0, 1)) << "one more is not";
  EXPECT_THAT(Kept({100, 108, 116}), ElementsAre(0, 2)) << "what repeats is not remembered";
  EXPECT_THAT(Kept({110, 100}), ElementsAre(0)) << "times count in both directions";
  EXPECT_THAT(Kept({110, 99}), ElementsAre(0, 1));
  EXPECT_THAT(Kept({100, 115, 108}), ElementsAre(0, 1)) << "it is near to two";
  EXPECT_THAT(Kept({100, 120, 110}), ElementsAre(0, 1)) << "out of order by the grace";
  EXPECT_THAT(Kept({100, 130, 111}, 20), ElementsAre(0, 1, 2));
}

TEST(DistinctTest, WhatIsKeptIsRememberedForWithinAndGraceOfStreamTimeSinceItCame) {
  DistinctRun run(Spec());
  ASSERT_TRUE(run.Give({"a", 100, 0}).ok());
  ASSERT_TRUE(run.Give({"b", 120, 1}).ok());
  ASSERT_TRUE(run.Give({"a", 100, 2}).ok());
  ASSERT_TRUE(run.Give({"b", 121, 3}).ok());
  ASSERT_TRUE(run.Give({"c", 121, 4}).ok());
  ASSERT_TRUE(run.Give({"a", 100, 5}).ok());
  ASSERT_TRUE(run.Give({"a", 100, 6}).ok());
  ASSERT_TRUE(run.Give({"c", 142, 7}).ok());
  ASSERT_TRUE(run.Give({"a", 100, 8}).ok());
  EXPECT_THAT(run.Numbers(), ElementsAre(0, 1, 4, 5, 7, 8))
      << "5 came when 0 was forgotten, and is remembered as long";
  EXPECT_THAT(run.Numbers("rest"), ElementsAre(2, 3, 6));
}

TEST(DistinctTest, ARecordGoesOnUntouchedAndOneWithoutAKeyRepeatsNothing) {
  DistinctSpec spec = Spec();
  spec.by = *Expression::Compile(".id");
  DistinctRun run(std::move(spec));
  const std::vector<Header> headers = {{"h", "1"}, {"kstream.unique", "x"}};
  ASSERT_TRUE(run.Process(R"({"id": 1})", "k", headers, 5).ok());
  ASSERT_TRUE(run.Process(R"({"id":1.0})", "l", {}, 6).ok());
  ASSERT_TRUE(run.Process(R"({"id":"1"})", "l", {}, 6).ok());
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(run.Process("{}", std::nullopt, {}, 7).ok());
    ASSERT_TRUE(run.Process(std::nullopt, "k", {}, 7).ok());
  }
  EXPECT_THAT(run.out().Values(),
              ElementsAre(R"({"id": 1})", R"({"id":1.0})", "{}", "(null)", "{}", "(null)"));
  EXPECT_EQ(run.out().records[0].key, "k");
  EXPECT_EQ(run.out().records[0].headers.size(), 2);
  EXPECT_EQ(run.Process("{}", "k", {}, -1).code(), StatusCode::kData);
}

TEST(DistinctTest, KeepsWhatTheModelKeeps) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    const int64_t grace = seed % 3 * 10;
    const std::vector<KeyedTime> records = RandomKeys(seed, 400, 45, 1 + seed % 7);
    DistinctModel model(kWithin, grace);
    DistinctRun run(Spec(milliseconds(grace)));
    for (const KeyedTime& record : records) ASSERT_TRUE(run.Give(record).ok());
    ASSERT_EQ(run.Numbers(), model.Keep(records)) << "seed " << seed;
    EXPECT_EQ(run.Numbers().size() + run.Numbers("rest").size(), records.size());
  }
}

// Memory that holds next to nothing, and others that go on with the store.
TEST(DistinctTest, AStoreAndRestartsChangeNothing) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    const std::vector<KeyedTime> records = RandomKeys(seed, 400, 25, 1 + seed % 50);
    SmallStore store(seed % 2 == 0 ? 300 : INT64_MAX);
    std::mt19937 random(seed);
    std::optional<int64_t> stream_time;
    std::vector<int> numbers;
    for (size_t at = 0; at < records.size();) {
      DistinctRun run(Spec(), &store, stream_time);
      const size_t end = std::min(records.size(), at + 1 + random() % 80);
      for (; at < end; at++) {
        ASSERT_TRUE(run.Give(records[at]).ok());
        stream_time = std::max(stream_time.value_or(0), records[at].time);
        if (random() % 10 == 0) {
          ASSERT_TRUE(run.Flush().ok());
        }
      }
      ASSERT_TRUE(run.Flush().ok());
      std::ranges::copy(run.Numbers(), std::back_inserter(numbers));
    }
    DistinctModel model(kWithin, kWithin);
    ASSERT_EQ(numbers, model.Keep(records)) << "seed " << seed;
  }
}

// A crash after the store was written and before the positions were: from there on the records come
// again, and the same of them are kept.
TEST(DistinctTest, AStoreThatIsAheadOfThePositionsLosesNothing) {
  for (uint32_t seed = 0; seed < 200; seed++) {
    const std::vector<KeyedTime> records = RandomKeys(seed, 120, 60, 1 + seed % 4);
    const size_t committed = seed % 60, crash = committed + seed * 7 % 60;
    SmallStore store(seed % 2 == 0 ? 300 : INT64_MAX);
    std::optional<int64_t> stream_time;
    std::vector<int> before, after;
    {
      DistinctRun run(Spec(), &store);
      for (size_t i = 0; i < crash; i++) {
        if (i == committed) {
          ASSERT_TRUE(run.Flush().ok());
          before = run.Numbers();
        }
        ASSERT_TRUE(run.Give(records[i]).ok());
        if (i < committed) stream_time = std::max(stream_time.value_or(0), records[i].time);
      }
      if (crash == committed) before = run.Numbers();
      ASSERT_TRUE(run.task().Flush().ok());
    }
    DistinctRun run(Spec(), &store, stream_time);
    for (size_t i = committed; i < records.size(); i++) ASSERT_TRUE(run.Give(records[i]).ok());
    std::vector<int> all = before;
    std::ranges::copy(run.Numbers(), std::back_inserter(all));
    DistinctModel model(kWithin, kWithin);
    ASSERT_EQ(all, model.Keep(records)) << "seed " << seed;
  }
}

TEST(DistinctTest, TheStoreForgets) {
  SmallStore store(INT64_MAX);
  DistinctRun run(Spec(), &store);
  size_t most = 0;
  for (int i = 0; i < 1000; i++) {
    ASSERT_TRUE(run.Give({"k" + std::to_string(i), 1000 + i, i}).ok());
    if (i % 10 != 9) continue;
    ASSERT_TRUE(run.Flush().ok());
    run.task().Committed(1000 + i);
    most = std::max(most, store.size());
  }
  EXPECT_LE(most, 1 + 2 * kWithin + 2 * 10 + 5) << "a label, what lasts, and what came since";
  const auto first = store.Get(std::string(8, '\0'));
  EXPECT_EQ(**first, R"({"windows":"tumbling:5ms","distinct":"--within 10ms --grace 10ms"})");
}

TEST(DistinctTest, AStoreOfAnotherRuleIsRefused) {
  SmallStore store(INT64_MAX);
  {
    DistinctRun run(Spec(), &store);
    ASSERT_TRUE(run.Give({"a", 1000, 0}).ok());
    ASSERT_TRUE(run.Flush().ok());
  }
  task::Task::KeptStores kept;
  kept["rows"] = &store;
  struct Host : task::TaskHost {
    task::RecordSink* SinkOf(const TopologyNode&) override { return &sink; }
    Status Send(const Location&, const Record&, int32_t) override { return Status::Ok(); }
    void RequestCommit() override {}
    const Clock& clock() const override { return time; }
    KeepingSink sink;
    ManualClock time;
  } host;
  const Topology topology = DistinctOf(Spec(milliseconds(0)), &store);
  task::Task task(topology, 0, "0_0", &host);
  const Status status = task.Init(kept);
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(status.message(), HasSubstr("--within 10ms --grace 10ms"));
}

TEST(DistinctTest, RefusesWhatHasNoMeaning) {
  for (const auto& [within, grace] : {std::pair(0, 0), {-1, 0}, {1, -1}}) {
    DistinctSpec spec = Spec(milliseconds(grace));
    spec.within = milliseconds(within);
    EXPECT_EQ(Distinct(std::move(spec)).status().code(), StatusCode::kUsage);
  }
  DistinctSpec spec = Spec();
  spec.kept.clear();
  EXPECT_EQ(Distinct(std::move(spec)).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
