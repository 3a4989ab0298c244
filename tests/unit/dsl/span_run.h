// Aggregates by session and sliding window, run on what their models are asked about.
#ifndef KSTREAM_TESTS_UNIT_DSL_SPAN_RUN_H_
#define KSTREAM_TESTS_UNIT_DSL_SPAN_RUN_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "unit/dsl/aggregate_run.h"
#include "unit/dsl/span_model.h"

namespace kstream {

// What the models count and sum.
inline AggregateSpec CountAndSum(WindowSpec window, RowsOut emit) {
  return {.functions = {{}, Of(Kind::kSum, ".")}, .window = std::move(window), .emit = emit};
}

// Records, to their end, with a commit point behind each whose value is less than `commit_below`;
// then the wall clock goes on by `pass`, if that is not 0.
inline void Feed(AggregateRun* run, const std::vector<ModelRecord>& records, int64_t commit_below,
                 std::chrono::milliseconds pass = {}) {
  for (const ModelRecord& record : records) {
    ASSERT_TRUE(run->Process(std::to_string(record.value), record.key, {}, record.time).ok());
    if (record.value >= commit_below) continue;
    ASSERT_TRUE(run->Flush().ok());
    if (pass.count() > 0) {
      ASSERT_TRUE(run->Pass(pass).ok());
    }
  }
  ASSERT_TRUE(run->End().ok());
}

// The same under update, change or every, as a table is read.
inline void FeedTable(AggregateRun* run, const std::vector<ModelRecord>& records) {
  Feed(run, records, 10, std::chrono::milliseconds(5));
}

// What a reader of the rows is left with is what the model has.
inline void ExpectTable(const std::map<std::string, std::string>& table, const ModelResult& model) {
  std::vector<std::string> rows;
  for (const auto& [key, row] : table) rows.push_back(row);
  ASSERT_THAT(rows, testing::UnorderedElementsAreArray(Lines(model.rows)));
}

}  // namespace kstream

#endif  // KSTREAM_TESTS_UNIT_DSL_SPAN_RUN_H_
