#include "store/rocksdb/bulk.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include "base/sort_by_key.h"
#include "store/rocksdb/format.h"

namespace kstream::store::rocksdb {
namespace {

using ::rocksdb::Slice;

// Its own name, so that one that a crash left is written over, and the database takes it for none
// of its files.
constexpr const char* kFileName = "/restore.ingest";

}  // namespace

void Bulk::Add(std::span<const Change> changes) {
  for (const Change& change : changes) {
    const std::string_view value = change.value.value_or(std::string_view());
    entries_.push_back({.at = bytes_.size(),
                        .key_size = static_cast<uint32_t>(change.key.size()),
                        .value_size = static_cast<uint32_t>(value.size()),
                        .timestamp = change.timestamp,
                        .deletes = !change.value});
    bytes_.append(change.key).append(value);
  }
}

std::vector<Change> Bulk::Sorted() const {
  std::vector<Change> sorted;
  sorted.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    Change change{KeyOf(entry), std::nullopt, entry.timestamp};
    if (!entry.deletes) {
      change.value = std::string_view(bytes_).substr(entry.at + entry.key_size, entry.value_size);
    }
    sorted.push_back(change);
  }
  SortByKey(&sorted, [](const Change& change) { return change.key; });
  // Of one key the last counts.
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); i++) {
    if (i + 1 < sorted.size() && sorted[i].key == sorted[i + 1].key) continue;
    sorted[kept++] = sorted[i];
  }
  sorted.resize(kept);
  return sorted;
}

void Bulk::Clear() {
  bytes_ = {};  // a store restores seldom: its memory is not kept
  entries_ = {};
}

::rocksdb::Status Ingest(::rocksdb::DB* db, const std::string& directory,
                         std::span<const Change> sorted, const Checkpoint& checkpoint) {
  const std::string path = directory + kFileName;
  ::rocksdb::SstFileWriter file(::rocksdb::EnvOptions(), db->GetOptions());
  ::rocksdb::Status status = file.Open(path);
  if (status.ok()) {
    const std::string meta = EncodeMeta(checkpoint);
    status = file.Put(Slice(kMetaKey.data(), kMetaKey.size()), meta);
  }
  std::string stored;
  for (const Change& change : sorted) {
    if (!status.ok()) break;
    const RowKey key(change.key);
    if (change.value) {
      const auto time = EncodeTime(change.timestamp);
      stored.assign(time.data(), time.size()).append(*change.value);
      status = file.Put(Slice(key.view().data(), key.view().size()), stored);
    } else {
      status = file.Delete(Slice(key.view().data(), key.view().size()));
    }
  }
  if (status.ok()) status = file.Finish();
  if (!status.ok()) return status;
  ::rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  return db->IngestExternalFile({path}, options);
}

}  // namespace kstream::store::rocksdb
