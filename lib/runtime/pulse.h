// Pulse: whether the whole process stood still: stopped, or suspended together with its machine.
//
// A thread that finds much time gone cannot tell why. If it was busy itself (a record may take
// minutes) nothing is wrong, since librdkafka's own threads have kept its place in the group. If
// nothing of the process ran, neither did they. So one thread that does nothing else beats all the
// time, and a long pause between two beats tells. Tested by tests/unit/runtime/pulse_test.cc.
#ifndef KSTREAM_RUNTIME_PULSE_H_
#define KSTREAM_RUNTIME_PULSE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace kstream::runtime {

// The record of the beats. Thread-safe.
class Beats {
 public:
  // Pauses of more than `limit` count.
  Beats(std::chrono::milliseconds limit, Clock::Instant now) : limit_(limit), last_(now) {}

  void Beat(Clock::Instant now);
  // Whether there was such a pause that ended after `since`, or has not ended `now`.
  bool Stopped(Clock::Instant since, Clock::Instant now) const;

 private:
  const std::chrono::milliseconds limit_;
  std::atomic<Clock::Instant> last_;
  std::atomic<Clock::Instant> woken_{Clock::Instant::min()};  // by the last such pause
};

// Beats as long as it lives.
class Pulse {
 public:
  explicit Pulse(std::chrono::milliseconds limit);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  bool Stopped(Clock::Instant since) const { return beats_.Stopped(since, clock_.Steady()); }

 private:
  void Run(std::chrono::milliseconds interval);

  const SystemClock clock_;
  Beats beats_;
  std::mutex mutex_;  // guards ends_
  std::condition_variable end_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PULSE_H_
