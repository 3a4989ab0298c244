#include "dsl/sliding_aggregation.h"

#include <algorithm>
#include <set>

namespace kstream::dsl {

// Its end is within a window, so it closes when end + grace < stream time.
SlidingAggregation::SlidingAggregation(const AggregationPlan& plan)
    : SpanAggregation(plan, SpanKey::Kind::kMoment, 0, plan.window->grace.count() + 1),
      size_(plan.window->size.count()) {}

WindowBounds SlidingAggregation::Before(int64_t time) const {
  const int64_t end = std::max(time, size_);
  return {end - size_, end};
}

void SlidingAggregation::SetTimers(Group* group, const Span& span) {
  SetTimer(group, Before(span.start));
  SetTimer(group, After(span.start));
}

bool SlidingAggregation::Has(const Group& group, const WindowBounds& window) const {
  const auto moment = std::ranges::lower_bound(group.value.spans, window.start, {}, &Span::start);
  return moment != group.value.spans.end() && moment->start <= window.end;
}

Status SlidingAggregation::Fire(Group* group, const WindowBounds& window) {
  Status status;
  if (emit() == Emit::kFinal || IsDue(*group, window)) status = ForwardWindow(*group, window);
  // The window was the last that knew of moments before it.
  const std::vector<Span>& spans = group->value.spans;
  const auto within = std::ranges::lower_bound(spans, window.start, {}, &Span::start);
  Status dropped = Drop(group, 0, static_cast<size_t>(within - spans.begin()));
  return status.ok() ? dropped : status;
}

// Its records have changed, or it is there because of the one before it, which is new.
bool SlidingAggregation::IsDue(const Group& group, const WindowBounds& window) const {
  const std::vector<Span>& spans = group.value.spans;
  auto moment = std::ranges::lower_bound(spans, window.start - 1, {}, &Span::start);
  for (; moment != spans.end() && moment->start <= window.end; moment++) {
    if (!moment->row.due) continue;
    if (moment->start >= window.start || MakesAfter(group, *moment)) return true;
  }
  return false;
}

// The window that begins after a moment is there already if it ends with one.
bool SlidingAggregation::MakesAfter(const Group& group, const Span& moment) const {
  return !moment.shown &&
         !std::ranges::binary_search(group.value.spans, After(moment.start).end, {}, &Span::start);
}

Status SlidingAggregation::ForwardWindow(const Group& group, const WindowBounds& window) {
  const std::vector<Span>& spans = group.value.spans;
  auto moment = std::ranges::lower_bound(spans, window.start, {}, &Span::start);
  Row row = format().Empty();
  for (; moment != spans.end() && moment->start <= window.end; moment++) {
    KSTREAM_RETURN_IF_ERROR(format().Merge(moment->row, &row));
  }
  return row.timestamp == Row::kNoTime ? Status::Ok() : Forward(&window, group.key(), row);
}

// A moment changes the windows before each moment that is up to D later, and those after each that
// is up to D earlier. A new one adds that after it.
Status SlidingAggregation::ForwardSpans(Group* group) {
  std::vector<Span>& spans = group->value.spans;
  std::set<std::pair<int64_t, int64_t>> windows;  // end, start
  const auto add = [&](const WindowBounds& window) {
    if (IsOpen(window, group->key())) windows.emplace(window.end, window.start);
  };
  for (Span& span : spans) {
    if (!span.row.due) continue;
    span.row.due = false;  // whatever comes of it
    span.row.dirty = store() != nullptr;
    const int64_t time = span.start;
    if (MakesAfter(*group, span)) add(After(time));
    span.shown = span.bounds();
    auto moment = std::ranges::lower_bound(spans, time - size_ - 1, {}, &Span::start);
    for (; moment != spans.end() && moment->start <= time + size_; moment++) {
      add(moment->start < time ? After(moment->start) : Before(moment->start));
    }
  }
  for (const auto& [end, start] : windows) {
    KSTREAM_RETURN_IF_ERROR(ForwardWindow(*group, {start, end}));
  }
  return Status::Ok();
}

}  // namespace kstream::dsl
