// SlidingAggregation: aggregates by sliding window (KIP-450). A window is D long, both ends
// included, and there is one for each set of records that such a window can hold: [t - D, t] of
// each record, and (t, t + D + 1] if there are records in it. Windows do not begin before 1970: a
// record before D is in [0, D].
//
// What is kept is a row for each moment at which a group had records; a window is added up of its
// moments when it comes out. So a record costs one row, in however many windows it is, where
// KIP-450 would change each of them; and the rows that a window adds up are added in the order of
// time, whatever came when. Tested by tests/unit/dsl/sliding_test.cc and span_state_test.cc.
#ifndef KSTREAM_DSL_SLIDING_AGGREGATION_H_
#define KSTREAM_DSL_SLIDING_AGGREGATION_H_

#include "dsl/span_aggregation.h"

namespace kstream::dsl {

class SlidingAggregation final : public SpanAggregation {
 public:
  explicit SlidingAggregation(const AggregationPlan& plan);

 private:
  WindowBounds LastWindow(const WindowBounds& span) const override { return After(span.start); }
  void SetTimers(Group* group, const Span& span) override;
  bool Has(const Group& group, const WindowBounds& window) const override;
  Status Fire(Group* group, const WindowBounds& window) override;
  Status ForwardSpans(Group* group) override;

  // The windows that end and begin with a moment.
  WindowBounds Before(int64_t time) const;
  WindowBounds After(int64_t time) const { return {time + 1, time + 1 + size_}; }
  bool MakesAfter(const Group& group, const Span& moment) const;
  bool IsDue(const Group& group, const WindowBounds& window) const;
  // Nothing if there are no records in it.
  Status ForwardWindow(const Group& group, const WindowBounds& window);

  const int64_t size_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SLIDING_AGGREGATION_H_
