// RowProcessor: what the processors of all aggregates do alike: find a record's group, take the
// record into a row, forward and store rows, and read them back.
//
// Rows that records touch stay decoded in tables, one a window (the aggregate without windows has
// one), so that a record costs a look-up and what its functions calculate, and no text is parsed or
// printed. At a commit point each row that changed is written to the store once, and forwarded once
// in the mode `update`. Without a store the tables are all there is.
//
// Tested by tests/unit/dsl/aggregate_test.cc, aggregate_state_test.cc and window_*_test.cc.
#ifndef KSTREAM_DSL_ROW_PROCESSOR_H_
#define KSTREAM_DSL_ROW_PROCESSOR_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_table.h"
#include "dsl/key_json.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "dsl/row.h"
#include "dsl/skips.h"
#include "dsl/store_label.h"
#include "expr/single_value.h"
#include "kstream/operators.h"
#include "kstream/processor.h"
#include "kstream/windows.h"
#include "record/serde.h"

namespace kstream::dsl {

// What the processors of all tasks have in common.
struct AggregationPlan {
  std::function<std::unique_ptr<RowFormat>()> new_format;
  bool table = false;  // records are changes of a table's rows: table_change.h
  std::optional<Expression> by = {};
  std::optional<WindowSpec> window = {};
  bool window_keys = false;  // the keys of all rows tell their windows, for the values do not
  AggregateSpec::Emit emit = AggregateSpec::Emit::kUpdate;
  std::chrono::milliseconds every{0};
  std::chrono::milliseconds ttl{0};  // of rows without windows; 0: for ever
  std::string store = {};
  std::string rows = {}, late = {};  // names of children
  RouteSpec route = {};
  Serdes serdes = {};
  std::shared_ptr<SkipTotals> skips = std::make_shared<SkipTotals>();
  size_t most_bytes = size_t{16} << 20;  // in memory, with a store
};

// The rows of one window, or of all time, as far as they are in memory.
struct RowTable {
  using Entry = ByteTable<Row>::Entry;

  std::optional<WindowBounds> window = {};
  std::string prefix = {};  // of its rows' keys in the store
  bool whole = false;       // the store has no row of it that is not here too
  bool stored = false;      // it may have some
  ByteTable<Row> rows = {};
  std::vector<Entry*> touched = {};        // those that are due, dirty or expired, each once
  size_t expired = 0;                      // how many of them are expired
  size_t bytes = 0;                        // what the rows take, about
  std::optional<std::string> passed = {};  // the last key of the store that ForwardAll has passed

  const WindowBounds* bounds() const { return window ? &*window : nullptr; }
};

class RowProcessor : public Processor {
 public:
  Status Init(ProcessorContext& context) override;
  void Close() override;

 protected:
  using Entry = RowTable::Entry;
  using Emit = AggregateSpec::Emit;

  explicit RowProcessor(const AggregationPlan& plan);

  bool initialised() const { return context_ != nullptr; }
  ProcessorContext& context() const { return *context_; }
  KeyValueStore* store() const { return store_; }  // null: none
  const std::string& store_name() const { return store_name_; }
  Emit emit() const { return emit_; }
  Skips& skips() { return skips_; }
  // Whether memory is full, and there is a store to write rows to.
  bool full() const { return store_ && bytes_ > std::min(most_bytes_, store_->memory_share()); }
  // Counts what rows take; less than 0: they are gone.
  void Grow(int64_t bytes) { bytes_ += bytes; }
  void HasNoRows() { bytes_ = 0; }
  RowFormat& format() { return *format_; }

  // False: the record is of no group, and is counted. The key lives until the next call.
  Result<bool> GroupOf(const Record& record, Bytes* key);

  // The row of a group, read from the store or made anew: then *fresh, and it is no record's yet.
  Result<Entry*> Find(RowTable* table, std::string_view key, uint64_t hash, bool* fresh);
  // Takes back a fresh one.
  void Forget(RowTable* table, Entry* entry);

  // Rows of this time and before are no more, whatever store and table have.
  void GoneUntil(int64_t time) { gone_until_ = time; }
  bool IsGone(const Row& row) const { return row.expired || row.timestamp <= gone_until_; }
  // The row, or an empty one where it is no more.
  const Row& Current(const Entry& entry) const;
  // Makes the entry what Current gives.
  void Renew(Entry* entry) const;
  // Takes a row out of a table: now, or, where the table has yet to do with it, with the next Store
  // or ForwardDue.
  void End(RowTable* table, Entry* entry);
  // The time of a row of the store without windows; nullopt: there is none.
  Result<std::optional<int64_t>> StoredTime(std::string_view key);
  // Read, then for each row Prepare: what the record would make of it. kData, and nothing has
  // changed, or Apply makes it so.
  Status Read(const Record& record) { return format_->Read(record); }
  Status Prepare(const Record& record, const Row& row) { return format_->Prepare(record, row); }
  Status Apply(RowTable* table, const Record& record, Entry* entry);
  // Of a table: takes the old row out, if it was in, and the new one in, as one change. A new one
  // that is bad (kData) counts as none: the old one is out.
  Status ApplyChange(RowTable* table, const Record& change, Entry* entry, bool* changed);
  // Of a row that is in no table. Returns by how many bytes of memory it grew.
  size_t Apply(const Record& record, Row* row);

  // Those that have changed since they were last forwarded, by key.
  Status ForwardDue(RowTable* table);
  // All of them, by key: of a table that is whole, or else all that the store has. After a failure
  // it goes on behind the row that failed.
  Status ForwardAll(RowTable* table);
  Status Forward(const WindowBounds* window, std::string_view key, const Row& row);
  // A tombstone for a row without a window.
  Status ForwardEnd(std::string_view key, int64_t timestamp) {
    return Forward(nullptr, key, std::nullopt, timestamp);
  }
  // A tombstone for the row of a window that is no more.
  Status Withdraw(const WindowBounds& window, std::string_view key, int64_t timestamp);
  // Writes those that have changed.
  Status Store(RowTable* table);
  // Takes from the store what had yet to be forwarded when another process ended.
  Status RestoreDue(RowTable* table);
  // Keys of rows in the store, of a table that is whole.
  std::vector<std::string> StoredKeys(const RowTable& table);
  // Empties the table. What was not stored is gone.
  void Clear(RowTable* table);

  // kState: it is the state of other aggregates.
  Status Restore(std::string_view key, const StoredRow& stored, Row* row) const;
  // kState: the store has what this processor has not written.
  Status StoredOtherwise(std::string_view why) const { return OtherState(store_name_, why); }

 private:
  Result<bool> TakeOut(const Record& old, const Record& change, Row* row);
  Status TakeIn(const Record& change, Row* row, size_t* grown);
  // The record is about to change the row.
  void Changed(const Record& record, Row* row);
  // Walks over what the store has of a table, behind the key `passed`.
  Status ForEachStored(const RowTable& table,
                       const std::function<Status(std::string_view key, Row row)>& visit);
  Status Forward(const WindowBounds* window, std::string_view key, Bytes value, int64_t timestamp);
  Result<std::string_view> RecordKey(const WindowBounds* window, std::string_view key);
  std::string_view StoreKey(const RowTable& table, std::string_view key);
  // Puts what was touched in the order of keys, without what has expired.
  void SortTouched(RowTable* table);
  void Grow(RowTable* table, size_t bytes);

  const Emit emit_;
  const std::chrono::milliseconds every_;
  const std::string store_name_, rows_to_;
  const std::optional<WindowSpec> window_;
  const bool window_keys_;
  const int64_t most_bytes_;
  const std::unique_ptr<RowFormat> format_;
  const Row empty_;
  std::optional<expr::SingleValue> by_;
  Route route_;
  Skips skips_;

  ProcessorContext* context_ = nullptr;
  KeyValueStore* store_ = nullptr;
  int64_t gone_until_ = INT64_MIN;
  int64_t bytes_ = 0;  // of all rows
  FreshCache old_cache_;
  KeyJson keys_;
  StoredRow stored_;
  std::optional<std::string> text_;
  std::string store_key_, record_key_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ROW_PROCESSOR_H_
