#include "dsl/session_aggregation.h"

#include <algorithm>

namespace kstream::dsl {

// It closes when end + gap + grace < stream time, that is, when end + wait <= stream time.
SessionAggregation::SessionAggregation(const AggregationPlan& plan)
    : SpanAggregation(plan, SpanKey::Kind::kSession, plan.window->gap.count(),
                      plan.window->gap.count() + plan.window->grace.count() + 1) {}

void SessionAggregation::SetTimers(Group* group, const Span& span) {
  SetTimer(group, span.bounds());
}

bool SessionAggregation::Has(const Group& group, const WindowBounds& window) const {
  return std::ranges::find(group.value.spans, window.start, &Span::start) !=
         group.value.spans.end();
}

// A timer whose session begins elsewhere by now is of no use: that one has its own.
Status SessionAggregation::Fire(Group* group, const WindowBounds& window) {
  std::vector<Span>& spans = group->value.spans;
  const auto span = std::ranges::find(spans, window.start, &Span::start);
  if (span == spans.end()) return Status::Ok();
  if (span->end() > window.end) {
    SetTimer(group, span->bounds());
    return Status::Ok();
  }
  Status status;
  if (emit() == Emit::kFinal || span->row.due) status = ForwardSpan(*group, &*span);
  Status dropped = Drop(group, static_cast<size_t>(span - spans.begin()), 1);
  return status.ok() ? dropped : status;
}

Status SessionAggregation::ForwardSpans(Group* group) {
  for (Span& span : group->value.spans) {
    if (span.row.due) KSTREAM_RETURN_IF_ERROR(ForwardSpan(*group, &span));
  }
  return Status::Ok();
}

Status SessionAggregation::ForwardSpan(const Group& group, Span* span) {
  span->row.due = false;  // whatever comes of it
  span->row.dirty = store() != nullptr;
  const WindowBounds bounds = span->bounds();
  span->shown = bounds;
  return Forward(&bounds, group.key(), span->row);
}

}  // namespace kstream::dsl
