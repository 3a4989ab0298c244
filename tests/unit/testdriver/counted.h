// A topology that counts by key in a kept store, what it has counted by now, and storms over it.
#ifndef KSTREAM_TESTS_UNIT_TESTDRIVER_COUNTED_H_
#define KSTREAM_TESTS_UNIT_TESTDRIVER_COUNTED_H_

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "unit/testdriver/word_count.h"

namespace kstream {

// Counts by key, in a kept store.
inline Topology Counts(const std::string& store = "counts") {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}})
      .AddProcessor("count", Does(Count, "count"), {"in"})
      .AddStore(StoreSpec{.name = store}, {"count"})
      .AddSink("out", {.output = Location::Topic("out")}, {"count"});
  return *builder.Build();
}

inline TestDriverOptions Options(int threads, int32_t partitions) {
  TestDriverOptions options{.partitions = {{"in", partitions}}};
  options.runtime.threads = threads;
  return options;
}

inline std::vector<TestRecord> Keys(std::initializer_list<const char*> keys) {
  std::vector<TestRecord> records;
  for (const char* key : keys) records.push_back({.key = key, .value = "1"});
  return records;
}

inline std::map<std::string, int> Table(const TestDriver& driver) {
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
inline std::map<std::string, int> Journal(const TestDriver& driver) {
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

// Numbers of a seed.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed) {}
  uint32_t operator()(uint32_t below) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % below;
  }

 private:
  uint32_t state_;
};

// Does what number `event` of all that may happen to a run is: 0 to 3 in good order, 4 and 5 not,
// beyond them nothing. `pass`: how long time goes on, asked when it does.
template <typename Pass>
Status Disturb(TestDriver* driver, uint32_t event, int thread, size_t most_threads, Pass pass) {
  const size_t threads = driver->threads().size();
  switch (event) {
    case 0:
      return threads > 1 ? driver->RemoveThread(thread) : Status::Ok();
    case 1:
      return threads < most_threads ? driver->AddThread() : Status::Ok();
    case 2:
      return driver->Restart();
    case 3:
      return driver->Advance(pass());
    case 4:
      return threads > 1 ? driver->Crash(thread) : Status::Ok();
    case 5:
      return driver->Evict(thread);
    default:
      return Status::Ok();
  }
}

// Records come while threads come, go and crash, and lose their tasks; `trouble`, asked with a
// thread, does what else may happen. True counts come back.
inline Expected Storm(TestDriver* driver, Dice* dice, bool gentle,
                      const std::function<void(int thread)>& trouble = {}) {
  Expected truth;
  for (int step = 0; step < 60; step++) {
    std::vector<TestRecord> records;
    for (uint32_t n = (*dice)(5); n > 0; n--) {
      const std::string key = "k" + std::to_string((*dice)(9));
      records.push_back({.key = key, .value = "1"});
      truth[key]++;
    }
    const std::vector<int> threads = driver->threads();
    if (threads.empty()) {
      ADD_FAILURE() << "the application has ended at step " << step;
      return truth;
    }
    const int thread = threads[(*dice)(static_cast<uint32_t>(threads.size()))];
    Status status = driver->PipeAll("in", records);
    EXPECT_TRUE(status.ok()) << "step " << step << ": " << status.message();
    const uint32_t event = (*dice)(gentle ? 4 : 7);
    status = Disturb(driver, event, thread, 6, [&] { return std::chrono::seconds((*dice)(3)); });
    if (event > 5 && trouble) trouble(thread);
    EXPECT_TRUE(status.ok()) << "step " << step << ": " << status.message();
  }
  return truth;
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_TESTDRIVER_COUNTED_H_
