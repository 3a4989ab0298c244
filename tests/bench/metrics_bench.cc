// What it costs to count, and to read what was counted.
#include <benchmark/benchmark.h>

#include <vector>

#include "metrics/registry.h"

namespace kstream::metrics {
namespace {

void CounterAdd(benchmark::State& state) {
  Registry registry;
  Counter counter = registry.NewCounter("kstream_records_read_total", {.thread = 0});
  for (auto _ : state) counter.Add(3);
}
BENCHMARK(CounterAdd);

void GaugeSet(benchmark::State& state) {
  Registry registry;
  Gauge gauge = registry.NewGauge("kstream_tasks", {.thread = 0});
  double value = 0;
  for (auto _ : state) gauge.Set(value++);
}
BENCHMARK(GaugeSet);

void HistogramObserve(benchmark::State& state) {
  Registry registry;
  Histogram histogram = registry.NewHistogram("kstream_process_latency_seconds", {.thread = 0});
  double value = 0;
  for (auto _ : state) {
    histogram.Observe(value);
    value = value > 1 ? 0 : value + 0.001;
  }
}
BENCHMARK(HistogramObserve);

void RegisterAndLeave(benchmark::State& state) {
  Registry registry("shop");
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        registry.NewGauge("kstream_partition_lag_records",
                          {.thread = 0, .task = "0_0", .topic = "orders", .partition = 0}));
  }
}
BENCHMARK(RegisterAndLeave);

// Position and lag of 5 000 partitions.
struct Partitions {
  Partitions() {
    for (int i = 0; i < 5000; i++) {
      const std::string task = "0_" + std::to_string(i);
      const Labels where{.thread = i % 4, .task = task, .topic = "orders", .partition = i};
      gauges.push_back(registry.NewGauge("kstream_partition_position", where));
      gauges.back().Set(i);
      gauges.push_back(registry.NewGauge("kstream_partition_lag_records", where));
      gauges.back().Set(i);
    }
  }
  Registry registry{"shop"};
  std::vector<Gauge> gauges;
};

void Take10000(benchmark::State& state) {
  Partitions partitions;
  for (auto _ : state) benchmark::DoNotOptimize(partitions.registry.Take({}));
}
BENCHMARK(Take10000)->Unit(benchmark::kMillisecond);

void RenderPrometheus10000(benchmark::State& state) {
  Partitions partitions;
  const Snapshot snapshot = partitions.registry.Take({});
  for (auto _ : state) benchmark::DoNotOptimize(RenderPrometheus(snapshot));
}
BENCHMARK(RenderPrometheus10000)->Unit(benchmark::kMillisecond);

void RenderText10000(benchmark::State& state) {
  Partitions partitions;
  const Snapshot snapshot = partitions.registry.Take({});
  for (auto _ : state) benchmark::DoNotOptimize(RenderText(snapshot, &snapshot));
}
BENCHMARK(RenderText10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kstream::metrics
