// KeptStore: a store that the runtime keeps, and its epochs.
//
// Changes are held in memory until they are safe elsewhere: the *open* set takes them as they come;
// Seal writes each changed key once to the changelog and makes the set the *sealed* one; Commit,
// called once all of that epoch is acknowledged (or its transaction committed), moves the sealed
// set into the engine in one write with the changelog offset. Reads see open, then sealed, then the
// engine. So the engine always stands at a committed point, and disagrees with neither its
// changelog nor itself, whenever the process dies.
//
//   Put -> open --Seal--> sealed --Commit--> engine
//                |           |
//                +---Drop----+--> forgotten: back to what the engine has
//
// At most one epoch is sealed: Seal needs an empty sealed set. Tested by
// tests/unit/store/kept_store_test.cc (every operation against a plain map, with random seals,
// commits and drops).
#ifndef KSTREAM_STORE_KEPT_STORE_H_
#define KSTREAM_STORE_KEPT_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/store.h"
#include "store/engine.h"

namespace kstream::store {

// Where changes are journaled: the store's partition of its changelog topic.
class ChangelogSink {
 public:
  virtual ~ChangelogSink() = default;
  // Sends one change of the epoch that is being sealed.
  virtual Status Append(const Change& change) = 0;
};

// Belongs to the thread of its task.
class KeptStore final : public KeyValueStore {
 public:
  KeptStore(std::string name, std::unique_ptr<Engine> engine);
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
  // The processors are done with it: what is open and sealed, and the engine, stay.
  void Close() override { usable_ = false; }

  // Epochs. `changelog` null: nothing is journaled.
  Status Seal(ChangelogSink* changelog);
  bool sealed() const { return is_sealed_; }
  // `last`: offset of the epoch's last changelog record, -1 if it wrote none. `now`: wall clock,
  // ms.
  Status Commit(const std::string& incarnation, int64_t last, int64_t now);
  void Drop();

  // What open and sealed set take, bytes.
  size_t dirty_bytes() const;

  Engine* engine() { return engine_.get(); }
  const Engine* engine() const { return engine_.get(); }

 private:
  struct Dirty {
    std::optional<std::string> value;  // nullopt: deleted
    int64_t timestamp = 0;
  };
  using Set = std::map<std::string, Dirty, std::less<>>;

  std::string name_;
  std::unique_ptr<Engine> engine_;
  std::function<int64_t()> event_time_;
  Set open_, sealed_;
  size_t open_bytes_ = 0, sealed_bytes_ = 0;
  uint64_t last_hash_ = 0;  // of the last change journaled by Seal
  bool is_sealed_ = false, usable_ = true;
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_KEPT_STORE_H_
