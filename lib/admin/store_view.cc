#include "admin/store_view.h"

#include <utility>
#include <vector>

#include "store/memory/memory_engine.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace kstream::admin {
namespace {

constexpr char kRow = 1, kDeleted = 0;
constexpr uint64_t kSpillMemory = uint64_t{64} << 20;
constexpr size_t kSpillRows = 4096;

}  // namespace

StoreView::StoreView(std::unique_ptr<store::Engine> base, Room room, size_t most)
    : base_(std::move(base)),
      over_(store::memory::NewEngine()),
      room_(std::move(room)),
      most_(most) {}

StoreView::~StoreView() = default;

Status StoreView::Lay(std::span<const store::Change> changes) {
  std::vector<std::string> values;
  std::vector<store::Change> encoded;
  values.reserve(changes.size());
  encoded.reserve(changes.size());
  for (const store::Change& change : changes) {
    std::string& value = values.emplace_back(1, change.value ? kRow : kDeleted);
    value += change.value.value_or("");
    encoded.push_back({change.key, value, change.timestamp});
  }
  KSTREAM_RETURN_IF_ERROR(over_->Load(encoded, {}));
  return in_memory_ && over_->Stats().bytes > most_ ? Spill() : Status::Ok();
}

// Moves what has been laid to disk.
Status StoreView::Spill() {
  KSTREAM_ASSIGN_OR_RETURN(const std::string directory, room_());
  KSTREAM_ASSIGN_OR_RETURN(
      auto disk, store::rocksdb::Open(directory, store::rocksdb::Memory::New(kSpillMemory)));
  auto row = over_->NewIterator("", std::nullopt);
  while (row->Valid()) {
    std::vector<std::pair<std::string, std::string>> bytes;
    std::vector<store::Change> changes;
    bytes.reserve(kSpillRows);
    for (; row->Valid() && bytes.size() < kSpillRows; row->Next()) {
      const auto& [key, value] = bytes.emplace_back(row->key(), row->value());
      changes.push_back({key, value, row->timestamp()});
    }
    KSTREAM_RETURN_IF_ERROR(disk->Load(changes, {}));
  }
  KSTREAM_RETURN_IF_ERROR(row->status());
  row.reset();
  over_ = std::move(disk);
  in_memory_ = false;
  return Status::Ok();
}

Result<StoreView::Cursor> StoreView::Walk(std::string_view from,
                                          std::optional<std::string_view> to) {
  KSTREAM_RETURN_IF_ERROR(over_->EndLoad());
  Cursor cursor;
  if (base_) cursor.base_ = base_->NewIterator(from, to);
  cursor.over_ = over_->NewIterator(from, to);
  return cursor;
}

bool StoreView::Cursor::Next() {
  for (;;) {
    if (at_ != nullptr) at_->Next();
    const bool base = base_ && base_->Valid(), over = over_->Valid();
    if (!base && !over) return false;
    at_ = base && (!over || base_->key() < over_->key()) ? base_.get() : over_.get();
    if (at_ == base_.get()) return true;
    if (base && base_->key() == over_->key()) base_->Next();
    if (over_->value().front() == kRow) return true;
  }
}

std::string_view StoreView::Cursor::value() const {
  return at_ == base_.get() ? at_->value() : at_->value().substr(1);
}

Status StoreView::Cursor::status() const {
  if (base_) KSTREAM_RETURN_IF_ERROR(base_->status());
  return over_->status();
}

Status StoreView::Scan(std::string_view from, std::optional<std::string_view> to,
                       const Visitor& visit) {
  KSTREAM_ASSIGN_OR_RETURN(Cursor rows, Walk(from, to));
  while (rows.Next()) {
    if (!visit(rows.key(), rows.value(), rows.timestamp())) return Status::Ok();
  }
  return rows.status();
}

Result<bool> StoreView::Find(std::string_view key, StoredRow* row) {
  const std::string behind = std::string(key) + '\0';
  bool found = false;
  KSTREAM_RETURN_IF_ERROR(
      Scan(key, behind, [&](std::string_view, std::string_view value, int64_t timestamp) {
        row->value = value;
        row->timestamp = timestamp;
        return found = true;
      }));
  return found;
}

}  // namespace kstream::admin
