// Bulk: the changes of a restore, gathered, sorted and handed to the database as one file. To put
// them one by one into a memtable costs several times as much, since each has to find its place
// there, and all of it has to be written out as such a file in the end. Tested by
// tests/unit/store/rocksdb/both_engines_test.cc and crash_test.cc.
#ifndef KSTREAM_STORE_ROCKSDB_BULK_H_
#define KSTREAM_STORE_ROCKSDB_BULK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/engine.h"

namespace rocksdb {
class DB;
class Status;
}  // namespace rocksdb

namespace kstream::store::rocksdb {

class Bulk {
 public:
  void Add(std::span<const Change> changes);
  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return bytes_.size() + entries_.size() * sizeof(Entry); }

  // The last change of each key, in order of keys. The views are valid until Add or Clear.
  std::vector<Change> Sorted() const;
  void Clear();

 private:
  struct Entry {
    size_t at = 0;  // of the key in bytes_; the value follows
    uint32_t key_size = 0, value_size = 0;
    int64_t timestamp = 0;
    bool deletes = false;
  };
  std::string_view KeyOf(const Entry& entry) const {
    return std::string_view(bytes_).substr(entry.at, entry.key_size);
  }

  std::string bytes_;
  std::vector<Entry> entries_;
};

// Makes `sorted` and the checkpoint a file beside the database's own, and a part of it in one step.
::rocksdb::Status Ingest(::rocksdb::DB* db, const std::string& directory,
                         std::span<const Change> sorted, const Checkpoint& checkpoint);

}  // namespace kstream::store::rocksdb

#endif  // KSTREAM_STORE_ROCKSDB_BULK_H_
