// StreamJoin and its store: what is read at the start, and what goes back and forth when memory
// does not hold all. Tested by tests/unit/dsl/join_state_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "dsl/join_key.h"
#include "dsl/row_store.h"
#include "dsl/span_key.h"
#include "dsl/store_range.h"
#include "dsl/stream_join.h"
#include "dsl/window_key.h"

namespace kstream::dsl {

Status StreamJoin::OpenStore(ProcessorContext& context) {
  KSTREAM_ASSIGN_OR_RETURN(store_, FindKeyValueStore(context, store_name_));
  KSTREAM_RETURN_IF_ERROR(label_.Check(*store_, store_name_));
  return LoadAll();
}

// What memory does not hold stays where it is, with timers.
Status StreamJoin::LoadAll() {
  std::string from(1, JoinKey::kFirst);
  for (bool more = true; more;) {
    more = false;
    Status status;
    const auto read = [&](std::string_view stored, std::string_view value, int64_t) {
      if (rows_full()) {
        more = true;
        from = stored;
        return false;
      }
      KeptRecord* row = nullptr;
      status = LoadRow(stored, value, &row);
      if (row) Wait(row);
      return status.ok();
    };
    KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, std::nullopt, read));
    KSTREAM_RETURN_IF_ERROR(status);
    // The key at hand may be here in part.
    if (more || !whole_) KSTREAM_RETURN_IF_ERROR(LeaveToStore());
  }
  return FindTimer(std::string(1, TimerKey::kKind));
}

Status StreamJoin::LoadRow(std::string_view stored, std::string_view value, KeptRecord** waits) {
  const std::optional<JoinKey> key = JoinKey::Parse(stored);
  if (!key || !label_.said()) {
    return OtherState(fmt::format("key {} is of no such join", Printable(stored)));
  }
  stored_buckets_.insert(key->bucket);
  if (IsExpired(key->time, decided_)) return Status::Ok();
  KeptRecord record{.time = key->time, .id = key->id, .side = key->side, .stored = true};
  if (const Status status = values_.Read(value, &record); !status.ok()) {
    return OtherState(fmt::format("key {}: {}", Printable(stored), status.message()));
  }
  const Side& side = Of(record.side);
  const bool open = side.waits && !record.matched && DueOf(record) >= decided_;
  // What has waited for what is decided came out before.
  record.gone = side.waits && !record.matched && !open;
  record.entry = rows_.Make(key->key, BytesHash::Of(key->key)).first;
  const auto [row, fresh] = rows_.Add(record.entry, record);
  if (open && fresh) *waits = row;
  return Status::Ok();
}

Result<JoinRows::Entry*> StreamJoin::FindKey(std::string_view key, uint64_t hash) {
  JoinRows::Entry* const entry = rows_.Find(key, hash);
  if (entry || whole_) return entry;
  Status status;
  KeptRecord* waits = nullptr;  // it has a timer
  const auto read = [&](std::string_view stored, std::string_view value, int64_t) {
    status = LoadRow(stored, value, &waits);
    return status.ok();
  };
  for (const int64_t bucket : stored_buckets_) {
    if (bucket + rows_.width() <= decided_ - kept_for_) continue;
    const std::string from = JoinKey::Prefix(bucket, key);
    std::string to = from;
    to.back() = '\1';
    KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, to, read));
    KSTREAM_RETURN_IF_ERROR(status);
  }
  return rows_.Find(key, hash);
}

void StreamJoin::Touch(KeptRecord* record) {
  if (store_ && !std::exchange(record->dirty, true)) dirty_.push_back(record);
}

// What expires before it was stored never is.
void StreamJoin::Expire() {
  const int64_t until = stream_time_ - kept_for_;
  if (!rows_.Expires(until)) return;
  std::erase_if(dirty_, [&](const KeptRecord* record) {
    return rows_.BucketOf(record->time) + rows_.width() <= until;
  });
  rows_.Expire(until);
}

Status StreamJoin::StoreRows() {
  for (KeptRecord* const record : std::exchange(dirty_, {})) {
    record->dirty = false;
    record->stored = true;
    KSTREAM_RETURN_IF_ERROR(label_.Say(store_));
    const int64_t bucket = rows_.BucketOf(record->time);
    stored_buckets_.insert(bucket);
    KSTREAM_RETURN_IF_ERROR(
        store_->Put(JoinKey::Of(bucket, *record), values_.Write(*record), record->time));
  }
  return Status::Ok();
}

Status StreamJoin::DeleteExpired() {
  const int64_t committed = context_->committed_stream_time().value_or(kNoTime);
  while (!stored_buckets_.empty() &&
         *stored_buckets_.begin() + rows_.width() + kept_for_ <= committed) {
    const int64_t bucket = *stored_buckets_.begin();
    stored_buckets_.erase(stored_buckets_.begin());
    KSTREAM_RETURN_IF_ERROR(
        DeleteRange(store_, JoinKey::Prefix(bucket), JoinKey::Prefix(bucket + rows_.width())));
  }
  return Status::Ok();
}

Status StreamJoin::Spill() {
  KSTREAM_RETURN_IF_ERROR(StoreRows());
  return LeaveToStore();
}

// All rows are stored.
Status StreamJoin::LeaveToStore() {
  for (; !waiting_.empty(); waiting_.pop()) {
    const auto& [due, record] = waiting_.top();
    if (record->matched || record->gone) continue;
    const std::string row = JoinKey::Of(rows_.BucketOf(record->time), *record);
    KSTREAM_RETURN_IF_ERROR(store_->Put(TimerKey::Of(due, record->time, row), "", due));
  }
  rows_.Clear();
  whole_ = false;
  return FindTimer(std::string(1, TimerKey::kKind));
}

Status StreamJoin::FindTimer(std::string from) {
  timer_.reset();
  Status status;
  const auto read = [&](std::string_view key, std::string_view, int64_t) {
    timer_ = TimerKey::Parse(key);
    if (!timer_) status = OtherState(fmt::format("key {} is no timer", Printable(key)));
    return false;
  };
  KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, std::string(1, TimerKey::kKind + 1), read));
  return status;
}

// Brings those timers from the store that are next, and due before `now`.
Status StreamJoin::FetchTimers(int64_t now) {
  while (timer_ && timer_->end < now && (waiting_.empty() || timer_->end <= waiting_.top().due)) {
    const std::optional<JoinKey> row = JoinKey::Parse(timer_->group);
    if (!row) return OtherState("a timer is of no record");
    KSTREAM_ASSIGN_OR_RETURN(JoinRows::Entry* const entry,
                             FindKey(row->key, BytesHash::Of(row->key)));
    const auto records = entry ? JoinRows::Between(*entry, row->side, row->time, row->time)
                               : std::span<const JoinRows::Place>();
    for (const auto& [time, record] : records) {
      if (record->id == row->id && !record->matched && !record->gone) Wait(record);
    }
    std::string key = TimerKey::Of(timer_->end, timer_->start, timer_->group);
    KSTREAM_RETURN_IF_ERROR(store_->Delete(key));
    KSTREAM_RETURN_IF_ERROR(FindTimer(std::move(key.append(1, '\0'))));
  }
  return Status::Ok();
}

size_t StreamJoin::CountWaiting() const {
  size_t waiting = 0;
  if (whole_) {
    rows_.ForEach([&](const KeptRecord* record) {
      if (Of(record->side).waits && !record->matched && !record->gone) waiting++;
    });
    return waiting;
  }
  const auto count = [&](std::string_view stored, std::string_view value, int64_t) {
    const std::optional<JoinKey> key = JoinKey::Parse(stored);
    if (!key || !Of(key->side).waits || KeptValue::IsMatched(value)) return true;
    const KeptRecord record{.time = key->time, .side = key->side};
    if (DueOf(record) >= decided_) waiting++;
    return true;
  };
  // Nothing but a number of the last line depends on it.
  return store_->RangeRows(std::string(1, JoinKey::kFirst), std::nullopt, count).ok() ? waiting : 0;
}

}  // namespace kstream::dsl
