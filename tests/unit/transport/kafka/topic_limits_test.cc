#include "transport/kafka/topic_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNow = 1700000000000;

Record At(int64_t timestamp) {
  Record record;
  record.key = "k";
  record.value = "v";
  record.timestamp = timestamp;
  record.timestamp_type = TimestampType::kCreateTime;
  return record;
}

Status Try(const std::map<std::string, std::string>& config, const Record& record) {
  return Admit(ToLimits(config), "t", record, kNow);
}

TEST(TopicLimits, WithoutConfigurationEverythingTheProtocolCarriesIsTaken) {
  EXPECT_TRUE(Try({}, At(1)).ok());
  EXPECT_TRUE(Try({}, At(INT64_MAX)).ok());
  const std::string big(5000000, 'x');
  Record record = At(kNow);
  record.value = big;
  EXPECT_TRUE(Try({}, record).ok());
}

// The sizes that a broker counts, as its own refusals show (see BrokerLimits in broker_test.cc).
TEST(TopicLimits, ABatchOfOneRecordIsCountedToTheByte) {
  Record record = At(kNow);
  EXPECT_EQ(BatchBytes(record), 61 + 1 + (3 + 1 + 1 + 1 + 1 + 1));
  record.key = std::nullopt;
  EXPECT_EQ(BatchBytes(record), 61 + 1 + (3 + 1 + 1 + 1 + 1));
  const std::string value(64, 'x');  // a length of two bytes, in a record of two
  record.value = value;
  EXPECT_EQ(BatchBytes(record), 61 + 2 + (3 + 1 + 2 + 64 + 1));
  const Header headers[] = {{"h", "v"}, {"n", std::nullopt}};
  record.headers = headers;
  EXPECT_EQ(BatchBytes(record), 61 + 2 + (3 + 1 + 2 + 64 + 1 + (1 + 1 + 1 + 1) + (1 + 1 + 1)));
}

TEST(TopicLimits, ARecordThatIsTooLargeIsToldWithBothSizes) {
  const std::string value(1000, 'x');
  Record record = At(kNow);
  record.value = value;
  const int64_t bytes = BatchBytes(record);
  EXPECT_TRUE(Try({{"max.message.bytes", std::to_string(bytes)}}, record).ok());
  Status status = Try({{"max.message.bytes", std::to_string(bytes - 1)}}, record);
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(status.message(), HasSubstr(std::to_string(bytes)));
  EXPECT_THAT(status.message(), HasSubstr(std::to_string(bytes - 1)));
}

TEST(TopicLimits, TimestampsThatCannotBeWrittenAreRefused) {
  EXPECT_THAT(Try({}, At(0)).message(), HasSubstr("1970"));
  EXPECT_EQ(Try({}, At(0)).code(), StatusCode::kData);
  EXPECT_EQ(Try({}, At(-1)).code(), StatusCode::kData);
  Record none = At(0);
  none.timestamp_type = TimestampType::kNone;
  EXPECT_TRUE(Try({}, none).ok());
  EXPECT_TRUE(Try({{"message.timestamp.type", "LogAppendTime"}}, At(0)).ok());
}

TEST(TopicLimits, TimestampsAreHeldAgainstTheClock) {
  const std::map<std::string, std::string> config = {{"message.timestamp.before.max.ms", "1000"},
                                                     {"message.timestamp.after.max.ms", "10"}};
  EXPECT_TRUE(Try(config, At(kNow + 10)).ok());
  EXPECT_EQ(Try(config, At(kNow + 11)).code(), StatusCode::kData);
  EXPECT_TRUE(Try(config, At(kNow - 1000)).ok());
  EXPECT_EQ(Try(config, At(kNow - 1001)).code(), StatusCode::kData);
  EXPECT_EQ(Try({{"message.timestamp.difference.max.ms", "5"}}, At(kNow - 6)).code(),
            StatusCode::kData);
}

TEST(TopicLimits, ACompactedTopicTakesNoRecordWithoutAKey) {
  Record record = At(kNow);
  EXPECT_TRUE(Try({{"cleanup.policy", "compact,delete"}}, record).ok());
  record.key = "";
  EXPECT_TRUE(Try({{"cleanup.policy", "compact"}}, record).ok());
  record.key = std::nullopt;
  EXPECT_EQ(Try({{"cleanup.policy", "compact"}}, record).code(), StatusCode::kData);
  EXPECT_TRUE(Try({{"cleanup.policy", "delete"}}, record).ok());
}

TEST(TopicLimits, RecordsThatRetentionDeletesAtOnceAreOdd) {
  const TopicLimits week = ToLimits({{"retention.ms", "604800000"}, {"cleanup.policy", "delete"}});
  EXPECT_EQ(Oddity(week, "t", At(kNow - 604'800'000), kNow), "");
  EXPECT_THAT(Oddity(week, "t", At(kNow - 604'800'001), kNow),
              HasSubstr("retention.ms of 604800000"));
  EXPECT_EQ(Oddity(ToLimits({{"retention.ms", "-1"}}), "t", At(1'000'000'000'000), kNow), "");
  EXPECT_EQ(Oddity(ToLimits({{"retention.ms", "1"}, {"cleanup.policy", "compact"}}), "t",
                   At(kNow - 9), kNow),
            "");
}

TEST(TopicLimits, TimestampsInTheWrongUnitAreOdd) {
  EXPECT_THAT(Oddity({}, "t", At(kNow / 1000), kNow), HasSubstr("--timestamp-unit"));
  EXPECT_THAT(Oddity({}, "t", At(kNow * 1000), kNow), HasSubstr("--timestamp-unit"));
  EXPECT_EQ(Oddity({}, "t", At(kNow), kNow), "");
}

}  // namespace
}  // namespace kstream::transport::kafka
