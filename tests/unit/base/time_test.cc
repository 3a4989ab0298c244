// Instants: exact, and nothing else accepted.
#include "base/time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace kstream {
namespace {

int64_t Ms(std::string_view text) {
  Result<int64_t> r = ParseRfc3339(text);
  EXPECT_TRUE(r.ok()) << text << ": " << r.status().message();
  return r.ok() ? *r : INT64_MIN;
}

TEST(Rfc3339, ReadsTheExamplesOfTheStandard) {
  EXPECT_EQ(Ms("1985-04-12T23:20:50.52Z"), 482196050520);
  EXPECT_EQ(Ms("1996-12-19T16:39:57-08:00"), 851042397000);
  EXPECT_EQ(Ms("1996-12-20T00:39:57Z"), 851042397000);
  EXPECT_EQ(Ms("1937-01-01T12:00:27.87+00:20"), -1041337172130);
  EXPECT_EQ(Ms("1990-12-31T23:59:60Z"), 662688000000);
  EXPECT_EQ(Ms("1990-12-31T15:59:60-08:00"), 662688000000);
}

TEST(Rfc3339, ReadsWhatTheStandardLeavesOpen) {
  EXPECT_EQ(Ms("2023-11-14t22:13:20z"), 1700000000000);
  EXPECT_EQ(Ms("2023-11-14 22:13:20+00:00"), 1700000000000);
  EXPECT_EQ(Ms("2023-11-14T22:13:20-00:00"), 1700000000000);
  EXPECT_EQ(Ms("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(Ms("2000-02-29T00:00:00Z"), 951782400000);
}

TEST(Rfc3339, RoundsFinerFractionsTowardsThePast) {
  EXPECT_EQ(Ms("2023-11-14T22:13:20.1Z"), 1700000000100);
  EXPECT_EQ(Ms("2023-11-14T22:13:20.123999999Z"), 1700000000123);
  EXPECT_EQ(Ms("1969-12-31T23:59:59.9999Z"), -1);
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (std::string_view text : {"",
                                "2023",
                                "2023-11-14",
                                "2023-11-14T22:13Z",
                                "2023-11-14T22:13:20",
                                "1700000000",
                                "2023-11-14T22:13:20.Z",
                                "2023-11-14T22:13:20,5Z",
                                "2023-02-29T00:00:00Z",
                                "2023-13-01T00:00:00Z",
                                "2023-00-01T00:00:00Z",
                                "2023-01-00T00:00:00Z",
                                "2023-11-14T24:00:00Z",
                                "2023-11-14T22:60:00Z",
                                "2023-11-14T22:13:61Z",
                                "2023-11-14T22:13:60Z",
                                "2023-11-14T22:13:20+0100",
                                "2023-11-14T22:13:20+24:00",
                                "2023-11-14T22:13:20+01:60",
                                "2023-11-14T22:13:20+01",
                                "2023-11-14T22:13:20Z ",
                                " 2023-11-14T22:13:20Z",
                                "2023-11-14T22:13:20ZZ",
                                "+2023-11-14T22:13:20Z",
                                "2023-1-14T22:13:20Z",
                                "20231114T221320Z",
                                "-023-11-14T22:13:20Z",
                                "2023-11-14T22:13:20+-1:00"}) {
    Result<int64_t> r = ParseRfc3339(text);
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_EQ(r.status().code(), StatusCode::kData);
  }
}

TEST(Rfc3339, PrintsMillisecondsInUtc) {
  EXPECT_EQ(FormatRfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(1700000000123), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(FormatRfc3339(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatRfc3339(-62167219200000), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatRfc3339(253402300799999), "9999-12-31T23:59:59.999Z");
}

TEST(Rfc3339, PrintsANumberForYearsItCannotName) {
  EXPECT_EQ(FormatRfc3339(253402300800000), "253402300800000");
  EXPECT_EQ(FormatRfc3339(-62167219200001), "-62167219200001");
  EXPECT_EQ(FormatRfc3339(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(FormatRfc3339(INT64_MAX), "9223372036854775807");
}

TEST(Rfc3339, ReadsBackWhatItPrints) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> any(-62167219200000, 253402300799999);
  for (int i = 0; i < 10000; ++i) {
    int64_t ms = any(random);
    ASSERT_EQ(Ms(FormatRfc3339(ms)), ms);
  }
}

}  // namespace
}  // namespace kstream
