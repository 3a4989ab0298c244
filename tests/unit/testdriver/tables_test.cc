// Tables over restarts, rebalances and crashes: what is made of them is what their rows say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kstream/stream.h"
#include "kstream/table.h"
#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using Rows = std::map<std::string, std::string>;

// How many rows of the table "in" are of each group, and what their numbers add up to.
Topology Groups() {
  StreamBuilder builder;
  AggregateSpec spec{
      .functions = {
          {}, {.kind = AggregateFunction::Kind::kSum, .argument = *Expression::Compile(".n")}}};
  builder.Table(Location::Topic("in"), "table")
      .GroupBy(".g", "groups")
      .Aggregate(spec, "sums")
      .ToStream()
      .To(Location::Topic("out"));
  return *builder.Build();
}

// The same, by functions.
Topology GroupsByFunctions() {
  const auto number = [](const Record& row) {
    return std::stol(std::string(row.value->substr(row.value->find("\"n\":") + 4)));
  };
  const auto step = [number](int sign) {
    return [number, sign](const Record& row, std::string_view sum) -> MadeBytes {
      return std::to_string(std::stol(std::string(sum)) + sign * number(row));
    };
  };
  StreamBuilder builder;
  builder.Table(Location::Topic("in"), "table")
      .GroupBy(
          [](const Record& row) -> MadeBytes {
            return std::string(row.value->substr(row.value->find("\"g\":") + 5, 2));
          },
          "groups")
      .Aggregate([] { return std::string("0"); }, step(1), step(-1), "sums")
      .ToStream()
      .To(Location::Topic("out"));
  return *builder.Build();
}

std::string RowOf(uint32_t group, uint32_t n) {
  return R"({"g":"g)" + std::to_string(group) + R"(","n":)" + std::to_string(n) + "}";
}

// Rows of the table come, change and go while `disturb` happens to the run. The table at the end.
Rows StormOfRows(TestDriver* driver, Dice* dice, uint32_t events) {
  Rows table;
  for (int step = 0; step < 60; step++) {
    std::vector<TestRecord> records;
    for (uint32_t n = (*dice)(5); n > 0; n--) {
      const std::string key = "k" + std::to_string((*dice)(9));
      TestRecord record{.key = key};
      if ((*dice)(4) == 0) {
        table.erase(key);
      } else {
        record.value = table[key] = RowOf((*dice)(3), (*dice)(100));
      }
      records.push_back(std::move(record));
    }
    const std::vector<int> threads = driver->threads();
    if (threads.empty()) {
      ADD_FAILURE() << "the application has ended at step " << step;
      return table;
    }
    Status status = driver->PipeAll("in", records);
    EXPECT_TRUE(status.ok()) << status.message();
    const int thread = threads[(*dice)(static_cast<uint32_t>(threads.size()))];
    status = Disturb(driver, (*dice)(events), thread, 4,
                     [&] { return std::chrono::seconds((*dice)(3)); });
    EXPECT_TRUE(status.ok()) << status.message();
  }
  for (int commits = 0; commits < 6; commits++) {
    EXPECT_TRUE(driver->Advance(std::chrono::seconds(1)).ok());
  }
  return table;
}

// What "sums" should hold, of groups that have rows.
Rows SumsOf(const Rows& table, bool plain) {
  std::map<std::string, std::pair<long, long>> sums;
  for (const auto& [key, row] : table) {
    auto& [count, sum] = sums[row.substr(row.find("\"g\":") + 5, 2)];
    count++;
    sum += std::stol(row.substr(row.find("\"n\":") + 4));
  }
  Rows rows;
  for (const auto& [group, sum] : sums) {
    rows[group] = plain ? std::to_string(sum.second)
                        : R"({"count":)" + std::to_string(sum.first) + R"(,"sum":{"exact":[)" +
                              std::to_string(sum.second) + "," + std::to_string(sum.first) + "]}}";
  }
  return rows;
}

Rows Held(const TestDriver& driver, bool plain) {
  Rows rows;
  const auto entries = driver.Entries("sums");
  EXPECT_TRUE(entries.ok()) << entries.status().message();
  if (!entries.ok()) return rows;
  for (const TestEntry& entry : *entries) {
    const bool nothing = plain ? entry.value == "0" : entry.value.starts_with(R"({"count":0,)");
    if (!nothing) rows[entry.key] = entry.value;
  }
  return rows;
}

void CheckStorms(bool eos, uint32_t events) {
  for (uint32_t seed = 1; seed <= 8; seed++) {
    for (const bool plain : {false, true}) {
      Dice dice(seed);
      TestDriverOptions options = Options(2, 3);
      if (eos) options.runtime.guarantee = Guarantee::kExactlyOnce;
      const auto driver = Driver(plain ? GroupsByFunctions() : Groups(), options);
      const Rows table = StormOfRows(driver.get(), &dice, events);
      EXPECT_EQ(Held(*driver, plain), SumsOf(table, plain)) << "seed " << seed;
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Tables, GroupsFollowTheirRowsThroughRestartsAtLeastOnce) { CheckStorms(false, 4); }

TEST(Tables, GroupsFollowTheirRowsThroughCrashesExactlyOnce) { CheckStorms(true, 7); }

// Where a row's new group is in another task, both hear of it.
TEST(Tables, ARowIsTakenOutOfTheGroupThatItWasIn) {
  const auto driver = Driver(Groups(), Options(1, 4));
  for (const char* row : {R"({"g":"g1","n":1})", R"({"g":"g2","n":2})"}) {
    ASSERT_TRUE(driver->Pipe("in", {.key = "k", .value = row}).ok());
  }
  ASSERT_TRUE(driver->Advance(std::chrono::seconds(1)).ok());
  EXPECT_EQ(*driver->Get("sums", "g1"), R"({"count":0,"sum":{"exact":[0,0]}})");
  EXPECT_EQ(*driver->Get("sums", "g2"), R"({"count":1,"sum":{"exact":[2,1]}})");
  EXPECT_EQ(*driver->Get("table", "k"), R"({"g":"g2","n":2})");
}

}  // namespace
}  // namespace kstream
