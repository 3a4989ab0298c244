// Aggregates by session or sliding window that hold little in memory: what they do with a store
// beyond it needs no millions of records then.
#ifndef KSTREAM_TESTS_UNIT_DSL_SMALL_MEMORY_H_
#define KSTREAM_TESTS_UNIT_DSL_SMALL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dsl/aggregation.h"
#include "dsl/column.h"
#include "dsl/row.h"
#include "kstream/operators.h"
#include "kstream/topology.h"
#include "unit/dsl/aggregate_run.h"

namespace kstream {

// Counts and sums by key, in the store "rows".
inline ProcessorSupplier CountAndSum(const WindowSpec& window, RowsOut emit, size_t most_bytes) {
  const Serdes serdes = *Serdes::Parse("string", "json");
  dsl::AggregationPlan plan{.new_format = {},
                            .window = window,
                            .emit = emit,
                            .every = std::chrono::milliseconds(10),
                            .store = "rows",
                            .serdes = serdes,
                            .most_bytes = most_bytes};
  plan.new_format = [serdes] {
    std::vector<std::unique_ptr<dsl::Column>> columns;
    columns.push_back(dsl::NewColumn({}, false, serdes));
    columns.push_back(dsl::NewColumn(Of(Kind::kSum, "."), false, serdes));
    return dsl::NewJsonRows(std::move(columns), serdes.key);
  };
  return dsl::AggregationOf(std::move(plan), "count and sum");
}

inline Topology CountAndSumOf(Location in, Location out, const WindowSpec& window, RowsOut emit,
                              size_t most_bytes) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {std::move(in)}})
      .AddProcessor("agg", CountAndSum(window, emit, most_bytes), {"in"})
      .AddStore(StoreSpec{.name = "rows"}, {"agg"})
      .AddSink("out", {.output = std::move(out)}, {"agg"});
  return *builder.Build();
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_SMALL_MEMORY_H_
