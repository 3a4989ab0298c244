#include "dsl/aggregation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "dsl/operator.h"

namespace kstream::dsl {
namespace {

using Emit = AggregateSpec::Emit;

// What a group costs beside its key and what its columns say of themselves.
size_t SizeOfRow(size_t columns) {
  return ByteTable<Row>::kEntryBytes + columns * sizeof(Accumulator);
}

}  // namespace

Aggregation::Aggregation(const AggregationPlan& plan)
    : emit_(plan.emit),
      every_(plan.every),
      store_name_(plan.store),
      most_bytes_(plan.most_bytes),
      format_(plan.new_format()),
      route_(plan.route, plan.serdes),
      skips_(plan.skips) {
  if (plan.by) by_.emplace("--by", *plan.by, plan.serdes);
}

Status Aggregation::Init(ProcessorContext& context) {
  context_ = &context;
  if (!store_name_.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store(store_name_));
    store_ = dynamic_cast<KeyValueStore*>(store);
    if (!store_) {
      return Status::Usage(fmt::format("store '{}' is no key-value store", store_name_));
    }
  }
  if (emit_ != Emit::kEvery) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(context.Schedule(every_, PunctuationType::kWallClockTime).status());
  return store_ ? RestoreDue() : Status::Ok();
}

// What was committed as changed, and not forwarded before the end of another process.
Status Aggregation::RestoreDue() {
  Status failure;
  KSTREAM_RETURN_IF_ERROR(store_->RangeRows(
      "", std::nullopt, [&](std::string_view key, std::string_view value, int64_t timestamp) {
        stored_.value = value;
        stored_.timestamp = timestamp;
        Row row = format_->Empty();
        failure = Restore(key, stored_, &row);
        if (failure.ok() && row.due) {
          Entry* const entry = rows_.Make(key).first;
          entry->value = std::move(row);
          touched_.push_back(entry);
          bytes_ += key.size() + value.size() + SizeOfRow(format_->columns());
        }
        return failure.ok();
      }));
  return failure;
}

Status Aggregation::Process(const Record& record) {
  if (!record.value) {
    skips_.NoValue();
    return Status::Ok();
  }
  Bytes key;
  KSTREAM_RETURN_IF_ERROR(GroupOf(record, &key));
  if (!key) {
    skips_.NoKey();
    return Status::Ok();
  }
  bool fresh = false;
  KSTREAM_ASSIGN_OR_RETURN(Entry* const entry, Find(*key, &fresh));
  if (Status status = format_->Prepare(record, entry->value); !status.ok()) {
    if (fresh) rows_.Erase(entry);
    return status;
  }
  if (fresh) bytes_ += key->size() + SizeOfRow(format_->columns());
  KSTREAM_RETURN_IF_ERROR(Update(record, entry));
  return store_ && bytes_ > most_bytes_ ? Spill() : Status::Ok();
}

Status Aggregation::GroupOf(const Record& record, Bytes* key) {
  if (by_) return by_->Key(InputOf(record), key);
  *key = record.key;
  return Status::Ok();
}

// *fresh: the row is that of no record yet.
Result<Aggregation::Entry*> Aggregation::Find(std::string_view key, bool* fresh) {
  if (Entry* const found = rows_.Find(key)) return found;
  Row row = format_->Empty();
  bool stored = false;
  if (store_) {
    KSTREAM_ASSIGN_OR_RETURN(stored, store_->Find(key, &stored_));
    if (stored) KSTREAM_RETURN_IF_ERROR(Restore(key, stored_, &row));
  }
  if (!stored) {
    // A key that cannot be printed is found now, while its record is at hand.
    KSTREAM_RETURN_IF_ERROR(format_->Result(key, row, &text_));
  }
  *fresh = true;
  Entry* const entry = rows_.Make(key).first;
  entry->value = std::move(row);
  return entry;
}

Status Aggregation::Restore(std::string_view key, const StoredRow& stored, Row* row) const {
  std::string why;
  if (format_->Restore(stored, row, &why)) return Status::Ok();
  return Status(StatusCode::kState,
                fmt::format("store '{}', key {}: {}: what is kept was made by other aggregates; "
                            "name another store, or reset the application",
                            store_name_, Printable(key), why));
}

Status Aggregation::Update(const Record& record, Entry* entry) {
  Row& row = entry->value;
  // A group that was deleted begins anew, with its time: nothing else is known of it after a
  // restart.
  if (row.gone()) row.timestamp = Row::kNoTime;
  if (record.timestamp_type != TimestampType::kNone) {
    row.timestamp = std::max(row.timestamp, record.timestamp);
  }
  bytes_ += format_->Apply(&row);
  const bool listed = row.due || row.dirty;
  row.due = row.due || emit_ == Emit::kUpdate || emit_ == Emit::kEvery;
  row.dirty = store_ != nullptr;
  if (!listed && (row.due || row.dirty)) touched_.push_back(entry);
  return emit_ == Emit::kChange ? Forward(entry->key(), row) : Status::Ok();
}

Status Aggregation::Forward(std::string_view key, const Row& row) {
  KSTREAM_RETURN_IF_ERROR(format_->Result(key, row, &text_));
  Record record;
  record.key = key;
  record.value = text_ ? Bytes(*text_) : std::nullopt;
  record.timestamp = row.timestamp;
  if (row.timestamp != Row::kNoTime) record.timestamp_type = TimestampType::kCreateTime;
  if (!route_.trivial()) {
    const Record unrouted = record;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(InputOf(unrouted), &record));
  }
  return context_->Forward(record);
}

Status Aggregation::Punctuate(const Punctuation&) { return ForwardDue(); }

Status Aggregation::Flush() {
  if (emit_ == Emit::kUpdate) KSTREAM_RETURN_IF_ERROR(ForwardDue());
  return Store();
}

// There is no other end of what is forwarded by the clock; update rows come with the last Flush.
Status Aggregation::EndInput() {
  if (emit_ == Emit::kFinal) return ForwardAll();
  return emit_ == Emit::kEvery ? ForwardDue() : Status::Ok();
}

void Aggregation::Sort(std::vector<Entry*>* entries) {
  std::sort(entries->begin(), entries->end(),
            [](const Entry* a, const Entry* b) { return a->key() < b->key(); });
}

Status Aggregation::ForwardDue() {
  Sort(&touched_);
  for (Entry* const entry : touched_) {
    if (!entry->value.due) continue;
    entry->value.due = false;  // whatever comes of it
    entry->value.dirty = store_ != nullptr;
    KSTREAM_RETURN_IF_ERROR(Forward(entry->key(), entry->value));
  }
  if (!store_) touched_.clear();
  return Status::Ok();
}

Status Aggregation::ForwardAll() {
  if (store_) {
    KSTREAM_RETURN_IF_ERROR(Store());
    return ForwardStored();
  }
  std::vector<Entry*> all = rows_.Entries();
  Sort(&all);
  for (const Entry* const entry : all) {
    KSTREAM_RETURN_IF_ERROR(Forward(entry->key(), entry->value));
  }
  return Status::Ok();
}

Status Aggregation::ForwardStored() {
  Status failure;
  KSTREAM_RETURN_IF_ERROR(store_->RangeRows(
      "", std::nullopt, [&](std::string_view key, std::string_view value, int64_t timestamp) {
        stored_.value = value;
        stored_.timestamp = timestamp;
        Row row = format_->Empty();
        failure = Restore(key, stored_, &row);
        if (failure.ok()) failure = Forward(key, row);
        return failure.ok();
      }));
  return failure;
}

Status Aggregation::Store() {
  if (!store_) return Status::Ok();
  Sort(&touched_);
  std::vector<Entry*> due;
  for (Entry* const entry : touched_) {
    Row& row = entry->value;
    if (row.due) due.push_back(entry);
    if (!std::exchange(row.dirty, false)) continue;
    format_->State(row, &text_);
    KSTREAM_RETURN_IF_ERROR(text_ ? store_->Put(entry->key(), *text_, row.timestamp)
                                  : store_->Delete(entry->key()));
  }
  touched_ = std::move(due);
  return Status::Ok();
}

// Rows that are due come early: they could not be told from others any more.
Status Aggregation::Spill() {
  KSTREAM_RETURN_IF_ERROR(ForwardDue());
  KSTREAM_RETURN_IF_ERROR(Store());
  touched_.clear();
  rows_.clear();
  bytes_ = 0;
  return Status::Ok();
}

void Aggregation::Close() {
  skips_.Tell(context_ ? context_->node() : "aggregate");
  touched_.clear();
  rows_.clear();
}

ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description) {
  return ProcessorSupplier([plan = std::move(plan)] { return std::make_unique<Aggregation>(plan); },
                           std::move(description));
}

}  // namespace kstream::dsl
