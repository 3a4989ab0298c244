// KeptStore: a store that the runtime keeps, and its epochs.
//
// Changes are held in memory until they are safe elsewhere: the *open* set takes them as they come;
// Seal writes each changed key once to the changelog and makes the set the *sealed* one; Commit,
// called once all of that epoch is acknowledged (or its transaction committed), moves the sealed
// set into the engine in one write with the changelog offset. Reads see open, then sealed, then the
// engine. So the engine always stands at a committed point, and disagrees with neither its
// changelog nor itself, whenever the process dies.
//
// The write may go on beside the thread. The set stays sealed until it has ended, so that reads do
// not ask how far it is.
//
//   Put -> open --Seal--> sealed --Commit--> engine
//                |           |
//                +---Drop----+--> forgotten: back to what the engine has
//
// At most one epoch is sealed: Seal needs an empty sealed set. Both sets, and rows that were read,
// are in one RowCache, so that a read or a change is one look-up.
//
// Clear is lazy: the epoch is marked as beginning from nothing, and the keys that the engine has
// are journaled as deleted when it is sealed. Tested by tests/unit/store/rocksdb/kept_store_test.cc
// (every operation against a plain map, with random seals, commits, drops and restarts, over each
// engine).
#ifndef KSTREAM_STORE_KEPT_STORE_H_
#define KSTREAM_STORE_KEPT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/store.h"
#include "store/committed_reader.h"
#include "store/engine.h"
#include "store/row_cache.h"

namespace kstream::store {

// Where changes are journaled: the store's partition of its changelog topic.
class ChangelogSink {
 public:
  virtual ~ChangelogSink() = default;
  // Sends one change of the epoch that is being sealed.
  virtual Status Append(const Change& change) = 0;
};

// What was asked of a store since it was opened.
struct Meter {
  uint64_t gets = 0;
  uint64_t gets_from_engine = 0;  // of them, those that memory could not answer
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t clears = 0;
  uint64_t ranges = 0;
  uint64_t range_rows = 0;  // rows that ranges visited
  uint64_t journaled = 0;   // changes appended to the changelog

  uint64_t changes() const { return puts + deletes + clears; }
};

// Belongs to the thread of its task.
class KeptStore final : public KeyValueStore {
 public:
  // `cache` is what rows that were read or committed may be kept within; null: none are kept.
  KeptStore(std::string name, std::unique_ptr<Engine> engine,
            std::shared_ptr<RowBudget> cache = nullptr);
  // Ends the readers. The engine is closed without a word about how: see CloseEngine.
  ~KeptStore() override;

  // What rows put without a time get; null: 0.
  void SetEventTime(std::function<int64_t()> event_time) { event_time_ = std::move(event_time); }

  // KeyValueStore
  std::string_view name() const override { return name_; }
  Status Put(std::string_view key, std::string_view value, int64_t timestamp) override;
  using KeyValueStore::Put;
  Status Delete(std::string_view key) override;
  Status Clear() override;
  Result<bool> Find(std::string_view key, StoredRow* row) const override;
  Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                   const RowVisitor& visit) const override;
  // Half of what the rows of its own cache may take.
  int64_t memory_share() const override { return cache_.share() / 2; }
  // The processors are done with it: what is open and sealed, and the engine, stay.
  void Close() override { usable_ = false; }

  // Epochs. `changelog` null: nothing is journaled. After a failure nothing is sealed: Drop.
  Status Seal(ChangelogSink* changelog);
  bool sealed() const { return is_sealed_; }
  // `last`: offset of the epoch's last changelog record, -1 if it wrote none. `now`: wall clock,
  // ms. After a failure the epoch is still sealed, and the engine without it.
  Status Commit(const std::string& incarnation, int64_t last, int64_t now);
  // The same in two steps, between which the store may be used. EndCommit says whether the epoch is
  // in the engine; with `wait` it always is, unless that has failed.
  Status StartCommit(const std::string& incarnation, int64_t last, int64_t now);
  bool committing() const { return is_committing_; }
  Result<bool> EndCommit(bool wait);
  // Waits for a commit under way. Other processors may use it after that.
  void Drop();

  // What open and sealed set take, bytes.
  size_t dirty_bytes() const { return cache_.changed_bytes(); }
  // With the rows kept at hand.
  size_t cached_bytes() const { return cache_.bytes(); }
  const Meter& meter() const { return meter_; }

  // For other threads; lives as long as somebody keeps it.
  std::shared_ptr<const CommittedReader> reader() const { return reader_; }

  // Whoever writes to the engine by himself (a restore) does it before the first read, or between
  // Drop and the next one: rows that were read are remembered, and what was loaded is
  // made visible by the first read or commit.
  Engine* engine() { return engine_.get(); }
  const Engine* engine() const { return engine_.get(); }
  // Ends the readers, flushes, and gives up the directory.
  Status CloseEngine();

 private:
  Status CheckUsable() const;
  Status EndLoad() const;
  Status JournalClear(ChangelogSink* changelog);
  // Whether the engine's rows count, beneath what the cache has.
  bool engine_counts() const { return !open_cleared_ && !sealed_cleared_; }

  const std::string name_;
  const std::unique_ptr<Engine> engine_;
  const std::shared_ptr<CommittedReader> reader_;
  std::function<int64_t()> event_time_;
  mutable RowCache cache_;
  mutable Meter meter_;
  uint64_t last_hash_ = 0;  // of the last change journaled by Seal
  bool open_cleared_ = false, sealed_cleared_ = false;
  bool is_sealed_ = false, is_committing_ = false, usable_ = true;
  mutable bool may_be_loading_ = true;  // the engine, since it was opened or Drop
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_KEPT_STORE_H_
