// The engine in RocksDB: one database a store instance, without a write-ahead log: the changelog is
// the log. A crash loses the memtable, and with it the newer checkpoint: the store is older, never
// wrong.
//
// All databases of a process share one Memory: block cache, write buffers and the rows that stores
// keep at hand stay within its budget together. The form on disk is in share/doc/kstream/stores.md.
// Tested by tests/unit/store/rocksdb/.
#ifndef KSTREAM_STORE_ROCKSDB_ROCKSDB_ENGINE_H_
#define KSTREAM_STORE_ROCKSDB_ROCKSDB_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "store/engine.h"
#include "store/row_cache.h"

namespace kstream::store::rocksdb {

// The memory that all engines of a process share. Thread-safe; outlives them.
class Memory {
 public:
  // `budget` in bytes; below 8 MiB it is 8 MiB.
  static std::shared_ptr<Memory> New(uint64_t budget);
  virtual ~Memory() = default;
  // The part for the rows of KeptStores.
  virtual std::shared_ptr<RowBudget> rows() const = 0;
  virtual uint64_t used() const = 0;  // bytes, of block cache and write buffers
};

// Opens the database in `directory`, and makes both when they are missing. kState: damaged, of a
// newer kstream, in use, no room.
Result<std::unique_ptr<Engine>> Open(const std::string& directory, std::shared_ptr<Memory> memory);

// The same for looking in from another process, also while its owner runs: as of the owner's last
// flush. Changes nothing on disk; writing to it fails. kState when there is none.
Result<std::unique_ptr<Engine>> OpenForReading(const std::string& directory);

}  // namespace kstream::store::rocksdb

#endif  // KSTREAM_STORE_ROCKSDB_ROCKSDB_ENGINE_H_
