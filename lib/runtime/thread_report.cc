// StreamThread's reports: its state, counts and levels.
#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

constexpr std::chrono::seconds kBetweenShows{1};

}  // namespace

void StreamThread::SetState(ThreadState state) {
  if (thread_state_ == state) return;
  thread_state_ = state;
  metrics_->Enter(state);
  const bool ready = state == ThreadState::kRunning || state == ThreadState::kPaused;
  if (ready || state == ThreadState::kRebalancing) shared_->on_ready(index_, ready);
}

// Once a turn.
void StreamThread::Count() {
  if (bad_records_) {
    metrics_->Count(outputs_.TakeWritten(), outputs_.transactional()
                                                ? std::exchange(committed_bad_, {})
                                                : bad_records_->Take());
  }
  if (busy_) metrics_->process_latency.Observe(*busy_);
  busy_.reset();
}

void StreamThread::ShowLevels() {
  const Clock::Instant now = state_->clock->Steady();
  if (next_show_ && now < *next_show_) return;
  next_show_ = now + kBetweenShows;
  metrics_->tasks.Set(static_cast<double>(tasks_.size()));
  size_t paused = 0;
  for (const auto& reader : readers_) paused += reader->paused();
  metrics_->paused.Set(static_cast<double>(paused));
  for (auto& [id, task] : tasks_) {
    metrics_->punctuations.Add(task->TakePunctuations());
    task->Show([this](const InputPartition& input) -> std::optional<int64_t> {
      Reader* const reader = ReaderOf(input.cluster);
      if (reader == nullptr) return std::nullopt;
      return reader->consumer()->HighWatermark({input.topic, input.partition});
    });
  }
}

// One line whenever the group has moved tasks.
void StreamThread::Tell(std::string_view what) {
  if (changes_.empty()) return;
  metrics_->rebalances.Add();
  if (LogEnabled(LogLevel::kDebug)) {
    std::string now;
    for (const auto& [id, task] : tasks_) now += (now.empty() ? "" : " ") + id.ToString();
    Log(LogLevel::kDebug, fmt::format("thread {}: tasks{} (now {}){}", index_, changes_,
                                      now.empty() ? "none" : now, what));
  }
  changes_.clear();
}

}  // namespace kstream::runtime
