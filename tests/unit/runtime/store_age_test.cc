// Which stores a changelog can go on from, and the times of its rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/changelogs.h"

namespace kstream::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kNow = 1'700'000'000'000, kDay = 24 * 3600 * 1000;

TEST(WhyAnewTest, AStoreGoesOnWithinItsOwnLogUntilTombstonesMayBeGone) {
  const store::Checkpoint at{"mine", 10, 9, 0, kNow};
  EXPECT_THAT(WhyAnew(at, "mine", {.low = 0, .high = 20}, kNow), IsEmpty());
  EXPECT_THAT(WhyAnew(at, "mine", {.low = 10, .high = 10}, kNow), IsEmpty());
  EXPECT_THAT(WhyAnew(at, "mine", {.low = 0, .high = 20}, kNow + 6 * kDay), IsEmpty());
  EXPECT_THAT(WhyAnew(at, "mine", {.low = 0, .high = 20}, kNow + 6 * kDay + 1),
              HasSubstr("more than 6 days"));
  EXPECT_THAT(WhyAnew(at, "other", {.low = 0, .high = 20}, kNow), HasSubstr("another incarnation"));
  EXPECT_THAT(WhyAnew(at, "mine", {.low = 11, .high = 20}, kNow),
              HasSubstr("it stands at offset 10, and the changelog begins at 11"));
}

TEST(CheckReachesTest, AChangelogThatEndsBeforeItsStoreIsOfTheSameApplicationOnly) {
  const store::Checkpoint at{"mine", 10, 9, 0, kNow};
  const auto check = [&](std::string_view incarnation, int64_t high) {
    return CheckReaches(at, incarnation, {"app-agg-changelog", 3}, "agg", {.low = 0, .high = high},
                        "app");
  };
  EXPECT_TRUE(check("mine", 10).ok());
  EXPECT_TRUE(check("other", 9).ok());
  EXPECT_EQ(check("mine", 9).code(), StatusCode::kState);
  EXPECT_THAT(
      std::string(check("mine", 9).message()),
      HasSubstr("store agg has seen app-agg-changelog[3] up to offset 10, and that ends at 9"));
}

TEST(RowTimeTest, IsTheHeadersUnlessThatIsNone) {
  const auto time = [](std::optional<std::string_view> value) {
    const Header headers[] = {{"other", "1"}, {kRowTimeHeader, value}};
    Record record;
    record.headers = headers;
    record.timestamp = 7;
    return RowTimeOf(record);
  };
  EXPECT_EQ(time("5"), 5);
  EXPECT_EQ(time("-5"), -5);
  EXPECT_EQ(time("5x"), 7);
  EXPECT_EQ(time(""), 7);
  EXPECT_EQ(time(std::nullopt), 7);
  EXPECT_EQ(time("99999999999999999999"), 7);
}

}  // namespace
}  // namespace kstream::runtime
