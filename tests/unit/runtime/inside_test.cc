#include "runtime/inside.h"

#include <gtest/gtest.h>

#include <thread>

namespace kstream::runtime {
namespace {

TEST(Inside, IsOfTheThreadThatMadeItWhileItLasts) {
  const int run = 0, other = 0;
  EXPECT_FALSE(Inside::Of(&run));
  {
    const Inside inside(&run);
    EXPECT_TRUE(Inside::Of(&run));
    EXPECT_FALSE(Inside::Of(&other));
    bool elsewhere = true;
    std::thread([&] { elsewhere = Inside::Of(&run); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(Inside::Of(&run));
}

TEST(Inside, OneRunWithinAnotherIsBoth) {
  const int outer = 0, inner = 0;
  const Inside first(&outer);
  {
    const Inside second(&inner);
    EXPECT_TRUE(Inside::Of(&outer));
    EXPECT_TRUE(Inside::Of(&inner));
  }
  EXPECT_TRUE(Inside::Of(&outer));
  EXPECT_FALSE(Inside::Of(&inner));
}

}  // namespace
}  // namespace kstream::runtime
