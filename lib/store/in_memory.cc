// The key-value store in memory: an ordered tree, so that ranges cost what they visit.
// std::string compares by char_traits, which orders chars as unsigned bytes. Tested by
// tests/unit/store/in_memory_test.cc.
#include <fmt/format.h>

#include <map>

#include "kstream/store.h"

namespace kstream {
namespace {

class InMemory final : public KeyValueStore {
 public:
  explicit InMemory(std::string_view name) : name_(name) {}

  std::string_view name() const override { return name_; }

  void Close() override {
    entries_.clear();
    open_ = false;
  }

  Status Put(std::string_view key, std::string_view value, int64_t timestamp) override {
    KSTREAM_RETURN_IF_ERROR(CheckOpen());
    if (timestamp == kRecordTime) timestamp = 0;  // nobody tells this one which record is at hand
    // `key` and `value` may be views into this store's own entry: assign copies such a value right.
    const auto at = entries_.lower_bound(key);
    if (at != entries_.end() && at->first == key) {
      at->second.value.assign(value);
      at->second.timestamp = timestamp;
    } else {
      entries_.emplace_hint(at, key, StoredRow{std::string(value), timestamp});
    }
    return Status::Ok();
  }

  Status Delete(std::string_view key) override {
    KSTREAM_RETURN_IF_ERROR(CheckOpen());
    if (const auto at = entries_.find(key); at != entries_.end()) entries_.erase(at);
    return Status::Ok();
  }

  Status Clear() override {
    KSTREAM_RETURN_IF_ERROR(CheckOpen());
    entries_.clear();
    return Status::Ok();
  }

  Result<bool> Find(std::string_view key, StoredRow* row) const override {
    KSTREAM_RETURN_IF_ERROR(CheckOpen());
    const auto at = entries_.find(key);
    if (at == entries_.end()) return false;
    *row = at->second;
    return true;
  }

  Status RangeRows(std::string_view from, std::optional<std::string_view> to,
                   const RowVisitor& visit) const override {
    KSTREAM_RETURN_IF_ERROR(CheckOpen());
    for (auto at = entries_.lower_bound(from); at != entries_.end(); ++at) {
      if (to && at->first >= *to) break;
      if (!visit(at->first, at->second.value, at->second.timestamp)) break;
    }
    return Status::Ok();
  }

 private:
  Status CheckOpen() const {
    if (open_) return Status::Ok();
    return Status::Usage(fmt::format(
        "store '{}' is closed: a processor may use it from Init until its Close returns", name_));
  }

  std::string name_;
  bool open_ = true;
  std::map<std::string, StoredRow, std::less<>> entries_;
};

}  // namespace

StoreSupplier InMemoryKeyValueStore() {
  return [](std::string_view name) { return std::make_unique<InMemory>(name); };
}

}  // namespace kstream
