// Stores that the runtime keeps, over the whole engine: what restarts, crashes and rebalances leave
// of them, and what their changelogs hold.
#include <gmock/gmock.h>

#include <map>

#include "unit/testdriver/word_count.h"

namespace kstream {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Counts by key, in a kept store.
Topology Counts(const std::string& store = "counts") {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("count", Does(Count, "count"), {"in"})
      .AddStore(StoreSpec{.name = store}, {"count"})
      .AddSink("out", {.output = Location::Topic("out")}, {"count"});
  return *builder.Build();
}

TestDriverOptions Options(int threads, int32_t partitions) {
  TestDriverOptions options{.partitions = {{"in", partitions}}};
  options.runtime.threads = threads;
  return options;
}

std::vector<TestRecord> Keys(std::initializer_list<const char*> keys) {
  std::vector<TestRecord> records;
  for (const char* key : keys) records.push_back({.key = key, .value = "1"});
  return records;
}

std::map<std::string, int> Table(const TestDriver& driver) {
  std::map<std::string, int> table;
  const auto entries = driver.Entries("counts");
  EXPECT_TRUE(entries.ok()) << entries.status().message();
  if (!entries.ok()) return table;
  for (const TestEntry& entry : *entries) {
    EXPECT_TRUE(table.emplace(entry.key, std::stoi(entry.value)).second)
        << entry.key << " is in two tasks";
  }
  return table;
}
using Expected = std::map<std::string, int>;

// The last value of each key in the changelog.
std::map<std::string, int> Journal(const TestDriver& driver) {
  std::map<std::string, int> table;
  for (const TestRecord& record : *driver.ReadAll("test-counts-changelog")) {
    if (record.value) {
      table[*record.key] = std::stoi(*record.value);
    } else {
      table.erase(*record.key);
    }
  }
  return table;
}

TEST(StatefulTest, AChangelogHoldsEachChangedKeyOnceACommit) {
  auto driver = Driver(Counts(), Options(1, 1));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "a"})).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 1}}));
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(*driver->ReadAll("test-counts-changelog"), SizeIs(2));
  EXPECT_EQ(Journal(*driver), (Expected{{"a", 2}, {"b", 1}}));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_EQ(Journal(*driver), (Expected{{"a", 3}, {"b", 1}}));
  EXPECT_THAT(*driver->ReadAll("test-counts-changelog"), SizeIs(3));
  EXPECT_EQ(*driver->Committed("in"), 4);
}

TEST(StatefulTest, ChangelogRecordsCarryTheWallClockAndTheRowsTime) {
  auto driver = Driver(Counts(), Options(1, 1));
  ASSERT_TRUE(driver->Pipe("in", {.key = "a", .value = "1", .timestamp = 77}).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  const auto journal = *driver->ReadAll("test-counts-changelog");
  ASSERT_THAT(journal, SizeIs(1));
  EXPECT_EQ(journal[0].timestamp, driver->now());
  EXPECT_THAT(journal[0].headers, ElementsAre(testing::Pair("kstream.timestamp",
                                                            testing::Optional(std::string("77")))));
}

TEST(StatefulTest, ARestartRestoresWhatWasCommitted) {
  auto driver = Driver(Counts(), Options(2, 3));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "a", "c", "d"})).ok());
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 1}, {"c", 1}, {"d", 1}}));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "d"})).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 3}, {"b", 1}, {"c", 1}, {"d", 2}}));
}

TEST(StatefulTest, AMoveTakesTheStateAlong) {
  auto driver = Driver(Counts(), Options(1, 4));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "c", "d", "e", "f", "a"})).ok());
  ASSERT_TRUE(driver->AddThread().ok());
  ASSERT_TRUE(driver->AddThread().ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}}));
  ASSERT_TRUE(driver->RemoveThread(0).ok());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "f"})).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 3}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 2}}));
}

TEST(StatefulTest, ACrashBeforeACommitCountsAgainFromTheLast) {
  auto driver = Driver(Counts(), Options(2, 1));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "a"})).ok());
  ASSERT_TRUE(driver->Crash(driver->tasks().at(0).thread).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 3}}));
}

TEST(StatefulTest, WhatIsNotAcknowledgedIsNotKept) {
  auto driver = Driver(Counts(), Options(2, 1));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  driver->HoldAcks();
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}}));  // seen by reads all the while
  ASSERT_TRUE(driver->Crash(driver->tasks().at(0).thread).ok());
  ASSERT_TRUE(driver->ReleaseAcks().ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}}));
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_EQ(Journal(*driver), (Expected{{"a", 2}}));
}

// What is not acknowledged must be held, and is no more than half of --memory and a batch.
TEST(StatefulTest, NothingMoreIsReadWhenStoresHoldTooMuchThatIsNotAcknowledged) {
  TestDriverOptions options = Options(1, 1);
  options.runtime.memory = 8 << 20;
  auto driver = Driver(Counts(), options);
  driver->HoldAcks();
  constexpr int64_t kRecords = 8'000;  // of 4 KB
  std::vector<TestRecord> records;
  for (int64_t i = 0; i < kRecords; i++) {
    records.push_back({.key = std::to_string(i) + std::string(4096, 'k'), .value = "1"});
  }
  ASSERT_TRUE(driver->PipeAll("in", records).ok());
  ASSERT_TRUE(driver->Advance(seconds(60)).ok());
  const int64_t read = driver->counts().read;
  EXPECT_GT(read, 0);
  EXPECT_LT(read, kRecords / 2);
  ASSERT_TRUE(driver->ReleaseAcks().ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_EQ(driver->counts().read, kRecords);
  EXPECT_THAT(Table(*driver), SizeIs(kRecords));
  EXPECT_EQ(*driver->Committed("in"), kRecords);
}

TEST(StatefulTest, AThreadThatLostItsTasksRestoresThem) {
  auto driver = Driver(Counts(), Options(1, 2));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "c"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  ASSERT_TRUE(driver->Evict(0).ok());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "c"})).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 2}, {"c", 2}}));
}

// Records come while threads come, go, crash and are put out. At least once: no count is below the
// truth, and without a crash, none above.
TEST(StatefulTest, NothingIsLostInAStorm) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    uint32_t state = seed;
    const auto next = [&](uint32_t below) {
      state = state * 1664525 + 1013904223;
      return (state >> 8) % below;
    };
    const bool gentle = seed % 2 == 0;
    auto driver = Driver(Counts(), Options(3, 4));
    Expected truth;
    for (int step = 0; step < 60; step++) {
      std::vector<TestRecord> records;
      for (uint32_t n = next(5); n > 0; n--) {
        const std::string key = "k" + std::to_string(next(9));
        records.push_back({.key = key, .value = "1"});
        truth[key]++;
      }
      const std::vector<int> threads = driver->threads();
      const int thread = threads[next(static_cast<uint32_t>(threads.size()))];
      ASSERT_TRUE(driver->PipeAll("in", records).ok());
      switch (next(gentle ? 4 : 7)) {
        case 0:
          if (threads.size() > 1) {
            ASSERT_TRUE(driver->RemoveThread(thread).ok());
          }
          break;
        case 1:
          if (threads.size() < 6) {
            ASSERT_TRUE(driver->AddThread().ok());
          }
          break;
        case 2:
          ASSERT_TRUE(driver->Restart().ok());
          break;
        case 3:
          ASSERT_TRUE(driver->Advance(seconds(next(3))).ok());
          break;
        case 4:
          if (threads.size() > 1) {
            ASSERT_TRUE(driver->Crash(thread).ok());
          }
          break;
        case 5:
          ASSERT_TRUE(driver->Evict(thread).ok());
          break;
        default:
          break;
      }
    }
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(driver->failures(), IsEmpty()) << "seed " << seed;
    const Expected found = Table(*driver);
    if (gentle) {
      EXPECT_EQ(found, truth) << "seed " << seed;
    }
    for (const auto& [key, count] : truth) {
      ASSERT_TRUE(found.contains(key)) << "seed " << seed << ", " << key;
      EXPECT_GE(found.at(key), count) << "seed " << seed << ", " << key;
    }
    EXPECT_EQ(Journal(*driver), found) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kstream
