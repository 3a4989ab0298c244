// RecordQueues: the records of one task's partitions in the order of task time (KIP-28).
//
// Each partition has a FIFO queue. A partition is unknown (nothing fetched yet), has records, or is
// at its end. The next record is the head with the smallest timestamp, ties by the order in which
// the partitions were added; as long as one partition is unknown there is none, because an earlier
// record may still come. Records without a timestamp come first: nothing says that they are later.
// Tested by tests/unit/task/record_queues_test.cc.
#ifndef KSTREAM_TASK_RECORD_QUEUES_H_
#define KSTREAM_TASK_RECORD_QUEUES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "kstream/record.h"

namespace kstream::task {

// Belongs to one thread.
class RecordQueues {
 public:
  // Adds a partition, unknown at first. Numbers rise from 0.
  size_t AddPartition();

  // `owner` keeps the memory of the record's views; it is released when the record is popped.
  void Push(size_t partition, const Record& record, std::shared_ptr<const void> owner);
  // Everything that the partition holds by now has been pushed.
  void MarkAtEnd(size_t partition) { queues_[partition].at_end = true; }
  // The partition will bring nothing more, and holds nothing back.
  void MarkDone(size_t partition) { queues_[partition].done = true; }

  // The partition whose head comes next; nullopt when all are empty or an unknown one holds the
  // task.
  std::optional<size_t> Next() const;
  // A record that may be changed in place before it is processed.
  Record& Head(size_t partition) { return queues_[partition].records.front().record; }
  void Pop(size_t partition) { queues_[partition].records.pop_front(); }
  size_t Size(size_t partition) const { return queues_[partition].records.size(); }

 private:
  struct Entry {
    Record record;
    std::shared_ptr<const void> owner;
  };
  struct Queue {
    std::deque<Entry> records;
    bool at_end = false;
    bool done = false;
  };
  std::vector<Queue> queues_;
};

// The time by which a record is ordered.
inline int64_t OrderTime(const Record& record) {
  return record.timestamp_type == TimestampType::kNone ? INT64_MIN : record.timestamp;
}

}  // namespace kstream::task

#endif  // KSTREAM_TASK_RECORD_QUEUES_H_
