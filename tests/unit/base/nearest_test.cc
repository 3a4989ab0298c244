#include "kstream/nearest.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(NearestName, AThirdOfTheLettersMayBeWrong) {
  const std::vector<std::string_view> names = {"limit", "timeout", "time", "commit-interval"};
  EXPECT_EQ(NearestName("limt", names), "limit");
  EXPECT_EQ(NearestName("limits", names), "limit");
  EXPECT_EQ(NearestName("ilmit", names), "limit");
  EXPECT_EQ(NearestName("timeuot", names), "timeout");
  EXPECT_EQ(NearestName("comit-intervall", names), "commit-interval");
  EXPECT_EQ(NearestName("input", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(NearestName, OfEquallyNearOnesTheFirst) {
  EXPECT_EQ(NearestName("bat", {"cat", "hat"}), "cat");
  EXPECT_EQ(NearestName("hat", {"cat", "hat"}), "hat");
}

}  // namespace
}  // namespace kstream
