// Stores that the runtime keeps, over the whole engine: what restarts, crashes and rebalances leave
// of them, and what their changelogs hold.
#include <gmock/gmock.h>

#include <map>
#include <utility>

#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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
  std::vector<TestRecord> records;     // a batch
  for (int64_t i = 0; i < kRecords; i++) {
    records.push_back({.key = std::to_string(i) + std::string(4096, 'k'), .value = "1"});
    if (records.size() < 200) continue;
    ASSERT_TRUE(driver->PipeAll("in", std::exchange(records, {})).ok());
  }
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

// The epoch that lost a record is dropped from the store, and done again.
TEST(StatefulTest, AFailedDeliveryPutsTasksBack) {
  auto driver = Driver(Counts(), Options(1, 2));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  driver->FailDelivery(Status::Cluster("no answer in time"), 1);
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "c"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(driver->failures(), IsEmpty());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 1}, {"c", 1}}));
  EXPECT_EQ(Journal(*driver), Table(*driver));
}

TEST(StatefulTest, ADeliveryThatFailsForGoodEndsTheThread) {
  auto driver = Driver(Counts(), Options(1, 1));
  driver->FailDelivery(Status::Cluster("no answer in time"));
  EXPECT_EQ(driver->PipeAll("in", Keys({"a"})).message(), "no answer in time (tried 20 times)");
  driver->FailDelivery(Status::Data("the topic refuses it"));
  EXPECT_EQ(driver->Restart().message(), "the topic refuses it");
}

// Records come while threads come, go, crash and are put out. At least once: no count is below the
// truth, and without a crash, none above.
TEST(StatefulTest, NothingIsLostInAStorm) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    const bool gentle = seed % 2 == 0;
    auto driver = Driver(Counts(), Options(3, 4));
    // A delivery that fails now and then puts tasks back.
    const Expected truth = Storm(driver.get(), &dice, gentle, [&](int) {
      driver->FailDelivery(Status::Cluster("no answer in time"), 1);
      EXPECT_TRUE(driver->Advance(seconds(1)).ok());
      driver->FailDelivery(Status::Ok());
    });
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(driver->failures(), IsEmpty());
    const Expected found = Table(*driver);
    if (gentle) {
      EXPECT_EQ(found, truth);
    }
    for (const auto& [key, count] : truth) {
      ASSERT_TRUE(found.contains(key)) << key;
      EXPECT_GE(found.at(key), count) << key;
    }
    EXPECT_EQ(Journal(*driver), found);
  }
}

}  // namespace
}  // namespace kstream
