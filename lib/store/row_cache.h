// RowCache: the rows of a store that are held in memory, found with one look-up.
//
//   changed  since the last seal (open) or between seal and commit (sealed); they stay until they
//   are
//            committed or dropped. A row changed again while it is sealed has both versions.
//   read     or committed: as the engine has them; they may go at any time, and do, so that all
//   caches
//            of the process stay within one budget. That a key is absent is worth remembering too.
//
// Why not an epoch's changes and a cache apart: a count reads and writes each key many times, and
// every table in the way would be one more miss of the processor's cache.
//
// Going is by the clock: a hand passes over the rows and takes the first that was not used since it
// came by. The changed rows are put in order only for a store that is asked for ranges, and kept so
// from then on. Tested by tests/unit/store/rocksdb/kept_store_test.cc.
#ifndef KSTREAM_STORE_ROW_CACHE_H_
#define KSTREAM_STORE_ROW_CACHE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_table.h"

namespace kstream::store {

// What the caches of all stores may hold together, in bytes. Each of those that are used gets an
// equal share. Thread-safe.
class RowBudget {
 public:
  explicit RowBudget(uint64_t bytes) : bytes_(bytes) {}
  void Join() { members_.fetch_add(1, std::memory_order_relaxed); }
  void Leave() { members_.fetch_sub(1, std::memory_order_relaxed); }
  uint64_t share() const { return bytes_ / members_.load(std::memory_order_relaxed); }

 private:
  const uint64_t bytes_;
  std::atomic<uint32_t> members_ = 0;
};

// For one thread.
class RowCache {
 public:
  struct Version {
    std::string value;
    int64_t timestamp = 0;
    bool is_there = false;  // false: there is no such row
  };
  struct Row {
    Version now;
    std::unique_ptr<Version> sealed;  // what was sealed, once it was changed again
    bool is_open = false, is_sealed = false;
    bool is_used = false, is_in_ring = false;
    bool is_changed() const { return is_open || is_sealed; }
  };

  // A key and its row; stays where it is until it goes.
  using Entry = ByteTable<Row>::Entry;
  using Ordered = std::map<std::string_view, const Entry*>;

  // `budget` null: nothing but changed rows is held.
  explicit RowCache(std::shared_ptr<RowBudget> budget);
  ~RowCache();
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  // Null: nothing is known of this key.
  const Row* Find(std::string_view key) {
    Entry* const entry = table_.Find(key);
    if (entry == nullptr) return nullptr;
    entry->value.is_used = true;
    return &entry->value;
  }
  // What the engine has under a key that Find does not know; value nullopt: no row.
  void Remember(std::string_view key, std::optional<std::string_view> value, int64_t timestamp);
  // An open change. `value` nullopt: deletes. It may be a view into the cache's own row.
  void Change(std::string_view key, std::optional<std::string_view> value, int64_t timestamp);
  // Makes all rows that are known absent, and that an open change where it was one.
  void DeleteAll();

  // Changed rows, in the order of their first change.
  const std::vector<Entry*>& open() const { return open_; }
  const std::vector<Entry*>& sealed() const { return sealed_; }
  // What a sealed entry had when it was sealed.
  static const Version& SealedOf(const Entry& entry) {
    return entry.value.sealed ? *entry.value.sealed : entry.value.now;
  }
  // All changed rows, by key.
  const Ordered& Sorted();

  void Seal();    // open becomes sealed; nothing is sealed before
  void Settle();  // the engine has the sealed ones now
  void Forget();  // everything

  // What unchanged rows may take; no end without a budget.
  int64_t share() const;
  size_t bytes() const { return bytes_; }  // of all rows
  size_t changed_bytes() const { return changed_bytes_; }

 private:
  void Change(Entry* entry, std::optional<std::string_view> value, int64_t timestamp);
  // Calls `change` with the entry's row, and keeps the figures right.
  template <typename F>
  void Update(Entry* entry, F change);
  void AddToRing(Entry* entry);
  void Erase(Entry* entry);
  void Shrink();

  std::shared_ptr<RowBudget> budget_;
  // From its first use: one that stands by leaves the others their shares.
  mutable bool has_joined_ = false;
  ByteTable<Row> table_;
  std::vector<Entry*> open_, sealed_;
  std::vector<Entry*> ring_;  // those that may go, and some that were changed since
  size_t hand_ = 0;
  Ordered sorted_;
  bool is_sorted_ = false;
  size_t bytes_ = 0, changed_bytes_ = 0;
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_ROW_CACHE_H_
