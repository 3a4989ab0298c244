#include <gtest/gtest.h>

#include "metrics/registry.h"

namespace kstream::metrics {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::steady_clock::time_point kStart{};

TEST(Text, OfNothingIsZeros) {
  EXPECT_EQ(RenderText(Registry("shop").Take(kStart)),
            "records  0 read, 0 written, 0 skipped, 0 dead letters\n"
            "commits  0, 0 failed\n"
            "moves    0 rebalances: 0 tasks assigned, 0 revoked, 0 lost\n");
}

struct Stage {
  Stage() {
    run.Set("running");
    threads[0].Set("running");
    threads[1].Set("rebalancing");
    tasks[0].Set("running");
    tasks[1].Set("restoring");
    positions[0].Set(1000);
    positions[1].Set(7);
    positions[2].Set(50);
    lags[0].Set(20);
    lags[1].Set(0);
    read[0].Add(1000);
    read[1].Add(200);
    written.Add(1100);
    skipped.Add(60);
    dead.Add(40);
    commits.Add(2);
    failures.Add(1);
    latency.Observe(milliseconds(3));
    latency.Observe(milliseconds(6));
    rebalances.Add(3);
    assigned.Add(5);
    revoked.Add(2);
    lost.Add(1);
    restored.Add(400);
    remaining.Set(100);
    done.Set(0);
  }

  static Labels At(int thread, const char* task, const char* topic, int partition,
                   const char* cluster = "") {
    return {
        .thread = thread, .task = task, .cluster = cluster, .topic = topic, .partition = partition};
  }

  Registry r{"shop"};
  State run = r.NewState("kstream_runtime_state", {});
  State threads[2] = {r.NewState("kstream_thread_state", {.thread = 0}),
                      r.NewState("kstream_thread_state", {.thread = 1})};
  State tasks[2] = {r.NewState("kstream_task_state", {.thread = 0, .task = "0_9"}),
                    r.NewState("kstream_task_state", {.thread = 1, .task = "0_10"})};
  Gauge positions[3] = {r.NewGauge("kstream_partition_position", At(0, "0_9", "orders", 9)),
                        r.NewGauge("kstream_partition_position", At(0, "0_9", "rates", 9, "east")),
                        r.NewGauge("kstream_partition_position", At(1, "0_10", "orders", 10))};
  Gauge lags[2] = {r.NewGauge("kstream_partition_lag_records", At(0, "0_9", "orders", 9)),
                   r.NewGauge("kstream_partition_lag_records", At(0, "0_9", "rates", 9, "east"))};
  Counter read[2] = {r.NewCounter("kstream_records_read_total", {.thread = 0}),
                     r.NewCounter("kstream_records_read_total", {.thread = 1})};
  Counter written = r.NewCounter("kstream_records_written_total", {.thread = 0});
  Counter skipped = r.NewCounter("kstream_records_skipped_total", {.thread = 0});
  Counter dead = r.NewCounter("kstream_dead_letters_total", {.thread = 0});
  Counter commits = r.NewCounter("kstream_commits_total", {.thread = 0});
  Counter failures = r.NewCounter("kstream_commit_failures_total", {.thread = 0});
  Histogram latency = r.NewHistogram("kstream_commit_latency_seconds", {.thread = 0});
  Counter rebalances = r.NewCounter("kstream_rebalances_total", {.thread = 0});
  Counter assigned = r.NewCounter("kstream_tasks_assigned_total", {.thread = 0});
  Counter revoked = r.NewCounter("kstream_tasks_revoked_total", {.thread = 0});
  Counter lost = r.NewCounter("kstream_tasks_lost_total", {.thread = 0});
  const Labels store{.thread = 1, .task = "0_10", .store = "counts"};
  Counter restored = r.NewCounter("kstream_restore_records_total", store);
  Gauge remaining = r.NewGauge("kstream_restore_remaining_records", store);
  Gauge done = r.NewGauge("kstream_restore_remaining_records", {.thread = 0, .store = "whole"});
};

TEST(Text, ShowsTheStage) {
  Stage stage;
  EXPECT_EQ(RenderText(stage.r.Take(kStart)),
            "state    running\n"
            "threads  1 rebalancing, 1 running\n"
            "tasks    1 restoring, 1 running\n"
            "records  1200 read, 1100 written, 60 skipped, 40 dead letters\n"
            "lag      20 records in 2 partitions, unknown in 1\n"
            "commits  2, 1 failed, 4.5 ms on average\n"
            "moves    3 rebalances: 5 tasks assigned, 2 revoked, 1 lost\n"
            "\n"
            "thread  task  partition      position  lag  offsets/s\n"
            "0       0_9   orders[9]          1000   20          -\n"
            "0       0_9   east:rates[9]         7    0          -\n"
            "1       0_10  orders[10]           50    -          -\n"
            "\n"
            "thread  task  store   restored  remaining\n"
            "1       0_10  counts       400        100\n");
}

std::string LinesWith(const std::string& text, const std::string& word) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find(word) != std::string::npos) lines += line;
    begin = end;
  }
  return lines;
}

TEST(Text, ShowsRatesSinceAnEarlierSnapshot) {
  Stage stage;
  const Snapshot before = stage.r.Take(kStart);
  stage.read[0].Add(500);
  stage.positions[0].Set(1501);
  stage.positions[1].Set(6);  // put back: no rate
  Gauge fresh = stage.r.NewGauge("kstream_partition_position", Stage::At(1, "0_11", "orders", 11));
  fresh.Set(5);
  const Snapshot now = stage.r.Take(kStart + milliseconds(2000));
  const std::string text = RenderText(now, &before);
  EXPECT_EQ(LinesWith(text, "records  "),
            "records  1700 read (250.0/s), 1100 written (0.0/s), 60 skipped, 40 dead letters\n");
  EXPECT_EQ(LinesWith(text, "["),
            "0       0_9   orders[9]          1501   20      250.5\n"
            "0       0_9   east:rates[9]         6    0          -\n"
            "1       0_10  orders[10]           50    -        0.0\n"
            "1       0_11  orders[11]            5    -          -\n");
  // No time between two snapshots, no speed.
  EXPECT_EQ(RenderText(before, &before), RenderText(before));
}

TEST(Text, RatesKnowNoStepBackWhenAThreadGoes) {
  Registry registry;
  Counter stays = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  Counter goes = registry.NewCounter("kstream_records_read_total", {.thread = 1});
  goes.Add(1000);
  const Snapshot before = registry.Take(kStart);
  goes.Add(10);
  goes = Counter();
  stays.Add(10);
  EXPECT_EQ(LinesWith(RenderText(registry.Take(kStart + milliseconds(1000)), &before), "read"),
            "records  1020 read (20.0/s), 0 written (0.0/s), 0 skipped, 0 dead letters\n");
}

TEST(Text, ColumnsCountCharactersNotBytes) {
  Registry registry;
  Gauge first =
      registry.NewGauge("kstream_partition_position",
                        {.thread = 0, .task = "0_0", .topic = "\u00e9t\u00e9", .partition = 0});
  first.Set(1);
  Gauge second =
      registry.NewGauge("kstream_partition_position", {.topic = "hiver", .partition = 0});
  second.Set(2);
  EXPECT_EQ(LinesWith(RenderText(registry.Take(kStart)), "["),
            "-       -     hiver[0]          2    -          -\n"
            "0       0_0   \u00e9t\u00e9[0]            1    -          -\n");
}

}  // namespace
}  // namespace kstream::metrics
