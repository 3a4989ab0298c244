#include "dsl/window_aggregation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "base/printable.h"
#include "dsl/event_time.h"
#include "dsl/store_range.h"
#include "dsl/window_key.h"

namespace kstream::dsl {
WindowAggregation::WindowAggregation(const AggregationPlan& plan)
    : WindowedProcessor(plan),
      grace_(plan.window->grace.count()),
      kept_for_(std::max(grace_, plan.window->retention.count())),
      aligned_(*plan.window),
      closes_at_(kNever) {}

Status WindowAggregation::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(RowProcessor::Init(context));
  FollowTask();
  return store() ? FindWindows() : Status::Ok();
}

Status WindowAggregation::FindWindows() {
  KSTREAM_RETURN_IF_ERROR(CheckWindows());
  std::string from;
  std::optional<std::string> found;
  const auto first = [&found](std::string_view key, std::string_view, int64_t) {
    found = key;
    return false;
  };
  for (;;) {
    found.reset();
    KSTREAM_RETURN_IF_ERROR(store()->RangeRows(from, std::nullopt, first));
    if (!found) return Status::Ok();
    if (*found == kWindowsKey) {
      from = kWindowsKey + '\0';
      continue;
    }
    const std::optional<int64_t> start = StartOfKey(*found);
    const std::optional<WindowBounds> window = start ? aligned_.At(*start) : std::nullopt;
    if (!window || !says_windows()) {
      return StoredOtherwise(fmt::format("key {} is of no such window", Printable(*found)));
    }
    if (window->end + grace_ <= stream_time()) {
      closed_.push_back({*window, std::nullopt});
    } else {
      RowTable* const table = Open(*window);
      table->stored = true;
      if (emit() == Emit::kEvery) KSTREAM_RETURN_IF_ERROR(RestoreDue(table));
    }
    from = WindowPrefix(window->start + 1);
  }
}

Status WindowAggregation::Process(const Record& record) {
  Bytes key;
  KSTREAM_ASSIGN_OR_RETURN(const bool grouped, GroupOf(record, &key));
  if (!grouped) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(CheckTime(record));
  FollowTask();
  const int64_t now = std::max(stream_time(), record.timestamp);
  KSTREAM_ASSIGN_OR_RETURN(const bool taken, Take(record, *key, now));
  MoveStreamTime(now);
  if (!taken) KSTREAM_RETURN_IF_ERROR(Late(record));
  if (stream_time() >= closes_at_) KSTREAM_RETURN_IF_ERROR(CloseUpTo(stream_time() - grace_));
  return full() ? Spill() : Status::Ok();
}

Result<bool> WindowAggregation::Take(const Record& record, std::string_view key, int64_t now) {
  if (!aligned_.Holds(record.timestamp)) {
    aligned_.Move(record.timestamp);
    current_.assign(aligned_.windows().size(), nullptr);
  }
  KSTREAM_RETURN_IF_ERROR(Read(record));
  targets_.clear();
  if (Status status = Collect(record, key, now); !status.ok()) {
    for (const Target& target : targets_) {
      if (target.fresh) Forget(target.table, target.entry);
    }
    return status;
  }
  // The earliest window was prepared last, and nothing has changed since.
  for (size_t left = targets_.size(); left-- > 0;) {
    const Target& target = targets_[left];
    if (left + 1 < targets_.size()) {
      KSTREAM_RETURN_IF_ERROR(Prepare(record, target.entry->value));
    }
    KSTREAM_RETURN_IF_ERROR(Apply(target.table, record, target.entry));
  }
  return !targets_.empty();
}

// Later windows first. A record that is bad for one of them changes none.
Status WindowAggregation::Collect(const Record& record, std::string_view key, int64_t now) {
  const std::vector<WindowBounds>& windows = aligned_.windows();
  const uint64_t hash = BytesHash::Of(key);
  for (size_t i = windows.size(); i-- > 0 && windows[i].end > now - grace_;) {
    RowTable* const table = TableOf(i);
    bool fresh = false;
    KSTREAM_ASSIGN_OR_RETURN(Entry* const entry, Find(table, key, hash, &fresh));
    targets_.push_back({table, entry, fresh});
    KSTREAM_RETURN_IF_ERROR(Prepare(record, entry->value));
  }
  return Status::Ok();
}

RowTable* WindowAggregation::TableOf(size_t window) {
  if (current_[window]) return current_[window];
  const WindowBounds& bounds = aligned_.windows()[window];
  if (const auto found = open_.find(bounds.start); found != open_.end()) {
    return current_[window] = &found->second;
  }
  RowTable* const table = Open(bounds);
  table->whole = true;  // what the store has was found in Init
  return current_[window] = table;
}

RowTable* WindowAggregation::Open(const WindowBounds& window) {
  RowTable& table = open_[window.start];
  table.window = window;
  table.prefix = WindowPrefix(window.start);
  closes_at_ = std::min(closes_at_, window.end + grace_);
  return &table;
}

Status WindowAggregation::Punctuate(const Punctuation&) {
  for (auto& [start, table] : open_) KSTREAM_RETURN_IF_ERROR(ForwardDue(&table));
  return Status::Ok();
}

Status WindowAggregation::Flush() {
  FollowTask();
  KSTREAM_RETURN_IF_ERROR(CloseUpTo(stream_time() - grace_));
  for (auto& [start, table] : open_) {
    if (emit() == Emit::kUpdate) KSTREAM_RETURN_IF_ERROR(ForwardDue(&table));
    KSTREAM_RETURN_IF_ERROR(StoreRows(&table));
  }
  return Expire();
}

Status WindowAggregation::StoreRows(RowTable* table) {
  KSTREAM_RETURN_IF_ERROR(Store(table));
  return table->stored ? SayWindows() : Status::Ok();
}

// What is open stays in the store, for whoever looks into it.
Status WindowAggregation::EndInput() {
  if (open_.empty()) return Status::Ok();
  const int64_t end = open_.rbegin()->second.window->end;
  for (auto& [start, table] : open_) KSTREAM_RETURN_IF_ERROR(StoreRows(&table));
  KSTREAM_RETURN_IF_ERROR(CloseUpTo(end));
  context().AdvanceStreamTime(end + grace_);
  return Status::Ok();
}

Status WindowAggregation::CloseUpTo(int64_t end) {
  while (!open_.empty() && open_.begin()->second.window->end <= end) {
    KSTREAM_RETURN_IF_ERROR(CloseFirst());
  }
  closes_at_ = open_.empty() ? kNever : open_.begin()->second.window->end + grace_;
  return Status::Ok();
}

Status WindowAggregation::CloseFirst() {
  const auto first = open_.begin();
  RowTable& table = first->second;
  if (emit() == Emit::kFinal) {
    KSTREAM_RETURN_IF_ERROR(ForwardAll(&table));
  } else {
    KSTREAM_RETURN_IF_ERROR(ForwardDue(&table));
  }
  const bool stays = kept_for_ > grace_;
  if (stays) KSTREAM_RETURN_IF_ERROR(StoreRows(&table));
  if (table.stored) {
    Closed& closed = closed_.emplace_back(Closed{*table.window, std::nullopt});
    if (table.whole && !stays) closed.keys = StoredKeys(table);
  }
  Clear(&table);
  open_.erase(first);
  std::ranges::fill(current_, nullptr);
  return Status::Ok();
}

Status WindowAggregation::Expire() {
  while (!closed_.empty() && closed_.front().window.end + kept_for_ <= committed()) {
    KSTREAM_RETURN_IF_ERROR(Delete(closed_.front()));
    closed_.pop_front();
  }
  return Status::Ok();
}

Status WindowAggregation::Delete(const Closed& closed) {
  if (closed.keys) {
    for (const std::string& key : *closed.keys) KSTREAM_RETURN_IF_ERROR(store()->Delete(key));
    return Status::Ok();
  }
  return DeleteRange(store(), WindowPrefix(closed.window.start),
                     WindowPrefix(closed.window.start + 1));
}

// Rows that are due come early: they could not be told from others any more.
Status WindowAggregation::Spill() {
  for (auto& [start, table] : open_) {
    KSTREAM_RETURN_IF_ERROR(ForwardDue(&table));
    KSTREAM_RETURN_IF_ERROR(StoreRows(&table));
    if (!table.rows.empty()) table.whole = false;
    Clear(&table);
  }
  return Status::Ok();
}

void WindowAggregation::Close() {
  if (initialised() && context().at_end()) skips().Open(open_.size());
  RowProcessor::Close();
  for (auto& [start, table] : open_) Clear(&table);
  open_.clear();
  current_.clear();
}

}  // namespace kstream::dsl
