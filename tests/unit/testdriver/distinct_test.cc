// What is distinct, over the whole engine: after crashes, moves and restarts the kept records are
// those of a run that nothing has disturbed; and where unique keys are not the records' own,
// nothing but repeats is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kstream/operators.h"
#include "kstream/stream.h"
#include "unit/dsl/distinct_model.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kWithin = 50;

std::unique_ptr<TestDriver> Start(const std::string& by, Guarantee guarantee, int32_t partitions,
                                  milliseconds grace = milliseconds(kWithin)) {
  TestDriverOptions options = Options(2, partitions);
  options.runtime.guarantee = guarantee;
  StreamBuilder builder;
  builder.Source(Location::Topic("in"), "in")
      .Distinct(
          DistinctSpec{
              .by = *Expression::Compile(by), .within = milliseconds(kWithin), .grace = grace},
          "unique")
      .To(Location::Topic("out"));
  const Result<Topology> topology = builder.Build();
  EXPECT_TRUE(topology.ok()) << topology.status().message();
  auto driver = TestDriver::Create(*topology, options);
  EXPECT_TRUE(driver.ok()) << driver.status().message();
  return *std::move(driver);
}

TestRecord Of(const KeyedTime& record) {
  return {.key = record.key,
          .value = std::to_string(record.number),
          .timestamp = 1'577'836'800'000 + record.time,
          .headers = {{"h", std::to_string(record.number)}}};
}

std::vector<int> Numbers(const TestDriver& driver) {
  std::vector<int> numbers;
  for (const TestRecord& record : *driver.ReadAll("out")) {
    numbers.push_back(std::stoi(*record.value));
  }
  return numbers;
}

void DisturbAll(TestDriver* driver, Dice* dice) {
  const std::vector<int> threads = driver->threads();
  const int thread = threads[(*dice)(static_cast<uint32_t>(threads.size()))];
  const Status status = Disturb(driver, (*dice)(60), thread, 4, [] { return milliseconds(700); });
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(DistinctTest, RestartsAndCrashesKeepTheSameRecords) {
  for (uint32_t seed = 0; seed < 40; seed++) {
    for (const Guarantee guarantee : {Guarantee::kExactlyOnce, Guarantee::kAtLeastOnce}) {
      const std::vector<KeyedTime> records = RandomKeys(seed, 200, 2 * kWithin, 1 + seed % 9);
      auto driver = Start("$key", guarantee, 1);
      Dice dice(seed);
      for (const KeyedTime& record : records) {
        ASSERT_TRUE(driver->Pipe("in", Of(record)).ok());
        DisturbAll(driver.get(), &dice);
      }
      for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(std::chrono::seconds(2)).ok());
      std::vector<int> numbers = Numbers(*driver);
      if (guarantee == Guarantee::kAtLeastOnce) {
        // What is read again is kept again, and nothing else is.
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      }
      ASSERT_EQ(numbers, DistinctModel(kWithin, kWithin).Keep(records)) << "seed " << seed;
    }
  }
}

TEST(DistinctTest, AnotherUniqueKeyMeetsInOneTaskAndTheRecordStaysAsItWas) {
  for (uint32_t seed = 0; seed < 25; seed++) {
    const Guarantee guarantee = seed % 2 == 0 ? Guarantee::kExactlyOnce : Guarantee::kAtLeastOnce;
    // The topic between has what three tasks write, in any order.
    auto driver = Start("$headers.id", guarantee, 3, std::chrono::hours(1));
    Dice dice(seed);
    std::map<int, KeyedTime> records;
    for (KeyedTime& record : RandomKeys(seed, 150, kWithin, 9)) {
      TestRecord piped = Of(record);
      // Of records with one id each has another key, and so is in another partition.
      piped.headers.insert(piped.headers.begin(), {"id", record.key});
      piped.key = std::to_string(record.number * 7919 % 31);
      records[record.number] = record;
      ASSERT_TRUE(driver->Pipe("in", std::move(piped)).ok());
      DisturbAll(driver.get(), &dice);
    }
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(std::chrono::seconds(2)).ok());
    std::map<int, int> kept;
    for (const TestRecord& record : *driver->ReadAll("out")) {
      const int number = std::stoi(*record.value);
      kept[number]++;
      EXPECT_EQ(record.key, std::to_string(number * 7919 % 31));
      EXPECT_THAT(record.headers, ElementsAre(std::pair("id", records[number].key),
                                              std::pair("h", std::to_string(number))));
    }
    for (const auto& [number, record] : records) {
      const bool near = std::ranges::any_of(kept, [&, &mine = record](const auto& other) {
        const KeyedTime& its = records[other.first];
        return its.key == mine.key && std::abs(its.time - mine.time) <= kWithin;
      });
      EXPECT_TRUE(near) << "seed " << seed << ": " << number << " repeats nothing";
    }
    if (guarantee == Guarantee::kAtLeastOnce) continue;
    for (const auto& [number, times] : kept) {
      EXPECT_EQ(times, 1);
      for (const auto& [other, twice] : kept) {
        const KeyedTime &a = records[number], &b = records[other];
        if (number == other || a.key != b.key) continue;
        EXPECT_GT(std::abs(a.time - b.time), kWithin) << "seed " << seed;
      }
    }
  }
}

TEST(DistinctTest, TheChangelogForgetsToo) {
  auto driver = Start("$key", Guarantee::kAtLeastOnce, 1);
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(driver->Pipe("in", Of({"k" + std::to_string(i), i * 20, i})).ok());
    ASSERT_TRUE(driver->Advance(std::chrono::seconds(2)).ok());
  }
  for (int i = 0; i < 2; i++) ASSERT_TRUE(driver->Advance(std::chrono::seconds(2)).ok());
  std::map<std::string, bool> journal;
  for (const TestRecord& record : *driver->ReadAll("test-unique-changelog")) {
    journal[*record.key] = record.value.has_value();
  }
  const auto there = std::ranges::count_if(journal, [](const auto& row) { return row.second; });
  EXPECT_GE(there, 1 + 5);
  EXPECT_LE(there, 1 + 5 + 3);
  EXPECT_EQ(static_cast<size_t>(there), driver->Entries("unique")->size());
  const std::vector<TestRow> rows = *driver->Rows("unique");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.back().key, "k99");
}

}  // namespace
}  // namespace kstream
