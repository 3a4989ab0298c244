// Windowed aggregates and their store: what is kept, how long, and that it is enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "dsl/window_key.h"
#include "kstream/operators.h"
#include "unit/dsl/window_run.h"

namespace kstream {
namespace {

using dsl::StartOfKey;
using dsl::WindowPrefix;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The rows that the store has, as "key[start)=value".
std::vector<std::string> Stored(LastingStore* store) {
  std::vector<std::string> rows;
  EXPECT_TRUE(store->rows()
                  .All([&](std::string_view key, std::string_view value) {
                    if (key == dsl::kWindowsKey) return true;
                    rows.push_back(std::string(key.substr(8)) + "[" +
                                   std::to_string(StartOfKey(key).value_or(-1)) +
                                   ")=" + std::string(value));
                    return true;
                  })
                  .ok());
  return rows;
}

// A commit point, and all of it is committed.
void Commit(WindowRun* run) {
  EXPECT_TRUE(run->Flush().ok());
  if (const auto time = run->task().stream_time()) run->task().Committed(*time);
}

TEST(WindowKey, IsOrderedAsStartsAre) {
  const std::vector<int64_t> starts = {INT64_MIN, -3'600'000, -1, 0, 1, 255, 256, INT64_MAX};
  for (size_t i = 0; i < starts.size(); i++) {
    EXPECT_EQ(StartOfKey(WindowPrefix(starts[i]) + "key"), starts[i]);
    if (i > 0) {
      EXPECT_LT(WindowPrefix(starts[i - 1]), WindowPrefix(starts[i]));
    }
  }
  EXPECT_EQ(StartOfKey("1234567"), std::nullopt);
}

TEST(WindowState, HasTheRowsOfOpenWindowsByStartAndGroup) {
  LastingStore store;
  WindowRun run(Windowed("hopping:10s/5s"), &store);
  run.In({"b@6000", "a@6000", "a@4000"});
  EXPECT_THAT(Stored(&store), IsEmpty());
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[0)={"count":2})", R"(b[0)={"count":1})",
                                          R"(a[5000)={"count":1})", R"(b[5000)={"count":1})"));
}

TEST(WindowState, SaysWhatItsWindowsAreInItsFirstRow) {
  LastingStore store;
  AggregateSpec spec = Windowed("tumbling:1d");
  spec.window->zone = "Europe/Berlin";
  WindowRun run(spec, &store);
  Commit(&run);
  EXPECT_EQ(store.At(dsl::kWindowsKey), "(none)");
  run.In({"a@1000"});
  Commit(&run);
  EXPECT_EQ(store.At(dsl::kWindowsKey),
            R"({"windows":"tumbling:86400000ms","timezone":"Europe/Berlin"})");
}

TEST(WindowState, HasNothingOfAWindowThatOpensAndClosesBetweenCommits) {
  LastingStore store;
  WindowRun run(Windowed("tumbling:1s"), &store);
  for (int i = 0; i < 100; i++) run.In({"a@" + std::to_string(i * 500)});
  Commit(&run);
  EXPECT_EQ(run.out().records.size(), 49u);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[49000)={"count":2})"));
}

// A crash before the commit reads again what closed the window, and needs its rows.
TEST(WindowState, KeepsARowUntilTheTimeThatClosedItsWindowIsCommitted) {
  LastingStore store;
  WindowRun run(Windowed("tumbling:10s"), &store);
  run.In({"a@1000"});
  Commit(&run);
  run.In({"a@10000"});
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1"));
  for (int i = 0; i < 3; i++) EXPECT_TRUE(run.Flush().ok());  // sealed, and not committed
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[0)={"count":1})", R"(a[10000)={"count":1})"));
  run.task().Committed(9'999);
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_EQ(Stored(&store).size(), 2u);
  run.task().Committed(10'000);
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[10000)={"count":1})"));
}

TEST(WindowState, ForgetsWhatWasEmittedBeforeAndNeverEmitsItAgain) {
  LastingStore store;
  {
    WindowRun run(Windowed("tumbling:10s"), &store);
    run.In({"a@1000", "b@2000"});
    Commit(&run);
    run.In({"a@12000"});
    EXPECT_EQ(run.out().records.size(), 2u);
    EXPECT_TRUE(run.Flush().ok());
  }
  EXPECT_EQ(Stored(&store).size(), 3u);
  testing::internal::CaptureStderr();
  {
    WindowRun run(Windowed("tumbling:10s"), &store, 12'000);
    run.In({"a@3000"});  // late, as it would have been for the other
    Commit(&run);
    EXPECT_THAT(Stored(&store), ElementsAre(R"(a[10000)={"count":1})"));
    run.In({"a@20000"});
    EXPECT_THAT(run.Rows(), ElementsAre("a[10000,20000)=1"));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("agg: 1 came late"));
}

TEST(WindowState, GoesOnWhereTheLastTaskEnded) {
  LastingStore store;
  {
    WindowRun run(Windowed("tumbling:10s", milliseconds(5000)), &store);
    run.In({"a@1000", "b@2000", "a@11000"});
    Commit(&run);
  }
  WindowRun run(Windowed("tumbling:10s", milliseconds(5000)), &store, 11'000);
  run.In({"a@3000", "c@4000", "a@15000"});
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=2", "b[0,10000)=1", "c[0,10000)=1"));
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[10000)={"count":2})"));
}

TEST(WindowState, UpdatesNeedNoOutputToBeDeleted) {
  LastingStore store;
  WindowRun run(Windowed("tumbling:10s", {}, RowsOut::kUpdate), &store);
  run.In({"a@1000"});
  Commit(&run);
  run.In({"a@2000", "a@10000"});
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1", "a[0,10000)=2", "a[10000,20000)=1"));
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[10000)={"count":1})"));
}

TEST(WindowState, RetentionKeepsRowsThatAreDone) {
  LastingStore store;
  AggregateSpec spec = Windowed("tumbling:10s");
  spec.window->retention = milliseconds(10'000);
  WindowRun run(spec, &store);
  run.In({"a@1000", "a@19999"});
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1"));
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[0)={"count":1})", R"(a[10000)={"count":1})"));
  run.In({"a@20000"});
  Commit(&run);
  Commit(&run);
  EXPECT_THAT(Stored(&store), ElementsAre(R"(a[10000)={"count":1})", R"(a[20000)={"count":1})"));
  EXPECT_THAT(run.Rows(), ElementsAre("a[0,10000)=1", "a[10000,20000)=1"));
}

TEST(WindowState, RemembersRowsThatWereNotForwardedYet) {
  LastingStore store;
  AggregateSpec spec = Windowed("tumbling:10s", {}, RowsOut::kEvery);
  spec.every = milliseconds(1000);
  {
    WindowRun run(spec, &store);
    run.In({"b@1000", "a@2000"});
    EXPECT_TRUE(run.Pass(milliseconds(1000)).ok());
    run.In({"b@1000"});
    Commit(&run);
  }
  WindowRun run(spec, &store, 2'000);
  EXPECT_TRUE(run.Pass(milliseconds(1000)).ok());
  EXPECT_THAT(run.Rows(), ElementsAre("b[0,10000)=2"));
}

// More than fits: rows are written early, found again, and emitted from the store.
TEST(WindowState, WindowsLargerThanMemoryGiveTheSameRows) {
  LastingStore store;
  AggregateSpec spec = Windowed("hopping:10s/5s");
  WindowRun whole(spec), run(spec, &store);
  std::mt19937 random(5);
  for (int i = 0; i < 30'000; i++) {
    const std::string record = std::string(500, 'k') + std::to_string(random() % 12'000) + "@" +
                               std::to_string(10'000 + i + random() % 1000);
    whole.In({record});
    run.In({record});
    if (i % 10'000 == 0) Commit(&run);
  }
  EXPECT_GT(Stored(&store).size(), 8'000u);
  whole.End();
  run.End();
  EXPECT_EQ(run.AggregateRun::Rows(), whole.AggregateRun::Rows());
  // All that was closed is gone once it is committed.
  run.task().Committed(1'000'000);
  EXPECT_TRUE(run.Flush().ok());
  EXPECT_THAT(Stored(&store), IsEmpty());
}

// Tasks that come and go give the rows of one that stays, each once.
TEST(WindowState, IsAllThatTheNextTaskNeeds) {
  for (const auto* const window : {"tumbling:100ms", "hopping:100ms/30ms"}) {
    std::mt19937 random(20240518);
    LastingStore store;
    const AggregateSpec spec = Windowed(window, milliseconds(40));
    WindowRun whole(spec);
    std::vector<std::string> rows;
    std::optional<int64_t> stream_time;
    int64_t now = 0;
    testing::internal::CaptureStderr();
    for (int life = 0; life < 30; life++) {
      WindowRun run(spec, &store, stream_time);
      for (int i = 0; i < 40; i++) {
        now += static_cast<int64_t>(random() % 12);
        const auto time = std::max<int64_t>(0, now - static_cast<int64_t>(random() % 90));
        const std::string record = "k" + std::to_string(random() % 7) + "@" + std::to_string(time);
        run.In({record});
        whole.In({record});
        if (random() % 10 == 0) Commit(&run);
      }
      Commit(&run);
      stream_time = run.task().stream_time();
      const std::vector<std::string> of_life = run.Rows();
      rows.insert(rows.end(), of_life.begin(), of_life.end());
    }
    WindowRun last(spec, &store, stream_time);
    last.End();
    whole.End();
    const std::vector<std::string> of_last = last.Rows();
    rows.insert(rows.end(), of_last.begin(), of_last.end());
    EXPECT_EQ(rows, whole.Rows());
    EXPECT_GT(rows.size(), 100u);
    testing::internal::GetCapturedStderr();
  }
}

TEST(WindowState, OfOtherWindowsIsRefusedWithAWayOut) {
  LastingStore store;
  {
    WindowRun run(Windowed("tumbling:7s"), &store);
    run.In({"a@8000"});
    Commit(&run);
  }
  const auto why = [&](AggregateSpec spec) {
    spec.store = "rows";
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {{Location::Kind::kFile, "", "in"}}})
        .AddProcessor("agg", *Aggregate(spec), {"in"})
        .AddStore(StoreSpec{.name = "rows"}, {"agg"});
    return std::string(InitOf(*builder.Build(), store.Kept()).message());
  };
  EXPECT_EQ(
      why(Windowed("tumbling:14s")),
      "node 'agg': store 'rows': its rows are those of {\"windows\":\"tumbling:7000ms\"}, not "
      "of {\"windows\":\"tumbling:14000ms\"}: name another store, or reset the application");
  EXPECT_EQ(why(Windowed("tumbling:7s", milliseconds(5))), "");
  EXPECT_TRUE(store.rows().Clear().ok());
  EXPECT_TRUE(store.rows().Put("u1", R"({"count":1})").ok());
  EXPECT_THAT(why(Windowed("tumbling:10s")), HasSubstr("key u1 is of no such window"));
}

}  // namespace
}  // namespace kstream
