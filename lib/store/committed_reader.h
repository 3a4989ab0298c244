// CommittedReader: what other threads see of a store: its committed rows, for as long as the engine
// is open. The owner pays nothing for it: readers share a lock among themselves that the owner
// takes only to end them. OpenStores is where others find it. Tested by
// tests/unit/store/rocksdb/committed_reader_test.cc.
#ifndef KSTREAM_STORE_COMMITTED_READER_H_
#define KSTREAM_STORE_COMMITTED_READER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/store.h"
#include "store/engine.h"

namespace kstream::store {

// Thread-safe. Kept by a shared pointer, it may outlive the store: then all it says is kState.
class CommittedReader final : public StoreReader {
 public:
  // `engine` stays open until End.
  CommittedReader(std::string name, const Engine* engine)
      : name_(std::move(name)), engine_(engine) {}

  const std::string& name() const { return name_; }
  Result<bool> Find(std::string_view key, StoredRow* row) const override;
  // `visit` must not call End.
  Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                   const KeyValueStore::RowVisitor& visit) const override;
  Result<int64_t> changelog_offset() const override;

  bool ended() const { return ended_; }
  // By the owner, before it closes the engine: waits for calls under way, which end early.
  void End();

 private:
  Status Ended() const;

  const std::string name_;
  const Engine* const engine_;
  mutable std::shared_mutex mutex_;
  std::atomic<bool> ended_ = false;
};

// The stores of a process that can be read, by name and task. Thread-safe.
class OpenStores {
 public:
  // Offers it until it is ended; in the place of another of that store and task.
  void Add(int32_t task, const std::shared_ptr<const CommittedReader>& reader);
  // By task.
  std::vector<StoreInstance> Of(std::string_view name) const;

 private:
  using Place = std::pair<std::string, int32_t>;
  mutable std::mutex mutex_;
  std::map<Place, std::weak_ptr<const CommittedReader>> readers_;  // ended ones among them
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_COMMITTED_READER_H_
