#include "store/kept_store.h"

#include <fmt/format.h>

#include <vector>

#include "store/changelog_hash.h"

namespace kstream::store {
namespace {

// A store that is in use says so at least this often, whether or not it changes: one that was not
// in use for days may have missed deletions, and is rebuilt (runtime/restorer.h).
constexpr int64_t kSayInUseMs = 3'600'000;

Change ChangeOf(std::string_view key, const RowCache::Version& version) {
  if (!version.is_there) return {key, std::nullopt, version.timestamp};
  return {key, version.value, version.timestamp};
}

}  // namespace

KeptStore::KeptStore(std::string name, std::unique_ptr<Engine> engine,
                     std::shared_ptr<RowBudget> cache)
    : name_(std::move(name)),
      engine_(std::move(engine)),
      reader_(std::make_shared<CommittedReader>(name_, engine_.get())),
      cache_(std::move(cache)) {}

KeptStore::~KeptStore() { reader_->End(); }

Status KeptStore::CheckUsable() const {
  if (usable_) return Status::Ok();
  return Status::Usage(fmt::format(
      "store '{}' is closed: a processor may use it from Init until its Close returns", name_));
}

Status KeptStore::EndLoad() const {
  if (!std::exchange(may_be_loading_, false)) return Status::Ok();
  return engine_->EndLoad();
}

Status KeptStore::Put(std::string_view key, std::string_view value, int64_t timestamp) {
  KSTREAM_RETURN_IF_ERROR(CheckUsable());
  if (timestamp == kRecordTime) timestamp = event_time_ ? event_time_() : 0;
  meter_.puts++;
  cache_.Change(key, value, timestamp);
  return Status::Ok();
}

Status KeptStore::Delete(std::string_view key) {
  KSTREAM_RETURN_IF_ERROR(CheckUsable());
  meter_.deletes++;
  cache_.Change(key, std::nullopt, event_time_ ? event_time_() : 0);
  return Status::Ok();
}

Status KeptStore::Clear() {
  KSTREAM_RETURN_IF_ERROR(CheckUsable());
  cache_.DeleteAll();
  open_cleared_ = true;
  meter_.clears++;
  return Status::Ok();
}

Result<bool> KeptStore::Find(std::string_view key, StoredRow* row) const {
  KSTREAM_RETURN_IF_ERROR(CheckUsable());
  meter_.gets++;
  if (const RowCache::Row* known = cache_.Find(key)) {
    if (!known->now.is_there) return false;
    row->value = known->now.value;
    row->timestamp = known->now.timestamp;
    return true;
  }
  if (!engine_counts()) return false;
  meter_.gets_from_engine++;
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  auto found = engine_->Find(key, row);
  if (!found.ok()) return found;
  if (*found) {
    cache_.Remember(key, row->value, row->timestamp);
  } else {
    cache_.Remember(key, std::nullopt, 0);
  }
  return found;
}

Status KeptStore::RangeRows(std::string_view from, std::optional<std::string_view> to,
                            const RowVisitor& visit) const {
  KSTREAM_RETURN_IF_ERROR(CheckUsable());
  meter_.ranges++;
  if (to && *to <= from) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  const RowCache::Ordered& changed = cache_.Sorted();
  auto dirty = changed.lower_bound(from);
  const auto end = to ? changed.lower_bound(*to) : changed.end();
  std::unique_ptr<EngineIterator> rows;
  if (engine_counts()) rows = engine_->NewIterator(from, to);
  while (true) {
    const bool has_row = rows && rows->Valid();
    if (dirty != end && (!has_row || dirty->first <= rows->key())) {
      if (has_row && dirty->first == rows->key()) rows->Next();
      const RowCache::Version& now = dirty->second->value.now;
      const std::string_view key = dirty->first;
      ++dirty;
      if (!now.is_there) continue;
      meter_.range_rows++;
      if (!visit(key, now.value, now.timestamp)) return Status::Ok();
    } else if (has_row) {
      meter_.range_rows++;
      if (!visit(rows->key(), rows->value(), rows->timestamp())) return Status::Ok();
      rows->Next();
    } else {
      return rows ? rows->status() : Status::Ok();
    }
  }
}

// The engine stands at the end of the epoch before, since nothing is sealed now.
Status KeptStore::JournalClear(ChangelogSink* changelog) {
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  const auto rows = engine_->NewIterator("", std::nullopt);
  for (; rows->Valid(); rows->Next()) {
    if (cache_.Find(rows->key())) continue;  // an open change: comes with the others
    const Change change{rows->key(), std::nullopt, rows->timestamp()};
    KSTREAM_RETURN_IF_ERROR(changelog->Append(change));
    last_hash_ = ChangelogHash(change.key, change.value);
    meter_.journaled++;
  }
  return rows->status();
}

Status KeptStore::Seal(ChangelogSink* changelog) {
  if (is_sealed_) {
    return Status::Usage(
        fmt::format("store '{}': an epoch is sealed and not yet committed", name_));
  }
  if (changelog) {
    if (open_cleared_) KSTREAM_RETURN_IF_ERROR(JournalClear(changelog));
    for (const RowCache::Entry* entry : cache_.open()) {
      KSTREAM_RETURN_IF_ERROR(changelog->Append(ChangeOf(entry->key(), entry->value.now)));
      meter_.journaled++;
    }
    if (!cache_.open().empty()) {
      const RowCache::Entry& entry = *cache_.open().back();
      const Change change = ChangeOf(entry.key(), entry.value.now);
      last_hash_ = ChangelogHash(change.key, change.value);
    }
  }
  cache_.Seal();
  sealed_cleared_ = std::exchange(open_cleared_, false);
  is_sealed_ = true;
  return Status::Ok();
}

Status KeptStore::Commit(const std::string& incarnation, int64_t last, int64_t now) {
  KSTREAM_RETURN_IF_ERROR(StartCommit(incarnation, last, now));
  return EndCommit(/*wait=*/true).status();
}

Status KeptStore::StartCommit(const std::string& incarnation, int64_t last, int64_t now) {
  if (!is_sealed_ || is_committing_) {
    return Status::Usage(fmt::format("store '{}': no epoch is sealed to be committed", name_));
  }
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  const bool is_changed = sealed_cleared_ || !cache_.sealed().empty();
  Checkpoint checkpoint = engine_->checkpoint();
  const bool is_due = now - checkpoint.written >= kSayInUseMs;
  if (is_changed || is_due || last >= 0 || checkpoint.incarnation != incarnation) {
    checkpoint.incarnation = incarnation;
    if (last >= 0) {
      checkpoint.offset = last + 1;
      checkpoint.last = last;
      checkpoint.last_hash = last_hash_;
    }
    checkpoint.written = now;
    std::vector<Change> changes;
    changes.reserve(cache_.sealed().size());
    for (const RowCache::Entry* entry : cache_.sealed()) {
      changes.push_back(ChangeOf(entry->key(), RowCache::SealedOf(*entry)));
    }
    KSTREAM_RETURN_IF_ERROR(engine_->StartWrite(changes, checkpoint, sealed_cleared_));
  }
  is_committing_ = true;
  return Status::Ok();
}

Result<bool> KeptStore::EndCommit(bool wait) {
  const Result<bool> ended = engine_->EndWrite(wait);
  if (ended.ok() && !*ended) return false;
  is_committing_ = false;
  KSTREAM_RETURN_IF_ERROR(ended.status());
  cache_.Settle();
  is_sealed_ = sealed_cleared_ = false;
  return true;
}

void KeptStore::Drop() {
  // If it fails, the engine is without the epoch, which is restored.
  if (std::exchange(is_committing_, false)) static_cast<void>(engine_->EndWrite(/*wait=*/true));
  cache_.Forget();
  may_be_loading_ = true;
  is_sealed_ = open_cleared_ = sealed_cleared_ = false;
  usable_ = true;
}

Status KeptStore::CloseEngine() {
  reader_->End();
  return engine_->Close();
}

}  // namespace kstream::store
