// StateStore: what a processor remembers between records. Every task has an instance of its own.
#ifndef KSTREAM_STORE_H_
#define KSTREAM_STORE_H_

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

// Keys and values are bytes; an empty value is a value. Keys are ordered as unsigned bytes.
class KSTREAM_EXPORT KeyValueStore : public StateStore {
 public:
  // Is called for one entry after the other while it returns true. It must not change the store.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual Status Put(std::string_view key, std::string_view value) = 0;
  // Deleting what is not there is nothing.
  virtual Status Delete(std::string_view key) = 0;
  virtual Status Clear() = 0;

  // nullopt: no such key.
  virtual Result<std::optional<std::string>> Get(std::string_view key) const = 0;
  // Entries with from <= key < to, in order; `to` nullopt: to the end.
  virtual Status Range(std::string_view from, std::optional<std::string_view> to,
                       const Visitor& visit) const = 0;
  Status All(const Visitor& visit) const { return Range("", std::nullopt, visit); }
  Status Prefix(std::string_view prefix, const Visitor& visit) const;
};

// Makes the instance of a task. Called from several threads.
using StoreSupplier = std::function<std::unique_ptr<StateStore>(std::string_view name)>;

// A key-value store in memory that no topic backs: a task begins with an empty one wherever it
// starts.
KSTREAM_EXPORT StoreSupplier InMemoryKeyValueStore();

}  // namespace kstream

#endif  // KSTREAM_STORE_H_
