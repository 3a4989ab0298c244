// Joins of two streams in the real task, and a model of them: lists that are searched from end to
// end, and nothing that is kept for speed.
#ifndef KSTREAM_TESTS_UNIT_DSL_JOIN_RUN_H_
#define KSTREAM_TESTS_UNIT_DSL_JOIN_RUN_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kstream/joins.h"
#include "kstream/store.h"
#include "kstream/topology.h"
#include "unit/dsl/task_run.h"

namespace kstream {

// A store that lets its processor hold so many bytes.
class SmallStore final : public KeyValueStore {
 public:
  explicit SmallStore(int64_t share) : share_(share), store_(InMemoryKeyValueStore()("rows")) {}

  std::string_view name() const override { return "rows"; }
  void Close() override {}  // lives longer than a task
  Status Put(std::string_view key, std::string_view value, int64_t timestamp) override {
    return rows().Put(key, value, timestamp);
  }
  Status Delete(std::string_view key) override { return rows().Delete(key); }
  Status Clear() override { return rows().Clear(); }
  Result<bool> Find(std::string_view key, StoredRow* row) const override {
    return rows().Find(key, row);
  }
  Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                   const RowVisitor& visit) const override {
    reads++;
    return rows().RangeRows(from, to, visit);
  }
  int64_t memory_share() const override { return share_; }

  size_t size() const {
    size_t size = 0;
    EXPECT_TRUE(All([&](std::string_view, std::string_view) { return ++size > 0; }).ok());
    return size;
  }
  mutable int64_t reads = 0;

 private:
  KeyValueStore& rows() const { return dynamic_cast<KeyValueStore&>(*store_); }
  const int64_t share_;
  std::unique_ptr<StateStore> store_;
};

struct JoinRecord {
  bool left = true;
  std::string key = {};
  int64_t time = 0;
  int number = 0;
};

inline Result<Topology> JoinOf(StreamJoinSpec spec) {
  const std::string store = spec.store;
  const bool late = !spec.late.empty();
  Result<StreamJoinNodes> nodes = JoinStreams(std::move(spec));
  if (!nodes.ok()) return nodes.status();
  TopologyBuilder builder;
  builder.AddSource("l", {.inputs = {Location::Topic("l")}})
      .AddSource("r", {.inputs = {Location::Topic("r")}})
      .AddProcessor("join-left", nodes->left, {"l"})
      .AddProcessor("join-right", nodes->right, {"r"})
      .AddProcessor("join", nodes->join, {"join-left", "join-right"})
      .AddStore("join-turn", nodes->turn, {"join-left", "join-right", "join"})
      .AddSink("out", {.output = Location::Topic("out")}, {"join"});
  if (!store.empty()) builder.AddStore(StoreSpec{.name = store}, {"join"});
  if (late) builder.AddSink("late", {.output = Location::Topic("late")}, {"join"});
  return builder.Build();
}

class JoinRun : public TaskRun {
 public:
  explicit JoinRun(StreamJoinSpec spec, SmallStore* store = nullptr,
                   std::optional<int64_t> stream_time = std::nullopt)
      : TaskRun(JoinOf(WithStore(std::move(spec), store)), 0, Kept(store), stream_time) {}

  Status Give(const JoinRecord& record) {
    source = record.left ? 0 : 1;
    offset = record.number;
    return Process(std::to_string(record.number), record.key, {}, record.time);
  }
  // "key@time left-right", of each result.
  std::vector<std::string> Results() {
    std::vector<std::string> results;
    for (const auto& record : out().records) {
      results.push_back(record.key.value_or("") + "@" + std::to_string(record.timestamp) + " " +
                        record.value.value_or("(null)"));
    }
    return results;
  }

 private:
  static StreamJoinSpec WithStore(StreamJoinSpec spec, SmallStore* store) {
    if (store) spec.store = "rows";
    return spec;
  }
  static task::Task::KeptStores Kept(SmallStore* store) {
    task::Task::KeptStores kept;
    if (store) kept["rows"] = store;
    return kept;
  }
};

class JoinModel {
 public:
  explicit JoinModel(const StreamJoinSpec& spec)
      : latest_(spec.match == JoinMatch::kLatest),
        before_(spec.windows.before.count()),
        after_(spec.match == JoinMatch::kAll ? spec.windows.after.count() : -1),
        grace_(spec.windows.grace.count()),
        kept_(before_ + std::max<int64_t>(after_, 0) + grace_),
        left_alone_(spec.type != JoinType::kInner),
        right_alone_(spec.type == JoinType::kOuter) {}

  void Give(const JoinRecord& record) {
    const int64_t now = std::max(time_, record.time);
    Row row{record, rows_.size()};
    const std::vector<Row*> partners = PartnersOf(row, now);
    Close(now);
    for (Row* const partner : partners) {
      AddPair(row, *partner);
      row.matched = partner->matched = true;
    }
    time_ = now;
    const bool open = Due(row) >= now, expired = record.time + kept_ < now;
    if (Alone(row) && !row.matched && !open) return AddAlone(row);
    if (expired && !row.matched) late.push_back(record.number);
    if (expired || (latest_ && record.left && !open)) return;
    row.waits = open && !row.matched && (Alone(row) || (latest_ && record.left));
    rows_.push_back(row);
  }
  void End() { Close(INT64_MAX); }

  std::vector<std::string> results;
  std::vector<int> late;
  // How many of those that are kept wait.
  size_t open() const {
    return static_cast<size_t>(std::ranges::count_if(
        rows_, [](const Row& row) { return row.waits && !row.matched && !row.gone; }));
  }

 private:
  struct Row {
    JoinRecord record;
    size_t arrival;
    bool matched = false, gone = false, waits = false;
  };

  bool Alone(const Row& row) const { return row.record.left ? left_alone_ : right_alone_; }
  int64_t Due(const Row& row) const {
    return row.record.time + (row.record.left ? after_ : before_) + grace_;
  }

  std::vector<Row*> InWindow(const Row& row, int64_t now) {
    std::vector<Row*> found;
    for (Row& other : rows_) {
      const Row &left = row.record.left ? row : other, &right = row.record.left ? other : row;
      const int64_t distance = right.record.time - left.record.time;
      if (other.record.left == row.record.left || other.record.key != row.record.key) continue;
      if (distance < -before_ || distance > after_) continue;
      if (other.gone || other.record.time + kept_ < now) continue;
      if (Alone(other) && !other.matched && Due(other) < now) continue;
      found.push_back(&other);
    }
    std::ranges::sort(found, {},
                      [](const Row* r) { return std::pair(r->record.time, r->arrival); });
    return found;
  }

  std::vector<Row*> PartnersOf(const Row& row, int64_t now) {
    std::vector<Row*> found;
    if (!latest_) return InWindow(row, now);
    if (row.record.left && Due(row) < now) found = InWindow(row, now);
    if (found.size() > 1) found.erase(found.begin(), found.end() - 1);
    return found;
  }

  void Close(int64_t now) {
    std::vector<Row*> due;
    for (Row& row : rows_) {
      if (row.waits && !row.matched && !row.gone && Due(row) < now) due.push_back(&row);
    }
    std::ranges::sort(due, {}, [&](const Row* row) {
      return std::tuple(Due(*row), row->record.time, row->record.key, !row->record.left,
                        row->arrival);
    });
    for (Row* const row : due) {
      row->gone = true;
      std::vector<Row*> found;
      if (latest_) found = InWindow(*row, Due(*row) + 1);
      if (!found.empty()) {
        AddPair(*row, *found.back());
      } else if (Alone(*row)) {
        AddAlone(*row);
      }
    }
  }

  void AddPair(const Row& a, const Row& b) {
    const Row &left = a.record.left ? a : b, &right = a.record.left ? b : a;
    results.push_back(left.record.key + "@" +
                      std::to_string(std::max(left.record.time, right.record.time)) +
                      " {\"left\":" + std::to_string(left.record.number) +
                      ",\"right\":" + std::to_string(right.record.number) + "}");
  }
  void AddAlone(const Row& row) {
    const std::string number = std::to_string(row.record.number);
    results.push_back(row.record.key + "@" + std::to_string(row.record.time) +
                      " {\"left\":" + (row.record.left ? number : "null") +
                      ",\"right\":" + (row.record.left ? "null" : number) + "}");
  }

  const bool latest_;
  const int64_t before_, after_, grace_, kept_;
  const bool left_alone_, right_alone_;
  int64_t time_ = INT64_MIN / 2;
  std::vector<Row> rows_;
};

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_JOIN_RUN_H_
