// Rows that expire: when, in which order, and that a store of any size needs little memory for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/expiry_queue.h"
#include "unit/dsl/expiry_model.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kTtl = 100;

class CountRun : public TaskRun {
 public:
  explicit CountRun(RowsOut emit)
      : TaskRun(CountFor({Location::Kind::kFile, "", "in"}, {}, kTtl, emit, "", 1 << 20)) {}
  CountRun(RowsOut emit, size_t most_bytes, LastingStore* store,
           std::optional<int64_t> stream_time = std::nullopt)
      : TaskRun(CountFor({Location::Kind::kFile, "", "in"}, {}, kTtl, emit, "rows", most_bytes), 0,
                store->Kept(), stream_time) {}

  Status At(const std::string& key, int64_t time) { return Process("1", key, {}, time); }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const Kept& kept : out().records) {
      lines.push_back(CountLine(kept.key.value_or("(null)"), kept.value, kept.timestamp));
    }
    return lines;
  }
};

TEST(Expiry, ARowLivesUntilStreamTimeIsItsTimeToLivePastIt) {
  CountRun run(RowsOut::kChange);
  for (const auto& [key, time] : std::vector<TimedKey>{
           {"a", 0}, {"b", 50}, {"c", 99}, {"d", 100}, {"a", 100}, {"b", 149}, {"x", 49}}) {
    ASSERT_TRUE(run.At(key, time).ok());
  }
  EXPECT_THAT(run.Lines(), ElementsAre("a=1@0", "b=1@50", "c=1@99", "a gone@100", "d=1@100",
                                       "a=1@100", "b=2@149"));
}

TEST(Expiry, ARecordThatIsLateForARowIsLeftOut) {
  testing::internal::CaptureStderr();
  {
    CountRun run(RowsOut::kChange);
    for (const auto& [key, time] :
         std::vector<TimedKey>{{"a", 200}, {"b", 100}, {"b", 101}, {"b", 1}, {"b", 300}}) {
      ASSERT_TRUE(run.At(key, time).ok());
    }
    // It is late where there is no row for it, and not where there is one.
    EXPECT_THAT(run.Lines(), ElementsAre("a=1@200", "b=1@101", "b=2@101", "b gone@201",
                                         "a gone@300", "b=1@300"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("agg: 1 came late, when their rows"));
}

TEST(Expiry, ABadRecordEndsNothing) {
  AggregateSpec spec{.functions = {Of(Kind::kSum, ".")}, .emit = RowsOut::kChange};
  spec.ttl = std::chrono::milliseconds(kTtl);
  AggregateRun run(spec);
  ASSERT_TRUE(run.Process("1", "a", {}, 0).ok());
  EXPECT_EQ(run.Process(R"("x")", "a", {}, 500).code(), StatusCode::kData);
  EXPECT_EQ(run.Process("1", "a", {}, -1).code(), StatusCode::kData);
  ASSERT_TRUE(run.Process("2", "a", {}, 50).ok());
  EXPECT_EQ(run.Rows(), "{\"key\":\"a\",\"sum\":1}\n{\"key\":\"a\",\"sum\":3}\n");
}

TEST(Expiry, FinalRowsAreThoseThatLive) {
  for (const bool stored : {false, true}) {
    LastingStore store;
    std::unique_ptr<CountRun> run =
        stored ? std::make_unique<CountRun>(RowsOut::kFinal, 1 << 20, &store)
               : std::make_unique<CountRun>(RowsOut::kFinal);
    ASSERT_TRUE(run->At("a", 0).ok());
    ASSERT_TRUE(run->Flush().ok());
    ASSERT_TRUE(run->At("b", 60).ok());
    ASSERT_TRUE(run->At("c", 120).ok());
    ASSERT_TRUE(run->End().ok());
    EXPECT_THAT(run->Lines(), ElementsAre("b=1@60", "c=1@120"));
  }
}

TEST(Expiry, AnUpdateThatHasExpiredIsATombstoneAlone) {
  CountRun run(RowsOut::kUpdate);
  ASSERT_TRUE(run.At("a", 0).ok());
  ASSERT_TRUE(run.At("b", 100).ok());
  ASSERT_TRUE(run.At("a", 150).ok());
  ASSERT_TRUE(run.Flush().ok());
  EXPECT_THAT(run.Lines(), ElementsAre("a gone@100", "a=1@150", "b=1@100"));
}

TEST(Expiry, IsRefusedForWindowsAndBelowZero) {
  AggregateSpec spec{.functions = {{}}, .window = *WindowSpec::Parse("tumbling:1s")};
  spec.ttl = std::chrono::milliseconds(1);
  EXPECT_EQ(Aggregate(spec).status().code(), StatusCode::kUsage);
  spec.window.reset();
  EXPECT_TRUE(Aggregate(spec).ok());
  spec.ttl = std::chrono::milliseconds(-1);
  EXPECT_EQ(Aggregate(spec).status().code(), StatusCode::kUsage);
}

// Whenever rows are stored, and however little of them is in memory.
TEST(Expiry, RowsAreThoseOfTheModel) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    const std::vector<TimedKey> records = RandomTimes(seed, 600, kTtl);
    const ExpiryModel model(records, kTtl);
    LastingStore store;
    std::mt19937 random(seed);
    std::unique_ptr<CountRun> run =
        seed % 3 == 0
            ? std::make_unique<CountRun>(RowsOut::kChange)
            : std::make_unique<CountRun>(RowsOut::kChange, seed % 3 == 1 ? 300 : 1 << 20, &store);
    for (const auto& [key, time] : records) {
      ASSERT_TRUE(run->At(key, time).ok());
      if (random() % 20 == 0) {
        ASSERT_TRUE(run->Flush().ok());
      }
    }
    EXPECT_EQ(run->Lines(), model.out) << "seed " << seed;
  }
}

// Tasks that come and go leave the table of one that stays; a tombstone may come again.
TEST(Expiry, TheNextTaskGoesOnFromTheStore) {
  for (uint32_t seed = 0; seed < 20; seed++) {
    const std::vector<TimedKey> records = RandomTimes(seed, 400, kTtl);
    const ExpiryModel model(records, kTtl);
    LastingStore store;
    std::vector<std::string> lines;
    std::optional<int64_t> stream_time;
    for (size_t i = 0; i < records.size();) {
      CountRun run(RowsOut::kChange, seed % 2 == 0 ? 300 : 1 << 20, &store, stream_time);
      for (const size_t end = std::min(records.size(), i + 37); i < end; i++) {
        ASSERT_TRUE(run.At(records[i].first, records[i].second).ok());
        stream_time = std::max(stream_time.value_or(0), records[i].second);
      }
      ASSERT_TRUE(run.Flush().ok());
      std::ranges::copy(run.Lines(), std::back_inserter(lines));
    }
    EXPECT_EQ(TableOf(lines), model.Left()) << "seed " << seed;
  }
}

TEST(ExpiryQueue, KnowsNoMoreThanItHasRoomFor) {
  dsl::ExpiryQueue queue(4 * 100, /*knows_all=*/false);
  EXPECT_FALSE(queue.Knows(0));
  queue.BeginWalk();
  for (int64_t time : {9, 3, 7, 1, 8, 2, 6}) queue.Add("k" + std::to_string(time), time);
  EXPECT_FALSE(queue.Knows(0)) << "there may be more";
  queue.EndWalk();
  EXPECT_TRUE(queue.Knows(6));
  EXPECT_FALSE(queue.Knows(7));
  queue.Add("late", 8);  // not before the horizon: a walk will find it
  EXPECT_EQ(queue.Pop(6)->first, 1);
  queue.Pass({1, "k1"});
  EXPECT_EQ(queue.Pop(6)->first, 2);
  EXPECT_EQ(queue.Pop(2), std::nullopt);
  EXPECT_EQ(queue.Pop(6)->first, 3);
  EXPECT_EQ(queue.Pop(9)->first, 6);
  EXPECT_EQ(queue.Pop(9), std::nullopt);
  queue.Pass({6, "k6"});
  queue.BeginWalk();
  for (int64_t time : {9, 7, 6, 8}) queue.Add("k" + std::to_string(time), time);
  queue.EndWalk();
  EXPECT_EQ(queue.Pop(9)->second, "k7") << "k6 has expired, though it is found still";
}

}  // namespace
}  // namespace kstream
