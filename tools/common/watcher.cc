#include "common/watcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

#include "kstream/log.h"

namespace kstream::tools {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kProgressInterval{500};
constexpr TimePoint kNever = TimePoint::max();

// Durations of the command line reach further than the clock does.
TimePoint LatestEnd(TimePoint start, std::optional<std::chrono::milliseconds> timeout,
                    std::chrono::seconds grace) {
  if (!timeout || *timeout >= kNever - start - grace - std::chrono::milliseconds(1)) return kNever;
  return start + *timeout + grace;
}

// Signals are for the thread that runs the stage: they wake its reads.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Watcher::Watcher(const Runtime& runtime, Reporter* reporter,
                 std::optional<std::chrono::milliseconds> timeout, std::chrono::seconds grace)
    : runtime_(runtime),
      reporter_(reporter),
      grace_(grace),
      latest_end_(LatestEnd(start_, timeout, grace)) {
  if (reporter->live() || reporter->options().stats.count() > 0 || latest_end_ != kNever) {
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

void Watcher::GiveUp() const {
  Log(LogLevel::kError,
      fmt::format("the time given by --timeout is over, and {}s later one record's expression had "
                  "not ended, or an output had not taken what was made: nothing of it is committed",
                  grace_.count()));
  _exit(static_cast<int>(StatusCode::kTimeLimit));
}

void Watcher::Loop() {
  BlockSignals();
  const auto stats = reporter_->options().stats;
  auto next_stats = stats.count() > 0 ? start_ + stats : kNever;
  auto next_progress = reporter_->live() ? start_ + kProgressInterval : kNever;
  int64_t shown = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, std::min({next_stats, next_progress, latest_end_}),
                           [this] { return done_; })) {
    const auto now = Clock::now();
    if (now >= latest_end_) GiveUp();
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
