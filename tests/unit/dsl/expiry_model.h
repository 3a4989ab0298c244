// Counts by key whose rows expire: what they must be, by a plain map, and the aggregate under test,
// which may hold little in memory.
#ifndef KSTREAM_TESTS_UNIT_DSL_EXPIRY_MODEL_H_
#define KSTREAM_TESTS_UNIT_DSL_EXPIRY_MODEL_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dsl/aggregation.h"
#include "dsl/column.h"
#include "dsl/row.h"
#include "kstream/topology.h"
#include "unit/dsl/aggregate_run.h"

namespace kstream {

using TimedKey = std::pair<std::string, int64_t>;

// Mostly in order, with jumps and with some that are late.
inline std::vector<TimedKey> RandomTimes(uint32_t seed, size_t count, int64_t ttl) {
  std::mt19937 random(seed);
  std::vector<TimedKey> records;
  int64_t now = 0;
  for (size_t i = 0; i < count; i++) {
    now += random() % 20 == 0 ? ttl / 2 + random() % ttl : random() % 3;
    const int64_t back = random() % 8 == 0 ? random() % (2 * ttl) : random() % 3;
    records.emplace_back("k" + std::to_string(random() % 60), std::max<int64_t>(0, now - back));
  }
  return records;
}

// "KEY=COUNT@TIME", or "KEY gone@TIME", as they come with each change; and what is left.
struct ExpiryModel {
  ExpiryModel(const std::vector<TimedKey>& records, int64_t ttl) {
    int64_t now = -1;
    for (const auto& [key, time] : records) {
      now = std::max(now, time);
      Expire(now - ttl, ttl);
      if (!rows.contains(key) && time <= now - ttl) {
        late++;
        continue;
      }
      auto& [count, latest] = rows[key];
      latest = std::max(latest, time);
      out.push_back(key + "=" + std::to_string(++count) + "@" + std::to_string(latest));
    }
  }
  void Expire(int64_t until, int64_t ttl) {
    std::vector<std::pair<int64_t, std::string>> gone;
    for (const auto& [key, row] : rows) {
      if (row.second <= until) gone.emplace_back(row.second, key);
    }
    std::ranges::sort(gone);
    for (const auto& [time, key] : gone) {
      out.push_back(key + " gone@" + std::to_string(time + ttl));
      rows.erase(key);
    }
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (const auto& [key, row] : rows) left.push_back(key + "=" + std::to_string(row.first));
    return left;
  }

  std::map<std::string, std::pair<int, int64_t>> rows;  // count, time
  std::vector<std::string> out;
  int late = 0;
};

// Counts by key, in the store `store` if it has a name; rows that are forwarded are the counts.
inline ProcessorSupplier CountFor(int64_t ttl, RowsOut emit, const std::string& store,
                                  size_t most_bytes) {
  const Serdes serdes = *Serdes::Parse("string", "json");
  dsl::AggregationPlan plan{.new_format = {},
                            .emit = emit,
                            .ttl = std::chrono::milliseconds(ttl),
                            .store = store,
                            .serdes = serdes,
                            .most_bytes = most_bytes};
  plan.new_format = [serdes] {
    std::vector<std::unique_ptr<dsl::Column>> columns;
    columns.push_back(dsl::NewColumn({}, false, serdes));
    return dsl::NewJsonRows(std::move(columns), serdes.key);
  };
  return dsl::AggregationOf(std::move(plan), "count");
}

inline Topology CountFor(Location in, Location out, int64_t ttl, RowsOut emit,
                         const std::string& store, size_t most_bytes) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {std::move(in)}})
      .AddProcessor("agg", CountFor(ttl, emit, store, most_bytes), {"in"})
      .AddSink("out", {.output = std::move(out)}, {"agg"});
  if (!store.empty()) builder.AddStore(StoreSpec{.name = store}, {"agg"});
  return *builder.Build();
}

// A row of the aggregate as the model writes it.
inline std::string CountLine(const std::string& key, const std::optional<std::string>& value,
                             int64_t time) {
  if (!value) return key + " gone@" + std::to_string(time);
  const size_t at = value->rfind(':') + 1;
  return key + "=" + value->substr(at, value->size() - at - 1) + "@" + std::to_string(time);
}

// What a table has after such lines.
inline std::vector<std::string> TableOf(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> table;
  for (const std::string& line : lines) {
    const std::string key = line.substr(0, line.find_first_of(" ="));
    table.erase(key);
    if (line.find('=') != line.npos) table[key] = line.substr(0, line.find('@'));
  }
  std::vector<std::string> left;
  for (const auto& [key, line] : table) left.push_back(line);
  return left;
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_EXPIRY_MODEL_H_
