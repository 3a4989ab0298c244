// The flag is set before the lock is asked for, so that readers who follow one another without a
// gap cannot keep the owner waiting.
#include "store/committed_reader.h"

#include <fmt/format.h>

#include <mutex>

namespace kstream::store {

Status CommittedReader::Ended() const {
  return {
      StatusCode::kState,
      fmt::format("store '{}' is no longer here: its task has ended or moved, ask again where it "
                  "runs now",
                  name_)};
}

Result<bool> CommittedReader::Find(std::string_view key, StoredRow* row) const {
  if (ended_) return Ended();
  const std::shared_lock lock(mutex_);
  if (ended_) return Ended();
  return engine_->Find(key, row);
}

Status CommittedReader::Range(std::string_view from, std::optional<std::string_view> to,
                              const KeyValueStore::RowVisitor& visit) const {
  if (ended_) return Ended();
  const std::shared_lock lock(mutex_);
  if (ended_) return Ended();
  const auto rows = engine_->NewIterator(from, to);
  for (; rows->Valid(); rows->Next()) {
    if (ended_) return Ended();
    if (!visit(rows->key(), rows->value(), rows->timestamp())) return Status::Ok();
  }
  return rows->status();
}

Result<Checkpoint> CommittedReader::checkpoint() const {
  if (ended_) return Ended();
  const std::shared_lock lock(mutex_);
  if (ended_) return Ended();
  return engine_->checkpoint();
}

void CommittedReader::End() {
  ended_ = true;
  const std::unique_lock lock(mutex_);
}

}  // namespace kstream::store
