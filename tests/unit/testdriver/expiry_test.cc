// Rows that expire, over the whole engine: restarts, crashes and moves leave the table, the store
// and the changelog of a run that nothing has disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "unit/dsl/expiry_model.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int64_t kTtl = 100;

std::unique_ptr<TestDriver> Start(Guarantee guarantee, size_t most_bytes) {
  TestDriverOptions options = Options(2, 1);
  options.runtime.guarantee = guarantee;
  auto driver = TestDriver::Create(CountFor(Location::Topic("in"), Location::Topic("out"), kTtl,
                                            RowsOut::kUpdate, "rows", most_bytes),
                                   options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

Status At(TestDriver* driver, const std::string& key, int64_t time) {
  return driver->Pipe("in", {.key = key, .value = "1", .timestamp = time});
}

std::vector<std::string> Lines(const TestDriver& driver) {
  std::vector<std::string> lines;
  for (const TestRecord& row : *driver.ReadAll("out")) {
    lines.push_back(CountLine(row.key.value_or("(null)"), row.value, row.timestamp.value_or(-1)));
  }
  return lines;
}

std::vector<std::string> Keys(const TestDriver& driver) {
  std::vector<std::string> keys;
  for (const TestEntry& entry : *driver.Entries("rows")) keys.push_back(entry.key);
  return keys;
}

// The keys that a restore from the changelog would find.
std::vector<std::string> Journaled(const TestDriver& driver) {
  std::map<std::string, bool> there;
  for (const TestRecord& record : *driver.ReadAll("test-rows-changelog")) {
    there[record.key.value_or("")] = record.value.has_value();
  }
  std::vector<std::string> keys;
  for (const auto& [key, is] : there) {
    if (is) keys.push_back(key);
  }
  return keys;
}

TEST(ExpiryTest, RowsLeaveStoreAndChangelogOnceTheTimeThatEndedThemIsCommitted) {
  auto driver = Start(Guarantee::kAtLeastOnce, 1 << 20);
  ASSERT_TRUE(At(driver.get(), "a", 1000).ok());
  ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  ASSERT_TRUE(At(driver.get(), "b", 1100).ok());
  driver->FailCommits(Status::Cluster("rebalancing"));
  for (int i = 0; i < 5; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Keys(*driver), UnorderedElementsAre("a", "b")) << "what ended it is not committed";
  driver->FailCommits(Status::Ok());
  for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
  EXPECT_THAT(Keys(*driver), ElementsAre("b"));
  EXPECT_THAT(Journaled(*driver), ElementsAre("b"));
  EXPECT_THAT(Lines(*driver), ElementsAre("a=1@1000", "a gone@1100", "b=1@1100"));
}

TEST(ExpiryTest, ARowThatBeginsAnewBeforeThatStays) {
  for (const Guarantee guarantee : {Guarantee::kAtLeastOnce, Guarantee::kExactlyOnce}) {
    auto driver = Start(guarantee, 1 << 20);
    ASSERT_TRUE(At(driver.get(), "a", 1000).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    ASSERT_TRUE(At(driver.get(), "a", 1100).ok());
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    ASSERT_TRUE(driver->Restart().ok());
    ASSERT_TRUE(At(driver.get(), "a", 1150).ok());
    ASSERT_TRUE(driver->Advance(seconds(2)).ok());
    EXPECT_THAT(Lines(*driver), ElementsAre("a=1@1000", "a gone@1100", "a=1@1100", "a=2@1150"));
  }
}

// Records, with whatever may happen to a member of the group between them.
TEST(ExpiryTest, TheTableIsThatOfTheModelWhateverHappens) {
  for (uint32_t seed = 0; seed < 30; seed++) {
    for (const Guarantee guarantee : {Guarantee::kExactlyOnce, Guarantee::kAtLeastOnce}) {
      std::vector<TimedKey> records = RandomTimes(seed, 150, kTtl);
      auto driver = Start(guarantee, seed % 3 == 0 ? 300 : size_t{1} << 20);
      std::mt19937 random(seed);
      for (const auto& [key, time] : records) {
        ASSERT_TRUE(At(driver.get(), key, time).ok());
        // What had not been committed is done again, which at-least-once may count again.
        const uint32_t events = guarantee == Guarantee::kExactlyOnce ? 13 : 11;
        const uint32_t event = random() % 60;
        if (event < 10) {
          ASSERT_TRUE(driver->Advance(seconds(2)).ok());
        } else if (event < events) {
          const int thread = driver->tasks().at(0).thread;
          ASSERT_TRUE((event == 10   ? driver->Restart()
                       : event == 11 ? driver->Evict(thread)
                                     : driver->Crash(thread))
                          .ok());
          if (event == 12) {
            ASSERT_TRUE(driver->AddThread().ok());
          }
        }
      }
      for (int i = 0; i < 4; i++) ASSERT_TRUE(driver->Advance(seconds(2)).ok());
      const ExpiryModel model(records, kTtl);
      ASSERT_EQ(TableOf(Lines(*driver)), model.Left()) << "seed " << seed;
      std::vector<std::string> keys;
      for (const auto& [key, row] : model.rows) keys.push_back(key);
      EXPECT_EQ(Journaled(*driver), keys) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace kstream
