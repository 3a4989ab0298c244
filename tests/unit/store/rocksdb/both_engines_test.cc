// What store/engine.h promises, of each engine.
#include <atomic>
#include <random>
#include <thread>

#include "unit/store/rocksdb/engines.h"

namespace kstream::store {
namespace {

Checkpoint At(int64_t offset) {
  return {.incarnation = "abc",
          .offset = offset,
          .last = offset - 1,
          .last_hash = 0xfedcba9876543210,
          .written = 1'700'000'000'000};
}

class BothEngines : public Engines {
 protected:
  void SetUp() override { engine_ = Open(); }

  void Write(const std::vector<Change>& changes, int64_t offset = 1) {
    const Status status = engine_->Write(changes, At(offset));
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::unique_ptr<Engine> engine_;
};

TEST_P(BothEngines, BeginsEmpty) {
  EXPECT_EQ(RowsOf(*engine_), Rows{});
  EXPECT_EQ(engine_->checkpoint(), Checkpoint{});
  EXPECT_EQ(engine_->Stats().rows, 0u);
  StoredRow row;
  EXPECT_FALSE(*engine_->Find("a", &row));
}

TEST_P(BothEngines, HasRowsAndCheckpointOfTheLastWrite) {
  Write({{"a", "1", 10}, {"b", "2", -5}, {"", "of nobody", 0}}, 3);
  Write({{"a", "", 11}, {"b", std::nullopt, 0}, {"c", std::nullopt, 0}}, 6);
  EXPECT_EQ(RowsOf(*engine_), (Rows{{"", {"of nobody", 0}}, {"a", {"", 11}}}));
  EXPECT_EQ(engine_->checkpoint(), At(6));
  StoredRow row{.value = "old", .timestamp = 1};
  ASSERT_TRUE(*engine_->Find("a", &row));
  EXPECT_EQ(row.value, "");
  EXPECT_EQ(row.timestamp, 11);
  EXPECT_FALSE(*engine_->Find("b", &row));
}

TEST_P(BothEngines, KeepsKeysAndValuesOfAnyBytesAndSizes) {
  const std::string zeros("\0\0", 2), high(300, '\xff'), large(1 << 20, 'x');
  Write({{zeros, zeros, INT64_MAX}, {high, large, INT64_MIN + 1}, {"\xff", "h", 0}});
  EXPECT_EQ(
      RowsOf(*engine_),
      (Rows{{zeros, {zeros, INT64_MAX}}, {"\xff", {"h", 0}}, {high, {large, INT64_MIN + 1}}}));
  StoredRow row;
  for (const std::string& key : {zeros, high, std::string("\xff")}) {
    EXPECT_TRUE(*engine_->Find(key, &row));
  }
  EXPECT_FALSE(*engine_->Find(std::string(1, '\0'), &row));
}

TEST_P(BothEngines, WalksARangeWithoutItsEnd) {
  Write({{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}});
  EXPECT_EQ(RowsOf(*engine_, "b", "d"), (Rows{{"b", {"2", 2}}, {"c", {"3", 3}}}));
  EXPECT_EQ(RowsOf(*engine_, "bb", "cc"), (Rows{{"c", {"3", 3}}}));
  EXPECT_EQ(RowsOf(*engine_, "c"), (Rows{{"c", {"3", 3}}, {"d", {"4", 4}}}));
  EXPECT_EQ(RowsOf(*engine_, "b", "b"), Rows{});
  EXPECT_EQ(RowsOf(*engine_, "d", "b"), Rows{});
  EXPECT_EQ(RowsOf(*engine_, "", ""), Rows{});
}

TEST_P(BothEngines, ALaterChangeOfALoadWins) {
  ASSERT_TRUE(engine_
                  ->Load(std::vector<Change>{{"a", "1", 1},
                                             {"b", "1", 1},
                                             {"a", "2", 2},
                                             {"b", std::nullopt, 0},
                                             {"", std::nullopt, 0},
                                             {"", "", 3}},
                         At(4))
                  .ok());
  ASSERT_TRUE(engine_->EndLoad().ok());
  EXPECT_EQ(RowsOf(*engine_), (Rows{{"", {"", 3}}, {"a", {"2", 2}}}));
  EXPECT_EQ(engine_->checkpoint(), At(4));
}

// A restore of more than an engine gathers at a time, in random order, with a tail that is short;
// over rows that were there before.
TEST_P(BothEngines, RestoresManyRows) {
  Write({{"before", "1", 1}, {"17", "old", 1}}, 1);
  std::mt19937 random(5);
  Rows truth = RowsOf(*engine_);
  int64_t offset = 1;
  for (int load = 0; load < 60; load++) {
    std::vector<std::pair<std::string, std::optional<std::string>>> records;
    for (int i = load == 59 ? 10 : 5'000; i > 0; i--) {
      auto& [key, value] = records.emplace_back(std::to_string(random() % 50'000), std::nullopt);
      if (random() % 5 != 0) value = std::string(random() % 150, static_cast<char>(random()));
    }
    std::vector<Change> changes;
    for (const auto& [key, value] : records) {
      changes.push_back({key, value, load});
      truth.erase(key);
      if (value) truth[key] = {*value, load};
    }
    offset += static_cast<int64_t>(records.size());
    ASSERT_TRUE(engine_->Load(changes, At(offset)).ok());
    const Checkpoint now = engine_->checkpoint();
    ASSERT_LE(now.offset, offset);
  }
  const Change last{"before", std::nullopt, 0};
  truth.erase("before");
  ASSERT_TRUE(engine_->Write({&last, 1}, At(offset + 1)).ok());
  EXPECT_EQ(engine_->checkpoint(), At(offset + 1));
  EXPECT_TRUE(RowsOf(*engine_) == truth);
  if (!is_durable()) return;
  ASSERT_TRUE(engine_->Close().ok());
  engine_.reset();
  engine_ = Open();
  EXPECT_EQ(engine_->checkpoint(), At(offset + 1));
  EXPECT_TRUE(RowsOf(*engine_) == truth);
}

TEST_P(BothEngines, ReplacesAllRowsInOneStep) {
  Write({{"a", "1", 1}, {"b", "2", 2}}, 2);
  ASSERT_TRUE(
      engine_->Replace(std::vector<Change>{{"b", "3", 3}, {"c", std::nullopt, 0}}, At(5)).ok());
  EXPECT_EQ(RowsOf(*engine_), (Rows{{"b", {"3", 3}}}));
  EXPECT_EQ(engine_->checkpoint(), At(5));
  Write({{"a", "4", 4}}, 6);
  EXPECT_EQ(RowsOf(*engine_), (Rows{{"a", {"4", 4}}, {"b", {"3", 3}}}));
}

TEST_P(BothEngines, ClearForgetsTheCheckpointToo) {
  Write({{"a", "1", 1}});
  ASSERT_TRUE(engine_->Clear().ok());
  EXPECT_EQ(RowsOf(*engine_), Rows{});
  EXPECT_EQ(engine_->checkpoint(), Checkpoint{});
  Write({{"b", "1", 1}}, 7);
  EXPECT_EQ(RowsOf(*engine_), (Rows{{"b", {"1", 1}}}));
  EXPECT_EQ(engine_->checkpoint(), At(7));
}

TEST_P(BothEngines, ClosesOnce) {
  Write({{"a", "1", 1}});
  EXPECT_TRUE(engine_->Flush().ok());
  EXPECT_TRUE(engine_->Close().ok());
  EXPECT_TRUE(engine_->Close().ok());
}

// Random changes in writes of random sizes; a plain map says what must be there.
TEST_P(BothEngines, AgreesWithAMap) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return random() % n; };
  Rows truth;
  Checkpoint checkpoint;
  for (int round = 0; round < 300; round++) {
    std::map<std::string, std::optional<std::string>> changes;
    for (uint32_t i = below(40); i > 0; i--) {
      std::string key(below(3), static_cast<char>('\xfe' + below(2)));
      key += std::to_string(below(200));
      std::optional<std::string> value;
      if (below(3) != 0) value = std::string(below(100), static_cast<char>(below(256)));
      changes[key] = value;
    }
    std::vector<Change> batch;
    for (const auto& [key, value] : changes) batch.push_back({key, value, round});
    checkpoint = At(checkpoint.offset + static_cast<int64_t>(batch.size()));
    const bool replaces = below(50) == 0;
    if (replaces) truth.clear();
    for (const auto& [key, value] : changes) {
      truth.erase(key);
      if (value) truth[key] = {*value, round};
    }
    ASSERT_TRUE(
        (replaces ? engine_->Replace(batch, checkpoint) : engine_->Write(batch, checkpoint)).ok());
    if (below(20) == 0) {
      ASSERT_TRUE(engine_->Flush().ok());
    }
    if (is_durable() && below(20) == 0) {
      ASSERT_TRUE(engine_->Close().ok());
      engine_.reset();
      engine_ = Open();
    }
    ASSERT_EQ(engine_->checkpoint(), checkpoint);
    const std::string from = std::to_string(below(200)), to = std::to_string(below(200));
    Rows part;
    if (from < to) part.insert(truth.lower_bound(from), truth.lower_bound(to));
    ASSERT_EQ(RowsOf(*engine_, from, to), part);
    if (round % 10 == 0) {
      ASSERT_EQ(RowsOf(*engine_), truth);
    }
    StoredRow row;
    const bool found = *engine_->Find(from, &row);
    ASSERT_EQ(found, truth.contains(from));
    if (found) {
      ASSERT_EQ(std::pair(row.value, row.timestamp), truth[from]);
    }
  }
  ASSERT_EQ(RowsOf(*engine_), truth);
}

// One thread writes, another reads: each row is as some write left it, and a key that is there all
// the time is always found.
TEST_P(BothEngines, IsReadWhileItIsWritten) {
  constexpr int kKeys = 1000;
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; i++) keys.push_back(std::to_string(10'000 + i));
  const auto write = [&](const std::string& value, int64_t time) {
    std::vector<Change> changes;
    for (const std::string& key : keys) changes.push_back({key, value, time});
    ASSERT_TRUE(engine_->Write(changes, At(time)).ok());
  };
  write("0", 0);
  std::atomic<bool> done = false;
  std::thread reader([&] {
    StoredRow row;
    size_t i = 0;
    while (!done) {
      ASSERT_TRUE(*engine_->Find(keys[i++ % kKeys], &row));
      ASSERT_EQ(row.value, std::to_string(row.timestamp));
      if (i % 50 != 0) continue;
      ASSERT_EQ(RowsOf(*engine_).size(), static_cast<size_t>(kKeys));
      ASSERT_EQ(engine_->checkpoint().incarnation, "abc");
    }
  });
  for (int64_t time = 1; time < 200; time++) write(std::to_string(time), time);
  done = true;
  reader.join();
}

INSTANTIATE_TEST_SUITE_P(Store, BothEngines, ::testing::Values(Kind::kMemory, Kind::kRocksDb),
                         NameOf);

}  // namespace
}  // namespace kstream::store
