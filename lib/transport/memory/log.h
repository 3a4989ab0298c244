// PartitionLog: the records of one partition and the transactions that wrote them.
//
// An offset is the place in the log, and the marker that ends a transaction takes one as well, so
// positions of read_committed readers behave as on a broker: they stop below the first offset of an
// open transaction and pass aborted records and markers silently.
// Tested by tests/unit/transport/memory/log_test.cc.
#ifndef KSTREAM_TRANSPORT_MEMORY_LOG_H_
#define KSTREAM_TRANSPORT_MEMORY_LOG_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kstream/record.h"

namespace kstream::transport::memory {

// A record with memory of its own.
struct StoredRecord {
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
  int64_t timestamp = 1;  // ms since the epoch
  TimestampType timestamp_type = TimestampType::kCreateTime;
  int32_t partition = -1;  // where it is; set by the log
  int64_t offset = -1;

  // Without a place.
  static StoredRecord Copy(const Record& record);
};

using Transaction = int;
inline constexpr Transaction kNoTransaction = 0;

class PartitionLog {
 public:
  explicit PartitionLog(int32_t partition) : partition_(partition) {}

  // Returns the record's offset.
  int64_t Append(StoredRecord record, Transaction transaction = kNoTransaction);
  // Appends a marker if the transaction is open here.
  void End(Transaction transaction, bool commit);
  // Nothing below `low` can be read any more, as after DeleteRecords; its memory is free.
  void RaiseLow(int64_t low);

  int64_t low() const { return low_; }
  int64_t high() const { return low_ + static_cast<int64_t>(entries_.size()); }
  // Where a read_committed reader stops: the first offset of the oldest open transaction.
  int64_t stable() const;

  // The first record at or after `position` that a read_committed reader sees; null: none.
  std::shared_ptr<const StoredRecord> Next(int64_t position) const;
  // The first offset whose record has at least this timestamp; high() where there is none.
  int64_t OffsetFor(int64_t timestamp) const;

 private:
  struct Entry {
    std::shared_ptr<const StoredRecord> record;  // null: a marker
    Transaction transaction;
  };

  const Entry& At(int64_t offset) const { return entries_[static_cast<size_t>(offset - low_)]; }

  const int32_t partition_;
  std::deque<Entry> entries_;  // the first is that of low_
  int64_t low_ = 0;
  std::set<std::pair<int64_t, Transaction>> open_;  // by first offset
  std::set<Transaction> aborted_;
};

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_LOG_H_
