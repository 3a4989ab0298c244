// Aggregates by session and by sliding window and their store: tasks that come and go, and memory
// that holds next to nothing, give the rows of the model, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "dsl/span_key.h"
#include "kstream/operators.h"
#include "unit/dsl/small_memory.h"
#include "unit/dsl/span_model.h"
#include "unit/dsl/window_run.h"

namespace kstream {
namespace {

using dsl::SpanKey;
using dsl::TimerKey;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using WindowKind = WindowSpec::Kind;

// A commit point, and all of it is committed.
void Commit(TaskRun* run) {
  ASSERT_TRUE(run->Flush().ok());
  if (const auto time = run->task().stream_time()) run->task().Committed(*time);
}

// The keys of rows and timers, in short.
std::vector<std::string> Stored(LastingStore* store) {
  std::vector<std::string> keys;
  EXPECT_TRUE(store->rows()
                  .All([&](std::string_view key, std::string_view value) {
                    const auto timer = TimerKey::Parse(key);
                    auto span = SpanKey::Parse(SpanKey::Kind::kSession, key);
                    if (!span) span = SpanKey::Parse(SpanKey::Kind::kMoment, key);
                    if (timer) {
                      keys.push_back(
                          fmt::format("timer {} {} {}", timer->group, timer->start, timer->end));
                    } else if (span) {
                      keys.push_back(fmt::format("{} {} {}", span->group, span->start, value));
                    }
                    return true;
                  })
                  .ok());
  return keys;
}

struct Lives {
  std::string rows;
  std::vector<std::string> left;  // in the store, when all has closed
};

// Runs records through one task after the other, with commit points now and then.
Lives RunLives(const std::vector<ModelRecord>& records, const WindowSpec& window, size_t most_bytes,
               uint32_t seed) {
  std::mt19937 random(seed);
  LastingStore store;
  const auto in = Location{Location::Kind::kFile, "", "in"};
  const Topology topology = CountAndSumOf(in, {}, window, RowsOut::kFinal, most_bytes);
  std::optional<int64_t> time;
  Lives lives;
  for (size_t next = 0; next <= records.size();) {
    TaskRun run(topology, 0, store.Kept(), time);
    const size_t until = std::min(records.size(), next + 1 + random() % 60);
    for (; next < until; next++) {
      const ModelRecord& record = records[next];
      EXPECT_TRUE(run.Process(std::to_string(record.value), record.key, {}, record.time).ok());
      if (random() % 8 == 0) Commit(&run);
    }
    if (next == records.size()) {
      // One that closes all others, in a group of its own.
      EXPECT_TRUE(run.Process("1", "end", {}, 10'000'000).ok());
      next++;
      Commit(&run);
      Commit(&run);
    }
    Commit(&run);
    time = run.task().stream_time();
    for (const Kept& kept : run.out().records) lives.rows += kept.value.value_or("(null)") + "\n";
  }
  lives.left = Stored(&store);
  return lives;
}

class SpanState : public testing::TestWithParam<WindowKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SpanState,
                         testing::Values(WindowKind::kSession, WindowKind::kSliding), NameOfSpans);

TEST_P(SpanState, IsAllThatTheNextTaskNeedsHoweverSmallMemoryIs) {
  for (uint32_t seed = 0; seed < 120; seed++) {
    const int64_t length = 1 + seed % 25, grace = seed % 4 == 0 ? 0 : seed % 40;
    std::vector<ModelRecord> records = RandomRecords(seed, 300);
    const WindowSpec window = SpanWindow(GetParam(), length, grace);
    const std::string wanted = SpanModel(GetParam(), records, length, grace).rows;
    for (const size_t most_bytes : {size_t{0}, size_t{1500}, size_t{1} << 20}) {
      const Lives lives = RunLives(records, window, most_bytes, seed);
      ASSERT_EQ(lives.rows, wanted) << "seed " << seed << ", " << most_bytes << " bytes";
      std::vector<std::string> rows;
      for (const std::string& key : lives.left) {
        if (!key.starts_with("timer ")) rows.push_back(key);
      }
      ASSERT_THAT(rows, ElementsAre(R"(end 10000000 {"count":1,"sum":{"sum":1}})"));
      if (most_bytes > 1500) {
        ASSERT_EQ(lives.left.size(), 1u) << "memory held all: no timer is stored";
      }
    }
  }
}

TEST_P(SpanState, HasNothingOfWhatOpensAndClosesBetweenCommits) {
  LastingStore store;
  AggregateSpec spec{
      .functions = {{}}, .window = SpanWindow(GetParam(), 10, 0), .emit = RowsOut::kFinal};
  WindowRun run(spec, &store);
  run.In({"a@100", "a@105", "b@200"});
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(b 200 {"count":1})"));
}

TEST_P(SpanState, OfAnotherAggregateIsRefused) {
  LastingStore store;
  EXPECT_TRUE(store.rows().Put("u1", R"({"count":1})", 0).ok());
  const Topology topology = CountAndSumOf({Location::Kind::kFile, "", "in"}, {},
                                          SpanWindow(GetParam(), 10, 0), RowsOut::kFinal, 1000);
  const Status status = InitOf(topology, store.Kept());
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another aggregate"));
}

TEST(SessionState, OfSessionsThatMergeIsOneRow) {
  LastingStore store;
  AggregateSpec spec{.functions = {{}},
                     .window = SpanWindow(WindowKind::kSession, 10, 100),
                     .emit = RowsOut::kFinal};
  {
    WindowRun run(spec, &store);
    run.In({"a@100", "a@120"});
    Commit(&run);
    EXPECT_THAT(Stored(&store), ElementsAre(R"(a 100 {"count":1})", R"(a 120 {"count":1})"));
  }
  WindowRun run(spec, &store, 120);
  run.In({"a@110", "a@95"});
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a 95 {"count":4})"));
}

// A session that was shown is withdrawn when it changes, also by the next task.
TEST(SessionState, KnowsWhatWasShown) {
  LastingStore store;
  AggregateSpec spec{.functions = {{}},
                     .window = SpanWindow(WindowKind::kSession, 10, 100),
                     .emit = RowsOut::kUpdate};
  {
    WindowRun run(spec, &store);
    run.In({"a@100", "a@120"});
    Commit(&run);
    EXPECT_THAT(run.out().Keys(), ElementsAre(R"(["a",100,100])", R"(["a",120,120])"));
  }
  WindowRun run(spec, &store, 120);
  run.In({"a@110"});
  Commit(&run);
  EXPECT_THAT(run.out().Keys(),
              ElementsAre(R"(["a",100,100])", R"(["a",120,120])", R"(["a",100,120])"));
  EXPECT_THAT(run.out().Values(), ElementsAre("(null)", "(null)", HasSubstr("\"count\":3")));
}

TEST(SessionState, StaysForItsRetention) {
  LastingStore store;
  AggregateSpec spec{.functions = {{}},
                     .window = SpanWindow(WindowKind::kSession, 10, 0),
                     .emit = RowsOut::kUpdate};
  spec.window->retention = milliseconds(100);
  {
    WindowRun run(spec, &store);
    run.In({"a@100", "b@150"});  // a opens and closes before the commit
    Commit(&run);
  }
  WindowRun run(spec, &store, 150);
  run.In({"b@199"});
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(Stored(&store),
              ElementsAre(R"(a 100 {"count":1})", R"(b 150 {"count":1})", R"(b 199 {"count":1})"));
  run.In({"b@200"});
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(b 150 {"count":1})", R"(b 199 {"count":2})"));
}

}  // namespace
}  // namespace kstream
