// RecordQueues: the records of one task's partitions in the order of task time (KIP-28), as far as
// that order is known (KIP-353, KIP-695).
//
// Each partition has a FIFO queue. A partition is *unknown* (nothing is known of what comes next),
// *has records*, or is *at its end* (everything that it holds by now was pushed and taken). The
// next record is the head with the smallest timestamp; ties go by rank, then by the order in which
// the partitions were added. Records without a timestamp come first: nothing says that they are
// later. As long as one partition is unknown there is no next record, because an earlier one may
// still come.
//
// A partition at its end holds nothing back, or not for ever: with max_idle it holds the task from
// when it was found empty beside others that have records until that much time has passed; then the
// task goes on without it until it has records again.
//
// Task time is the smallest timestamp among the heads and never moves back: a record that is older
// is still the next one, and task time stays. With max_skew a partition whose head is later than
// task time by more than that should not be read on; the partition that is next never is.
//
// The heads are in a binary heap with their times, so the next record costs O(1) and the one after
// it O(log partitions): with 1 000 partitions as with 2. Memory: the bytes of a record belong to
// what it was read with (its owner), so bytes() is a lower bound of what is kept.
//
// Tested by tests/unit/task/record_queues_test.cc, against a sort among others.
#ifndef KSTREAM_TASK_RECORD_QUEUES_H_
#define KSTREAM_TASK_RECORD_QUEUES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "kstream/record.h"

namespace kstream::task {

// The time by which a record is ordered.
inline int64_t OrderTime(const Record& record) {
  return record.timestamp_type == TimestampType::kNone ? INT64_MIN : record.timestamp;
}

// Belongs to one thread.
class RecordQueues {
 public:
  struct Options {
    std::chrono::milliseconds max_idle{0};              // not negative
    std::optional<std::chrono::milliseconds> max_skew;  // not negative; nullopt: no limit
  };
  RecordQueues() = default;
  explicit RecordQueues(const Options& options) : options_(options) {}

  // Adds a partition, unknown at first. Numbers rise from 0. Of equal timestamps the lower rank
  // comes first (tables before streams), then the lower number: add the inputs in the order given,
  // the partitions of each by number.
  size_t AddPartition(int rank = 0);

  // `owner` keeps the memory of the record's views; it is released when the record is popped.
  void Push(size_t partition, const Record& record, std::shared_ptr<const void> owner);
  // Everything that the partition holds by now has been pushed.
  void MarkAtEnd(size_t partition);
  // The partition will bring nothing more, and holds nothing back.
  void MarkDone(size_t partition);

  // The partition whose head comes next; nullopt when all are empty or one holds the task. `now` is
  // the steady clock's.
  std::optional<size_t> Next(Clock::Instant now);
  // The head of a partition: a record that may be changed in place before it is processed.
  Record& Head(size_t partition) { return queues_[partition].records.front().record; }
  // Takes the head of the partition that Next gave.
  void Pop(size_t partition);

  // After Next gave nullopt: when max_idle will have passed for all that hold the task; nullopt
  // when it waits for records, not for time.
  std::optional<Clock::Instant> idle_until() const { return idle_until_; }
  // Whether max_skew says that the partition should not be read now. Changes with every Pop.
  bool TooFar(size_t partition) const;
  // nullopt: no record with a timestamp has been next yet.
  std::optional<int64_t> task_time() const;

  size_t Size(size_t partition) const { return queues_[partition].records.size(); }
  size_t size() const { return size_; }    // records, of all partitions
  size_t bytes() const { return bytes_; }  // of their keys, values and headers

 private:
  struct Entry {
    Record record;
    std::shared_ptr<const void> owner;
    size_t bytes;
  };
  struct Queue {
    std::deque<Entry> records;
    int rank = 0;
    bool at_end = false;
    bool done = false;
    bool idled = false;   // max_idle has passed since it ran empty
    bool listed = false;  // in waiting_
    std::optional<Clock::Instant> idle_since;

    bool unknown() const { return records.empty() && !at_end && !done; }
    bool waits() const { return records.empty() && at_end && !done && !idled; }
  };
  struct Front {
    int64_t time;
    int rank;
    size_t partition;
  };
  static bool Earlier(const Front& a, const Front& b);
  void SiftUp(size_t at);
  void SiftDown(size_t at);
  void RanEmpty(size_t partition);
  bool HeldByIdle(Clock::Instant now);

  Options options_;
  std::vector<Queue> queues_;
  std::vector<Front> fronts_;    // of the partitions with records: a heap, the next one first
  size_t unknown_ = 0;           // partitions
  std::vector<size_t> waiting_;  // partitions that wait for max_idle, and some that did
  std::optional<Clock::Instant> idle_until_;
  int64_t task_time_ = INT64_MIN;
  size_t size_ = 0, bytes_ = 0;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_RECORD_QUEUES_H_
