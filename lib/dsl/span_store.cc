// SpanAggregation and its store: what is read at the start, and what goes back and forth when
// memory does not hold all. Tested by tests/unit/dsl/span_state_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "dsl/span_aggregation.h"
#include "dsl/window_key.h"

namespace kstream::dsl {

// Rows that memory does not hold stay where they are, with timers.
Status SpanAggregation::LoadAll() {
  KSTREAM_RETURN_IF_ERROR(CheckWindows());
  std::string from;
  for (bool more = true; more;) {
    more = false;
    Result<bool> open = true;
    const auto read = [&](std::string_view key, std::string_view value, int64_t timestamp) {
      if (key.starts_with(TimerKey::kKind)) return false;
      if (full()) {
        more = true;
        from = key;
        return false;
      }
      if (key == kWindowsKey) return true;
      const std::optional<SpanKey> span = SpanKey::Parse(kind_, key);
      if (!span || !says_windows()) {
        open = OtherKey(key);
        return false;
      }
      Group* const group = MakeGroup(span->group).first;
      open = LoadSpan(group, span->start, value, timestamp);
      if (open.ok() && *open) SetTimers(group, group->value.spans.back());
      if (open.ok() && !*open) {
        const WindowBounds bounds{span->start, timestamp};
        closed_.push_back({LastWindow(bounds).end + kept_for_, std::string(key)});
      }
      EraseIfEmpty(group);
      return open.ok();
    };
    KSTREAM_RETURN_IF_ERROR(store()->RangeRows(from, std::nullopt, read));
    KSTREAM_RETURN_IF_ERROR(open.status());
    // The group at hand may be here in part.
    if (more || !whole_) KSTREAM_RETURN_IF_ERROR(LeaveToStore());
  }
  std::ranges::sort(closed_, {}, &Closed::until);
  return FindTimer(std::string(1, TimerKey::kKind));
}

Status SpanAggregation::Load(Group* group) {
  Result<bool> open = true;
  const auto read = [&](std::string_view key, std::string_view value, int64_t timestamp) {
    const std::optional<SpanKey> span = SpanKey::Parse(kind_, key);
    open = span ? LoadSpan(group, span->start, value, timestamp) : OtherKey(key);
    return open.ok();
  };
  KSTREAM_RETURN_IF_ERROR(store()->RangeRows(SpanKey::From(kind_, group->key()),
                                             SpanKey::Behind(kind_, group->key()), read));
  return open.status();
}

Result<bool> SpanAggregation::LoadSpan(Group* group, int64_t start, std::string_view value,
                                       int64_t timestamp) {
  const WindowBounds bounds{start, timestamp};
  if (!IsOpen(LastWindow(bounds), group->key())) return false;
  Span span{.start = start, .row = format().Empty(), .bytes = 0, .shown = {}};
  stored_row_.value = value;
  stored_row_.timestamp = timestamp;
  KSTREAM_RETURN_IF_ERROR(Restore(group->key(), stored_row_, &span.row));
  // Whether one that is due was shown before is not known. That of a session is withdrawn if it
  // changes, which does no harm; the windows of a moment come again, as they do anyhow.
  if (emit() != Emit::kFinal && (!span.row.due || kind_ == SpanKey::Kind::kSession)) {
    span.shown = bounds;
  }
  if (span.row.due) Touch(group);
  span.bytes = SizeOfSpan() + value.size();
  Grow(static_cast<int64_t>(span.bytes));
  group->value.spans.push_back(std::move(span));
  return true;
}

Status SpanAggregation::FetchTimers(int64_t end) {
  while (stored_timer_ && stored_timer_->end <= end &&
         (timers_.empty() || stored_timer_->end <= timers_.begin()->window.end)) {
    const TimerKey& timer = *stored_timer_;
    KSTREAM_ASSIGN_OR_RETURN(Group* const group, FindGroup(timer.group));
    if (!group->value.spans.empty()) SetTimer(group, {timer.start, timer.end});
    EraseIfEmpty(group);
    std::string key = TimerKey::Of(timer.end, timer.start, timer.group);
    KSTREAM_RETURN_IF_ERROR(store()->Delete(key));
    KSTREAM_RETURN_IF_ERROR(FindTimer(std::move(key.append(1, '\0'))));
  }
  return Status::Ok();
}

Status SpanAggregation::FindTimer(std::string from) {
  stored_timer_.reset();
  Status failure;
  const auto read = [&](std::string_view key, std::string_view, int64_t) {
    stored_timer_ = TimerKey::Parse(key);
    if (!stored_timer_) failure = OtherKey(key);
    return false;
  };
  KSTREAM_RETURN_IF_ERROR(store()->RangeRows(from, std::nullopt, read));
  return failure;
}

Status SpanAggregation::StoreSpans() {
  for (const std::string& key : std::exchange(left_, {})) {
    KSTREAM_RETURN_IF_ERROR(store()->Delete(key));
  }
  SortTouched();
  for (Group* const group : std::exchange(touched_, {})) {
    group->value.touched = false;
    bool due = false;
    for (Span& span : group->value.spans) {
      KSTREAM_RETURN_IF_ERROR(StoreSpan(*group, &span));
      due = due || span.row.due;
    }
    if (due) Touch(group);
    EraseIfEmpty(group);
  }
  return Status::Ok();
}

Status SpanAggregation::StoreSpan(const Group& group, Span* span) {
  Row& row = span->row;
  if (!std::exchange(row.dirty, false)) return Status::Ok();
  format().State(row, &text_);
  row.stored = true;
  KSTREAM_RETURN_IF_ERROR(SayWindows());
  return store()->Put(SpanKey::Of(kind_, group.key(), span->start), *text_, row.timestamp);
}

Status SpanAggregation::Expire() {
  while (!closed_.empty() && closed_.front().until <= committed()) {
    KSTREAM_RETURN_IF_ERROR(store()->Delete(closed_.front().key));
    closed_.pop_front();
  }
  return Status::Ok();
}

size_t SpanAggregation::CountStored() const {
  size_t open = 0;
  const auto count = [&](std::string_view key, std::string_view, int64_t timestamp) {
    const std::optional<SpanKey> span = SpanKey::Parse(kind_, key);
    if (span && IsOpen(LastWindow({span->start, timestamp}), span->group)) open++;
    return !key.starts_with(TimerKey::kKind);
  };
  // Nothing but a number of the last line depends on it.
  return store()->RangeRows("", std::nullopt, count).ok() ? open : 0;
}

// Rows that are due come early: they could not be told from others any more.
Status SpanAggregation::Spill() {
  KSTREAM_RETURN_IF_ERROR(ForwardAllSpans());
  KSTREAM_RETURN_IF_ERROR(StoreSpans());
  return LeaveToStore();
}

Status SpanAggregation::LeaveToStore() {
  for (const Timer& timer : timers_) {
    const auto& [start, end] = timer.window;
    KSTREAM_RETURN_IF_ERROR(store()->Put(TimerKey::Of(end, start, timer.group->key()), "", end));
  }
  Clear();
  whole_ = false;
  return FindTimer(std::string(1, TimerKey::kKind));
}

void SpanAggregation::Clear() {
  timers_.clear();
  touched_.clear();
  groups_.clear();
  HasNoRows();
}

Status SpanAggregation::OtherKey(std::string_view key) const {
  return StoredOtherwise(fmt::format(
      "key {} is none of {}: what is kept was made by another aggregate", Printable(key),
      kind_ == SpanKey::Kind::kSession ? "a session" : "a sliding window"));
}

}  // namespace kstream::dsl
