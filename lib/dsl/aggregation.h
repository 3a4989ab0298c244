// Aggregation: the processor behind all aggregates: rows by group, in memory between commit points,
// in a store beyond them.
//
// The rows of the groups that records touch stay decoded in a hash map, so that a record costs a
// look-up and what its functions calculate, and no text is parsed or printed. At a commit point
// (Flush) each row that changed is written to the store once, and forwarded once in the mode
// `update`. A map that has grown too large is written early and emptied; without a store it is all
// there is, and keeps everything.
//
// Tested by tests/unit/dsl/aggregate_test.cc and aggregate_state_test.cc.
#ifndef KSTREAM_DSL_AGGREGATION_H_
#define KSTREAM_DSL_AGGREGATION_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_table.h"
#include "dsl/route.h"
#include "dsl/row.h"
#include "dsl/skips.h"
#include "expr/single_value.h"
#include "kstream/operators.h"
#include "kstream/processor.h"
#include "record/serde.h"

namespace kstream::dsl {

// What the processors of all tasks have in common.
struct AggregationPlan {
  std::function<std::unique_ptr<RowFormat>()> new_format;
  std::optional<Expression> by = {};
  AggregateSpec::Emit emit = AggregateSpec::Emit::kUpdate;
  std::chrono::milliseconds every{0};
  std::string store = {};
  RouteSpec route = {};
  Serdes serdes = {};
  std::shared_ptr<SkipTotals> skips = std::make_shared<SkipTotals>();
  size_t most_bytes = size_t{16} << 20;  // in memory, with a store
};

class Aggregation final : public Processor {
 public:
  explicit Aggregation(const AggregationPlan& plan);

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  Status Punctuate(const Punctuation& punctuation) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  using Entry = ByteTable<Row>::Entry;

  Status GroupOf(const Record& record, Bytes* key);
  Result<Entry*> Find(std::string_view key, bool* fresh);
  Status Update(const Record& record, Entry* entry);
  Status Restore(std::string_view key, const StoredRow& stored, Row* row) const;
  Status RestoreDue();

  Status Forward(std::string_view key, const Row& row);
  Status ForwardDue();
  Status ForwardAll();
  Status ForwardStored();
  Status Store();
  Status Spill();
  static void Sort(std::vector<Entry*>* entries);

  const AggregateSpec::Emit emit_;
  const std::chrono::milliseconds every_;
  const std::string store_name_;
  const size_t most_bytes_;
  const std::unique_ptr<RowFormat> format_;
  std::optional<expr::SingleValue> by_;
  Route route_;
  Skips skips_;

  ProcessorContext* context_ = nullptr;
  KeyValueStore* store_ = nullptr;  // null: none
  ByteTable<Row> rows_;
  std::vector<Entry*> touched_;  // those that are due or dirty, each once
  size_t bytes_ = 0;             // that rows_ takes, about
  StoredRow stored_;
  std::optional<std::string> text_;
};

// A supplier of aggregations.
ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_AGGREGATION_H_
