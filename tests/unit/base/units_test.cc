// Durations and sizes: exact, and nothing else accepted.
#include "kstream/units.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kstream {
namespace {

TEST(Duration, IsANumberAndAUnit) {
  EXPECT_EQ(ParseDuration("500ms")->count(), 500);
  EXPECT_EQ(ParseDuration("10s")->count(), 10'000);
  EXPECT_EQ(ParseDuration("5m")->count(), 300'000);
  EXPECT_EQ(ParseDuration("2h")->count(), 7'200'000);
  EXPECT_EQ(ParseDuration("7d")->count(), 604'800'000);
  EXPECT_EQ(ParseDuration("0s")->count(), 0);
  EXPECT_EQ(ParseDuration("9223372036854775807ms")->count(), INT64_MAX);
}

TEST(Duration, RefusesEverythingElse) {
  for (std::string_view text :
       {"", "5", "s", "ms", "-5s", "+5s", " 5s", "5 s", "5s ", "5S", "1.5h", "1h30m", "5w", "5us",
        "9223372036854775808ms", "9223372036854775807s", "106751991168d", "0x5s"}) {
    Result<std::chrono::milliseconds> r = ParseDuration(text);
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_EQ(r.status().code(), StatusCode::kUsage);
  }
}

TEST(Size, IsBytesOrAPowerOf1024) {
  EXPECT_EQ(*ParseSize("0"), 0);
  EXPECT_EQ(*ParseSize("65536"), 65536);
  EXPECT_EQ(*ParseSize("64K"), 65536);
  EXPECT_EQ(*ParseSize("256M"), 268435456);
  EXPECT_EQ(*ParseSize("4G"), 4294967296);
  EXPECT_EQ(*ParseSize("8589934591G"), 9223372035781033984);
}

TEST(Size, RefusesEverythingElse) {
  for (std::string_view text :
       {"", "K", "-1K", "64k", "64KB", "64KiB", "64 K", "1.5G", "8589934592G", "1T"}) {
    Result<int64_t> r = ParseSize(text);
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_EQ(r.status().code(), StatusCode::kUsage);
  }
}

}  // namespace
}  // namespace kstream
