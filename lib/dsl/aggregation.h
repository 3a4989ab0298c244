// Aggregation: the processor behind aggregates without windows: one table of rows, by group.
// Records are a stream, or changes of a table's rows (table_change.h), which are taken out and in.
//
// A table that has grown too large is written early and emptied. Tested by
// tests/unit/dsl/aggregate_test.cc and aggregate_state_test.cc.
#ifndef KSTREAM_DSL_AGGREGATION_H_
#define KSTREAM_DSL_AGGREGATION_H_

#include <string>

#include "dsl/row_processor.h"

namespace kstream::dsl {

class Aggregation final : public RowProcessor {
 public:
  explicit Aggregation(const AggregationPlan& plan) : RowProcessor(plan), of_table_(plan.table) {}

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  Status Punctuate(const Punctuation& punctuation) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  Status ProcessChange(const Record& change);
  Status Spill();

  const bool of_table_;
  RowTable table_;
};

// A supplier of the processor that a plan needs.
ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_AGGREGATION_H_
