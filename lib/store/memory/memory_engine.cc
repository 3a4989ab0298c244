// A tree under a mutex: the owner's calls take it uncontended, which is a small part of a look-up.
// An iterator copies rows in small groups, so that a reader in another thread never holds the owner
// up for longer than a group.
#include "store/memory/memory_engine.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kstream::store::memory {
namespace {

// std::string orders chars as unsigned bytes.
using Rows = std::map<std::string, StoredRow, std::less<>>;

// What a tree's node costs beside the bytes of the row.
constexpr uint64_t kNodeBytes = sizeof(Rows::value_type) + 48;

class MemoryIterator final : public EngineIterator {
 public:
  MemoryIterator(const Rows& rows, std::mutex& mutex, std::string_view from,
                 std::optional<std::string_view> to)
      : rows_(rows), mutex_(mutex), to_(to) {
    const std::lock_guard lock(mutex_);
    Copy(rows_.lower_bound(from));
  }

  bool Valid() const override { return at_ < group_.size(); }
  void Next() override {
    if (++at_ < group_.size() || is_last_) return;
    const std::lock_guard lock(mutex_);
    Copy(rows_.upper_bound(group_.back().first));
  }
  std::string_view key() const override { return group_[at_].first; }
  std::string_view value() const override { return group_[at_].second.value; }
  int64_t timestamp() const override { return group_[at_].second.timestamp; }
  Status status() const override { return Status::Ok(); }

 private:
  void Copy(Rows::const_iterator row) {
    group_.clear();
    at_ = 0;
    const auto is_in = [this](Rows::const_iterator it) {
      return it != rows_.end() && (!to_ || it->first < *to_);
    };
    for (; is_in(row) && group_.size() < group_size_; ++row) group_.emplace_back(*row);
    is_last_ = !is_in(row);
    group_size_ = std::min<size_t>(group_size_ * 4, 256);
  }

  const Rows& rows_;
  std::mutex& mutex_;
  const std::optional<std::string> to_;
  std::vector<std::pair<std::string, StoredRow>> group_;
  size_t at_ = 0, group_size_ = 4;
  bool is_last_ = false;
};

class MemoryEngine final : public Engine {
 public:
  Result<bool> Find(std::string_view key, StoredRow* row) const override {
    const std::lock_guard lock(mutex_);
    const auto at = rows_.find(key);
    if (at == rows_.end()) return false;
    *row = at->second;
    return true;
  }

  std::unique_ptr<EngineIterator> NewIterator(std::string_view from,
                                              std::optional<std::string_view> to) const override {
    return std::make_unique<MemoryIterator>(rows_, mutex_, from, to);
  }

  Checkpoint checkpoint() const override {
    const std::lock_guard lock(mutex_);
    return checkpoint_;
  }

  Status Write(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    const std::lock_guard lock(mutex_);
    for (const Change& change : changes) Apply(change);
    checkpoint_ = checkpoint;
    return Status::Ok();
  }

  Status Replace(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    const std::lock_guard lock(mutex_);
    Forget();
    for (const Change& change : changes) Apply(change);
    checkpoint_ = checkpoint;
    return Status::Ok();
  }

  Status Load(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    return Write(changes, checkpoint);
  }

  Status Clear() override {
    const std::lock_guard lock(mutex_);
    Forget();
    checkpoint_ = {};
    return Status::Ok();
  }

  Status Flush() override { return Status::Ok(); }

  EngineStats Stats() const override {
    const std::lock_guard lock(mutex_);
    return {.rows = rows_.size(), .bytes = bytes_};
  }

  Status Close() override {
    const std::lock_guard lock(mutex_);
    Forget();
    return Status::Ok();
  }

 private:
  void Apply(const Change& change) {
    const auto at = rows_.lower_bound(change.key);
    const bool is_there = at != rows_.end() && at->first == change.key;
    if (!change.value) {
      if (!is_there) return;
      bytes_ -= at->first.size() + at->second.value.size() + kNodeBytes;
      rows_.erase(at);
    } else if (is_there) {
      bytes_ += change.value->size();
      bytes_ -= at->second.value.size();
      at->second.value.assign(*change.value);
      at->second.timestamp = change.timestamp;
    } else {
      bytes_ += change.key.size() + change.value->size() + kNodeBytes;
      rows_.emplace_hint(at, change.key, StoredRow{std::string(*change.value), change.timestamp});
    }
  }

  void Forget() {
    rows_.clear();
    bytes_ = 0;
  }

  mutable std::mutex mutex_;
  Rows rows_;
  uint64_t bytes_ = 0;
  Checkpoint checkpoint_;
};

}  // namespace

std::unique_ptr<Engine> NewEngine() { return std::make_unique<MemoryEngine>(); }

}  // namespace kstream::store::memory
