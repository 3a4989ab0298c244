// Joins and their store: what a life writes, the next goes on with, and what memory does not hold
// is found there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "dsl/join_key.h"
#include "dsl/kept_value.h"
#include "unit/dsl/join_run.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;

std::vector<JoinRecord> Storm(uint32_t seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  std::vector<JoinRecord> records;
  int64_t time = 1000;
  for (int i = 0; i < count; i++) {
    time += below(60) == 0 ? below(100) : below(3);
    records.push_back({below(2) == 0, "key-" + std::to_string(below(9)),
                       std::max<int64_t>(0, time - below(15)), i});
  }
  return records;
}

std::vector<StreamJoinSpec> Specs() {
  const JoinWindows windows{milliseconds(20), milliseconds(10), milliseconds(15)};
  return {{.windows = windows},
          {.windows = windows, .type = JoinType::kLeft},
          {.windows = windows, .type = JoinType::kOuter},
          {.windows = windows, .type = JoinType::kLeft, .match = JoinMatch::kPrior},
          {.windows = windows, .type = JoinType::kLeft, .match = JoinMatch::kLatest}};
}

TEST(JoinStateTest, MemoryThatHoldsLittleChangesNothing) {
  uint32_t seed = 1;
  for (const StreamJoinSpec& spec : Specs()) {
    for (const int64_t share : {0, 2000, 10000}) {
      SmallStore store(share);
      JoinModel model(spec);
      JoinRun run(spec, &store);
      int i = 0;
      for (const JoinRecord& record : Storm(seed++, 400)) {
        model.Give(record);
        ASSERT_TRUE(run.Give(record).ok());
        if (i++ % 50 == 0) {
          ASSERT_TRUE(run.Flush().ok());
        }
      }
      model.End();
      ASSERT_TRUE(run.End().ok());
      ASSERT_THAT(run.Results(), testing::ElementsAreArray(model.results)) << seed << " " << share;
    }
  }
}

// A commit point, then another task that begins with what the store has.
TEST(JoinStateTest, ARestartGoesOn) {
  uint32_t seed = 100;
  for (const StreamJoinSpec& spec : Specs()) {
    for (const int64_t share : {INT64_MAX, int64_t{2000}}) {
      SmallStore store(share);
      JoinModel model(spec);
      std::vector<std::string> results;
      auto run = std::make_unique<JoinRun>(spec, &store);
      int64_t time = 0;
      int i = 0;
      for (const JoinRecord& record : Storm(seed++, 400)) {
        model.Give(record);
        ASSERT_TRUE(run->Give(record).ok());
        time = std::max(time, record.time);
        if (++i % 40 != 0) continue;
        ASSERT_TRUE(run->Flush().ok());
        for (std::string& result : run->Results()) results.push_back(std::move(result));
        run = std::make_unique<JoinRun>(spec, &store, time);
      }
      model.End();
      ASSERT_TRUE(run->End().ok());
      for (std::string& result : run->Results()) results.push_back(std::move(result));
      // Ties of time are in the order of arrival, of which no two lives know each other's.
      ASSERT_THAT(results, testing::UnorderedElementsAreArray(model.results)) << seed;
    }
  }
}

TEST(JoinStateTest, NothingIsLookedUpThatMemoryHolds) {
  SmallStore store(INT64_MAX);
  JoinRun run(Specs()[2], &store);
  const int64_t reads = store.reads;
  for (const JoinRecord& record : Storm(7, 200)) ASSERT_TRUE(run.Give(record).ok());
  EXPECT_EQ(store.reads, reads);
}

// What is kept does not grow with the length of the run.
TEST(JoinStateTest, WhatHasExpiredIsDeleted) {
  SmallStore store(INT64_MAX);
  JoinRun run(Specs()[2], &store);
  size_t most = 0;
  for (int i = 0; i < 5000; i++) {
    ASSERT_TRUE(run.Give({i % 2 == 0, "k" + std::to_string(i % 7), 1000 + i, i}).ok());
    if (i % 20 != 0) continue;
    ASSERT_TRUE(run.Flush().ok());
    run.task().Committed(1000 + i);
    most = std::max(most, store.size());
  }
  EXPECT_LT(most, 120u);
}

TEST(JoinStateTest, TheStateOfAnotherJoinIsRefused) {
  SmallStore store(INT64_MAX);
  {
    JoinRun run(Specs()[0], &store);
    ASSERT_TRUE(run.Give({true, "k", 5, 1}).ok());
    ASSERT_TRUE(run.Flush().ok());
  }
  StreamJoinSpec other = Specs()[1];
  other.store = "rows";
  const Topology topology = *JoinOf(other);
  struct Host : task::TaskHost {
    task::RecordSink* SinkOf(const TopologyNode&) override { return &sink; }
    Status Send(const Location&, const Record&, int32_t) override { return Status::Ok(); }
    void RequestCommit() override {}
    const Clock& clock() const override { return time; }
    KeepingSink sink;
    ManualClock time;
  } host;
  task::Task task(topology, 0, "0_0", &host);
  const Status status = task.Init({{"rows", &store}});
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("its rows are those of"));
}

TEST(JoinKeyTest, ReadsWhatItWrites) {
  for (const std::string& text : {std::string(""), std::string("k"), std::string("a\0b\0\0", 5),
                                  std::string("\xff\0\xff", 3)}) {
    dsl::JoinRows rows(100);
    dsl::KeptRecord record{.time = 1234, .id = {7, 0xfedcba9876543210, 3}};
    record.side = dsl::JoinSide::kRight;
    record.entry = rows.Make(text, BytesHash::Of(text)).first;
    const std::string stored = dsl::JoinKey::Of(1200, record);
    const auto parsed = dsl::JoinKey::Parse(stored);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->bucket, 1200);
    EXPECT_EQ(parsed->key, text);
    EXPECT_EQ(parsed->side, dsl::JoinSide::kRight);
    EXPECT_EQ(parsed->time, 1234);
    EXPECT_EQ(parsed->id, record.id);
    EXPECT_TRUE(stored.starts_with(dsl::JoinKey::Prefix(1200, text)));
    for (size_t size = 0; size < stored.size(); size++) {
      EXPECT_FALSE(dsl::JoinKey::Parse(stored.substr(0, size))) << size;
    }
  }
}

TEST(KeptValueTest, ReadsWhatItWrites) {
  const Header headers[] = {{"a", "1"}, {"a", std::nullopt}};
  for (const bool matched : {false, true}) {
    for (const std::string_view value : {"{\"x\": 1}", "no json", "", "\xff"}) {
      dsl::KeptValue writer, reader;
      dsl::KeptRecord record{.value = value, .headers = headers, .matched = matched}, read;
      const std::string text(writer.Write(record));
      ASSERT_TRUE(reader.Read(text, &read).ok()) << text;
      EXPECT_EQ(read.value, value);
      EXPECT_EQ(read.matched, matched);
      ASSERT_EQ(read.headers.size(), 2u);
      EXPECT_EQ(read.headers[0].value, "1");
      EXPECT_FALSE(read.headers[1].value);
    }
  }
}

}  // namespace
}  // namespace kstream
