// CommittedReader: what other threads see of a store: its committed rows, for as long as the engine
// is open. The owner pays nothing for it: readers share a lock among themselves that the owner
// takes only to end them. Tested by tests/unit/store/rocksdb/committed_reader_test.cc.
#ifndef KSTREAM_STORE_COMMITTED_READER_H_
#define KSTREAM_STORE_COMMITTED_READER_H_

#include <atomic>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "kstream/store.h"
#include "store/engine.h"

namespace kstream::store {

// Thread-safe. Kept by a shared pointer, it may outlive the store: then all it says is kState.
class CommittedReader {
 public:
  // `engine` stays open until End.
  CommittedReader(std::string name, const Engine* engine)
      : name_(std::move(name)), engine_(engine) {}

  Result<bool> Find(std::string_view key, StoredRow* row) const;
  // Entries with from <= key < to, in order; `to` nullopt: to the end. `visit` must not call End.
  Status Range(std::string_view from, std::optional<std::string_view> to,
               const KeyValueStore::RowVisitor& visit) const;
  Result<Checkpoint> checkpoint() const;

  // By the owner, before it closes the engine: waits for calls under way, which end early.
  void End();

 private:
  Status Ended() const;

  const std::string name_;
  const Engine* const engine_;
  mutable std::shared_mutex mutex_;
  std::atomic<bool> ended_ = false;
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_COMMITTED_READER_H_
