// Event time is exact in every unit, and nothing else than a time is taken for one.
#include "record/timestamp.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kstream {
namespace {

int64_t Ms(std::string_view json, TimeUnit unit = TimeUnit::kMilliseconds) {
  Result<int64_t> r = ParseTimestamp(json, unit);
  EXPECT_TRUE(r.ok()) << json << ": " << r.status().message();
  return r.ok() ? *r : -1;
}

TEST(Timestamp, IsExactInEveryUnit) {
  EXPECT_EQ(Ms("1700000000123"), 1700000000123);
  EXPECT_EQ(Ms("1700000000123.999"), 1700000000123);
  EXPECT_EQ(Ms("1700000000.123", TimeUnit::kSeconds), 1700000000123);
  EXPECT_EQ(Ms("1.700000000123e9", TimeUnit::kSeconds), 1700000000123);
  EXPECT_EQ(Ms("1700000000123999", TimeUnit::kMicroseconds), 1700000000123);
  EXPECT_EQ(Ms("1700000000123999999", TimeUnit::kNanoseconds), 1700000000123);
  EXPECT_EQ(Ms("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(Ms("0"), 0);
  EXPECT_EQ(Ms("-0.0"), 0);
}

TEST(Timestamp, TakesAnRfc3339StringWhateverTheUnit) {
  EXPECT_EQ(Ms("\"2023-11-14T22:13:20.123Z\""), 1700000000123);
  EXPECT_EQ(Ms("\"2023-11-14T23:13:20.123+01:00\"", TimeUnit::kNanoseconds), 1700000000123);
  EXPECT_EQ(Ms("\"2023-11-14T22:13:20.123\\u005a\""), 1700000000123);
}

TEST(Timestamp, RefusesWhatIsNotATimeOfARecord) {
  for (std::string_view json :
       {"null", "true", "false", "[]", "{}", "\"\"", "\"1700000000123\"", "\"yesterday\"", "-1",
        "-0.5", "1e30", "9223372036854775808", "\"1969-12-31T23:59:59.999Z\""}) {
    Result<int64_t> r = ParseTimestamp(json, TimeUnit::kMilliseconds);
    ASSERT_FALSE(r.ok()) << json;
    EXPECT_EQ(r.status().code(), StatusCode::kData);
  }
  EXPECT_FALSE(ParseTimestamp("9223372036854776", TimeUnit::kSeconds).ok());
}

TEST(Timestamp, MessagesStayShort) {
  std::string huge(1 << 20, '9');
  EXPECT_LT(ParseTimestamp(huge, TimeUnit::kSeconds).status().message().size(), 200u);
  EXPECT_LT(ParseTimestamp('"' + huge + '"', TimeUnit::kSeconds).status().message().size(), 200u);
}

TEST(TimeUnit, IsOneOfFour) {
  EXPECT_EQ(*ParseTimeUnit("ms"), TimeUnit::kMilliseconds);
  EXPECT_EQ(*ParseTimeUnit("s"), TimeUnit::kSeconds);
  EXPECT_EQ(*ParseTimeUnit("us"), TimeUnit::kMicroseconds);
  EXPECT_EQ(*ParseTimeUnit("ns"), TimeUnit::kNanoseconds);
  for (std::string_view name : {"", "m", "MS", "sec"}) {
    EXPECT_EQ(ParseTimeUnit(name).status().code(), StatusCode::kUsage) << name;
  }
}

}  // namespace
}  // namespace kstream
