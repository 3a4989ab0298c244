// One column family. Rows and checkpoint are written in one batch, so into one memtable, and
// memtables reach the disk whole and in order: what is found after a crash is some earlier point,
// never a mixture.
//
// The tail that a crash costs is bounded by bytes (a full memtable is flushed) and by time: a write
// that comes kFlushAfterMs after the last flush, by the time that its checkpoint says, starts one.
//
// A restore gathers rows, and a thread of its own makes a file of them while the next are gathered.
// A large write, too, has a thread of its own: it takes a seventh of the time of a count.
#include "store/rocksdb/rocksdb_engine.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "store/rocksdb/bulk.h"
#include "store/rocksdb/errors.h"
#include "store/rocksdb/format.h"
#include "store/rocksdb/memory.h"

namespace kstream::store::rocksdb {
namespace {

using ::rocksdb::Slice;

constexpr int64_t kFlushAfterMs = 30'000;
// What a restore gathers is made a file, unless it is less than this.
constexpr size_t kLeastBulkBytes = 1 << 20;
constexpr size_t kKeptBatchBytes = 4 << 20;  // a larger batch is not kept for the next write
constexpr size_t kLeastBesideBytes = 64
                                     << 10;  // a smaller batch is written faster than a thread made
constexpr uint64_t kReadingBudget = 64 << 20;
// While a store is looked into, its owner may delete files between their listing and their opening.
constexpr int kReadingAttempts = 10;

Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

class RocksIterator final : public EngineIterator {
 public:
  RocksIterator(::rocksdb::DB* db, const std::string& directory, std::string_view from,
                std::optional<std::string_view> to)
      : directory_(directory), end_(to ? RowKey(*to).view() : kRowsEnd), end_slice_(end_) {
    ::rocksdb::ReadOptions options;
    options.iterate_upper_bound = &end_slice_;
    // A walk over everything must not drive out what look-ups need.
    options.fill_cache = to.has_value() || !from.empty();
    rows_.reset(db->NewIterator(options));
    rows_->Seek(SliceOf(RowKey(from).view()));
    Check();
  }

  bool Valid() const override { return is_valid_; }
  void Next() override {
    rows_->Next();
    Check();
  }
  std::string_view key() const override { return rows_->key().ToStringView().substr(1); }
  std::string_view value() const override {
    return rows_->value().ToStringView().substr(kTimeBytes);
  }
  int64_t timestamp() const override { return DecodeTime(rows_->value().ToStringView()); }
  Status status() const override {
    if (is_short_) return Damaged(directory_, "a row is too short");
    return Told(rows_->status(), "read", directory_);
  }

 private:
  void Check() {
    is_valid_ = rows_->Valid();
    is_short_ = is_valid_ && rows_->value().size() < kTimeBytes;
    if (is_short_) is_valid_ = false;
  }

  const std::string& directory_;
  const std::string end_;
  const Slice end_slice_;
  std::unique_ptr<::rocksdb::Iterator> rows_;
  bool is_valid_ = false, is_short_ = false;
};

class RocksEngine final : public Engine {
 public:
  RocksEngine(std::string directory, std::shared_ptr<SharedMemory> memory)
      : directory_(std::move(directory)), memory_(std::move(memory)) {
    write_options_.disableWAL = true;
  }
  ~RocksEngine() override { (void)Close(); }  // whoever cares has called it

  Status OpenToWrite();
  Status OpenToRead();

  Result<bool> Find(std::string_view key, StoredRow* row) const override;
  std::unique_ptr<EngineIterator> NewIterator(std::string_view from,
                                              std::optional<std::string_view> to) const override {
    return std::make_unique<RocksIterator>(db_.get(), directory_, from, to);
  }
  Checkpoint checkpoint() const override {
    const std::lock_guard lock(checkpoint_mutex_);
    return checkpoint_;
  }

  Status Write(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    KSTREAM_RETURN_IF_ERROR(StartWrite(changes, checkpoint, /*forget=*/false));
    return EndBeside();
  }
  Status Replace(std::span<const Change> changes, const Checkpoint& checkpoint) override {
    KSTREAM_RETURN_IF_ERROR(StartWrite(changes, checkpoint, /*forget=*/true));
    return EndBeside();
  }
  Status StartWrite(std::span<const Change> changes, const Checkpoint& checkpoint,
                    bool forget) override;
  Result<bool> EndWrite(bool wait) override;
  Status Load(std::span<const Change> changes, const Checkpoint& checkpoint) override;
  Status EndLoad() override;
  Status Clear() override;
  Status Flush() override;
  EngineStats Stats() const override;
  Status Close() override;

 private:
  Status Say(const ::rocksdb::Status& status, std::string_view doing) const {
    return Told(status, doing, directory_);
  }
  Status ReadCheckpoint();
  Status FillBatch(std::span<const Change> changes, const Checkpoint& checkpoint, bool forget);
  Status WriteBatch(const Checkpoint& checkpoint);
  void SetCheckpoint(Checkpoint checkpoint) {
    const std::lock_guard lock(checkpoint_mutex_);
    checkpoint_ = std::move(checkpoint);
  }
  Status FlushWhenOld(int64_t now);
  void StartIngest();
  // Waits for what goes on beside the thread.
  Status EndBeside() { return beside_.valid() ? beside_.get() : Status::Ok(); }

  const std::string directory_;
  const std::shared_ptr<SharedMemory> memory_;  // outlives db_
  std::unique_ptr<::rocksdb::DB> db_;
  ::rocksdb::WriteOptions write_options_;
  ::rocksdb::WriteBatch batch_;
  Bulk bulk_;  // loaded and not yet applied, up to bulk_checkpoint_ if that is there
  std::optional<Checkpoint> bulk_checkpoint_;
  mutable std::mutex checkpoint_mutex_;
  Checkpoint checkpoint_;
  int64_t flushed_ = 0;  // by the time of checkpoints; 0: nothing was written since opening
  bool is_read_only_ = false;
  // The write of batch_, or the ingest of rows gathered before those in bulk_; last, as it uses the
  // rest.
  std::future<Status> beside_;
};

Status RocksEngine::OpenToWrite() {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    return {StatusCode::kState, fmt::format("cannot make the directory {} of a store: {}",
                                            Printable(directory_), error.message())};
  }
  ::rocksdb::DB* db = nullptr;
  KSTREAM_RETURN_IF_ERROR(
      Say(::rocksdb::DB::Open(memory_->WriterOptions(), directory_, &db), "open"));
  db_.reset(db);
  return ReadCheckpoint();
}

Status RocksEngine::OpenToRead() {
  is_read_only_ = true;
  std::error_code error;
  if (!std::filesystem::exists(directory_ + "/CURRENT", error)) {
    return {StatusCode::kState, fmt::format("there is no store in {}", Printable(directory_))};
  }
  ::rocksdb::Status status;
  for (int i = 0; i < kReadingAttempts; i++) {
    ::rocksdb::DB* db = nullptr;
    status = ::rocksdb::DB::OpenForReadOnly(memory_->ReaderOptions(), directory_, &db);
    if (status.ok()) {
      db_.reset(db);
      return ReadCheckpoint();
    }
  }
  return Say(status, "open");
}

Status RocksEngine::ReadCheckpoint() {
  std::string meta;
  const ::rocksdb::Status status = db_->Get({}, SliceOf(kMetaKey), &meta);
  if (status.IsNotFound()) {
    const std::unique_ptr<::rocksdb::Iterator> any(db_->NewIterator({}));
    any->SeekToFirst();
    if (any->Valid()) return Damaged(directory_, "rows without a checkpoint");
    return Say(any->status(), "read");
  }
  KSTREAM_RETURN_IF_ERROR(Say(status, "read"));
  if (const auto format = FormatOf(meta); format && *format > kFormat) {
    return {
        StatusCode::kState,
        fmt::format("the store in {} has format {}, which a newer kstream wrote (this one knows "
                    "{}): use that, or remove the directory, it is restored from its changelog",
                    Printable(directory_), *format, kFormat)};
  }
  auto checkpoint = DecodeMeta(meta);
  if (!checkpoint) return Damaged(directory_, "its checkpoint cannot be read");
  checkpoint_ = *std::move(checkpoint);
  return Status::Ok();
}

Result<bool> RocksEngine::Find(std::string_view key, StoredRow* row) const {
  ::rocksdb::PinnableSlice stored;
  const ::rocksdb::Status status =
      db_->Get({}, db_->DefaultColumnFamily(), SliceOf(RowKey(key).view()), &stored);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return Say(status, "read");
  if (stored.size() < kTimeBytes) return Damaged(directory_, "a row is too short");
  row->timestamp = DecodeTime(stored.ToStringView());
  row->value.assign(stored.ToStringView().substr(kTimeBytes));
  return true;
}

Status RocksEngine::StartWrite(std::span<const Change> changes, const Checkpoint& checkpoint,
                               bool forget) {
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  KSTREAM_RETURN_IF_ERROR(FillBatch(changes, checkpoint, forget));
  if (batch_.GetDataSize() < kLeastBesideBytes) return WriteBatch(checkpoint);
  beside_ = std::async(std::launch::async, [this, checkpoint] { return WriteBatch(checkpoint); });
  return Status::Ok();
}

Result<bool> RocksEngine::EndWrite(bool wait) {
  constexpr std::chrono::seconds kNow{0};
  if (!wait && beside_.valid() && beside_.wait_for(kNow) != std::future_status::ready) return false;
  KSTREAM_RETURN_IF_ERROR(EndBeside());
  return true;
}

Status RocksEngine::FillBatch(std::span<const Change> changes, const Checkpoint& checkpoint,
                              bool forget) {
  batch_.Clear();
  ::rocksdb::Status status;
  if (forget) status = batch_.DeleteRange(SliceOf(kRowsBegin), SliceOf(kRowsEnd));
  for (const Change& change : changes) {
    if (!status.ok()) break;
    const RowKey row_key(change.key);
    const Slice key = SliceOf(row_key.view());
    if (!change.value) {
      status = batch_.Delete(key);
      continue;
    }
    const auto time = EncodeTime(change.timestamp);
    const Slice parts[] = {{time.data(), time.size()}, SliceOf(*change.value)};
    status = batch_.Put(::rocksdb::SliceParts(&key, 1), ::rocksdb::SliceParts(parts, 2));
  }
  if (status.ok()) status = batch_.Put(SliceOf(kMetaKey), EncodeMeta(checkpoint));
  return Say(status, "write");
}

Status RocksEngine::WriteBatch(const Checkpoint& checkpoint) {
  const ::rocksdb::Status status = db_->Write(write_options_, &batch_);
  if (batch_.GetDataSize() > kKeptBatchBytes) batch_ = ::rocksdb::WriteBatch();
  KSTREAM_RETURN_IF_ERROR(Say(status, "write"));
  SetCheckpoint(checkpoint);
  return FlushWhenOld(checkpoint.written);
}

Status RocksEngine::Load(std::span<const Change> changes, const Checkpoint& checkpoint) {
  bulk_.Add(changes);
  bulk_checkpoint_ = checkpoint;
  if (bulk_.bytes() < memory_->bulk_bytes()) return Status::Ok();
  if (is_read_only_) return EndLoad();
  KSTREAM_RETURN_IF_ERROR(EndBeside());
  StartIngest();
  return Status::Ok();
}

void RocksEngine::StartIngest() {
  auto ingest = [this, bulk = std::exchange(bulk_, {}), checkpoint = *bulk_checkpoint_] {
    Status status = Say(Ingest(db_.get(), directory_, bulk.Sorted(), checkpoint), "write");
    if (status.ok()) SetCheckpoint(checkpoint);
    return status;
  };
  bulk_checkpoint_.reset();
  beside_ = std::async(std::launch::async, std::move(ingest));
}

Status RocksEngine::EndLoad() {
  KSTREAM_RETURN_IF_ERROR(EndBeside());
  if (!bulk_checkpoint_) return Status::Ok();
  if (!is_read_only_ && bulk_.bytes() >= kLeastBulkBytes) {
    StartIngest();
    return EndBeside();
  }
  const std::vector<Change> sorted = bulk_.Sorted();
  const Checkpoint checkpoint = *std::exchange(bulk_checkpoint_, std::nullopt);
  Status status = FillBatch(sorted, checkpoint, /*forget=*/false);
  if (status.ok()) status = WriteBatch(checkpoint);
  bulk_.Clear();
  return status;
}

Status RocksEngine::FlushWhenOld(int64_t now) {
  if (flushed_ == 0) flushed_ = now;
  // A clock that was set back counts as old, too.
  if (now - flushed_ < kFlushAfterMs && now >= flushed_) return Status::Ok();
  flushed_ = now;
  ::rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;  // otherwise it waits until there would be none
  return Say(db_->Flush(options), "write");
}

// Forgotten durably first: a crash must not bring the rows back. Then the space is given up.
Status RocksEngine::Clear() {
  (void)EndBeside();  // what it wrote goes, too
  bulk_.Clear();
  bulk_checkpoint_.reset();
  ::rocksdb::WriteBatch batch;
  ::rocksdb::Status status = batch.Delete(SliceOf(kMetaKey));
  if (status.ok()) status = batch.DeleteRange(SliceOf(kRowsBegin), SliceOf(kRowsEnd));
  if (status.ok()) status = db_->Write(write_options_, &batch);
  if (status.ok()) status = db_->Flush({});
  if (status.ok()) status = db_->CompactRange({}, nullptr, nullptr);
  KSTREAM_RETURN_IF_ERROR(Say(status, "write"));
  SetCheckpoint({});
  return Status::Ok();
}

Status RocksEngine::Flush() {
  KSTREAM_RETURN_IF_ERROR(EndLoad());
  return Say(db_->Flush({}), "write");
}

EngineStats RocksEngine::Stats() const {
  EngineStats stats;
  uint64_t files = 0, memtables = 0;
  db_->GetIntProperty(::rocksdb::DB::Properties::kEstimateNumKeys, &stats.rows);
  db_->GetIntProperty(::rocksdb::DB::Properties::kTotalSstFilesSize, &files);
  db_->GetIntProperty(::rocksdb::DB::Properties::kCurSizeAllMemTables, &memtables);
  stats.bytes = files + memtables;
  if (stats.rows > 0) stats.rows--;  // the checkpoint
  return stats;
}

Status RocksEngine::Close() {
  if (!db_) return Status::Ok();
  Status flushed = is_read_only_ ? Status::Ok() : Flush();
  const Status closed = Say(db_->Close(), "write");
  db_.reset();
  return flushed.ok() ? closed : flushed;
}

}  // namespace

Result<std::unique_ptr<Engine>> Open(const std::string& directory, std::shared_ptr<Memory> memory) {
  auto engine = std::make_unique<RocksEngine>(
      directory, std::static_pointer_cast<SharedMemory>(std::move(memory)));
  KSTREAM_RETURN_IF_ERROR(engine->OpenToWrite());
  return std::unique_ptr<Engine>(std::move(engine));
}

Result<std::unique_ptr<Engine>> OpenForReading(const std::string& directory) {
  auto engine =
      std::make_unique<RocksEngine>(directory, std::make_shared<SharedMemory>(kReadingBudget));
  KSTREAM_RETURN_IF_ERROR(engine->OpenToRead());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace kstream::store::rocksdb
