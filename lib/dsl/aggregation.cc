#include "dsl/aggregation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "dsl/event_time.h"
#include "dsl/session_aggregation.h"
#include "dsl/sliding_aggregation.h"
#include "dsl/window_aggregation.h"

namespace kstream::dsl {
namespace {

constexpr size_t kMostAtRecord = 1000, kMostAtCommit = 100'000;  // rows that expire in one call
constexpr size_t kMostInWalk = size_t{1} << 18;                  // rows that one call walks over

}  // namespace

Status Aggregation::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(RowProcessor::Init(context));
  if (expires()) queue_.emplace(store() ? queue_bytes_ : SIZE_MAX, store() == nullptr);
  return store() && emit() == Emit::kEvery ? RestoreDue(&table_) : Status::Ok();
}

Status Aggregation::Process(const Record& record) {
  if (of_table_) return ProcessChange(record);
  Bytes key;
  KSTREAM_ASSIGN_OR_RETURN(const bool grouped, GroupOf(record, &key));
  if (!grouped) return Status::Ok();
  int64_t now = 0;
  if (expires()) {
    KSTREAM_RETURN_IF_ERROR(CheckTime(record));
    now = std::max(StreamTime(), record.timestamp);
  }
  KSTREAM_ASSIGN_OR_RETURN(const bool taken, Take(record, *key, now));
  if (!taken) skips().Expired();
  return full() ? Spill() : Status::Ok();
}

Status Aggregation::ProcessChange(const Record& change) {
  if (!change.key) return Status::Ok();  // GroupBy forwards none
  bool fresh = false;
  KSTREAM_ASSIGN_OR_RETURN(Entry* const entry,
                           Find(&table_, *change.key, BytesHash::Of(*change.key), &fresh));
  bool changed = false;
  const Status status = ApplyChange(&table_, change, entry, &changed);
  if (fresh && !changed) Forget(&table_, entry);
  KSTREAM_RETURN_IF_ERROR(status);
  return full() ? Spill() : Status::Ok();
}

// Whether the record is a good one is asked before anything expires by its time.
Result<bool> Aggregation::Take(const Record& record, std::string_view key, int64_t now) {
  const uint64_t hash = BytesHash::Of(key);
  KSTREAM_RETURN_IF_ERROR(Read(record));
  if (expires()) GoneUntil(EndsAt(now));
  bool fresh = false;
  KSTREAM_ASSIGN_OR_RETURN(Entry * entry, Find(&table_, key, hash, &fresh));
  Status status = Prepare(record, Current(*entry));
  if (status.ok() && expires() && queue_->Has(EndsAt(now))) {
    if (std::exchange(fresh, false)) Forget(&table_, entry);
    KSTREAM_RETURN_IF_ERROR(Expire(EndsAt(now), kMostAtRecord).status());
    KSTREAM_ASSIGN_OR_RETURN(entry, Find(&table_, key, hash, &fresh));
    status = Prepare(record, Current(*entry));
  }
  const bool is_new = (fresh && !entry->value.stored) || IsGone(entry->value);
  const bool late = status.ok() && expires() && is_new && record.timestamp <= EndsAt(now);
  if (!status.ok() || late) {
    if (fresh) Forget(&table_, entry);
    if (!late) return status;
    return false;
  }
  Renew(entry);
  KSTREAM_RETURN_IF_ERROR(Apply(&table_, record, entry));
  if (expires() && (fresh || is_new)) queue_->Add(key, entry->value.timestamp);
  return true;
}

Status Aggregation::Punctuate(const Punctuation&) { return ForwardDue(&table_); }

Status Aggregation::Flush() {
  if (expires()) KSTREAM_RETURN_IF_ERROR(Expire(EndsAt(StreamTime()), kMostAtCommit).status());
  if (emit() == Emit::kUpdate) KSTREAM_RETURN_IF_ERROR(ForwardDue(&table_));
  KSTREAM_RETURN_IF_ERROR(Store(&table_));
  return DeleteExpired(context().committed_stream_time().value_or(kNoTime));
}

// There is no other end of what is forwarded by the clock; update rows come with the last Flush.
Status Aggregation::EndInput() {
  for (bool more = expires(); more;) {
    KSTREAM_ASSIGN_OR_RETURN(more, Expire(EndsAt(StreamTime()), kMostAtCommit));
  }
  if (emit() == Emit::kFinal) {
    KSTREAM_RETURN_IF_ERROR(DeleteExpired(INT64_MAX));
    return ForwardAll(&table_);
  }
  return emit() == Emit::kEvery ? ForwardDue(&table_) : Status::Ok();
}

Result<bool> Aggregation::Expire(int64_t until, size_t most) {
  for (size_t ended = 0;;) {
    while (auto row = queue_->Pop(until)) {
      KSTREAM_ASSIGN_OR_RETURN(const auto time, TimeOf(row->second));
      if (time && *time > row->first) {
        queue_->Add(row->second, *time);
      } else {
        queue_->Pass(*row);
        if (time) KSTREAM_RETURN_IF_ERROR(ExpireRow(*row));
        if (++ended == most) return true;
      }
    }
    if (queue_->Knows(until)) return false;
    KSTREAM_RETURN_IF_ERROR(WalkOn());
    if (queue_->is_walking()) return true;
  }
}

Result<std::optional<int64_t>> Aggregation::TimeOf(std::string_view key) {
  const Entry* const entry = table_.rows.Find(key, BytesHash::Of(key));
  if (entry && !entry->value.expired) return std::optional(entry->value.timestamp);
  return StoredTime(key);
}

Status Aggregation::ExpireRow(const ExpiryQueue::Row& row) {
  const auto& [time, key] = row;
  if (emit() != Emit::kFinal) KSTREAM_RETURN_IF_ERROR(ForwardEnd(key, time + ttl_));
  if (store()) ended_.push_back(row);
  if (Entry* const entry = table_.rows.Find(key, BytesHash::Of(key))) End(&table_, entry);
  return Status::Ok();
}

Status Aggregation::WalkOn() {
  if (!queue_->is_walking()) {
    queue_->BeginWalk();
    walked_.clear();
    for (const Entry* const entry : table_.rows.Entries()) {
      if (!entry->value.expired) queue_->Add(entry->key(), entry->value.timestamp);
    }
  }
  size_t seen = 0;
  bool all = true;
  if (store()) {
    const auto add = [&](std::string_view key, std::string_view, int64_t time) {
      if (seen++ == kMostInWalk) {
        walked_ = key;
        return all = false;
      }
      queue_->Add(key, time);
      return true;
    };
    KSTREAM_RETURN_IF_ERROR(store()->RangeRows(walked_, std::nullopt, add));
  }
  if (all) queue_->EndWalk();
  return Status::Ok();
}

// What has begun anew since is another row.
Status Aggregation::DeleteExpired(int64_t stream_time) {
  while (!ended_.empty() && ended_.front().first <= EndsAt(stream_time)) {
    const auto& [ended, key] = ended_.front();
    const Entry* const entry = table_.rows.Find(key, BytesHash::Of(key));
    if (!entry || entry->value.expired) {
      KSTREAM_ASSIGN_OR_RETURN(const auto time, StoredTime(key));
      if (time && *time <= ended) KSTREAM_RETURN_IF_ERROR(store()->Delete(key));
    }
    ended_.pop_front();
  }
  return Status::Ok();
}

// Rows that are due come early: they could not be told from others any more.
Status Aggregation::Spill() {
  KSTREAM_RETURN_IF_ERROR(ForwardDue(&table_));
  KSTREAM_RETURN_IF_ERROR(Store(&table_));
  Clear(&table_);
  return Status::Ok();
}

void Aggregation::Close() {
  RowProcessor::Close();
  Clear(&table_);
}

ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description) {
  auto make = [plan = std::move(plan)]() -> std::unique_ptr<Processor> {
    if (!plan.window) return std::make_unique<Aggregation>(plan);
    switch (plan.window->kind) {
      case WindowSpec::Kind::kSession:
        return std::make_unique<SessionAggregation>(plan);
      case WindowSpec::Kind::kSliding:
        return std::make_unique<SlidingAggregation>(plan);
      case WindowSpec::Kind::kTumbling:
      case WindowSpec::Kind::kHopping:
        return std::make_unique<WindowAggregation>(plan);
    }
    return nullptr;
  };
  return ProcessorSupplier(std::move(make), std::move(description));
}

}  // namespace kstream::dsl
