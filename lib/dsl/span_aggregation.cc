#include "dsl/span_aggregation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/sort_by_key.h"
#include "dsl/event_time.h"

namespace kstream::dsl {

SpanAggregation::SpanAggregation(const AggregationPlan& plan, SpanKey::Kind kind, int64_t reach,
                                 int64_t wait)
    : WindowedProcessor(plan),
      kind_(kind),
      reach_(reach),
      wait_(wait),
      kept_for_(std::max<int64_t>(wait, plan.window->retention.count())),
      fired_{.end = kNoTime} {}

bool SpanAggregation::Timer::operator<(const Timer& other) const {
  if (window.end != other.window.end) return window.end < other.window.end;
  if (window.start != other.window.start) return window.start < other.window.start;
  return group != other.group && group->key() < other.group->key();
}

Status SpanAggregation::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(RowProcessor::Init(context));
  FollowTask();
  fired_ = {.end = stream_time() - wait_, .start = kNever};
  return store() ? LoadAll() : Status::Ok();
}

Status SpanAggregation::Process(const Record& record) {
  Bytes key;
  KSTREAM_ASSIGN_OR_RETURN(const bool grouped, GroupOf(record, &key));
  if (!grouped) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(CheckTime(record));
  FollowTask();
  KSTREAM_RETURN_IF_ERROR(FireUpTo(stream_time() - wait_));
  const int64_t now = std::max(stream_time(), record.timestamp);
  KSTREAM_RETURN_IF_ERROR(Read(record));
  KSTREAM_ASSIGN_OR_RETURN(Group* const group, FindGroup(*key));
  const Result<bool> taken = Take(record, group, now);
  EraseIfEmpty(group);
  if (!taken.ok()) return taken.status();
  MoveStreamTime(now);
  if (!*taken) KSTREAM_RETURN_IF_ERROR(Late(record));
  KSTREAM_RETURN_IF_ERROR(FireUpTo(now - wait_));
  return full() ? Spill() : Status::Ok();
}

Result<SpanAggregation::Group*> SpanAggregation::FindGroup(std::string_view key) {
  const auto [group, fresh] = MakeGroup(key);
  if (!fresh || whole_) return group;
  Status status = Load(group);
  if (status.ok()) return group;
  EraseIfEmpty(group);
  return status;
}

std::pair<SpanAggregation::Group*, bool> SpanAggregation::MakeGroup(std::string_view key) {
  const std::pair<Group*, bool> made = groups_.Make(key);
  if (made.second) Grow(static_cast<int64_t>(key.size() + ByteTable<Spans>::kEntryBytes));
  return made;
}

void SpanAggregation::EraseIfEmpty(Group* group) {
  const Spans& value = group->value;
  if (!value.spans.empty() || value.timers > 0 || value.touched) return;
  Grow(-static_cast<int64_t>(group->key().size() + ByteTable<Spans>::kEntryBytes));
  groups_.Erase(group);
}

// Spans of a group are further than reach_ from each other, so both their starts and their ends are
// in order.
Result<bool> SpanAggregation::Take(const Record& record, Group* group, int64_t now) {
  const int64_t time = record.timestamp;
  const std::vector<Span>& spans = group->value.spans;
  size_t first = spans.size();
  while (first > 0 && spans[first - 1].end() + reach_ >= time) first--;
  size_t behind = first;
  while (behind < spans.size() && spans[behind].start - reach_ <= time) behind++;
  if (behind > first) {
    KSTREAM_RETURN_IF_ERROR(Join(record, group, first, behind - first));
    return true;
  }
  if (LastWindow({time, time}).end + wait_ <= now) return false;
  KSTREAM_RETURN_IF_ERROR(Begin(record, group, first));
  return true;
}

Status SpanAggregation::Begin(const Record& record, Group* group, size_t at) {
  std::vector<Span>& spans = group->value.spans;
  Span span{.start = record.timestamp, .row = format().Empty(), .bytes = 0, .shown = {}};
  if (spans.empty()) {
    // A key that cannot be printed is found now, while its record is at hand.
    const WindowBounds bounds{record.timestamp, record.timestamp};
    KSTREAM_RETURN_IF_ERROR(format().Result(group->key(), &bounds, span.row, &text_));
  }
  KSTREAM_RETURN_IF_ERROR(Prepare(record, span.row));
  const size_t bytes = Apply(record, &span.row) + SizeOfSpan();
  SetTimers(group, span);
  const auto place = spans.begin() + static_cast<ptrdiff_t>(at);
  return Changed(group, &*spans.insert(place, std::move(span)), bytes);
}

Status SpanAggregation::Join(const Record& record, Group* group, size_t first, size_t count) {
  std::vector<Span>& spans = group->value.spans;
  Span& span = spans[first];
  const WindowBounds now{std::min(span.start, record.timestamp),
                         std::max(spans[first + count - 1].end(), record.timestamp)};
  Row merged;
  if (count > 1) {
    merged = format().Empty();
    for (size_t i = first; i < first + count; i++) {
      KSTREAM_RETURN_IF_ERROR(format().Merge(spans[i].row, &merged));
    }
  }
  KSTREAM_RETURN_IF_ERROR(Prepare(record, count > 1 ? merged : span.row));
  for (size_t i = first; i < first + count; i++) Leave(*group, spans[i], now);
  if (count > 1) {
    merged.stored = span.row.stored;
    span.row = std::move(merged);
    for (size_t i = 1; i < count; i++) span.bytes += spans[first + i].bytes;
    const auto next = spans.begin() + static_cast<ptrdiff_t>(first + 1);
    spans.erase(next, next + static_cast<ptrdiff_t>(count - 1));
  }
  if (span.shown != now) span.shown.reset();
  const size_t bytes = Apply(record, &span.row);
  if (now.start < span.start) {
    span.start = now.start;
    span.row.stored = false;
    SetTimers(group, span);
  }
  return Changed(group, &span, bytes);
}

void SpanAggregation::Leave(const Group& group, const Span& span, const WindowBounds& now) {
  if (span.shown && span.shown != now) {
    withdrawn_.push_back({std::string(group.key()), *span.shown, now.end});
  }
  if (span.row.stored && span.start != now.start) {
    left_.push_back(SpanKey::Of(kind_, group.key(), span.start));
  }
}

Status SpanAggregation::Changed(Group* group, Span* span, size_t bytes) {
  span->bytes += bytes;
  Grow(static_cast<int64_t>(bytes));
  span->row.due = emit() != Emit::kFinal;
  if (span->row.due || span->row.dirty) Touch(group);
  if (emit() != Emit::kChange) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(WithdrawAll());
  return ForwardSpans(group);
}

void SpanAggregation::Touch(Group* group) {
  if (!std::exchange(group->value.touched, true)) touched_.push_back(group);
}

void SpanAggregation::SortTouched() {
  SortByKey(&touched_, [](const Group* group) { return group->key(); });
}

void SpanAggregation::SetTimer(Group* group, const WindowBounds& window) {
  if (!IsOpen(window, group->key())) return;
  if (timers_.insert({window, group}).second) group->value.timers++;
}

size_t SpanAggregation::CountOpen() const {
  if (!whole_) return CountStored();
  return static_cast<size_t>(std::ranges::count_if(
      timers_, [this](const Timer& timer) { return Has(*timer.group, timer.window); }));
}

bool SpanAggregation::IsOpen(const WindowBounds& window, std::string_view key) const {
  return std::tuple(window.end, window.start, key) >
         std::tuple(fired_.end, fired_.start, std::string_view(fired_.group));
}

Status SpanAggregation::FireUpTo(int64_t end) {
  for (;;) {
    if (stored_timer_) KSTREAM_RETURN_IF_ERROR(FetchTimers(end));
    if (timers_.empty() || timers_.begin()->window.end > end) break;
    KSTREAM_RETURN_IF_ERROR(FireFirst());
    if (full()) KSTREAM_RETURN_IF_ERROR(Spill());
  }
  if (end != kNever && end >= fired_.end) fired_ = {.end = end, .start = kNever};
  return Status::Ok();
}

Status SpanAggregation::FireFirst() {
  const Timer timer = *timers_.begin();
  timers_.erase(timers_.begin());
  timer.group->value.timers--;
  Status status = WithdrawAll();
  if (status.ok()) status = Fire(timer.group, timer.window);
  fired_.end = timer.window.end;
  fired_.start = timer.window.start;
  fired_.group = timer.group->key();
  EraseIfEmpty(timer.group);
  return status;
}

Status SpanAggregation::Drop(Group* group, size_t at, size_t count) {
  std::vector<Span>& spans = group->value.spans;
  for (size_t i = at; i < at + count; i++) {
    Span& span = spans[i];
    if (store() && kept_for_ > wait_) KSTREAM_RETURN_IF_ERROR(StoreSpan(*group, &span));
    if (span.row.stored) {
      closed_.push_back({LastWindow(span.bounds()).end + kept_for_,
                         SpanKey::Of(kind_, group->key(), span.start)});
    }
    Grow(-static_cast<int64_t>(span.bytes));
  }
  const auto first = spans.begin() + static_cast<ptrdiff_t>(at);
  spans.erase(first, first + static_cast<ptrdiff_t>(count));
  return Status::Ok();
}

Status SpanAggregation::Punctuate(const Punctuation&) { return ForwardAllSpans(); }

Status SpanAggregation::Flush() {
  FollowTask();
  KSTREAM_RETURN_IF_ERROR(FireUpTo(stream_time() - wait_));
  KSTREAM_RETURN_IF_ERROR(emit() == Emit::kUpdate ? ForwardAllSpans() : WithdrawAll());
  if (!store()) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(StoreSpans());
  return Expire();
}

// What is open stays in the store, for whoever looks into it.
Status SpanAggregation::EndInput() {
  KSTREAM_RETURN_IF_ERROR(ForwardAllSpans());
  if (store()) KSTREAM_RETURN_IF_ERROR(StoreSpans());
  KSTREAM_RETURN_IF_ERROR(FireUpTo(kNever));
  context().AdvanceStreamTime(fired_.end + wait_);
  return Status::Ok();
}

Status SpanAggregation::ForwardAllSpans() {
  KSTREAM_RETURN_IF_ERROR(WithdrawAll());
  SortTouched();
  for (Group* const group : touched_) KSTREAM_RETURN_IF_ERROR(ForwardSpans(group));
  if (store()) return Status::Ok();
  for (Group* const group : std::exchange(touched_, {})) {
    group->value.touched = false;
    EraseIfEmpty(group);
  }
  return Status::Ok();
}

Status SpanAggregation::WithdrawAll() {
  if (withdrawn_.empty()) return Status::Ok();
  std::vector<Withdrawal> all = std::exchange(withdrawn_, {});
  std::ranges::sort(all, {}, [](const Withdrawal& one) {
    return std::tuple(std::string_view(one.key), one.window.start, one.window.end);
  });
  for (const Withdrawal& one : all) {
    KSTREAM_RETURN_IF_ERROR(Withdraw(one.window, one.key, one.timestamp));
  }
  return Status::Ok();
}

void SpanAggregation::Close() {
  if (initialised() && context().at_end()) skips().Open(CountOpen());
  RowProcessor::Close();
  Clear();
}

}  // namespace kstream::dsl
