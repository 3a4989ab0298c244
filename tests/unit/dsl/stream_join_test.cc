// Joins of two streams against a model of them, and what a join makes of odd records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "unit/dsl/join_run.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr JoinType kTypes[] = {JoinType::kInner, JoinType::kLeft, JoinType::kOuter};
constexpr JoinMatch kMatches[] = {JoinMatch::kAll, JoinMatch::kPrior, JoinMatch::kLatest};

// All kinds of joins, with windows of all shapes.
std::vector<StreamJoinSpec> AllSpecs() {
  std::vector<StreamJoinSpec> specs;
  for (const JoinType type : kTypes) {
    for (const JoinMatch match : kMatches) {
      if (type == JoinType::kOuter && match == JoinMatch::kLatest) continue;
      for (const auto& [before, after, grace] :
           {std::tuple(10, 10, 0), std::tuple(10, 10, 15), std::tuple(0, 20, 5),
            std::tuple(20, 0, 0), std::tuple(1, 0, 40)}) {
        specs.push_back(
            {.windows = {milliseconds(before), milliseconds(after), milliseconds(grace)},
             .type = type,
             .match = match});
      }
    }
  }
  return specs;
}

// Records out of order, a few of them very late, with jumps.
std::vector<JoinRecord> Storm(uint32_t seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  std::vector<JoinRecord> records;
  int64_t time = 1000;
  for (int i = 0; i < count; i++) {
    time += below(40) == 0 ? below(300) : below(4);
    const int back = below(30) == 0 ? below(200) : below(12);
    records.push_back({below(2) == 0, std::string(1, static_cast<char>('a' + below(3))),
                       std::max<int64_t>(0, time - back), i});
  }
  return records;
}

TEST(StreamJoinTest, IsWhatTheModelSays) {
  uint32_t seed = 1;
  for (StreamJoinSpec spec : AllSpecs()) {
    spec.rows = "out";
    spec.late = "late";
    JoinModel model(spec);
    JoinRun run(spec);
    for (const JoinRecord& record : Storm(seed++, 400)) {
      model.Give(record);
      ASSERT_TRUE(run.Give(record).ok());
    }
    model.End();
    ASSERT_TRUE(run.End().ok());
    ASSERT_THAT(run.Results(), testing::ElementsAreArray(model.results)) << seed;
    std::vector<std::string> late;
    for (const int number : model.late) late.push_back(std::to_string(number));
    ASSERT_THAT(run.out("late").Values(), testing::ElementsAreArray(late)) << seed;
  }
}

// Every left record is in a pair, or alone once; never both.
TEST(StreamJoinTest, AnUnmatchedRecordComesOnce) {
  const StreamJoinSpec spec{.windows = {milliseconds(10), milliseconds(10), milliseconds(15)},
                            .type = JoinType::kOuter};
  JoinRun run(spec);
  std::map<std::string, int> alone, paired;
  const std::vector<JoinRecord> records = Storm(99, 2000);
  for (const JoinRecord& record : records) ASSERT_TRUE(run.Give(record).ok());
  ASSERT_TRUE(run.End().ok());
  for (const Kept& kept : run.out().records) {
    const std::string& value = *kept.value;
    const std::string left = value.substr(8, value.find(',') - 8);
    std::string right = value.substr(value.rfind(':') + 1);
    right.pop_back();
    if (left == "null") alone[right]++;
    if (right == "null") alone[left]++;
    if (left == "null" || right == "null") continue;
    paired[left]++;
    paired[right]++;
  }
  for (const auto& [number, times] : alone) {
    EXPECT_EQ(times, 1) << number;
    EXPECT_FALSE(paired.contains(number)) << number;
  }
  EXPECT_EQ(alone.size() + paired.size(), records.size());
}

TEST(StreamJoinTest, HeadersAreThoseOfTheLeftRecord) {
  JoinRun run({.windows = JoinWindows::Within(milliseconds(10)), .type = JoinType::kOuter});
  const Header left{"side", "left"}, right{"side", "right"};
  run.source = 1;
  ASSERT_TRUE(run.Process("2", "k", {&right, 1}, 5).ok());
  run.source = 0;
  ASSERT_TRUE(run.Process("1", "k", {&left, 1}, 3).ok());
  run.source = 1;
  ASSERT_TRUE(run.Process("3", "x", {&right, 1}, 5).ok());
  ASSERT_TRUE(run.End().ok());
  ASSERT_EQ(run.out().records.size(), 2u);
  EXPECT_EQ(run.out().records[0].headers[0].second, "left");
  EXPECT_EQ(run.out().records[1].headers[0].second, "right");
}

TEST(StreamJoinTest, NullsMatchNothing) {
  JoinRun run({.windows = JoinWindows::Within(milliseconds(10)), .type = JoinType::kLeft});
  for (const size_t source : {0u, 1u}) {
    run.source = source;
    ASSERT_TRUE(run.Process("1", std::nullopt, {}, 5).ok());
    ASSERT_TRUE(run.Process(std::nullopt, "k", {}, 5).ok());
  }
  ASSERT_TRUE(run.End().ok());
  EXPECT_THAT(run.Results(), ElementsAre("@5 {\"left\":1,\"right\":null}"));
}

TEST(StreamJoinTest, ABadRecordLeavesNothingHalfDone) {
  JoinRun run({.windows = JoinWindows::Within(milliseconds(10)),
               .value = *Expression::Compile("$left / $right", Language::kJq, {"left", "right"})});
  ASSERT_TRUE(run.Give({false, "k", 5, 2}).ok());
  ASSERT_TRUE(run.Give({false, "k", 6, 0}).ok());
  EXPECT_EQ(run.Give({true, "k", 7, 6}).code(), StatusCode::kData);  // the second is no divisor
  EXPECT_THAT(run.Results(), IsEmpty());
  ASSERT_TRUE(run.Give({false, "k", 12, 3}).ok());  // no left one was kept
  EXPECT_THAT(run.Results(), IsEmpty());
}

TEST(StreamJoinTest, WhatIsNoJsonIsBad) {
  JoinRun run({.windows = JoinWindows::Within(milliseconds(10))});
  EXPECT_EQ(run.Process("{", "k", {}, 5).code(), StatusCode::kData);
  EXPECT_EQ(run.Process("1", "k", {}, -1).code(), StatusCode::kData);
  EXPECT_THAT(run.Results(), IsEmpty());
}

TEST(StreamJoinTest, AValueOfSeveralLinesBecomesOne) {
  JoinRun run({.windows = JoinWindows::Within(milliseconds(10))});
  ASSERT_TRUE(run.Process(" {\n\"a\": 1}\n", "k", {}, 5).ok());
  ASSERT_TRUE(run.Give({false, "k", 5, 2}).ok());
  EXPECT_THAT(run.Results(), ElementsAre("k@5 {\"left\":{\"a\":1},\"right\":2}"));
}

TEST(StreamJoinTest, AFunctionSeesBytes) {
  StreamJoinSpec spec{.windows = JoinWindows::Within(milliseconds(10)), .type = JoinType::kLeft};
  spec.joiner = [](const Record* left, const Record* right) -> MadeBytes {
    return std::string(*left->value) + "+" + std::string(right ? *right->value : "none");
  };
  JoinRun run(std::move(spec));
  ASSERT_TRUE(run.Process("not json", "k", {}, 5).ok());
  ASSERT_TRUE(run.Process("b", "x", {}, 5).ok());
  run.source = 1;
  ASSERT_TRUE(run.Process("nor this", "k", {}, 6).ok());
  ASSERT_TRUE(run.End().ok());
  EXPECT_THAT(run.Results(), ElementsAre("k@6 not json+nor this", "x@5 b+none"));
}

TEST(StreamJoinTest, WhatIsWrongIsRefused) {
  const auto refusal = [](const StreamJoinSpec& spec) {
    return std::string(JoinStreams(spec).status().message());
  };
  EXPECT_THAT(refusal({.windows = {milliseconds(-1), milliseconds(0)}}), HasSubstr("before"));
  EXPECT_THAT(refusal({.windows = {.grace = milliseconds(-1)}}), HasSubstr("grace"));
  EXPECT_THAT(refusal({.late = "late"}), HasSubstr("late records go"));
  EXPECT_THAT(refusal({.type = JoinType::kOuter, .match = JoinMatch::kLatest}),
              HasSubstr("never alone"));
}

}  // namespace
}  // namespace kstream
