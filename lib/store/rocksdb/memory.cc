// The settings of every database. Each has its reason here; what is not named is RocksDB's default.
#include "store/rocksdb/memory.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

namespace kstream::store::rocksdb {
namespace {

constexpr uint64_t kMiB = 1 << 20;
// Below this the figures make no sense to RocksDB.
constexpr uint64_t kLeastBudget = 8 * kMiB;

// A shard of the block cache is for a whole number of large blocks: RocksDB's own choice, 64 shards
// whatever the size, makes some that a single index or filter does not fit in, which is then read
// and verified again for each look-up.
int ShardBits(uint64_t cache) {
  int bits = 0;
  while (bits < 4 && cache >> (bits + 1) >= 32 * kMiB) bits++;
  return bits;
}

// Without a logger RocksDB makes files LOG and LOG.old.* in the directory, even of a database that
// is only read. What matters comes as a status.
class Silence final : public ::rocksdb::Logger {
 public:
  Silence() : Logger(::rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

::rocksdb::CompressionType Compression() {
  const auto supported = ::rocksdb::GetSupportedCompressions();
  const bool has_lz4 =
      std::find(supported.begin(), supported.end(), ::rocksdb::kLZ4Compression) != supported.end();
  return has_lz4 ? ::rocksdb::kLZ4Compression : ::rocksdb::kNoCompression;
}

}  // namespace

SharedMemory::SharedMemory(uint64_t budget)
    : budget_(std::max(budget, kLeastBudget)),
      rows_(std::make_shared<RowBudget>(budget_ / 4)),
      blocks_(::rocksdb::NewLRUCache(budget_ / 2, ShardBits(budget_ / 2))),
      write_buffers_(std::make_shared<::rocksdb::WriteBufferManager>(budget_ / 4, blocks_)),
      filter_(::rocksdb::NewBloomFilterPolicy(10)) {}

SharedMemory::~SharedMemory() = default;

uint64_t SharedMemory::used() const { return blocks_->GetUsage(); }

uint64_t SharedMemory::bulk_bytes() const { return std::clamp(budget_ / 32, kMiB, 16 * kMiB); }

::rocksdb::Options SharedMemory::CommonOptions() const {
  ::rocksdb::Options options;
  options.info_log = std::make_shared<Silence>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;

  ::rocksdb::BlockBasedTableOptions table;
  table.block_cache = blocks_;
  // Index and filters count against the budget; they are in the way of every look-up, so they stay
  // longer than data.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy = filter_;
  // In parts of a few KiB: one for a whole file has a megabyte for each 800 000 keys.
  table.index_type = ::rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.data_block_index_type = ::rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.format_version = 5;
  options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

::rocksdb::Options SharedMemory::WriterOptions() const {
  ::rocksdb::Options options = CommonOptions();
  options.create_if_missing = true;
  options.write_buffer_manager = write_buffers_;
  // A memtable of one store; all together are held down by the manager, which flushes the one that
  // is written to.
  options.write_buffer_size = std::clamp(budget_ / 16, kMiB, 32 * kMiB);
  options.arena_block_size = std::min<size_t>(options.write_buffer_size / 8, 256 << 10);
  options.max_write_buffer_number = 3;
  // Most keys that are asked for are not in the memtable.
  options.memtable_prefix_bloom_size_ratio = 0.05;
  options.memtable_whole_key_filtering = true;
  options.allow_concurrent_memtable_write = false;  // one thread writes, so inserts are cheaper
  options.enable_write_thread_adaptive_yield = false;
  // Batches come in the order of keys: each insert begins where the last one was. By two bytes, so
  // that kRowsBegin is without: RocksDB 7.8 takes the place of a row for one among range deletions.
  options.memtable_insert_with_hint_prefix_extractor.reset(::rocksdb::NewFixedPrefixTransform(2));
  options.compression = Compression();
  options.target_file_size_base = 64 * kMiB;
  options.target_file_size_multiplier = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_open_files = 64;      // a store each; a process has a hundred of them and 1 024 files
  options.max_background_jobs = 2;  // threads that all databases of the process share
  options.skip_stats_update_on_db_open = true;
  options.avoid_unnecessary_blocking_io = true;
  return options;
}

::rocksdb::Options SharedMemory::ReaderOptions() const {
  ::rocksdb::Options options = CommonOptions();
  options.create_if_missing = false;
  options.max_open_files = -1;  // open from the beginning, so that the owner may delete them
  return options;
}

std::shared_ptr<Memory> Memory::New(uint64_t budget) {
  return std::make_shared<SharedMemory>(budget);
}

}  // namespace kstream::store::rocksdb
