// Windows as text, and those that are none.
#include "kstream/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace kstream {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

WindowSpec Parsed(std::string_view text) {
  const Result<WindowSpec> spec = WindowSpec::Parse(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  return spec.ok() ? *spec : WindowSpec();
}

std::string WhyNot(std::string_view text) {
  return std::string(WindowSpec::Parse(text).status().message());
}

TEST(WindowSpecTest, EachKindHasItsLengths) {
  using Kind = WindowSpec::Kind;
  EXPECT_EQ(Parsed("tumbling:1m"),
            (WindowSpec{.kind = Kind::kTumbling, .size = milliseconds(60'000)}));
  EXPECT_EQ(
      Parsed("hopping:1h/10m"),
      (WindowSpec{.kind = Kind::kHopping, .size = hours(1), .advance = milliseconds(600'000)}));
  EXPECT_EQ(Parsed("sliding:5ms"), (WindowSpec{.kind = Kind::kSliding, .size = milliseconds(5)}));
  EXPECT_EQ(Parsed("session:30s"),
            (WindowSpec{.kind = Kind::kSession, .gap = milliseconds(30'000)}));
}

TEST(WindowSpecTest, ItsTextIsParsedToTheSame) {
  for (const char* text : {"tumbling:1d", "hopping:7d/1d", "sliding:1ms", "session:90s"}) {
    EXPECT_EQ(Parsed(Parsed(text).ToString()), Parsed(text)) << text;
  }
}

TEST(WindowSpecTest, WhatIsNoneIsRefused) {
  EXPECT_THAT(WhyNot("daily"), HasSubstr("is none of tumbling:DURATION, hopping:SIZE/HOP"));
  EXPECT_THAT(WhyNot("tumbling"), HasSubstr("is none of"));
  EXPECT_THAT(WhyNot(""), HasSubstr("is none of"));
  EXPECT_THAT(WhyNot("hopping:10s"), HasSubstr("lacks the hop"));
  EXPECT_THAT(WhyNot("tumbling:"), HasSubstr("is not a duration"));
  EXPECT_THAT(WhyNot("tumbling:1m/1s"), HasSubstr("is not a duration"));
  EXPECT_THAT(WhyNot("hopping:1m/0s"), HasSubstr("a hop of 0ms is not longer than 0"));
  EXPECT_THAT(WhyNot("hopping:0s/1s"), HasSubstr("a window of 0ms"));
  EXPECT_THAT(WhyNot("session:0s"), HasSubstr("a gap of 0ms"));
  EXPECT_THAT(WhyNot("hopping:1s/2s"), HasSubstr("longer than its window"));
  EXPECT_THAT(WhyNot("hopping:1d/1ms"), HasSubstr("86400000 windows"));
  EXPECT_THAT(WhyNot("tumbling:9223372036854775807ms"), HasSubstr("longer than 1000 years"));
}

TEST(WindowSpecTest, ChecksWhatIsNotInItsText) {
  WindowSpec spec = Parsed("tumbling:1d");
  spec.grace = milliseconds(-1);
  EXPECT_THAT(spec.Check().message(), HasSubstr("grace is not between"));
  spec.grace = milliseconds(0);
  spec.retention = milliseconds::max();
  EXPECT_THAT(spec.Check().message(), HasSubstr("retention is not between"));
  spec.retention = milliseconds(0);
  spec.zone = "Europe/Berlin";
  EXPECT_TRUE(spec.Check().ok());
  spec.zone = "Europe/Bonn";
  EXPECT_THAT(spec.Check().message(), HasSubstr("there is no time zone 'Europe/Bonn'"));
}

TEST(WindowSpecTest, AZoneHasDaysOnly) {
  for (const char* text :
       {"tumbling:1h", "tumbling:36h", "hopping:2d/12h", "sliding:1d", "session:1d"}) {
    WindowSpec spec = Parsed(text);
    spec.zone = "UTC";
    EXPECT_THAT(spec.Check().message(), HasSubstr("windows of whole days")) << text;
  }
  WindowSpec weeks = Parsed("hopping:7d/1d");
  weeks.zone = "Europe/Berlin";
  EXPECT_TRUE(weeks.Check().ok());
}

}  // namespace
}  // namespace kstream
