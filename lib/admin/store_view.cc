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

// Walks over both, the newer hiding the older.
class Merged {
 public:
  Merged(store::EngineIterator* base, store::EngineIterator* over) : base_(base), over_(over) {}

  // Steps to the next row that is there. False: there is none.
  bool Next() {
    for (;;) {
      if (at_ != nullptr) at_->Next();
      const bool base = base_ != nullptr && base_->Valid(), over = over_->Valid();
      if (!base && !over) return false;
      at_ = base && (!over || base_->key() < over_->key()) ? base_ : over_;
      if (at_ == base_) return true;
      if (base && base_->key() == over_->key()) base_->Next();
      if (over_->value().front() == kRow) return true;
    }
  }
  std::string_view key() const { return at_->key(); }
  std::string_view value() const { return at_ == base_ ? at_->value() : at_->value().substr(1); }
  int64_t timestamp() const { return at_->timestamp(); }
  Status status() const {
    if (base_ != nullptr) KSTREAM_RETURN_IF_ERROR(base_->status());
    return over_->status();
  }

 private:
  store::EngineIterator* const base_;
  store::EngineIterator* const over_;
  store::EngineIterator* at_ = nullptr;
};

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

Status StoreView::Scan(std::string_view from, std::optional<std::string_view> to,
                       const Visitor& visit) {
  KSTREAM_RETURN_IF_ERROR(over_->EndLoad());
  const auto base = base_ ? base_->NewIterator(from, to) : nullptr;
  const auto over = over_->NewIterator(from, to);
  Merged rows(base.get(), over.get());
  while (rows.Next()) {
    if (!visit(rows.key(), rows.value(), rows.timestamp())) return Status::Ok();
  }
  return rows.status();
}

}  // namespace kstream::admin
