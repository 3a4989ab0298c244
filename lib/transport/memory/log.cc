#include "transport/memory/log.h"

#include <algorithm>

namespace kstream::transport::memory {

StoredRecord StoredRecord::Copy(const Record& record) {
  StoredRecord copy;
  if (record.key) copy.key = std::string(*record.key);
  if (record.value) copy.value = std::string(*record.value);
  for (const Header& header : record.headers) {
    auto& [name, value] = copy.headers.emplace_back(header.name, std::nullopt);
    if (header.value) value = std::string(*header.value);
  }
  copy.timestamp = record.timestamp;
  copy.timestamp_type = record.timestamp_type;
  return copy;
}

int64_t PartitionLog::Append(StoredRecord record, Transaction transaction) {
  const int64_t offset = high();
  record.partition = partition_;
  record.offset = offset;
  if (transaction != kNoTransaction &&
      std::ranges::none_of(open_, [&](auto& open) { return open.second == transaction; })) {
    open_.emplace(offset, transaction);
  }
  entries_.push_back({std::make_shared<const StoredRecord>(std::move(record)), transaction});
  return offset;
}

void PartitionLog::End(Transaction transaction, bool commit) {
  if (std::erase_if(open_, [&](auto& open) { return open.second == transaction; }) == 0) return;
  if (!commit) aborted_.insert(transaction);
  entries_.push_back({nullptr, transaction});
}

void PartitionLog::RaiseLow(int64_t low) {
  low = std::clamp(low, low_, high());
  entries_.erase(entries_.begin(), entries_.begin() + (low - low_));
  low_ = low;
}

int64_t PartitionLog::stable() const { return open_.empty() ? high() : open_.begin()->first; }

std::shared_ptr<const StoredRecord> PartitionLog::Next(int64_t position) const {
  for (int64_t at = std::max(position, low_); at < stable(); at++) {
    const Entry& entry = At(at);
    if (entry.record != nullptr && !aborted_.contains(entry.transaction)) return entry.record;
  }
  return nullptr;
}

int64_t PartitionLog::OffsetFor(int64_t timestamp) const {
  for (int64_t at = low_; at < high(); at++) {
    const auto& record = At(at).record;
    if (record != nullptr && record->timestamp >= timestamp) return at;
  }
  return high();
}

}  // namespace kstream::transport::memory
