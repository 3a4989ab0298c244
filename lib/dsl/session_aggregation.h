// SessionAggregation: aggregates by session: records of a group that are no further than the gap
// from the next one. A session closes when stream time is past its last record by more than gap and
// grace. Rows of update and change are known by start and end, so one whose session has grown, or
// has merged with others, is withdrawn.
//
// Sessions that a record joins add up in the order of time, then the record. Tested by
// tests/unit/dsl/session_test.cc and span_state_test.cc.
#ifndef KSTREAM_DSL_SESSION_AGGREGATION_H_
#define KSTREAM_DSL_SESSION_AGGREGATION_H_

#include "dsl/span_aggregation.h"

namespace kstream::dsl {

class SessionAggregation final : public SpanAggregation {
 public:
  explicit SessionAggregation(const AggregationPlan& plan);

 private:
  WindowBounds LastWindow(const WindowBounds& span) const override { return span; }
  void SetTimers(Group* group, const Span& span) override;
  bool Has(const Group& group, const WindowBounds& window) const override;
  Status Fire(Group* group, const WindowBounds& window) override;
  Status ForwardSpans(Group* group) override;
  Status ForwardSpan(const Group& group, Span* span);
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SESSION_AGGREGATION_H_
