// Engine: the bytes of one store of one task, and where they stand in the store's changelog.
//
// An engine knows nothing of epochs, topics or records. What it promises is that rows and
// checkpoint change together: whatever is found after a crash, the checkpoint says exactly which
// part of the changelog the rows contain. Two of them: memory/ and rocksdb/; both pass
// tests/unit/store/rocksdb/both_engines_test.cc.
#ifndef KSTREAM_STORE_ENGINE_H_
#define KSTREAM_STORE_ENGINE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream::store {

// Where a store stands in its changelog partition.
struct Checkpoint {
  std::string incarnation;  // of the application that wrote it; empty: nothing was written
  int64_t offset = 0;       // of the first changelog record that the rows do not contain
  int64_t last = -1;        // offset of the last record they do contain; -1: none
  uint64_t last_hash = 0;   // of that record's key and value: tells another log apart
  int64_t written = 0;      // wall clock, ms since the epoch
  bool operator==(const Checkpoint&) const = default;
};

// One change of a store: a row, or the deletion of its key.
struct Change {
  std::string_view key;
  std::optional<std::string_view> value;  // nullopt: delete
  int64_t timestamp = 0;                  // event time of the row, ms since the epoch
};

// Walks the rows of an engine, in order. What is written while it walks it sees or does not:
// RocksDB's sees none of it, the one in memory may see what lies ahead. Owned by the caller, who
// destroys it before the engine closes.
class EngineIterator {
 public:
  virtual ~EngineIterator() = default;
  virtual bool Valid() const = 0;
  virtual void Next() = 0;
  // Of the row it stands on; valid until Next.
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual int64_t timestamp() const = 0;
  // kState: what could not be read; then Valid is false.
  virtual Status status() const = 0;
};

struct EngineStats {
  uint64_t rows = 0;   // an estimate where counting costs a walk
  uint64_t bytes = 0;  // in memory or on disk
};

// Belongs to the thread of its task, except that Find, NewIterator and checkpoint may be called
// from other threads while that one writes (see committed_reader.h for how they survive Close).
// Failures are kState, with the directory, and say what to do.
class Engine {
 public:
  virtual ~Engine() = default;

  // Fills in *row. False: there is no such key.
  virtual Result<bool> Find(std::string_view key, StoredRow* row) const = 0;
  // Rows with from <= key < to, in order of unsigned bytes.
  virtual std::unique_ptr<EngineIterator> NewIterator(std::string_view from,
                                                      std::optional<std::string_view> to) const = 0;
  virtual Checkpoint checkpoint() const = 0;

  // Writes changes (each key at most once) and checkpoint together. Not yet durable: see Flush.
  virtual Status Write(std::span<const Change> changes, const Checkpoint& checkpoint) = 0;
  // The same after forgetting all rows that are there, in one step with it.
  virtual Status Replace(std::span<const Change> changes, const Checkpoint& checkpoint) = 0;
  // Begins what Write does (`forget`: Replace), beside the caller, who needs `changes` no longer
  // when it returns. Until EndWrite has said how it ended, nothing else is written, and what is
  // read may have it or not.
  virtual Status StartWrite(std::span<const Change> changes, const Checkpoint& checkpoint,
                            bool forget) {
    return forget ? Replace(changes, checkpoint) : Write(changes, checkpoint);
  }
  // False: it goes on; never with `wait`. After a failure the engine is as it was before.
  virtual Result<bool> EndWrite([[maybe_unused]] bool wait) { return true; }
  // The same as Write for the many rows of a restore, where a later change of a key wins. An engine
  // may gather them: they are seen, with their checkpoint, after EndLoad, Write or Flush at the
  // latest.
  virtual Status Load(std::span<const Change> changes, const Checkpoint& checkpoint) = 0;
  virtual Status EndLoad() { return Status::Ok(); }
  // Forgets all rows and the checkpoint, durably.
  virtual Status Clear() = 0;

  // Makes durable what was written. An engine does so by itself, too, often enough that the tail of
  // the changelog that a crash leaves to be restored stays short.
  virtual Status Flush() = 0;
  virtual EngineStats Stats() const = 0;
  // Flushes and gives up the directory; again is nothing. Afterwards only the destructor.
  virtual Status Close() = 0;
};

}  // namespace kstream::store

#endif  // KSTREAM_STORE_ENGINE_H_
