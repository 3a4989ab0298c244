// Clock: the two times that the engine goes by, behind one interface, so that a test can move them.
#ifndef KSTREAM_BASE_CLOCK_H_
#define KSTREAM_BASE_CLOCK_H_

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

}  // namespace kstream

#endif  // KSTREAM_BASE_CLOCK_H_
