#include "transport/memory/log.h"

#include <gtest/gtest.h>

namespace kstream::transport::memory {
namespace {

// Offsets that a read_committed reader sees from `position` on.
std::vector<int64_t> Visible(const PartitionLog& log, int64_t position = 0) {
  std::vector<int64_t> offsets;
  for (auto record = log.Next(position); record != nullptr; record = log.Next(position)) {
    offsets.push_back(record->offset);
    position = record->offset + 1;
  }
  return offsets;
}

TEST(PartitionLog, MarkersTakeOffsetsAndAbortedRecordsAreNotSeen) {
  PartitionLog log(0);
  log.Append({});     // 0
  log.Append({}, 1);  // 1, committed by the marker at 3
  log.Append({}, 2);  // 2, aborted by the marker at 4
  EXPECT_EQ(log.stable(), 1);
  log.End(1, true);
  EXPECT_EQ(log.stable(), 2) << "the other one is open";
  log.End(2, false);
  log.Append({});  // 5
  EXPECT_EQ(log.stable(), 6);
  EXPECT_EQ(log.high(), 6);
  EXPECT_EQ(Visible(log), (std::vector<int64_t>{0, 1, 5}));
}

TEST(PartitionLog, AnOpenTransactionHidesWhatComesAfterIt) {
  PartitionLog log(0);
  log.Append({});
  log.Append({}, 1);
  log.Append({});
  EXPECT_EQ(Visible(log), (std::vector<int64_t>{0}));
  EXPECT_EQ(log.high(), 3);
  log.End(1, true);
  EXPECT_EQ(Visible(log), (std::vector<int64_t>{0, 1, 2}));
}

TEST(PartitionLog, ATransactionThatDidNotWriteHereLeavesNoMarker) {
  PartitionLog log(0);
  log.Append({});
  log.End(1, true);
  EXPECT_EQ(log.high(), 1);
}

TEST(PartitionLog, LowOnlyRisesAndOnlyToTheEnd) {
  PartitionLog log(3);
  for (int i = 0; i < 4; i++) log.Append({});
  log.RaiseLow(2);
  EXPECT_EQ(Visible(log), (std::vector<int64_t>{2, 3}));
  log.RaiseLow(1);
  EXPECT_EQ(log.low(), 2);
  log.RaiseLow(9);
  EXPECT_EQ(log.low(), 4);
}

TEST(PartitionLog, FindsTheFirstOffsetOfATime) {
  PartitionLog log(0);
  for (const int64_t time : {10, 30, 20, 40}) log.Append({.timestamp = time});
  EXPECT_EQ(log.OffsetFor(0), 0);
  EXPECT_EQ(log.OffsetFor(20), 1);
  EXPECT_EQ(log.OffsetFor(31), 3);
  EXPECT_EQ(log.OffsetFor(41), 4);
}

TEST(StoredRecord, KeepsNullAndEmptyApart) {
  const Header headers[] = {{"a", "1"}, {"a", std::nullopt}, {"b", ""}};
  Record record;
  record.value = "";
  record.headers = headers;
  const StoredRecord copy = StoredRecord::Copy(record);
  EXPECT_EQ(copy.key, std::nullopt);
  EXPECT_EQ(copy.value, "");
  ASSERT_EQ(copy.headers.size(), 3u);
  EXPECT_EQ(copy.headers[0].second, "1");
  EXPECT_EQ(copy.headers[1].first, "a");
  EXPECT_EQ(copy.headers[1].second, std::nullopt);
  EXPECT_EQ(copy.headers[2].second, "");
}

}  // namespace
}  // namespace kstream::transport::memory
