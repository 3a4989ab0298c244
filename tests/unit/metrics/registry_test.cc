#include "metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <latch>
#include <limits>
#include <thread>
#include <vector>

namespace kstream::metrics {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::steady_clock::time_point kNow{};

std::string Show(const Sample& sample) {
  std::string text;
  for (const Label& label : sample.labels) text += label.name + "=" + label.value + " ";
  return text + std::to_string(std::lround(sample.value));
}

template <Type type>
std::vector<std::string> Shown(const Registry& registry, Name<type> name) {
  const Snapshot snapshot = registry.Take(kNow);
  std::vector<std::string> shown;
  for (const Sample& sample : snapshot.Of(name).samples) shown.push_back(Show(sample));
  return shown;
}

std::vector<std::string> Lags(const Registry& registry) {
  return Shown<Type::kGauge>(registry, "kstream_partition_lag_records");
}

std::vector<std::string> Reads(const Registry& registry) {
  return Shown<Type::kCounter>(registry, "kstream_records_read_total");
}

TEST(Registry, HasEveryFamilyAndNoSeriesAtFirst) {
  const Snapshot snapshot = Registry().Take(kNow + std::chrono::seconds(3));
  EXPECT_EQ(snapshot.taken, kNow + std::chrono::seconds(3));
  ASSERT_EQ(snapshot.families.size(), std::size(kFamilies));
  for (size_t i = 0; i < std::size(kFamilies); i++) {
    EXPECT_EQ(snapshot.families[i].family, &kFamilies[i]);
    EXPECT_THAT(snapshot.families[i].samples, IsEmpty());
    EXPECT_EQ(snapshot.families[i].Total(), 0);
  }
}

TEST(Registry, CountsForEachOwnerAndInTotal) {
  Registry registry("shop");
  Counter first = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  Counter second = registry.NewCounter("kstream_records_read_total", {.thread = 1});
  first.Add();
  first.Add(40);
  second.Add(2);
  second.Add(0);
  second.Add(-5);  // a counter only grows
  EXPECT_THAT(Reads(registry), ElementsAre("app=shop thread=0 41", "app=shop thread=1 2"));
  EXPECT_EQ(registry.Total("kstream_records_read_total"), 43);
  EXPECT_EQ(registry.Total("kstream_records_written_total"), 0);
}

TEST(Registry, KeepsLargeCountsExact) {
  Registry registry;
  Counter counter = registry.NewCounter("kstream_records_read_total", {});
  counter.Add((int64_t{1} << 52) - 1);
  counter.Add();
  EXPECT_EQ(registry.Total("kstream_records_read_total"), int64_t{1} << 52);
}

TEST(Registry, AFamilyTakesTheLabelsOfItsRow) {
  Registry registry;
  const Labels where{.thread = 2,
                     .task = "0_7",
                     .cluster = "east",
                     .topic = "orders",
                     .partition = 7,
                     .node = "filter",
                     .store = "counts"};
  Gauge lag = registry.NewGauge("kstream_partition_lag_records", where);
  lag.Set(5);
  Counter reads = registry.NewCounter("kstream_records_read_total", where);
  Gauge left = registry.NewGauge("kstream_restore_remaining_records", where);
  left.Set(9);
  EXPECT_THAT(Lags(registry),
              ElementsAre("thread=2 task=0_7 cluster=east topic=orders partition=7 5"));
  EXPECT_THAT(Reads(registry), ElementsAre("thread=2 0"));
  EXPECT_THAT(Shown<Type::kGauge>(registry, "kstream_restore_remaining_records"),
              ElementsAre("thread=2 task=0_7 store=counts 9"));
}

TEST(Registry, ASeriesLeavesWithItsHandle) {
  Registry registry;
  Gauge stays = registry.NewGauge("kstream_partition_lag_records", {.topic = "a", .partition = 0});
  stays.Set(1);
  {
    Gauge moves =
        registry.NewGauge("kstream_partition_lag_records", {.topic = "a", .partition = 1});
    moves.Set(100);
    EXPECT_THAT(Lags(registry), ElementsAre("topic=a partition=0 1", "topic=a partition=1 100"));
  }
  EXPECT_THAT(Lags(registry), ElementsAre("topic=a partition=0 1"));
  // Who comes back starts anew.
  Gauge again = registry.NewGauge("kstream_partition_lag_records", {.topic = "a", .partition = 1});
  EXPECT_THAT(Lags(registry), ElementsAre("topic=a partition=0 1"));
}

TEST(Registry, ATotalKeepsWhatWentAway) {
  Registry registry;
  {
    Counter gone = registry.NewCounter("kstream_records_read_total", {.thread = 0});
    gone.Add(10);
  }
  EXPECT_THAT(Reads(registry), IsEmpty());
  EXPECT_EQ(registry.Total("kstream_records_read_total"), 10);
  Counter again = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  again.Add(1);
  EXPECT_THAT(Reads(registry), ElementsAre("thread=0 1"));
  EXPECT_EQ(registry.Total("kstream_records_read_total"), 11);
  const Snapshot snapshot = registry.Take(kNow);
  EXPECT_EQ(snapshot.Of<Type::kCounter>("kstream_records_read_total").Total(), 11);
}

TEST(Registry, EqualLabelsShareASeriesUntilTheLastHandleGoes) {
  Registry registry;
  Counter first = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  first.Add(1);
  {
    Counter second = registry.NewCounter("kstream_records_read_total", {.thread = 0});
    second.Add(2);
    EXPECT_THAT(Reads(registry), ElementsAre("thread=0 3"));
  }
  first.Add(4);
  EXPECT_THAT(Reads(registry), ElementsAre("thread=0 7"));
  EXPECT_EQ(registry.Total("kstream_records_read_total"), 7);
}

TEST(Registry, HandlesMove) {
  Registry registry;
  Counter first = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  Counter second = registry.NewCounter("kstream_records_read_total", {.thread = 1});
  Counter moved = std::move(first);
  moved.Add(1);
  first.Add(50);  // NOLINT(bugprone-use-after-move): an empty handle does nothing
  EXPECT_THAT(Reads(registry), ElementsAre("thread=0 1", "thread=1 0"));
  moved = std::move(second);  // the series that it had goes at once
  EXPECT_THAT(Reads(registry), ElementsAre("thread=1 0"));
  Counter& self = moved;
  moved = std::move(self);
  EXPECT_THAT(Reads(registry), ElementsAre("thread=1 0"));
  moved = Counter();
  EXPECT_THAT(Reads(registry), IsEmpty());
}

TEST(Registry, EmptyHandlesDoNothing) {
  Counter().Add(1);
  Gauge().Set(1);
  Histogram().Observe(1);
  State().Set("running");
}

TEST(Registry, HandlesMayOutliveIt) {
  auto registry = std::make_unique<Registry>();
  Counter counter = registry->NewCounter("kstream_records_read_total", {});
  State state = registry->NewState("kstream_runtime_state", {});
  registry.reset();
  counter.Add(1);
  state.Set("running");
}

TEST(Registry, AGaugeShowsNothingUntilItIsSet) {
  Registry registry;
  Gauge lag = registry.NewGauge("kstream_partition_lag_records", {.topic = "a", .partition = 0});
  EXPECT_THAT(Lags(registry), IsEmpty());
  lag.Set(0);
  EXPECT_THAT(Lags(registry), ElementsAre("topic=a partition=0 0"));
  lag.Set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(Lags(registry), IsEmpty());
}

TEST(Registry, AStateIsOneOfItsFamilys) {
  Registry registry;
  const Name<Type::kState> name = "kstream_task_state";
  State state = registry.NewState(name, {.thread = 0, .task = "0_1"});
  EXPECT_THAT(Shown(registry, name), IsEmpty());
  state.Set("restoring");
  EXPECT_THAT(
      Shown(registry, name),
      ElementsAre("thread=0 task=0_1 state=created 0", "thread=0 task=0_1 state=restoring 1",
                  "thread=0 task=0_1 state=running 0", "thread=0 task=0_1 state=standby 0",
                  "thread=0 task=0_1 state=suspended 0"));
  state.Set("running");
  EXPECT_THAT(
      Shown(registry, name),
      ElementsAre("thread=0 task=0_1 state=created 0", "thread=0 task=0_1 state=restoring 0",
                  "thread=0 task=0_1 state=running 1", "thread=0 task=0_1 state=standby 0",
                  "thread=0 task=0_1 state=suspended 0"));
  state.Set("asleep");
  EXPECT_THAT(Shown(registry, name), AllOf(SizeIs(5), Each(EndsWith(" 0"))));
  state = State();
  EXPECT_THAT(Shown(registry, name), IsEmpty());
}

TEST(Registry, AHistogramCountsIntoItsBuckets) {
  Registry registry;
  Histogram polled = registry.NewHistogram("kstream_poll_records", {.thread = 0});
  for (double records : {0.0, 1.0, 2.0, 10.0, 1e6}) polled.Observe(records);
  polled.Observe(std::numeric_limits<double>::quiet_NaN());
  const Snapshot snapshot = registry.Take(kNow);
  const auto& samples = snapshot.Of<Type::kHistogram>("kstream_poll_records").samples;
  ASSERT_EQ(samples.size(), 1U);
  // At most 0, 1, 10, 100, 1000, 10000, 100000, and all.
  EXPECT_THAT(samples[0].buckets, ElementsAre(1, 2, 4, 4, 4, 4, 4, 5));
  EXPECT_EQ(samples[0].value, 1000013);
}

TEST(Registry, AHistogramTakesDurationsAsSeconds) {
  Registry registry;
  Histogram latency = registry.NewHistogram("kstream_commit_latency_seconds", {});
  latency.Observe(std::chrono::milliseconds(1500));
  const Snapshot snapshot = registry.Take(kNow);
  const auto& samples = snapshot.Of<Type::kHistogram>("kstream_commit_latency_seconds").samples;
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].value, 1.5);
}

TEST(Registry, SortsNumbersByTheirValue) {
  Registry registry;
  std::vector<Gauge> lags;
  for (const auto& [task, topic, partition] :
       std::vector<std::tuple<const char*, const char*, int>>{{"0_10", "a", 10},
                                                              {"0_9", "b2", 9},
                                                              {"0_9", "b10", 9},
                                                              {"0_9", "b", 9},
                                                              {"1_0", "a", 100},
                                                              {"1_0", "a", 20}}) {
    lags.push_back(registry.NewGauge("kstream_partition_lag_records",
                                     {.task = task, .topic = topic, .partition = partition}));
    lags.back().Set(0);
  }
  EXPECT_THAT(Lags(registry),
              ElementsAre("task=0_9 topic=b partition=9 0", "task=0_9 topic=b2 partition=9 0",
                          "task=0_9 topic=b10 partition=9 0", "task=0_10 topic=a partition=10 0",
                          "task=1_0 topic=a partition=20 0", "task=1_0 topic=a partition=100 0"));
}

TEST(Registry, TakesAnyBytesAsALabel) {
  Registry registry("a\nb");
  Gauge lag = registry.NewGauge("kstream_partition_lag_records",
                                {.topic = std::string_view("x\0\xff\"\\", 5)});
  lag.Set(1);
  EXPECT_THAT(Lags(registry), ElementsAre("app=a\\u000ab topic=x\\u0000\uFFFD\"\\ 1"));
}

// Threads that come, count and go, while others read: nothing is lost, nothing goes back.
TEST(Registry, TotalsNeverGoBackWhileThreadsComeAndGo) {
  constexpr int kWriters = 3, kRounds = 200, kAdds = 50;
  const Name<Type::kCounter> name = "kstream_records_read_total";
  Registry registry;
  std::atomic<int> writing{kWriters};
  std::latch start(kWriters + 1);
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; round++) {
        Counter counter = registry.NewCounter(name, {.thread = (w + round) % 2});
        State state = registry.NewState("kstream_thread_state", {.thread = w});
        state.Set("running");
        for (int i = 0; i < kAdds; i++) counter.Add();
      }
      writing--;
    });
  }
  start.arrive_and_wait();
  int64_t last = 0;
  while (writing > 0) {
    const int64_t total = registry.Total(name);
    EXPECT_GE(total, last);
    const Snapshot snapshot = registry.Take(kNow);
    const auto in_snapshot = static_cast<int64_t>(snapshot.Of(name).Total());
    EXPECT_GE(in_snapshot, total);
    last = in_snapshot;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(registry.Total(name), int64_t{kWriters} * kRounds * kAdds);
  EXPECT_THAT(Reads(registry), IsEmpty());
}

}  // namespace
}  // namespace kstream::metrics
