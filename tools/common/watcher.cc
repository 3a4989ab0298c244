#include "common/watcher.h"

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace kstream::tools {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};

// Signals are for the thread that runs the stage: they wake its reads.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Watcher::Watcher(const Runtime& runtime, Reporter* reporter)
    : runtime_(runtime), reporter_(reporter) {
  if (reporter->live() || reporter->options().stats.count() > 0) {
    thread_ = std::thread([this] { Loop(); });
  }
}

Watcher::~Watcher() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (reporter_->options().stats.count() > 0) reporter_->Stats(runtime_.counts(), Elapsed());
}

std::chrono::milliseconds Watcher::Elapsed() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
}

void Watcher::Loop() {
  BlockSignals();
  const auto never = Clock::time_point::max();
  const auto stats = reporter_->options().stats;
  auto next_stats = stats.count() > 0 ? start_ + stats : never;
  auto next_progress = reporter_->live() ? start_ + kProgressInterval : never;
  int64_t shown = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, std::min(next_stats, next_progress), [this] { return done_; })) {
    const auto now = Clock::now();
    if (now >= next_stats) {
      reporter_->Stats(runtime_.counts(), Elapsed());
      next_stats = now + stats;
    }
    if (now >= next_progress) {
      const Counts counts = runtime_.counts();
      const std::chrono::duration<double> interval = now - next_progress + kProgressInterval;
      reporter_->Progress(counts, static_cast<double>(counts.read - shown) / interval.count());
      shown = counts.read;
      next_progress = now + kProgressInterval;
    }
  }
}

}  // namespace kstream::tools
