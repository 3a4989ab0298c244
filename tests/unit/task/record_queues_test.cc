#include "task/record_queues.h"

#include <gtest/gtest.h>

namespace kstream::task {
namespace {

Record At(int64_t timestamp) {
  Record record;
  record.timestamp = timestamp;
  record.timestamp_type = TimestampType::kCreateTime;
  return record;
}

TEST(RecordQueues, GivesTheSmallestHeadAndTiesToTheFirstPartition) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(20), nullptr);
  queues.Push(b, At(10), nullptr);
  queues.Push(b, At(20), nullptr);
  queues.MarkAtEnd(a);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(), b);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(), a);
  queues.Pop(a);
  EXPECT_EQ(queues.Next(), b);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(), std::nullopt);
}

TEST(RecordQueues, AnUnknownPartitionHoldsTheTask) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  EXPECT_EQ(queues.Next(), std::nullopt);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(), a);
}

TEST(RecordQueues, APartitionThatWasDrainedShortOfItsEndHoldsTheTaskAgain) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.MarkAtEnd(b);
  queues.Push(b, At(5), nullptr);  // more came after the end was seen
  queues.Push(a, At(10), nullptr);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(), std::nullopt);
  queues.MarkDone(b);
  EXPECT_EQ(queues.Next(), a);
}

TEST(RecordQueues, RecordsWithoutATimestampComeFirst) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(0), nullptr);
  queues.Push(b, Record(), nullptr);
  EXPECT_EQ(queues.Next(), b);
}

TEST(RecordQueues, KeepsTheOwnerUntilTheRecordIsPopped) {
  RecordQueues queues;
  queues.AddPartition();
  auto owner = std::make_shared<int>(1);
  queues.Push(0, At(1), owner);
  EXPECT_EQ(owner.use_count(), 2);
  queues.Pop(0);
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace kstream::task
