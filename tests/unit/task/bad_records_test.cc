#include "task/bad_records.h"

#include <gtest/gtest.h>

#include <map>

namespace kstream::task {
namespace {

struct Letter {
  std::string value;
  std::map<std::string, std::string> headers;
};

class Letters : public RecordSink {
 public:
  Status Write(const Record& record) override {
    Letter letter{std::string(record.value.value_or("(null)")), {}};
    for (const Header& header : record.headers)
      letter.headers[std::string(header.name)] = header.value.value_or("(null)");
    letters.push_back(letter);
    return answer;
  }
  std::vector<Letter> letters;
  Status answer;
};

Record Bad() {
  Record record;
  record.topic = "orders";
  record.partition = 2;
  record.offset = 17;
  record.timestamp = 5;
  record.timestamp_type = TimestampType::kCreateTime;
  record.value = "{";
  return record;
}

const Status kWhy = Status::Data("not JSON");

TEST(BadRecords, FailStopsWithThePlaceAndTheReason) {
  BadRecordCounts counts;
  BadRecords bad({OnError::kFail, {}}, &counts, nullptr);
  std::string message;
  const Status status = bad.Handle(Bad(), PlaceOf(Bad()), kWhy, &message);
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_EQ(status.message(), "orders[2]@17: not JSON");
}

TEST(BadRecords, SkipGoesOnCountsAndTellsOnlyTheFirstTen) {
  BadRecordCounts counts;
  BadRecords bad({OnError::kSkip, {}}, &counts, nullptr);
  std::string message;
  int told = 0;
  for (int i = 0; i < 20; i++) {
    EXPECT_TRUE(bad.Handle(Bad(), "p", kWhy, &message).ok());
    told += !message.empty();
  }
  EXPECT_EQ(told, 10);
  EXPECT_EQ(counts.skipped, 20);
}

TEST(BadRecords, OneMoreThanMaxErrorsStops) {
  BadRecordCounts counts;
  BadRecords bad({OnError::kSkip, 2}, &counts, nullptr);
  std::string message;
  EXPECT_TRUE(bad.Handle(Bad(), "p", kWhy, &message).ok());
  EXPECT_TRUE(bad.Handle(Bad(), "p", kWhy, &message).ok());
  EXPECT_EQ(bad.Handle(Bad(), "p", kWhy, &message).code(), StatusCode::kData);
}

TEST(BadRecords, ADeadLetterKeepsTheBytesAndSaysWhereAndWhy) {
  BadRecordCounts counts;
  Letters letters;
  BadRecords bad({OnError::kDeadLetter, {}}, &counts, &letters);
  Record record = Bad();
  const Header own[] = {{"trace", "t1"}};
  record.headers = own;
  std::string message;
  EXPECT_TRUE(bad.Handle(record, "p", kWhy, &message).ok());
  ASSERT_EQ(letters.letters.size(), 1u);
  EXPECT_EQ(letters.letters[0].value, "{");
  EXPECT_EQ(letters.letters[0].headers,
            (std::map<std::string, std::string>{{"trace", "t1"},
                                                {"kstream.error.reason", "not JSON"},
                                                {"kstream.error.topic", "orders"},
                                                {"kstream.error.partition", "2"},
                                                {"kstream.error.offset", "17"},
                                                {"kstream.error.timestamp", "5"}}));
}

TEST(BadRecords, ADeadLetterThatCannotBeWrittenStops) {
  BadRecordCounts counts;
  Letters letters;
  letters.answer = Status::Data("too large");
  BadRecords bad({OnError::kDeadLetter, {}}, &counts, &letters);
  std::string message;
  EXPECT_EQ(bad.Handle(Bad(), "p", kWhy, &message).message(), "p: dead letter: too large");
  EXPECT_EQ(counts.dead_letters, 0);
}

}  // namespace
}  // namespace kstream::task
