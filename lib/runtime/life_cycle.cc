#include "runtime/life_cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/log.h"

namespace kstream {

std::string_view ToString(RuntimeState state) {
  switch (state) {
    case RuntimeState::kCreated:
      return "CREATED";
    case RuntimeState::kRebalancing:
      return "REBALANCING";
    case RuntimeState::kRunning:
      return "RUNNING";
    case RuntimeState::kPendingShutdown:
      return "PENDING_SHUTDOWN";
    case RuntimeState::kNotRunning:
      return "NOT_RUNNING";
    case RuntimeState::kPendingError:
      return "PENDING_ERROR";
    case RuntimeState::kError:
      return "ERROR";
  }
  return "UNKNOWN";
}

namespace runtime {
namespace {

// As metrics write it.
std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

LifeCycle::LifeCycle(metrics::State shown) : shown_(std::move(shown)) {
  shown_.Set(Lower(ToString(state_)));
}

void LifeCycle::SetListener(StateListener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

RuntimeState LifeCycle::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool LifeCycle::Allowed(RuntimeState from, RuntimeState to) {
  using enum RuntimeState;
  switch (to) {
    case kCreated:
      return false;
    case kRebalancing:
      return from == kCreated || from == kRunning;
    case kRunning:
      return from == kRebalancing;
    case kPendingShutdown:
      return from == kRebalancing || from == kRunning;
    case kPendingError:
      return from == kRebalancing || from == kRunning || from == kPendingShutdown;
    case kNotRunning:
      return from == kPendingShutdown;
    case kError:
      return from == kPendingError;
  }
  return false;
}

bool LifeCycle::Move(RuntimeState to) {
  const std::lock_guard telling(telling_);
  return MoveTold(to);
}

bool LifeCycle::MoveTold(RuntimeState to) {
  StateListener listener;
  RuntimeState before;
  {
    const std::lock_guard lock(mutex_);
    if (!Allowed(state_, to)) return false;
    before = std::exchange(state_, to);
    shown_.Set(Lower(ToString(to)));
    listener = listener_;
  }
  Log(LogLevel::kDebug, fmt::format("run: {} -> {}", Lower(ToString(before)), Lower(ToString(to))));
  if (!listener) return true;
  // No exception of the user's may end the process here; there is nobody to hand it to.
  try {
    listener(to, before);
  } catch (const std::exception& thrown) {
    Log(LogLevel::kError, fmt::format("the state listener threw: {}", thrown.what()));
  } catch (...) {
    Log(LogLevel::kError, "the state listener threw");
  }
  return true;
}

void LifeCycle::Ready(int thread, bool ready, int threads) {
  {
    const std::lock_guard lock(mutex_);
    if (ready_.contains(thread) == ready) return;
  }
  // Held from the count to the call, or the news of two threads could overtake each other.
  const std::lock_guard telling(telling_);
  bool all;
  {
    const std::lock_guard lock(mutex_);
    if (ready) {
      ready_.insert(thread);
    } else {
      ready_.erase(thread);
    }
    all = ready_.size() == static_cast<size_t>(threads);
  }
  MoveTold(all ? RuntimeState::kRunning : RuntimeState::kRebalancing);
}

}  // namespace runtime
}  // namespace kstream
