#include "task/ingest.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kstream::task {
namespace {

// A source's way with records, and a record to give to it.
class IngestTest : public testing::Test {
 protected:
  void Make() {
    Result<std::unique_ptr<Ingest>> made = Ingest::Create(spec_, Serdes(), &clock_);
    ASSERT_TRUE(made.ok()) << made.status().message();
    ingest_ = *std::move(made);
  }
  // The record after Apply, which must be ok.
  Record Applied(Record record) {
    const Status status = Try(&record);
    EXPECT_TRUE(status.ok()) << status.message();
    return record;
  }
  Status Try(Record* record) {
    json::Reader reader;
    json::ValueCache cache;
    cache.reader = &reader;
    record->cache = &cache;
    const Status status = ingest_->Apply(record, &arena_, &partition_time_);
    record->cache = nullptr;
    return status;
  }
  static Record Of(std::string_view value, int64_t timestamp = 7) {
    Record record;
    record.key = "k";
    record.value = value;
    record.timestamp = timestamp;
    record.timestamp_type = TimestampType::kLogAppendTime;
    return record;
  }

  SourceSpec spec_;
  ManualClock clock_{5000};
  std::unique_ptr<Ingest> ingest_;
  Arena arena_;
  int64_t partition_time_ = -1;
};

TEST_F(IngestTest, WithoutWishesARecordIsLeftAsItIs) {
  Make();
  EXPECT_TRUE(ingest_->trivial());
  const Record record = Applied(Of("{}"));
  EXPECT_EQ(record.key, "k");
  EXPECT_EQ(record.timestamp, 7);
  EXPECT_EQ(record.timestamp_type, TimestampType::kLogAppendTime);
  EXPECT_EQ(partition_time_, -1);
}

TEST_F(IngestTest, KeyAndTimeAreBothTakenFromTheRecordAsItWasRead) {
  spec_.key = *Expression::Compile(".id");
  spec_.timestamp_expression = *Expression::Compile("$key");
  spec_.timestamp_unit = "s";
  Make();
  EXPECT_FALSE(ingest_->trivial());
  Record read = Of("{\"id\":\"new\"}");
  read.key = "42";
  EXPECT_FALSE(Try(&read).ok());  // a string key is no number of seconds
  spec_.timestamp_expression = *Expression::Compile(".t");
  Make();
  const Record record = Applied(Of("{\"id\":\"new\",\"t\":42}"));
  EXPECT_EQ(record.key, "new");
  EXPECT_EQ(record.timestamp, 42000);
  EXPECT_EQ(record.timestamp_type, TimestampType::kCreateTime);
}

TEST_F(IngestTest, TheWallClockIsTheOneThatWasGiven) {
  spec_.timestamp = "wallclock";
  Make();
  clock_.Advance(std::chrono::milliseconds(3));
  EXPECT_EQ(Applied(Of("{}")).timestamp, 5003);
}

TEST_F(IngestTest, RefusesUnknownRulesUnitsAndSerdes) {
  spec_.timestamp = "sundial";
  EXPECT_EQ(Ingest::Create(spec_, Serdes(), &clock_).status().message(),
            "--timestamp sundial: use record, wallclock or an expression");
  spec_.timestamp = "record";
  spec_.serdes = SerdeNames{.key = "string", .value = "runes"};
  EXPECT_EQ(Ingest::Create(spec_, Serdes(), &clock_).status().code(), StatusCode::kUsage);
  spec_.serdes.reset();
  spec_.timestamp_unit = "fortnights";
  EXPECT_EQ(Ingest::Create(spec_, Serdes(), &clock_).status().code(), StatusCode::kUsage);
  spec_.timestamp_unit = "ms";
  spec_.timestamp_expression = *Expression::Compile(".t");
  spec_.extractor = [](auto&, int64_t) { return Result<int64_t>(1); };
  EXPECT_EQ(Ingest::Create(spec_, Serdes(), &clock_).status().code(), StatusCode::kUsage);
}

TEST_F(IngestTest, TheSourcesSerdesComeBeforeThoseOfTheRuntime) {
  spec_.key = *Expression::Compile(".");
  spec_.serdes = SerdeNames{.key = "string", .value = "string"};
  Make();
  EXPECT_EQ(Applied(Of("plain words")).key, "plain words");
  spec_.serdes.reset();
  Make();
  Record record = Of("plain words");
  EXPECT_EQ(Try(&record).code(), StatusCode::kData);
}

TEST_F(IngestTest, AnExtractorIsGivenTheLargestTimeOfItsPartition) {
  std::vector<int64_t> given;
  std::vector<int64_t> answers = {10, 5, 20};
  spec_.extractor = [&](const Record& record, int64_t partition_time) {
    EXPECT_EQ(record.timestamp, 7);
    given.push_back(partition_time);
    return Result<int64_t>(answers[given.size() - 1]);
  };
  Make();
  EXPECT_FALSE(ingest_->trivial());
  for (const int64_t answer : answers) {
    const Record record = Applied(Of("{}"));
    EXPECT_EQ(record.timestamp, answer);
    EXPECT_EQ(record.timestamp_type, TimestampType::kCreateTime);
  }
  EXPECT_EQ(given, (std::vector<int64_t>{-1, 10, 10}));
  EXPECT_EQ(partition_time_, 20);
}

TEST_F(IngestTest, AnExtractorThatFailsThrowsOrGivesNoTimeMakesABadRecord) {
  spec_.extractor = [](const Record& record, int64_t) -> Result<int64_t> {
    if (record.value == "status") return Status::Data("no clock");
    if (record.value == "throw") throw std::runtime_error("no luck");
    return -1;
  };
  Make();
  const auto why = [&](std::string_view value) {
    Record record = Of(value);
    const Status status = Try(&record);
    EXPECT_EQ(status.code(), StatusCode::kData);
    EXPECT_EQ(record.timestamp, 7);
    return std::string(status.message());
  };
  EXPECT_EQ(why("status"), "no clock");
  EXPECT_EQ(why("throw"), "timestamp extractor threw: no luck");
  EXPECT_EQ(why("none"), "the timestamp extractor gave -1: no time");
  EXPECT_EQ(partition_time_, -1);
}

TEST_F(IngestTest, ARecordWhoseKeyFailsMovesNoPartitionTime) {
  spec_.key = *Expression::Compile(".a.b");
  spec_.extractor = [](auto&, int64_t) { return Result<int64_t>(9); };
  Make();
  Record record = Of("{\"a\":1}");
  EXPECT_FALSE(Try(&record).ok());
  EXPECT_EQ(partition_time_, -1);
}

}  // namespace
}  // namespace kstream::task
