// Pace: how often a loop over records looks at the clock: at every step while steps are slow, at
// every 64th while they are quick, as a look costs about as much as a cheap record. Tested by
// tests/unit/runtime/pace_test.cc.
#ifndef KSTREAM_RUNTIME_PACE_H_
#define KSTREAM_RUNTIME_PACE_H_

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"

namespace kstream::runtime {

class Pace {
 public:
  explicit Pace(const Clock& clock) : clock_(clock), now_(clock.Steady()) {}

  // After each step: whether now() is news.
  bool Step() {
    if (--left_ > 0) return false;
    const Clock::Instant before = std::exchange(now_, clock_.Steady());
    every_ = now_ - before > kQuick ? 1 : std::min(every_ * 2, kMost);
    left_ = every_;
    return true;
  }
  Clock::Instant now() const { return now_; }  // at the last look

 private:
  static constexpr int kMost = 64;
  static constexpr std::chrono::milliseconds kQuick{1};  // for all steps between two looks

  const Clock& clock_;
  Clock::Instant now_;
  int every_ = 1, left_ = 1;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PACE_H_
