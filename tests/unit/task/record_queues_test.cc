#include "task/record_queues.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace kstream::task {
namespace {

using std::chrono::milliseconds;

const Clock::Instant kNow{};

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
  EXPECT_EQ(queues.Next(kNow), b);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(kNow), a);
  queues.Pop(a);
  EXPECT_EQ(queues.Next(kNow), b);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);
}

TEST(RecordQueues, OfEqualTimesTheLowerRankComesFirst) {
  RecordQueues queues;
  const size_t stream = queues.AddPartition(1), table = queues.AddPartition(0);
  queues.Push(stream, At(10), nullptr);
  queues.Push(table, At(10), nullptr);
  EXPECT_EQ(queues.Next(kNow), table);
}

TEST(RecordQueues, AnUnknownPartitionHoldsTheTask) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), a);
  queues.AddPartition();
  EXPECT_EQ(queues.Next(kNow), std::nullopt);
}

TEST(RecordQueues, APartitionThatWasDrainedShortOfItsEndHoldsTheTaskAgain) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.MarkAtEnd(b);
  queues.Push(b, At(5), nullptr);  // more came after the end was seen
  queues.Push(a, At(10), nullptr);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);
  queues.MarkDone(b);
  queues.MarkDone(b);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), a);
}

TEST(RecordQueues, APartitionWhoseEndWasSeenBehindItsRecordsHoldsNothing) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  queues.Push(b, At(5), nullptr);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), b);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(kNow), a);
}

TEST(RecordQueues, RecordsWithoutATimestampComeFirstAndMoveNoTime) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(0), nullptr);
  queues.Push(b, Record(), nullptr);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), b);
  EXPECT_EQ(queues.task_time(), std::nullopt);
  queues.Pop(b);
  EXPECT_EQ(queues.Next(kNow), a);
  EXPECT_EQ(queues.task_time(), 0);
}

TEST(RecordQueues, TaskTimeNeverMovesBackAndAnOlderRecordIsTheNextOneAllTheSame) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  queues.Push(a, At(3), nullptr);
  queues.Push(b, At(20), nullptr);
  ASSERT_EQ(queues.Next(kNow), a);
  EXPECT_EQ(queues.task_time(), 10);
  queues.Pop(a);
  ASSERT_EQ(queues.Next(kNow), a);
  EXPECT_EQ(queues.Head(a).timestamp, 3);
  EXPECT_EQ(queues.task_time(), 10);
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

TEST(RecordQueues, CountsRecordsAndBytesAndIsNotMisledByAHeadThatWasChanged) {
  RecordQueues queues;
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  Record record = At(1);
  record.key = "abc";
  record.value = "12345";
  const Header headers[] = {{"name", "x"}, {"null", std::nullopt}};
  record.headers = headers;
  queues.Push(a, record, nullptr);
  queues.Push(a, At(2), nullptr);
  queues.Push(b, record, nullptr);
  EXPECT_EQ(queues.size(), 3u);
  EXPECT_EQ(queues.Size(a), 2u);
  EXPECT_EQ(queues.bytes(), 2u * (3 + 5 + 4 + 1 + 4));
  queues.Head(a).key = "a much longer key";
  queues.Pop(a);
  EXPECT_EQ(queues.bytes(), 3u + 5 + 4 + 1 + 4);
  EXPECT_EQ(queues.size(), 2u);
}

TEST(RecordQueues, WithMaxIdleAPartitionAtItsEndHoldsTheTaskForThatLong) {
  RecordQueues queues({.max_idle = milliseconds(100), .max_skew = {}});
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);  // nothing waits for it yet
  EXPECT_EQ(queues.idle_until(), std::nullopt);
  queues.Push(a, At(10), nullptr);
  queues.Push(a, At(11), nullptr);
  const Clock::Instant begun = kNow + milliseconds(500);
  EXPECT_EQ(queues.Next(begun), std::nullopt);
  EXPECT_EQ(queues.idle_until(), begun + milliseconds(100));
  queues.MarkAtEnd(b);  // said again: it has been empty all the time
  EXPECT_EQ(queues.Next(begun + milliseconds(99)), std::nullopt);
  EXPECT_EQ(queues.Next(begun + milliseconds(100)), a);
  EXPECT_EQ(queues.idle_until(), std::nullopt);
  queues.Pop(a);
  EXPECT_EQ(queues.Next(begun + milliseconds(100)), a);  // it goes on without b
  queues.Push(b, At(5), nullptr);
  EXPECT_EQ(queues.Next(begun + milliseconds(100)), b);
  queues.MarkAtEnd(b);
  queues.Pop(b);  // it had records again, so the task waits for it anew
  EXPECT_EQ(queues.Next(begun + milliseconds(200)), std::nullopt);
  EXPECT_EQ(queues.idle_until(), begun + milliseconds(300));
  EXPECT_EQ(queues.Next(begun + milliseconds(300)), a);
}

TEST(RecordQueues, WithMaxIdleARecordThatComesInTimeIsTakenInOrder) {
  RecordQueues queues({.max_idle = milliseconds(100), .max_skew = {}});
  const size_t a = queues.AddPartition(), b = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);
  queues.Push(b, At(9), nullptr);
  EXPECT_EQ(queues.Next(kNow + milliseconds(1)), b);
}

TEST(RecordQueues, MaxIdleCountsForEachPartitionAndNeverForAnUnknownOrDoneOne) {
  RecordQueues queues({.max_idle = milliseconds(100), .max_skew = {}});
  const size_t a = queues.AddPartition(), b = queues.AddPartition(), c = queues.AddPartition();
  queues.Push(a, At(10), nullptr);
  queues.MarkAtEnd(b);
  EXPECT_EQ(queues.Next(kNow), std::nullopt);  // b's time begins though c is unknown
  EXPECT_EQ(queues.idle_until(), std::nullopt);
  EXPECT_EQ(queues.Next(kNow + milliseconds(1000)), std::nullopt);  // however long c takes
  queues.MarkAtEnd(c);
  EXPECT_EQ(queues.Next(kNow + milliseconds(1000)), std::nullopt);
  EXPECT_EQ(queues.idle_until(), kNow + milliseconds(1100));
  queues.MarkDone(c);
  EXPECT_EQ(queues.Next(kNow + milliseconds(1000)), a);
}

TEST(RecordQueues, WithMaxSkewAHeadFarAheadIsNotReadOn) {
  RecordQueues queues({.max_idle = {}, .max_skew = milliseconds(50)});
  const size_t a = queues.AddPartition(), b = queues.AddPartition(), c = queues.AddPartition();
  queues.Push(b, At(1000), nullptr);
  EXPECT_FALSE(queues.TooFar(b));  // the first head of all
  queues.Push(a, At(10), nullptr);
  queues.Push(a, At(30), nullptr);
  queues.Push(c, At(60), nullptr);
  EXPECT_FALSE(queues.TooFar(a));
  EXPECT_TRUE(queues.TooFar(b));
  EXPECT_FALSE(queues.TooFar(c));  // 50 ahead, and not more
  queues.Pop(a);
  queues.Push(c, At(81), nullptr);
  queues.Pop(a);
  queues.Pop(c);
  EXPECT_FALSE(queues.TooFar(a));  // empty
  EXPECT_FALSE(queues.TooFar(c));
  EXPECT_TRUE(queues.TooFar(b));
  queues.Pop(c);
  EXPECT_FALSE(queues.TooFar(b));  // it is next now
}

TEST(RecordQueues, WithoutATimeOrALimitNothingIsTooFar) {
  RecordQueues timeless({.max_idle = {}, .max_skew = milliseconds(0)});
  timeless.AddPartition();
  timeless.AddPartition();
  timeless.Push(0, Record(), nullptr);
  timeless.Push(1, At(1000), nullptr);
  EXPECT_FALSE(timeless.TooFar(1));

  RecordQueues huge({.max_idle = {}, .max_skew = milliseconds::max()});
  huge.AddPartition();
  huge.AddPartition();
  huge.Push(0, At(10), nullptr);
  huge.Push(1, At(INT64_MAX), nullptr);
  EXPECT_FALSE(huge.TooFar(1));

  RecordQueues without;
  without.AddPartition();
  without.AddPartition();
  without.Push(0, At(0), nullptr);
  without.Push(1, At(INT64_MAX), nullptr);
  EXPECT_FALSE(without.TooFar(1));
}

TEST(RecordQueues, MaxSkewNeverStopsAllThatCouldMove) {
  // Whoever is asked to wait is not the one that the task waits for: with every partition read only
  // while it is not too far, all records come out, in order.
  std::mt19937 random(7);
  RecordQueues queues({.max_idle = {}, .max_skew = milliseconds(5)});
  constexpr size_t kPartitions = 6;
  std::vector<std::deque<int64_t>> left(kPartitions);
  size_t total = 0;
  for (auto& times : left) {
    queues.AddPartition();
    const size_t count = random() % 200;
    for (size_t i = 0; i < count; i++) times.push_back(static_cast<int64_t>(random() % 10000));
    std::sort(times.begin(), times.end());
    total += count;
  }
  std::vector<int64_t> taken;
  for (size_t turns = 0; taken.size() < total; turns++) {
    ASSERT_LT(turns, 20 * total) << "stuck after " << taken.size() << " of " << total;
    const size_t read = random() % kPartitions;
    if (!queues.TooFar(read)) {
      if (left[read].empty()) {
        queues.MarkAtEnd(read);
      } else {
        queues.Push(read, At(left[read].front()), nullptr);
        left[read].pop_front();
      }
    }
    while (const auto next = queues.Next(kNow)) {
      taken.push_back(queues.Head(*next).timestamp);
      queues.Pop(*next);
    }
  }
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
}

// Partitions whose times rise come out as a stable sort by (time, rank, partition) would give them,
// however the pushes interleave with the pops.
TEST(RecordQueues, TheOrderIsThatOfASort) {
  for (unsigned seed = 0; seed < 200; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const size_t partitions = seed % 10 == 0 ? 300 : 1 + random() % 8;
    RecordQueues queues;
    using Item = std::tuple<int64_t, int, size_t, int64_t>;  // time, rank, partition, offset
    std::vector<Item> expected, taken;
    std::vector<std::deque<Record>> left(partitions);
    std::vector<int> ranks;
    std::vector<size_t> alive;
    for (size_t p = 0; p < partitions; p++) {
      ranks.push_back(static_cast<int>(random() % 3));
      queues.AddPartition(ranks.back());
      alive.push_back(p);
      int64_t time = random() % 5;
      const int64_t count = random() % 20;
      for (int64_t offset = 0; offset < count; offset++) {
        time += random() % 3;
        Record record = At(time);
        record.offset = offset;
        left[p].push_back(record);
        expected.push_back({time, ranks[p], p, offset});
      }
    }
    std::sort(expected.begin(), expected.end());
    while (!alive.empty() || queues.size() > 0) {
      if (!alive.empty()) {
        const size_t which = random() % alive.size(), p = alive[which];
        for (size_t n = 1 + random() % 3; n > 0 && !left[p].empty(); n--) {
          queues.Push(p, left[p].front(), nullptr);
          left[p].pop_front();
        }
        if (left[p].empty()) {
          random() % 2 ? queues.MarkAtEnd(p) : queues.MarkDone(p);
          alive.erase(alive.begin() + static_cast<ptrdiff_t>(which));
        }
      }
      while (const auto next = queues.Next(kNow)) {
        const Record& head = queues.Head(*next);
        taken.push_back({head.timestamp, ranks[*next], *next, head.offset});
        queues.Pop(*next);
      }
    }
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(queues.bytes(), 0u);
  }
}

// With times in any order the next one is still the smallest head.
TEST(RecordQueues, TheNextIsTheSmallestHeadWhateverTheOrderWithinPartitions) {
  std::mt19937 random(1);
  RecordQueues queues;
  constexpr size_t kPartitions = 20;
  std::vector<std::deque<int64_t>> model(kPartitions);
  for (size_t p = 0; p < kPartitions; p++) {
    queues.AddPartition();
    queues.MarkDone(p);
  }
  for (int step = 0; step < 20000; step++) {
    if (random() % 2) {
      const size_t p = random() % kPartitions;
      const int64_t time = static_cast<int64_t>(random() % 50);
      queues.Push(p, At(time), nullptr);
      model[p].push_back(time);
    }
    std::optional<size_t> smallest;
    for (size_t p = 0; p < kPartitions; p++) {
      if (!model[p].empty() && (!smallest || model[p].front() < model[*smallest].front())) {
        smallest = p;
      }
    }
    ASSERT_EQ(queues.Next(kNow), smallest);
    if (smallest && random() % 2) {
      queues.Pop(*smallest);
      model[*smallest].pop_front();
    }
  }
}

}  // namespace
}  // namespace kstream::task
