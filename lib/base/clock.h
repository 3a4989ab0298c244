// Clock: the two times that the engine goes by, behind one interface, so that a test can move them.
// Tested by tests/unit/base/clock_test.cc.
#ifndef KSTREAM_BASE_CLOCK_H_
#define KSTREAM_BASE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kstream {

// Thread-safe.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual int64_t WallMs() const = 0;  // ms since the epoch
  virtual Instant Steady() const = 0;  // for durations: never moves back
};

// The machine's.
class SystemClock final : public Clock {
 public:
  int64_t WallMs() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  Instant Steady() const override { return std::chrono::steady_clock::now(); }
};

// One that stands still until it is moved; both times move together.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t wall_ms = 0) : ms_(wall_ms) {}

  // `by` is not negative.
  void Advance(std::chrono::milliseconds by) { ms_.fetch_add(by.count()); }

  int64_t WallMs() const override { return ms_.load(); }
  Instant Steady() const override { return Instant(std::chrono::milliseconds(ms_.load())); }

 private:
  std::atomic<int64_t> ms_;
};

}  // namespace kstream

#endif  // KSTREAM_BASE_CLOCK_H_
