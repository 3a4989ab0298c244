#include "admin/row_keys.h"

#include <string>
#include <utility>

#include "dsl/join_key.h"
#include "dsl/window_key.h"
#include "kstream/windows.h"
#include "record/json_document.h"

namespace kstream::admin {
namespace {

bool Asks(const RowQuery& query, std::string_view key) {
  return key >= query.from && (!query.to || key < *query.to);
}

std::string TextOf(const json::Document& document, std::string_view member) {
  const json::Node node = document.Find(document.root(), member);
  std::string text;
  if (node == json::kNoNode || document.type(node) != json::Type::kString) return text;
  json::Unescape(document.StringContent(node), &text);
  return text;
}

// What the first row of a store says; nullopt: nothing that this kstream knows.
std::optional<WindowSpec> WindowsOf(std::string_view json) {
  json::Reader reader;
  json::Document document;
  if (!reader.Parse(json, &document).ok() ||
      document.type(document.root()) != json::Type::kObject) {
    return std::nullopt;
  }
  Result<WindowSpec> spec = WindowSpec::Parse(TextOf(document, "windows"));
  if (!spec.ok()) return std::nullopt;
  spec->zone = TextOf(document, "timezone");
  return spec->Check().ok() ? std::optional(*std::move(spec)) : std::nullopt;
}

}  // namespace

Result<RowKeys> RowKeys::Of(StoreView* view) {
  RowKeys keys;
  const std::string behind = dsl::kWindowsKey + '\0';
  KSTREAM_RETURN_IF_ERROR(
      view->Scan(dsl::kWindowsKey, behind, [&](std::string_view, std::string_view value, int64_t) {
        keys = Of(value);
        return true;
      }));
  return keys;
}

RowKeys RowKeys::Of(std::string_view value) {
  RowKeys keys;
  keys.joins_ = value.starts_with("{\"join\":");
  const auto spec = WindowsOf(value);
  if (!spec) return keys;
  if (spec->kind == WindowSpec::Kind::kSession) {
    keys.spans_ = dsl::SpanKey::Kind::kSession;
  } else if (spec->kind == WindowSpec::Kind::kSliding) {
    keys.spans_ = dsl::SpanKey::Kind::kMoment;
    keys.reach_ = spec->size.count();
  } else {
    keys.windows_.emplace(*spec);
  }
  return keys;
}

// A span has both its ends, and the time of its row is the second. A moment is asked for by any
// time that some window holds together with it.
bool RowKeys::ReadSpan(std::string_view stored_key, const RowQuery& query, InspectedRow* row) {
  std::optional<dsl::SpanKey> span = dsl::SpanKey::Parse(*spans_, stored_key);
  if (!span) return false;
  group_ = std::move(span->group);
  row->key = group_;
  row->window_start = span->start;
  row->window_end = row->timestamp;
  const bool holds = !query.at_window || (span->start - reach_ <= *query.at_window &&
                                          *query.at_window <= row->timestamp + reach_);
  return holds && Asks(query, group_);
}

bool RowKeys::Fits(std::string_view stored_key) const {
  if (!windowed() && !joins_) return true;
  if (stored_key == dsl::kWindowsKey) return true;
  if (joins_) return dsl::JoinKey::Parse(stored_key) || dsl::TimerKey::Parse(stored_key);
  if (spans_) return dsl::SpanKey::Parse(*spans_, stored_key) || dsl::TimerKey::Parse(stored_key);
  const auto start = dsl::StartOfKey(stored_key);
  return start && windows_->At(*start);
}

Result<std::optional<uint64_t>> RowKeys::CountWindows(StoreView* view) const {
  if (!windows_) return std::optional<uint64_t>();
  uint64_t count = 0;
  std::optional<std::string> from = dsl::kWindowsKey + '\0';
  while (from) {
    const std::string at = *std::exchange(from, std::nullopt);
    KSTREAM_RETURN_IF_ERROR(
        view->Scan(at, std::nullopt, [&](std::string_view key, std::string_view, int64_t) {
          const auto start = dsl::StartOfKey(key);
          if (start && windows_->At(*start)) count++;
          if (start && *start < INT64_MAX) from = dsl::WindowPrefix(*start + 1);
          return false;
        }));
  }
  return std::optional(count);
}

// A record that a join keeps is of no window: it has its time.
bool RowKeys::ReadJoined(std::string_view stored_key, const RowQuery& query, InspectedRow* row) {
  std::optional<dsl::JoinKey> joined = dsl::JoinKey::Parse(stored_key);
  if (!joined) return false;
  group_ = std::move(joined->key);
  row->key = group_;
  return !query.at_window && Asks(query, group_);
}

bool RowKeys::Read(std::string_view stored_key, const RowQuery& query, InspectedRow* row) {
  if (joins_) return ReadJoined(stored_key, query, row);
  if (spans_) return ReadSpan(stored_key, query, row);
  row->key = stored_key;
  if (!windows_) return !query.at_window && Asks(query, stored_key);
  const auto start = stored_key == dsl::kWindowsKey ? std::nullopt : dsl::StartOfKey(stored_key);
  const auto window = start ? windows_->At(*start) : std::nullopt;
  if (!window) return false;
  row->key = stored_key.substr(dsl::kWindowPrefix);
  row->window_start = window->start;
  row->window_end = window->end;
  const bool holds =
      !query.at_window || (window->start <= *query.at_window && *query.at_window < window->end);
  return holds && Asks(query, row->key);
}

bool RowKeys::MayAsk(const RowQuery& query, std::string_view stored_key) {
  if (Asks(query, stored_key) || stored_key == dsl::kWindowsKey) return true;
  for (const auto kind : {dsl::SpanKey::Kind::kSession, dsl::SpanKey::Kind::kMoment}) {
    const auto span = dsl::SpanKey::Parse(kind, stored_key);
    if (span && Asks(query, span->group)) return true;
  }
  if (const auto joined = dsl::JoinKey::Parse(stored_key); joined && Asks(query, joined->key)) {
    return true;
  }
  return stored_key.size() >= dsl::kWindowPrefix &&
         Asks(query, stored_key.substr(dsl::kWindowPrefix));
}

}  // namespace kstream::admin
