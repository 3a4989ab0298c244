// WindowStore and SessionStore: the keys of windowed aggregates, for processors of the user's own.
// Tested by tests/unit/testdriver/window_store_test.cc.
#include "kstream/window_store.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "dsl/aligned_windows.h"
#include "dsl/row_store.h"
#include "dsl/span_key.h"
#include "dsl/store_label.h"
#include "dsl/store_range.h"
#include "dsl/window_key.h"

namespace kstream {
namespace {

using dsl::SpanKey;
using dsl::TimerKey;
using dsl::WindowPrefix;
using std::chrono::milliseconds;

constexpr SpanKey::Kind kSession = SpanKey::Kind::kSession;
constexpr int64_t kLastTime = dsl::AlignedWindows::kLastTime;
constexpr size_t kMostAtOnce = 4096;

// What a store says of its rows; inspecting tools read it.
std::string LabelOf(std::string_view kind, int64_t length) {
  return fmt::format(R"({{"windows":"{}:{}ms"}})", kind, length);
}

Status CheckLengths(milliseconds length, milliseconds retention) {
  if (length.count() > 0 && length.count() <= kLastTime && retention.count() >= 0 &&
      retention.count() <= kLastTime) {
    return Status::Ok();
  }
  return Status::Usage(
      "the size of a window, or a gap, is longer than 0, and a retention not less");
}

Status CheckTimes(int64_t start, int64_t end) {
  if (start >= 0 && start <= end && end <= kLastTime) return Status::Ok();
  return Status::Usage(fmt::format("{} to {} is no span of time from 1970 to 9999", start, end));
}

// Opens the store, and *labelled: whether it says what rows it has.
Result<KeyValueStore*> OpenStore(ProcessorContext& context, const std::string& name,
                                 const std::string& text, bool* labelled) {
  KSTREAM_ASSIGN_OR_RETURN(KeyValueStore* const store, dsl::FindKeyValueStore(context, name));
  dsl::StoreLabel label(text);
  KSTREAM_RETURN_IF_ERROR(label.Check(*store, name));
  *labelled = label.said();
  return store;
}

Status Say(KeyValueStore* store, const std::string& text, bool* labelled) {
  if (std::exchange(*labelled, true)) return Status::Ok();
  return dsl::StoreLabel(text).Say(store);
}

}  // namespace

Result<WindowStore> WindowStore::Open(ProcessorContext& context, const std::string& name,
                                      milliseconds size, milliseconds retention) {
  KSTREAM_RETURN_IF_ERROR(CheckLengths(size, retention));
  bool labelled = false;
  KSTREAM_ASSIGN_OR_RETURN(KeyValueStore* const store,
                           OpenStore(context, name, LabelOf("tumbling", size.count()), &labelled));
  WindowStore rows(store, size.count(), retention.count());
  rows.labelled_ = labelled;
  return rows;
}

Status WindowStore::Put(std::string_view key, int64_t start, std::string_view value) {
  KSTREAM_RETURN_IF_ERROR(CheckTimes(start, start));
  KSTREAM_RETURN_IF_ERROR(Say(store_, LabelOf("tumbling", size_), &labelled_));
  return store_->Put(WindowPrefix(start).append(key), value);
}

Status WindowStore::Delete(std::string_view key, int64_t start) {
  return store_->Delete(WindowPrefix(start).append(key));
}

Result<bool> WindowStore::Find(std::string_view key, int64_t start, StoredRow* row) const {
  return store_->Find(WindowPrefix(start).append(key), row);
}

Status WindowStore::Fetch(std::string_view key, int64_t from, int64_t to,
                          const WindowVisitor& visit) const {
  KSTREAM_RETURN_IF_ERROR(CheckTimes(from, to));
  StoredRow row;
  for (int64_t start = from; start <= to; start++) {
    // The next start that any key has.
    std::optional<int64_t> next;
    KSTREAM_RETURN_IF_ERROR(store_->RangeRows(WindowPrefix(start), WindowPrefix(to + 1),
                                              [&](std::string_view found, auto, auto) {
                                                next = dsl::StartOfKey(found);
                                                return false;
                                              }));
    if (!next) return Status::Ok();
    start = *next;
    KSTREAM_ASSIGN_OR_RETURN(const bool there, Find(key, start, &row));
    if (there && !visit({key, start, start + size_, row.value})) return Status::Ok();
  }
  return Status::Ok();
}

Status WindowStore::All(int64_t from, int64_t to, const WindowVisitor& visit) const {
  KSTREAM_RETURN_IF_ERROR(CheckTimes(from, to));
  return store_->RangeRows(WindowPrefix(from), WindowPrefix(to + 1),
                           [&](std::string_view key, std::string_view value, int64_t) {
                             const int64_t start = dsl::OrderedTimeOf(key);
                             key.remove_prefix(dsl::kWindowPrefix);
                             return visit({key, start, start + size_, value});
                           });
}

Status WindowStore::Expire(const ProcessorContext& context) {
  const int64_t last = context.committed_stream_time().value_or(0) - retention_ - size_;
  if (last < 0) return Status::Ok();
  return dsl::DeleteRange(store_, WindowPrefix(0), WindowPrefix(last + 1));
}

Result<SessionStore> SessionStore::Open(ProcessorContext& context, const std::string& name,
                                        milliseconds gap, milliseconds retention) {
  KSTREAM_RETURN_IF_ERROR(CheckLengths(gap, retention));
  bool labelled = false;
  KSTREAM_ASSIGN_OR_RETURN(KeyValueStore* const store,
                           OpenStore(context, name, LabelOf("session", gap.count()), &labelled));
  SessionStore rows(store, gap.count(), retention.count());
  rows.labelled_ = labelled;
  return rows;
}

// A session that has a timer keeps it, though it may end at another time by now: that is looked at
// when its turn comes.
Status SessionStore::Put(std::string_view key, int64_t start, int64_t end, std::string_view value) {
  KSTREAM_RETURN_IF_ERROR(CheckTimes(start, end));
  KSTREAM_RETURN_IF_ERROR(Say(store_, LabelOf("session", gap_), &labelled_));
  const std::string row = SpanKey::Of(kSession, key, start);
  StoredRow old;
  KSTREAM_ASSIGN_OR_RETURN(const bool there, store_->Find(row, &old));
  if (!there) KSTREAM_RETURN_IF_ERROR(store_->Put(TimerKey::Of(end, start, key), "", end));
  return store_->Put(row, value, end);
}

Status SessionStore::Delete(std::string_view key, int64_t start) {
  return store_->Delete(SpanKey::Of(kSession, key, start));
}

Status SessionStore::Find(std::string_view key, int64_t earliest_end, int64_t latest_start,
                          const WindowVisitor& visit) const {
  Status status;
  const auto read = [&](std::string_view stored, std::string_view value, int64_t end) {
    const std::optional<SpanKey> span = SpanKey::Parse(kSession, stored);
    if (!span) {
      status = dsl::OtherState(store_->name(),
                               fmt::format("key {} is of no session", Printable(stored)));
      return false;
    }
    if (span->start > latest_start) return false;
    return end < earliest_end || visit({key, span->start, end, value});
  };
  KSTREAM_RETURN_IF_ERROR(
      store_->RangeRows(SpanKey::From(kSession, key), SpanKey::Behind(kSession, key), read));
  return status;
}

Status SessionStore::Expire(const ProcessorContext& context) {
  const int64_t last = context.committed_stream_time().value_or(0) - retention_;
  std::string from(1, TimerKey::kKind);
  std::vector<TimerKey> timers;
  do {
    timers.clear();
    const auto gather = [&](std::string_view stored, std::string_view, int64_t) {
      if (const auto timer = TimerKey::Parse(stored); timer && timer->end <= last) {
        timers.push_back(*timer);
        return timers.size() < kMostAtOnce;
      }
      return false;
    };
    KSTREAM_RETURN_IF_ERROR(store_->RangeRows(from, std::nullopt, gather));
    for (const TimerKey& timer : timers) {
      const std::string row = SpanKey::Of(kSession, timer.group, timer.start);
      StoredRow session;
      KSTREAM_ASSIGN_OR_RETURN(const bool there, store_->Find(row, &session));
      const bool goes_on = there && session.timestamp > timer.end;
      KSTREAM_RETURN_IF_ERROR(store_->Delete(TimerKey::Of(timer.end, timer.start, timer.group)));
      if (goes_on) {
        const int64_t end = session.timestamp;
        KSTREAM_RETURN_IF_ERROR(store_->Put(TimerKey::Of(end, timer.start, timer.group), "", end));
      } else if (there) {
        KSTREAM_RETURN_IF_ERROR(store_->Delete(row));
      }
    }
  } while (timers.size() == kMostAtOnce);
  return Status::Ok();
}

}  // namespace kstream
