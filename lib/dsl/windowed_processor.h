// WindowedProcessor: what the processors of all windowed aggregates do alike: follow stream time,
// refuse records that have no place in it, and say in the store what windows its rows are of.
//
// Tested by tests/unit/dsl/window_aggregate_test.cc and window_state_test.cc.
#ifndef KSTREAM_DSL_WINDOWED_PROCESSOR_H_
#define KSTREAM_DSL_WINDOWED_PROCESSOR_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "dsl/row_processor.h"
#include "dsl/store_label.h"

namespace kstream::dsl {

class WindowedProcessor : public RowProcessor {
 protected:
  static constexpr int64_t kNoTime = INT64_MIN / 2, kNever = INT64_MAX;

  explicit WindowedProcessor(const AggregationPlan& plan);

  // The latest that this processor knows of; Init begins with that of the task.
  int64_t stream_time() const { return stream_time_; }
  void MoveStreamTime(int64_t to) { stream_time_ = std::max(stream_time_, to); }
  void FollowTask() { MoveStreamTime(context().stream_time().value_or(kNoTime)); }
  // The stream time that is committed, and with it all that it has closed.
  int64_t committed() const { return context().committed_stream_time().value_or(kNoTime); }

  // Counts a record for which all windows have closed, and sends it on as it came.
  Status Late(const Record& record);

  // kState: the store has other windows.
  Status CheckWindows() { return label_.Check(*store(), store_name()); }
  // Whether the store says what windows it has: it does as soon as it has any.
  bool says_windows() const { return label_.said(); }
  Status SayWindows() { return label_.Say(store()); }

 private:
  const std::string late_to_;
  StoreLabel label_;
  int64_t stream_time_ = kNoTime;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_WINDOWED_PROCESSOR_H_
