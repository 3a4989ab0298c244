#include "dsl/join_rows.h"

#include <algorithm>
#include <cstring>

namespace kstream::dsl {
namespace {

// What a record takes beside its bytes: with its place among those of its key.
constexpr size_t kRecordBytes = sizeof(KeptRecord) + sizeof(JoinRows::Place) + alignof(KeptRecord);

bool Before(const JoinRows::Place& place, const KeptRecord& record) {
  return place.time != record.time ? place.time < record.time : place.record->id < record.id;
}

template <typename T>
T* AllocateIn(Arena* arena, size_t count) {
  char* const bytes = arena->Allocate(count * sizeof(T) + alignof(T) - 1);
  const size_t off = reinterpret_cast<uintptr_t>(bytes) % alignof(T);
  return reinterpret_cast<T*>(bytes + (off == 0 ? 0 : alignof(T) - off));
}

size_t SizeOf(const KeptRecord& record) {
  size_t bytes = kRecordBytes + record.value.size();
  for (const Header& header : record.headers) {
    bytes += sizeof(Header) + header.name.size() + header.value.value_or("").size();
  }
  return bytes;
}

}  // namespace

std::pair<JoinRows::Entry*, bool> JoinRows::Make(std::string_view key, uint64_t hash) {
  const auto made = keys_.Make(key, hash);
  if (made.second) bytes_ += key.size() + ByteTable<Keyed>::kEntryBytes;
  return made;
}

void JoinRows::EraseIfEmpty(Entry* entry) {
  const auto& sides = entry->value.sides;
  if (std::ranges::any_of(sides, [](const auto& side) { return !side.empty(); })) return;
  bytes_ -= entry->key().size() + ByteTable<Keyed>::kEntryBytes;
  keys_.Erase(entry);
}

JoinRows::Bucket* JoinRows::Of(int64_t time) {
  const int64_t start = BucketOf(time);
  if (last_.first == start) return last_.second;
  std::unique_ptr<Bucket>& bucket = buckets_[start];
  if (!bucket) bucket = spare_ ? std::move(spare_) : std::make_unique<Bucket>();
  last_ = {start, bucket.get()};
  return bucket.get();
}

KeptRecord* JoinRows::Copy(const KeptRecord& record, Arena* arena) {
  auto* const copy = new (AllocateIn<KeptRecord>(arena, 1)) KeptRecord(record);
  if (const size_t count = record.headers.size(); count > 0) {
    auto* const headers = AllocateIn<Header>(arena, count);
    for (size_t i = 0; i < count; i++) {
      const Header& header = record.headers[i];
      new (headers + i) Header{arena->Copy(header.name),
                               header.value ? Bytes(arena->Copy(*header.value)) : std::nullopt};
    }
    copy->headers = {headers, count};
  }
  copy->value = arena->Copy(record.value);
  return copy;
}

std::pair<KeptRecord*, bool> JoinRows::Add(Entry* entry, const KeptRecord& record) {
  auto& side = entry->value.sides[static_cast<size_t>(record.side)];
  auto place = side.end();
  if (!side.empty() && !Before(side.back(), record)) {
    place = std::lower_bound(side.begin(), side.end(), record, Before);
    if (place->time == record.time && place->record->id == record.id) return {place->record, false};
  }
  Bucket* const bucket = Of(record.time);
  KeptRecord* const copy = Copy(record, &bucket->arena);
  copy->entry = entry;
  side.insert(place, {record.time, copy});
  if (entry->value.bucket != last_.first) {
    entry->value.bucket = last_.first;
    bucket->keys.push_back(entry);
  }
  const size_t bytes = SizeOf(record);
  bucket->bytes += bytes;
  bytes_ += bytes;
  return {copy, true};
}

std::span<const JoinRows::Place> JoinRows::Between(const Entry& entry, JoinSide side, int64_t from,
                                                   int64_t to) {
  const auto& places = entry.value.sides[static_cast<size_t>(side)];
  const auto first = std::ranges::lower_bound(places, from, {}, &Place::time);
  auto last = first;
  while (last != places.end() && last->time <= to) last++;
  return {first, last};
}

void JoinRows::Expire(int64_t time) {
  while (Expires(time)) {
    const auto first = buckets_.begin();
    const int64_t end = first->first + width_;
    std::unique_ptr<Bucket> bucket = std::move(first->second);
    buckets_.erase(first);
    // Keys that are in it twice may be gone with the first.
    std::ranges::sort(bucket->keys);
    auto& keys = bucket->keys;
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (Entry* const entry : bucket->keys) Drop(entry, end);
    bytes_ -= bucket->bytes;
    bucket->keys.clear();
    bucket->arena.Reset();
    bucket->bytes = 0;
    spare_ = std::move(bucket);
    last_ = {INT64_MIN, nullptr};
  }
}

void JoinRows::Drop(Entry* entry, int64_t end) {
  for (auto& side : entry->value.sides) {
    const auto kept =
        std::ranges::find_if(side, [&](const Place& place) { return place.time >= end; });
    side.erase(side.begin(), kept);
  }
  EraseIfEmpty(entry);
}

void JoinRows::Clear() {
  keys_.clear();
  buckets_.clear();
  last_ = {INT64_MIN, nullptr};
  bytes_ = 0;
}

}  // namespace kstream::dsl
