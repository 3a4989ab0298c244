#include "runtime/pace.h"

#include <gtest/gtest.h>

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;

TEST(Pace, LooksSeldomWhileStepsAreQuick) {
  ManualClock clock;
  Pace pace(clock);
  int looks = 0;
  for (int i = 0; i < 6400; i++) looks += pace.Step();
  EXPECT_GE(looks, 100);
  EXPECT_LE(looks, 110);
}

TEST(Pace, LooksAtEachStepWhileTheyAreSlow) {
  ManualClock clock;
  Pace pace(clock);
  for (int i = 0; i < 1000; i++) pace.Step();
  // From the first look on that finds them slow.
  int steps = 0;
  do clock.Advance(milliseconds(100));
  while (++steps < 64 && !pace.Step());
  for (int i = 0; i < 10; i++) {
    clock.Advance(milliseconds(100));
    EXPECT_TRUE(pace.Step());
    EXPECT_EQ(pace.now(), clock.Steady());
  }
}

}  // namespace
}  // namespace kstream::runtime
