#include "base/clock.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(ManualClock, StandsStillUntilBothTimesAreMovedTogether) {
  ManualClock clock(1000);
  const Clock::Instant begun = clock.Steady();
  EXPECT_EQ(clock.WallMs(), 1000);
  EXPECT_EQ(clock.Steady(), begun);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(clock.WallMs(), 3000);
  EXPECT_EQ(clock.Steady() - begun, std::chrono::seconds(2));
}

TEST(SystemClock, TellsMillisecondsSince1970) {
  const int64_t before = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  const SystemClock clock;
  EXPECT_GE(clock.WallMs(), before);
  EXPECT_LT(clock.WallMs(), before + 60000);
}

}  // namespace
}  // namespace kstream
