#include "runtime/pulse.h"

#include <algorithm>

namespace kstream::runtime {
namespace {

constexpr std::chrono::milliseconds kLongestInterval{1000};

}  // namespace

void Beats::Beat(Clock::Instant now) {
  // In this order: who sees the beat sees the pause before it.
  if (now - last_.load() > limit_) woken_ = now;
  last_ = now;
}

bool Beats::Stopped(Clock::Instant since, Clock::Instant now) const {
  return now - last_.load() > limit_ || woken_.load() > since;
}

Pulse::Pulse(std::chrono::milliseconds limit)
    : beats_(limit, clock_.Steady()),
      thread_([this, interval = std::min(limit / 4, kLongestInterval)] { Run(interval); }) {}

Pulse::~Pulse() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Pulse::Run(std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, interval, [this] { return ends_; })) beats_.Beat(clock_.Steady());
}

}  // namespace kstream::runtime
