// StateStore: what a processor remembers between records. Every task has an instance of its own.
#ifndef KSTREAM_STORE_H_
#define KSTREAM_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

// Belongs to the thread of its task. Opened before the processors are initialised, closed after
// they are; every call after that fails with kUsage and the store's name.
class KSTREAM_EXPORT StateStore {
 public:
  virtual ~StateStore();
  virtual std::string_view name() const = 0;
  virtual void Close() = 0;
};

// A value of a store and its event time, ms since the epoch.
struct StoredRow {
  std::string value;
  int64_t timestamp = 0;
};

// Keys and values are bytes; an empty value is a value. Keys are ordered as unsigned bytes.
class KSTREAM_EXPORT KeyValueStore : public StateStore {
 public:
  // Is called for one entry after the other while it returns true. It must not change the store.
  // The views are valid during the call.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  using RowVisitor =
      std::function<bool(std::string_view key, std::string_view value, int64_t timestamp)>;

  // `timestamp` is the event time of the row; without one it is that of the record at hand.
  static constexpr int64_t kRecordTime = INT64_MIN;
  virtual Status Put(std::string_view key, std::string_view value, int64_t timestamp) = 0;
  Status Put(std::string_view key, std::string_view value) { return Put(key, value, kRecordTime); }
  // Deleting what is not there is nothing.
  virtual Status Delete(std::string_view key) = 0;
  virtual Status Clear() = 0;

  // Fills in *row, whose memory is used again. False: there is no such key.
  virtual Result<bool> Find(std::string_view key, StoredRow* row) const = 0;
  // nullopt: no such key.
  Result<std::optional<std::string>> Get(std::string_view key) const;

  // Entries with from <= key < to, in order; `to` nullopt: to the end.
  virtual Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                           const RowVisitor& visit) const = 0;
  Status Range(std::string_view from, std::optional<std::string_view> to,
               const Visitor& visit) const;
  Status All(const Visitor& visit) const { return Range("", std::nullopt, visit); }
  Status Prefix(std::string_view prefix, const Visitor& visit) const;

  // What a processor that keeps rows of this store at hand may use for them, in bytes: its part of
  // --memory, which changes as tasks come and go.
  virtual int64_t memory_share() const { return INT64_MAX; }
};

// The committed rows of a kept store in one task, for threads other than the task's: what changed
// since the last commit (RuntimeOptions::CommitInterval) is not seen yet. Any thread, many at once;
// the task never waits for readers except to end. Once the task has ended or moved to another
// process every call is kState, for good: ask Runtime::Store again. A walk that is under way then
// ends early, with that.
class KSTREAM_EXPORT StoreReader {
 public:
  virtual ~StoreReader();
  // Fills in *row. False: this task has no such key.
  virtual Result<bool> Find(std::string_view key, StoredRow* row) const = 0;
  // Entries with from <= key < to, in order; `to` nullopt: to the end. Rows that are committed
  // meanwhile may be among them. `visit` must not wait for the end of the run.
  virtual Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                           const KeyValueStore::RowVisitor& visit) const = 0;
  // Which part of the store's changelog the rows are: all records before this offset; 0 without a
  // changelog.
  virtual Result<int64_t> changelog_offset() const = 0;
};

// A part of a store: the rows of one task.
struct StoreInstance {
  int32_t task = 0;  // the number in its stage, and of the partition of the changelog
  std::shared_ptr<const StoreReader> rows;
};

// A store that the runtime keeps: named by the user, never by its place, since its changelog topic
// <app>-<name>-changelog and its directory are found by that name.
struct StoreSpec {
  enum class Engine : uint8_t { kDefault, kRocksDb, kMemory };

  std::string name;
  Engine engine = Engine::kDefault;  // kDefault: as --store-type says
  // Whether changes are journaled to a changelog topic, from which another instance restores the
  // store. Only a run with an app on topics has one.
  bool changelog = true;
};

// Makes the instance of a task. Called from several threads.
using StoreSupplier = std::function<std::unique_ptr<StateStore>(std::string_view name)>;

// A key-value store in memory that the runtime does not keep: a task begins with an empty one
// wherever it starts.
KSTREAM_EXPORT StoreSupplier InMemoryKeyValueStore();

}  // namespace kstream

#endif  // KSTREAM_STORE_H_
