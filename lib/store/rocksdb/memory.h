// What rocksdb::Memory is inside, and how a database is set up to stay within it.
#ifndef KSTREAM_STORE_ROCKSDB_MEMORY_H_
#define KSTREAM_STORE_ROCKSDB_MEMORY_H_

#include <cstdint>
#include <memory>

#include "store/rocksdb/rocksdb_engine.h"

namespace rocksdb {
class Cache;
class FilterPolicy;
class WriteBufferManager;
struct Options;
}  // namespace rocksdb

namespace kstream::store::rocksdb {

// Half of the budget is the block cache, to which memtables are charged too, up to a half of it. A
// quarter holds rows (RowCache), and a quarter is left for what is not kept yet: StreamThread.
class SharedMemory final : public Memory {
 public:
  explicit SharedMemory(uint64_t budget);
  ~SharedMemory() override;
  uint64_t used() const override;
  std::shared_ptr<RowBudget> rows() const override { return rows_; }

  // What a database in restore may gather before it makes a file of it.
  uint64_t bulk_bytes() const;

  // For a database that is written, or for one that is looked into while another process has it.
  ::rocksdb::Options WriterOptions() const;
  ::rocksdb::Options ReaderOptions() const;

 private:
  ::rocksdb::Options CommonOptions() const;

  const uint64_t budget_;
  const std::shared_ptr<RowBudget> rows_;
  const std::shared_ptr<::rocksdb::Cache> blocks_;
  const std::shared_ptr<::rocksdb::WriteBufferManager> write_buffers_;
  const std::shared_ptr<const ::rocksdb::FilterPolicy> filter_;
};

}  // namespace kstream::store::rocksdb

#endif  // KSTREAM_STORE_ROCKSDB_MEMORY_H_
