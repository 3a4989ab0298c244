// A stop is told from success and from every failure.
#include "base/stopped.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(Stopped, IsNeitherSuccessNorAFailureThatLeavesTheLibrary) {
  const Status stopped = Stopped("stopped while waiting").At("task 0_0");
  EXPECT_FALSE(stopped.ok());
  EXPECT_TRUE(IsStopped(stopped));
  EXPECT_EQ(stopped.message(), "task 0_0: stopped while waiting");
  EXPECT_FALSE(IsStopped(Status::Ok()));
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130, 143}) {
    EXPECT_NE(kStopped, StatusCode{code});
  }
}

}  // namespace
}  // namespace kstream
