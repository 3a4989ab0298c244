#include "runtime/from_spec.h"

#include <gtest/gtest.h>

namespace kstream::runtime {
namespace {

using Kind = FromSpec::Kind;
constexpr int64_t kNow = 1'700'000'000'000;

FromSpec Parsed(std::string_view text) {
  Result<FromSpec> spec = FromSpec::Parse(text, kNow);
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status().message();
  return spec.ok() ? *spec : FromSpec();
}

TEST(FromSpec, ReadsEveryForm) {
  EXPECT_EQ(Parsed("beginning").kind, Kind::kBeginning);
  EXPECT_EQ(Parsed("end").kind, Kind::kEnd);
  EXPECT_EQ(Parsed("42").kind, Kind::kOffset);
  EXPECT_EQ(Parsed("42").number, 42);
  EXPECT_EQ(Parsed("-10").kind, Kind::kLast);
  EXPECT_EQ(Parsed("-10").number, 10);
  EXPECT_EQ(Parsed("@1000").number, 1000);
  EXPECT_EQ(Parsed("@-1h").number, kNow - 3'600'000);
  EXPECT_EQ(Parsed("@2023-11-14T22:13:20Z").number, kNow);
}

TEST(FromSpec, ReadsTwoTimesThatHoldColons) {
  const FromSpec spec = Parsed("@2023-11-14T22:13:20Z:2023-11-14T22:13:21Z");
  EXPECT_EQ(spec.number, kNow);
  EXPECT_EQ(spec.until_time, kNow + 1000);
  EXPECT_EQ(Parsed("@1:2").until_time, 2);
  EXPECT_EQ(Parsed("@-2h:-1h").until_time, kNow - 3'600'000);
}

TEST(FromSpec, RefusesEverythingElse) {
  for (const char* text : {"", "start", "4.5", "@", "@yesterday", "@5:3", "@1:2:3", "1e3",
                           "99999999999999999999", "@-5"}) {
    EXPECT_EQ(FromSpec::Parse(text, kNow).status().code(), StatusCode::kUsage) << text;
  }
}

}  // namespace
}  // namespace kstream::runtime
