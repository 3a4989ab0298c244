#include "runtime/pulse.h"

#include <gtest/gtest.h>

namespace kstream::runtime {
namespace {

using std::chrono::seconds;

constexpr Clock::Instant At(int second) { return Clock::Instant(seconds(second)); }

TEST(BeatsTest, BeatsInTimeAreNoPause) {
  Beats beats(seconds(3), At(100));
  for (int now = 103; now < 130; now += 3) beats.Beat(At(now));
  EXPECT_FALSE(beats.Stopped(At(100), At(130)));
}

TEST(BeatsTest, APauseIsSeenBeforeTheNextBeat) {
  Beats beats(seconds(3), At(100));
  EXPECT_FALSE(beats.Stopped(At(100), At(103)));
  EXPECT_TRUE(beats.Stopped(At(100), At(104)));
}

TEST(BeatsTest, APauseIsSeenAfterTheNextBeatByWhoeverWasInIt) {
  Beats beats(seconds(3), At(100));
  beats.Beat(At(104));
  beats.Beat(At(105));
  EXPECT_TRUE(beats.Stopped(At(99), At(105)));
  EXPECT_TRUE(beats.Stopped(At(103), At(105)));
  EXPECT_FALSE(beats.Stopped(At(104), At(105))) << "it began to look after the pause";
}

TEST(PulseTest, AProcessThatRunsHasOne) {
  const Clock::Instant begin = SystemClock().Steady();
  const Pulse pulse(std::chrono::hours(1));
  EXPECT_FALSE(pulse.Stopped(begin));
}

}  // namespace
}  // namespace kstream::runtime
