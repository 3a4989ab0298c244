// Aggregates by session and by sliding window over the whole engine: restarts, crashes and moves in
// the middle of windows give the rows of a run that nothing has disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "unit/dsl/small_memory.h"
#include "unit/dsl/span_model.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::seconds;
using WindowKind = WindowSpec::Kind;

struct Disturbed {
  std::vector<std::string> rows;
  std::vector<std::string> left;  // keys of the store
};

// Records, with whatever may happen to a member of the group between them.
Disturbed RunDisturbed(const std::vector<ModelRecord>& records, const WindowSpec& window,
                       Guarantee guarantee, size_t most_bytes, uint32_t seed) {
  const Topology topology = CountAndSumOf(Location::Topic("in"), Location::Topic("out"), window,
                                          RowsOut::kFinal, most_bytes);
  TestDriverOptions options = Options(2, 1);
  options.runtime.guarantee = guarantee;
  auto driver = *TestDriver::Create(topology, options);
  std::mt19937 random(seed);
  for (const ModelRecord& record : records) {
    EXPECT_TRUE(driver
                    ->Pipe("in", {.key = record.key,
                                  .value = std::to_string(record.value),
                                  .timestamp = record.time})
                    .ok());
    // What had not been committed is done again, which at-least-once may count again.
    const uint32_t events = guarantee == Guarantee::kExactlyOnce ? 13 : 11;
    const uint32_t event = random() % 60;
    if (event < 10) {
      EXPECT_TRUE(driver->Advance(seconds(2)).ok());
    } else if (event < events) {
      const int thread = driver->tasks().at(0).thread;
      EXPECT_TRUE((event == 10   ? driver->Restart()
                   : event == 11 ? driver->Evict(thread)
                                 : driver->Crash(thread))
                      .ok());
      if (event == 12) {
        EXPECT_TRUE(driver->AddThread().ok());
      }
    }
  }
  EXPECT_TRUE(driver->Pipe("in", {.key = "end", .value = "1", .timestamp = 10'000'000}).ok());
  for (int i = 0; i < 4; i++) EXPECT_TRUE(driver->Advance(seconds(2)).ok());
  Disturbed result;
  for (const TestRecord& row : *driver->ReadAll("out"))
    result.rows.push_back(row.value.value_or("(null)"));
  for (const TestEntry& entry : *driver->Entries("rows")) result.left.push_back(entry.key);
  return result;
}

class SpansTest : public testing::TestWithParam<WindowKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SpansTest,
                         testing::Values(WindowKind::kSession, WindowKind::kSliding), NameOfSpans);

TEST_P(SpansTest, AreThoseOfTheModelWhateverHappens) {
  for (uint32_t seed = 0; seed < 24; seed++) {
    const int64_t length = 1 + seed % 20, grace = seed % 4 == 0 ? 0 : seed % 40;
    const WindowSpec window = SpanWindow(GetParam(), length, grace);
    const std::vector<ModelRecord> records = RandomRecords(seed, 150);
    const std::vector<std::string> wanted =
        Lines(SpanModel(GetParam(), records, length, grace).rows);
    const size_t most_bytes = seed % 3 == 0 ? 1000 : size_t{1} << 20;
    for (const Guarantee guarantee : {Guarantee::kExactlyOnce, Guarantee::kAtLeastOnce}) {
      const Disturbed run = RunDisturbed(records, window, guarantee, most_bytes, seed);
      ASSERT_EQ(run.rows, wanted) << "seed " << seed;
      // The open row of the last record; timers of others may wait for their time.
      EXPECT_EQ(
          std::ranges::count_if(
              run.left, [](const std::string& key) { return key[0] == 's' || key[0] == 'm'; }),
          1)
          << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace kstream
