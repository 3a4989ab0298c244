// The flag is set before the lock is asked for, so that readers who follow one another without a
// gap cannot keep the owner waiting.
#include "store/committed_reader.h"

#include <fmt/format.h>

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

Status CommittedReader::RangeRows(std::string_view from, std::optional<std::string_view> to,
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

Result<int64_t> CommittedReader::changelog_offset() const {
  if (ended_) return Ended();
  const std::shared_lock lock(mutex_);
  if (ended_) return Ended();
  return engine_->checkpoint().offset;
}

void CommittedReader::End() {
  ended_ = true;
  const std::unique_lock lock(mutex_);
}

void OpenStores::Add(int32_t task, const std::shared_ptr<const CommittedReader>& reader) {
  const std::lock_guard lock(mutex_);
  readers_.insert_or_assign({reader->name(), task}, reader);
}

std::vector<StoreInstance> OpenStores::Of(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  std::vector<StoreInstance> instances;
  for (auto at = readers_.lower_bound({std::string(name), 0});
       at != readers_.end() && at->first.first == name; ++at) {
    auto reader = at->second.lock();
    if (reader && !reader->ended()) instances.push_back({at->first.second, std::move(reader)});
  }
  return instances;
}

}  // namespace kstream::store
