#include "store/row_cache.h"

#include <cassert>
#include <utility>

namespace kstream::store {
namespace {

// What a row costs beside its bytes, with its places in lists.
constexpr size_t kRowBytes = ByteTable<RowCache::Row>::kEntryBytes + 2 * sizeof(void*);

size_t Cost(const RowCache::Entry& entry) {
  const RowCache::Row& row = entry.value;
  const size_t sealed = row.sealed ? sizeof(RowCache::Version) + row.sealed->value.size() : 0;
  return kRowBytes + entry.key().size() + row.now.value.size() + sealed;
}

void Set(RowCache::Version& version, std::optional<std::string_view> value, int64_t timestamp) {
  version.is_there = value.has_value();
  version.timestamp = timestamp;
  version.value.assign(value.value_or(std::string_view()));
}

}  // namespace

RowCache::RowCache(std::shared_ptr<RowBudget> budget) : budget_(std::move(budget)) {}

RowCache::~RowCache() {
  if (has_joined_) budget_->Leave();
}

int64_t RowCache::share() const {
  if (!budget_) return INT64_MAX;
  if (!std::exchange(has_joined_, true)) budget_->Join();
  return static_cast<int64_t>(budget_->share());
}

template <typename F>
void RowCache::Update(Entry* entry, F change) {
  Row& row = entry->value;
  const size_t before = Cost(*entry);
  const bool was_changed = row.is_changed();
  change(row);
  const size_t after = Cost(*entry);
  bytes_ += after - before;
  if (was_changed) changed_bytes_ -= before;
  if (row.is_changed()) changed_bytes_ += after;
  if (is_sorted_ && row.is_changed() != was_changed) {
    if (was_changed) {
      sorted_.erase(entry->key());
    } else {
      sorted_.emplace(entry->key(), entry);
    }
  }
}

void RowCache::Remember(std::string_view key, std::optional<std::string_view> value,
                        int64_t timestamp) {
  if (!budget_) return;
  const auto [entry, is_new] = table_.Make(key);
  assert(is_new);
  Set(entry->value.now, value, timestamp);
  bytes_ += Cost(*entry);
  AddToRing(entry);
  Shrink();
}

void RowCache::Change(std::string_view key, std::optional<std::string_view> value,
                      int64_t timestamp) {
  const auto [entry, is_new] = table_.Make(key);
  if (is_new) bytes_ += Cost(*entry);
  Change(entry, value, timestamp);
}

void RowCache::Change(Entry* entry, std::optional<std::string_view> value, int64_t timestamp) {
  Update(entry, [&](Row& row) {
    row.is_used = true;
    if (!row.is_open) {
      open_.push_back(entry);
      row.is_open = true;
      if (row.is_sealed) {
        // A copy: `value` may be a view into row.now.
        row.sealed = std::make_unique<Version>(row.now);
      }
    }
    Set(row.now, value, timestamp);
  });
}

void RowCache::DeleteAll() {
  ring_.clear();
  hand_ = 0;
  table_.EraseIf([&](Entry* entry) {
    entry->value.is_in_ring = false;
    if (entry->value.is_changed()) {
      Change(entry, std::nullopt, 0);
      return false;
    }
    bytes_ -= Cost(*entry);
    return true;
  });
}

const RowCache::Ordered& RowCache::Sorted() {
  if (!is_sorted_) {
    for (const auto* entries : {&open_, &sealed_}) {
      for (const Entry* entry : *entries) sorted_.emplace(entry->key(), entry);
    }
    is_sorted_ = true;
  }
  return sorted_;
}

void RowCache::Seal() {
  assert(sealed_.empty());
  for (Entry* entry : open_) {
    entry->value.is_open = false;
    entry->value.is_sealed = true;
  }
  sealed_.swap(open_);
}

void RowCache::Settle() {
  for (Entry* entry : sealed_) {
    Update(entry, [](Row& row) {
      row.sealed.reset();
      row.is_sealed = false;
    });
    if (entry->value.is_open) continue;
    if (budget_) {
      AddToRing(entry);
    } else {
      Erase(entry);
    }
  }
  sealed_.clear();
  Shrink();
}

void RowCache::Forget() {
  table_.clear();
  open_.clear();
  sealed_.clear();
  ring_.clear();
  sorted_.clear();
  hand_ = bytes_ = changed_bytes_ = 0;
}

void RowCache::Erase(Entry* entry) {
  bytes_ -= Cost(*entry);
  table_.Erase(entry);
}

void RowCache::AddToRing(Entry* entry) {
  if (entry->value.is_in_ring) return;
  entry->value.is_in_ring = true;
  ring_.push_back(entry);
}

void RowCache::Shrink() {
  if (!budget_) return;
  const auto share = static_cast<uint64_t>(RowCache::share());
  while (bytes_ > share && !ring_.empty()) {
    if (hand_ >= ring_.size()) hand_ = 0;
    Entry* const entry = ring_[hand_];
    Row& row = entry->value;
    if (row.is_used && !row.is_changed()) {
      row.is_used = false;
      hand_++;
      continue;
    }
    row.is_in_ring = false;
    ring_[hand_] = ring_.back();
    ring_.pop_back();
    if (row.is_changed()) continue;  // comes back when it is settled
    Erase(entry);
  }
}

}  // namespace kstream::store
