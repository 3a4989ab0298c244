#include "dsl/row_processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "base/sort_by_key.h"
#include "dsl/operator.h"
#include "dsl/row_store.h"
#include "dsl/table_change.h"

namespace kstream::dsl {
namespace {

// What a group costs beside its key and what its columns say of themselves.
size_t SizeOfRow(size_t columns) {
  return ByteTable<Row>::kEntryBytes + columns * sizeof(Accumulator);
}

std::string_view KeyOf(const RowTable::Entry* entry) { return entry->key(); }

}  // namespace

RowProcessor::RowProcessor(const AggregationPlan& plan)
    : emit_(plan.emit),
      every_(plan.every),
      store_name_(plan.store),
      rows_to_(plan.rows),
      window_(plan.window),
      window_keys_(plan.window_keys || plan.emit != Emit::kFinal),
      most_bytes_(static_cast<int64_t>(plan.most_bytes)),
      format_(plan.new_format()),
      empty_(format_->Empty()),
      route_(plan.route, plan.serdes),
      skips_(plan.skips),
      keys_(plan.serdes.key) {
  if (plan.by) by_.emplace("--by", *plan.by, plan.serdes);
}

Status RowProcessor::Init(ProcessorContext& context) {
  context_ = &context;
  if (!store_name_.empty()) {
    KSTREAM_ASSIGN_OR_RETURN(store_, FindKeyValueStore(context, store_name_));
  }
  if (emit_ != Emit::kEvery) return Status::Ok();
  return context.Schedule(every_, PunctuationType::kWallClockTime).status();
}

void RowProcessor::Close() { skips_.Tell(context_ ? context_->node() : "aggregate"); }

Result<bool> RowProcessor::GroupOf(const Record& record, Bytes* key) {
  if (!record.value) {
    skips_.NoValue();
    return false;
  }
  if (by_) {
    KSTREAM_RETURN_IF_ERROR(by_->Key(InputOf(record), key));
  } else {
    *key = record.key;
  }
  if (!*key) skips_.NoKey();
  return key->has_value();
}

Result<RowProcessor::Entry*> RowProcessor::Find(RowTable* table, std::string_view key,
                                                uint64_t hash, bool* fresh) {
  *fresh = false;
  if (Entry* const found = table->rows.Find(key, hash)) return found;
  Row row = format_->Empty();
  bool stored = false;
  if (store_ && !table->whole) {
    KSTREAM_ASSIGN_OR_RETURN(stored, store_->Find(StoreKey(*table, key), &stored_));
    stored = stored && stored_.timestamp > gone_until_;
    if (stored) KSTREAM_RETURN_IF_ERROR(Restore(key, stored_, &row));
  }
  if (!stored) {
    // A key that cannot be printed is found now, while its record is at hand.
    KSTREAM_RETURN_IF_ERROR(format_->Result(key, table->bounds(), row, &text_));
  }
  *fresh = true;
  Entry* const entry = table->rows.Make(key, hash).first;
  entry->value = std::move(row);
  Grow(table, key.size() + SizeOfRow(format_->columns()));
  return entry;
}

void RowProcessor::Forget(RowTable* table, Entry* entry) {
  const size_t bytes = entry->key().size() + SizeOfRow(format_->columns());
  table->bytes -= bytes;
  bytes_ -= bytes;
  table->rows.Erase(entry);
}

const Row& RowProcessor::Current(const Entry& entry) const {
  return IsGone(entry.value) ? empty_ : entry.value;
}

// What the store and the table know of the entry stays.
void RowProcessor::Renew(Entry* entry) const {
  Row& row = entry->value;
  if (!IsGone(row) || row.timestamp == Row::kNoTime) return;
  Row renewed = format_->Empty();
  renewed.due = row.due;
  renewed.dirty = row.dirty;
  renewed.stored = row.stored;
  renewed.expired = row.expired;
  row = std::move(renewed);
}

void RowProcessor::End(RowTable* table, Entry* entry) {
  Row& row = entry->value;
  if (row.expired) return;
  if (!row.due && !row.dirty) return Forget(table, entry);
  row = format_->Empty();
  row.expired = true;
  table->expired++;
}

Result<std::optional<int64_t>> RowProcessor::StoredTime(std::string_view key) {
  if (!store_) return std::optional<int64_t>();
  KSTREAM_ASSIGN_OR_RETURN(const bool found, store_->Find(key, &stored_));
  return found ? std::optional(stored_.timestamp) : std::nullopt;
}

void RowProcessor::SortTouched(RowTable* table) {
  if (std::exchange(table->expired, 0) > 0) {
    std::erase_if(table->touched, [&](Entry* const entry) {
      if (!entry->value.expired) return false;
      Forget(table, entry);
      return true;
    });
  }
  SortByKey(&table->touched, KeyOf);
}

Status RowProcessor::Restore(std::string_view key, const StoredRow& stored, Row* row) const {
  std::string why;
  if (format_->Restore(stored, row, &why)) return Status::Ok();
  return Status(StatusCode::kState,
                fmt::format("store '{}', key {}: {}: what is kept was made by other aggregates; "
                            "name another store, or reset the application",
                            store_name_, Printable(key), why));
}

Status RowProcessor::Apply(RowTable* table, const Record& record, Entry* entry) {
  Row& row = entry->value;
  const bool listed = row.due || row.dirty || row.expired;
  if (std::exchange(row.expired, false)) table->expired--;
  if (const size_t grown = Apply(record, &row)) Grow(table, grown);
  if (!listed && (row.due || row.dirty)) table->touched.push_back(entry);
  return emit_ == Emit::kChange ? Forward(table->bounds(), entry->key(), row) : Status::Ok();
}

Status RowProcessor::ApplyChange(RowTable* table, const Record& change, Entry* entry,
                                 bool* changed) {
  Row& row = entry->value;
  const bool listed = row.due || row.dirty;
  *changed = false;
  if (const std::optional<Record> old = OldRowOf(change)) {
    KSTREAM_ASSIGN_OR_RETURN(*changed, TakeOut(*old, change, &row));
  }
  size_t grown = 0;
  const Status taken = change.value ? TakeIn(change, &row, &grown) : Status::Ok();
  *changed = *changed || (change.value && taken.ok());
  if (!*changed) return taken;
  if (grown > 0) Grow(table, grown);
  if (!listed && (row.due || row.dirty)) table->touched.push_back(entry);
  if (emit_ == Emit::kChange) {
    KSTREAM_RETURN_IF_ERROR(Forward(table->bounds(), entry->key(), row));
  }
  return taken;
}

Result<bool> RowProcessor::TakeOut(const Record& old, const Record& change, Row* row) {
  Record record = old;
  record.cache = old_cache_.Next(false);
  const Status read = format_->Read(record);
  // What is refused now was refused when it came.
  if (read.code() == StatusCode::kData) return false;
  KSTREAM_RETURN_IF_ERROR(read);
  KSTREAM_ASSIGN_OR_RETURN(const bool in, format_->PrepareOut(record, *row));
  if (!in) return false;
  Changed(change, row);
  format_->ApplyOut(row);
  return true;
}

Status RowProcessor::TakeIn(const Record& change, Row* row, size_t* grown) {
  Record record = RowOf(change.key, change.value, RowTime(change));
  record.cache = change.cache;
  KSTREAM_RETURN_IF_ERROR(format_->Read(record));
  KSTREAM_RETURN_IF_ERROR(format_->Prepare(record, *row));
  Changed(change, row);
  *grown = format_->Apply(row);
  return Status::Ok();
}

size_t RowProcessor::Apply(const Record& record, Row* row) {
  Changed(record, row);
  return format_->Apply(row);
}

void RowProcessor::Changed(const Record& record, Row* row) {
  // A group that was deleted begins anew, with its time: nothing else is known of it after a
  // restart.
  if (row->gone()) row->timestamp = Row::kNoTime;
  if (record.timestamp_type != TimestampType::kNone) {
    row->timestamp = std::max(row->timestamp, record.timestamp);
  }
  row->due = row->due || emit_ == Emit::kUpdate || emit_ == Emit::kEvery;
  row->dirty = store_ != nullptr;
}

Status RowProcessor::Forward(const WindowBounds* window, std::string_view key, const Row& row) {
  KSTREAM_RETURN_IF_ERROR(format_->Result(key, window, row, &text_));
  return Forward(window, key, text_ ? Bytes(*text_) : std::nullopt, row.timestamp);
}

Status RowProcessor::Withdraw(const WindowBounds& window, std::string_view key, int64_t timestamp) {
  return Forward(&window, key, std::nullopt, timestamp);
}

Status RowProcessor::Forward(const WindowBounds* window, std::string_view key, Bytes value,
                             int64_t timestamp) {
  Record record;
  KSTREAM_ASSIGN_OR_RETURN(record.key, RecordKey(window, key));
  if (record.key->data() != key.data()) record.partition_key = key;
  record.value = value;
  record.timestamp = timestamp;
  if (timestamp != Row::kNoTime) record.timestamp_type = TimestampType::kCreateTime;
  if (!route_.trivial()) {
    const Record unrouted = record;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(InputOf(unrouted), &record));
  }
  return rows_to_.empty() ? context_->Forward(record) : context_->Forward(record, rows_to_);
}

// A row of a table is found by group and window.
Result<std::string_view> RowProcessor::RecordKey(const WindowBounds* window, std::string_view key) {
  if (!window || !window_keys_) return key;
  record_key_ = "[";
  KSTREAM_RETURN_IF_ERROR(keys_.Append(key, &record_key_));
  fmt::format_to(std::back_inserter(record_key_), ",{}", window->start);
  if (window_->kind == WindowSpec::Kind::kSession) {
    fmt::format_to(std::back_inserter(record_key_), ",{}", window->end);
  }
  record_key_ += ']';
  return std::string_view(record_key_);
}

Status RowProcessor::ForwardDue(RowTable* table) {
  SortTouched(table);
  for (Entry* const entry : table->touched) {
    if (!entry->value.due) continue;
    entry->value.due = false;  // whatever comes of it
    entry->value.dirty = store_ != nullptr;
    if (emit_ == Emit::kFinal && entry->value.gone()) continue;  // nobody has it
    KSTREAM_RETURN_IF_ERROR(Forward(table->bounds(), entry->key(), entry->value));
  }
  if (!store_) table->touched.clear();
  return Status::Ok();
}

Status RowProcessor::ForwardAll(RowTable* table) {
  if (store_ && !table->whole) {
    KSTREAM_RETURN_IF_ERROR(Store(table));
    return ForEachStored(*table, [&](std::string_view key, const Row& row) {
      table->passed = StoreKey(*table, key);
      return Forward(table->bounds(), key, row);
    });
  }
  if (!std::exchange(table->passed, "")) {
    SortTouched(table);
    table->touched = table->rows.Entries();
    for (Entry* const entry : table->touched) entry->value.due = true;
  }
  return ForwardDue(table);
}

Status RowProcessor::ForEachStored(
    const RowTable& table, const std::function<Status(std::string_view key, Row row)>& visit) {
  Status failure;
  const auto read = [&](std::string_view key, std::string_view value, int64_t timestamp) {
    if (!key.starts_with(table.prefix)) return false;
    key.remove_prefix(table.prefix.size());
    stored_.value = value;
    stored_.timestamp = timestamp;
    Row row = format_->Empty();
    failure = Restore(key, stored_, &row);
    if (failure.ok()) failure = visit(key, std::move(row));
    return failure.ok();
  };
  const std::string from = table.passed ? *table.passed + '\0' : table.prefix;
  KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, std::nullopt, read));
  return failure;
}

Status RowProcessor::Store(RowTable* table) {
  if (!store_) return Status::Ok();
  SortTouched(table);
  std::vector<Entry*> due;
  for (Entry* const entry : table->touched) {
    Row& row = entry->value;
    if (row.due) due.push_back(entry);
    if (!std::exchange(row.dirty, false)) continue;
    format_->State(row, &text_);
    const std::string_view key = StoreKey(*table, entry->key());
    KSTREAM_RETURN_IF_ERROR(text_ ? store_->Put(key, *text_, row.timestamp) : store_->Delete(key));
    row.stored = table->stored = true;
  }
  table->touched = std::move(due);
  return Status::Ok();
}

Status RowProcessor::RestoreDue(RowTable* table) {
  return ForEachStored(*table, [&](std::string_view key, Row row) {
    if (!row.due) return Status::Ok();
    Entry* const entry = table->rows.Make(key).first;
    entry->value = std::move(row);
    table->touched.push_back(entry);
    Grow(table, key.size() + stored_.value.size() + SizeOfRow(format_->columns()));
    return Status::Ok();
  });
}

std::vector<std::string> RowProcessor::StoredKeys(const RowTable& table) {
  std::vector<std::string> keys;
  for (const Entry* const entry : table.rows.Entries()) {
    if (entry->value.stored) keys.emplace_back(StoreKey(table, entry->key()));
  }
  std::ranges::sort(keys);
  return keys;
}

void RowProcessor::Clear(RowTable* table) {
  table->touched.clear();
  table->expired = 0;
  table->rows.clear();
  bytes_ -= std::exchange(table->bytes, 0);
}

std::string_view RowProcessor::StoreKey(const RowTable& table, std::string_view key) {
  if (table.prefix.empty()) return key;
  return store_key_.assign(table.prefix).append(key);
}

void RowProcessor::Grow(RowTable* table, size_t bytes) {
  table->bytes += bytes;
  bytes_ += bytes;
}

}  // namespace kstream::dsl
