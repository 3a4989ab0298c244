#include "runtime/thread_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kstream::runtime {

std::string_view ToString(ThreadState state) {
  switch (state) {
    case ThreadState::kStarting:
      return "starting";
    case ThreadState::kRebalancing:
      return "rebalancing";
    case ThreadState::kRunning:
      return "running";
    case ThreadState::kPaused:
      return "paused";
    case ThreadState::kStopping:
      return "stopping";
    case ThreadState::kStopped:
      return "stopped";
    case ThreadState::kFailed:
      return "failed";
  }
  return "";
}

ThreadMetrics::ThreadMetrics(metrics::Registry* registry, int thread) : thread(thread) {
  const metrics::Labels labels{.thread = thread};
  state = registry->NewState("kstream_thread_state", labels);
  tasks = registry->NewGauge("kstream_tasks", labels);
  rebalances = registry->NewCounter("kstream_rebalances_total", labels);
  assigned = registry->NewCounter("kstream_tasks_assigned_total", labels);
  revoked = registry->NewCounter("kstream_tasks_revoked_total", labels);
  lost = registry->NewCounter("kstream_tasks_lost_total", labels);
  read = registry->NewCounter("kstream_records_read_total", labels);
  written = registry->NewCounter("kstream_records_written_total", labels);
  skipped = registry->NewCounter("kstream_records_skipped_total", labels);
  dead_letters = registry->NewCounter("kstream_dead_letters_total", labels);
  punctuations = registry->NewCounter("kstream_punctuations_total", labels);
  poll_records = registry->NewHistogram("kstream_poll_records", labels);
  process_latency = registry->NewHistogram("kstream_process_latency_seconds", labels);
  paused = registry->NewGauge("kstream_paused_partitions", labels);
  commits.done = registry->NewCounter("kstream_commits_total", labels);
  commits.failed = registry->NewCounter("kstream_commit_failures_total", labels);
  commits.latency = registry->NewHistogram("kstream_commit_latency_seconds", labels);
}

void ThreadMetrics::Enter(ThreadState now) {
  state.Set(ToString(now));
  Log(LogLevel::kDebug, fmt::format("thread {}: {}", thread, ToString(now)));
}

void ThreadMetrics::Count(int64_t now_written, const task::BadRecords::Decided& bad) {
  written.Add(now_written);
  skipped.Add(bad.skipped);
  dead_letters.Add(bad.dead_letters);
}

TaskMetrics::TaskMetrics(metrics::Registry* registry, int thread, std::string task)
    : registry_(registry), thread_(thread), task_(std::move(task)) {
  const metrics::Labels labels{.thread = thread_, .task = task_};
  state_ = registry_->NewState("kstream_task_state", labels);
  buffered_ = registry_->NewGauge("kstream_buffered_records", labels);
  stream_time_ = registry_->NewGauge("kstream_task_stream_time_seconds", labels);
  Enter("created");
}

void TaskMetrics::AddPartition(const InputPartition& partition) {
  const auto [entry, fresh] = partitions_.try_emplace(partition);
  if (!fresh) return;
  const metrics::Labels labels{.thread = thread_,
                               .task = task_,
                               .cluster = partition.cluster,
                               .topic = partition.topic,
                               .partition = partition.partition};
  entry->second.position = registry_->NewGauge("kstream_partition_position", labels);
  entry->second.lag = registry_->NewGauge("kstream_partition_lag_records", labels);
}

void TaskMetrics::SetPosition(const InputPartition& partition, int64_t position) {
  int64_t& lowest = partitions_.at(partition).lowest;
  lowest = std::min(lowest, position);
}

void TaskMetrics::Show(size_t buffered, std::optional<int64_t> stream_time_ms,
                       const EndOf& end_of) {
  buffered_.Set(static_cast<double>(buffered));
  if (stream_time_ms) stream_time_.Set(static_cast<double>(*stream_time_ms) / 1000);
  for (auto& [input, partition] : partitions_) {
    const int64_t position = std::exchange(partition.lowest, kNotSet);
    if (position == kNotSet) continue;
    partition.position.Set(static_cast<double>(position));
    const std::optional<int64_t> end = end_of(input);
    partition.lag.Set(end ? static_cast<double>(std::max<int64_t>(0, *end - position))
                          : std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace kstream::runtime
