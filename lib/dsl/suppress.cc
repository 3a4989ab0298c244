#include "dsl/suppress.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "dsl/describe.h"
#include "dsl/event_time.h"
#include "dsl/ordered_time.h"
#include "dsl/row_store.h"
#include "dsl/store_label.h"
#include "dsl/stream_graph.h"
#include "kstream/table.h"

namespace kstream::dsl {
namespace {

constexpr char kRow = 'k', kTimer = 't';
constexpr size_t kMostAtOnce = 4096;
constexpr std::string_view kDue = "{\"due\":";

std::string RowKey(std::string_view key) { return std::string(1, kRow).append(key); }

std::string TimerOf(int64_t due, std::string_view key) {
  std::string timer(1, kTimer);
  AppendOrderedTime(due, &timer);
  return timer.append(key);
}

// What a row begins with.
std::optional<int64_t> DueOf(std::string_view row) {
  int64_t due = 0;
  if (!row.starts_with(kDue)) return std::nullopt;
  row.remove_prefix(kDue.size());
  const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), due);
  return error == std::errc() ? std::optional(due) : std::nullopt;
}

}  // namespace

Suppress::Suppress(const SuppressPlan& plan)
    : window_(plan.window),
      limit_(plan.limit.count()),
      store_name_(plan.store),
      skips_(plan.skips) {
  using Kind = WindowSpec::Kind;
  const bool aligned =
      window_ && (window_->kind == Kind::kTumbling || window_->kind == Kind::kHopping);
  if (aligned) aligned_.emplace(*window_);
}

Status Suppress::Init(ProcessorContext& context) {
  context_ = &context;
  KSTREAM_ASSIGN_OR_RETURN(store_, FindKeyValueStore(context, store_name_));
  gone_until_ = context.committed_stream_time().value_or(kNoTime);
  return Status::Ok();
}

Status Suppress::Process(const Record& change) {
  if (!change.key) {
    skips_.NoKey();
    return Status::Ok();
  }
  KSTREAM_RETURN_IF_ERROR(CheckTime(change));
  const std::string_view key = *change.key;
  KSTREAM_ASSIGN_OR_RETURN(const std::optional<int64_t> held, Held(key));
  int64_t due = held.value_or(change.timestamp + limit_);
  if (window_) {
    KSTREAM_ASSIGN_OR_RETURN(due, CloseOf(key));
  }
  // Of a window that nobody has heard of there is nothing to take back.
  if (window_ && !change.value) return held ? Drop(key) : Status::Ok();
  if (due <= gone_until_) return context_->Forward(change);
  return Hold(change, due);
}

Result<int64_t> Suppress::CloseOf(std::string_view key) {
  json::Document document;
  const auto number = [&](size_t i) {
    int64_t value = -1;
    const json::Node node = document.At(document.root(), i);
    if (node == json::kNoNode || document.type(node) != json::Type::kNumber) return value;
    const std::string_view text = document.Raw(node);
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const bool array =
      reader_.Parse(key, &document).ok() && document.type(document.root()) == json::Type::kArray;
  const int64_t start = array ? number(1) : -1, end = array ? number(2) : -1;
  const int64_t grace = window_->grace.count();
  const auto window = aligned_ && start >= 0 ? aligned_->At(start) : std::nullopt;
  if (window) return window->end + grace;
  if (!aligned_ && window_->kind == WindowSpec::Kind::kSession && end >= 0) {
    return end + window_->gap.count() + grace + 1;
  }
  if (!aligned_ && window_->kind == WindowSpec::Kind::kSliding && start >= 0) {
    return start + window_->size.count() + grace + 1;
  }
  return Status::Data(fmt::format("its key, {}, tells of no such window", Printable(key)));
}

Result<std::optional<int64_t>> Suppress::Held(std::string_view key) {
  KSTREAM_ASSIGN_OR_RETURN(const bool found, store_->Find(RowKey(key), &row_));
  if (!found) return std::optional<int64_t>();
  const std::optional<int64_t> due = DueOf(row_.value);
  if (!due) return OtherState(store_name_, fmt::format("key {} is no such row", Printable(key)));
  return *due > gone_until_ ? due : std::nullopt;
}

Status Suppress::Hold(const Record& change, int64_t due) {
  Record row;
  row.key = change.partition_key;
  row.value = change.value;
  row.headers = change.headers;
  text_.clear();
  AppendEnvelope(row, reader_, &text_);
  text_.replace(0, 1, fmt::format("{}{},", kDue, due));
  KSTREAM_RETURN_IF_ERROR(store_->Put(RowKey(*change.key), text_, change.timestamp));
  return store_->Put(TimerOf(due, *change.key), "", due);
}

Status Suppress::Drop(std::string_view key) {
  KSTREAM_ASSIGN_OR_RETURN(const std::optional<int64_t> due, Held(key));
  KSTREAM_RETURN_IF_ERROR(store_->Delete(RowKey(key)));
  return due ? store_->Delete(TimerOf(*due, key)) : Status::Ok();
}

Status Suppress::Flush() {
  KSTREAM_RETURN_IF_ERROR(LetGo(context_->stream_time().value_or(kNoTime)));
  return DeleteGone(context_->committed_stream_time().value_or(kNoTime));
}

Status Suppress::EndInput() {
  KSTREAM_RETURN_IF_ERROR(LetGo(kEnd));
  context_->AdvanceStreamTime(gone_until_);
  return Status::Ok();
}

Result<std::vector<Suppress::Due>> Suppress::DueFrom(const std::string& timer,
                                                     int64_t until) const {
  std::vector<Due> due;
  const auto gather = [&](std::string_view key, std::string_view, int64_t) {
    key.remove_prefix(1);
    due.emplace_back(OrderedTimeOf(key), key.substr(kOrderedTime));
    return due.size() < kMostAtOnce;
  };
  KSTREAM_RETURN_IF_ERROR(store_->RangeRows(timer, TimerOf(until + 1, ""), gather));
  return due;
}

Status Suppress::LetGo(int64_t until) {
  int64_t last = gone_until_;
  std::string from = TimerOf(gone_until_ + 1, "");
  for (;;) {
    KSTREAM_ASSIGN_OR_RETURN(const std::vector<Due> due, DueFrom(from, until));
    for (const Due& one : due) KSTREAM_RETURN_IF_ERROR(Forward(one));
    if (!due.empty()) last = due.back().first;
    if (due.size() < kMostAtOnce) break;
    from = TimerOf(last, due.back().second).append(1, '\0');
  }
  gone_until_ = until == kEnd ? last : std::max(gone_until_, until);
  return Status::Ok();
}

// A row that is held for another time by now has gone before, or was dropped.
Status Suppress::Forward(const Due& due) {
  const auto& [time, key] = due;
  KSTREAM_ASSIGN_OR_RETURN(const bool found, store_->Find(RowKey(key), &row_));
  if (!found || DueOf(row_.value) != time) return Status::Ok();
  Record change, stored;
  envelopes_.Clear();
  if (const Status status = envelopes_.Parse(row_.value, &stored); !status.ok()) {
    return OtherState(store_name_, fmt::format("key {}: {}", Printable(key), status.message()));
  }
  change.key = key;
  change.value = stored.value;
  change.headers = stored.headers;
  change.partition_key = stored.key;
  change.timestamp = row_.timestamp;
  change.timestamp_type = TimestampType::kCreateTime;
  return context_->Forward(change);
}

Status Suppress::DeleteGone(int64_t committed) {
  const int64_t until = std::min(committed, gone_until_);
  if (until <= deleted_until_) return Status::Ok();
  for (;;) {
    KSTREAM_ASSIGN_OR_RETURN(const std::vector<Due> due, DueFrom(TimerOf(kNoTime, ""), until));
    for (const auto& [time, key] : due) {
      KSTREAM_ASSIGN_OR_RETURN(const bool found, store_->Find(RowKey(key), &row_));
      if (found && DueOf(row_.value) == time) {
        KSTREAM_RETURN_IF_ERROR(store_->Delete(RowKey(key)));
      }
      KSTREAM_RETURN_IF_ERROR(store_->Delete(TimerOf(time, key)));
    }
    if (due.size() < kMostAtOnce) break;
  }
  deleted_until_ = until;
  return Status::Ok();
}

void Suppress::Close() { skips_.Tell(context_ ? context_->node() : "suppress"); }

}  // namespace kstream::dsl

namespace kstream {

Table Table::Suppress(const Suppressed& until, const std::string& store) const {
  dsl::StreamGraph* const graph = changes_.graph_;
  dsl::SuppressPlan plan{.store = store};
  std::string description = "suppress";
  if (store.empty()) {
    graph->Mistake(changes_.name(), Status::Expression("what is suppressed of it needs a store"));
  } else if (until.limit) {
    plan.limit = *until.limit;
    description += fmt::format(" --until {}ms", plan.limit.count());
    constexpr std::chrono::milliseconds kLongest{dsl::AlignedWindows::kLastTime};
    if (plan.limit.count() <= 0 || plan.limit > kLongest) {
      graph->Mistake(store, Status::Usage("a time limit is longer than 0, and ends before 9999"));
    }
  } else if (window_) {
    plan.window = window_;
    description += dsl::Describe(*window_, AggregateSpec::Emit::kFinal);
  } else {
    graph->Mistake(store, Status::Expression(fmt::format(
                              "the rows of '{}' have no windows that close, or come then alone",
                              changes_.name())));
  }
  graph->AddStore(StoreSpec{.name = store});
  ProcessorSupplier supplier([plan] { return std::make_unique<dsl::Suppress>(plan); },
                             std::move(description));
  Table table(changes_.Add(store, std::move(supplier), changes_.rekeyed(), {store}), store);
  return table;
}

}  // namespace kstream
