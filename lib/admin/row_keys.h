// RowKeys: what the keys of a store's rows stand for: themselves, or a window and a group, where
// the store's first row says so (dsl/window_key.h, span_key.h, join_key.h). Tested by
// tests/unit/admin/app_inspector_test.cc.
#ifndef KSTREAM_ADMIN_ROW_KEYS_H_
#define KSTREAM_ADMIN_ROW_KEYS_H_

#include <optional>
#include <string>
#include <string_view>

#include "admin/store_view.h"
#include "dsl/aligned_windows.h"
#include "dsl/span_key.h"
#include "kstream/inspect.h"
#include "kstream/status.h"

namespace kstream::admin {

class RowKeys {
 public:
  // Looks at the first row. kState: it cannot be read.
  static Result<RowKeys> Of(StoreView* view);
  // `value` is that of the first row.
  static RowKeys Of(std::string_view value);

  bool windowed() const { return windows_ || spans_; }
  // Of sliding windows the store has moments, which several windows hold.
  bool has_moments() const { return spans_ == dsl::SpanKey::Kind::kMoment; }
  bool has_sessions() const { return spans_ == dsl::SpanKey::Kind::kSession; }
  // Whether a key is one that such a store has: of a window, a span, or a timer of spans, or what
  // says which windows these are; any key, where the store has no windows.
  bool Fits(std::string_view stored_key) const;
  // How many windows have rows, by as many look-ups; nullopt: the store has none, or has spans, of
  // which that is not told without a walk.
  Result<std::optional<uint64_t>> CountWindows(StoreView* view) const;
  // Fills in key and window of a row, whose timestamp is known; false: it is none, or none that the
  // query asks for. The key lives until the next call.
  bool Read(std::string_view stored_key, const RowQuery& query, InspectedRow* row);

  // Whether a row whose windows are not known yet may be asked for.
  static bool MayAsk(const RowQuery& query, std::string_view stored_key);

 private:
  bool ReadJoined(std::string_view stored_key, const RowQuery& query, InspectedRow* row);
  bool ReadSpan(std::string_view stored_key, const RowQuery& query, InspectedRow* row);

  std::optional<dsl::AlignedWindows> windows_;
  std::optional<dsl::SpanKey::Kind> spans_;
  int64_t reach_ = 0;  // of sliding windows: how far apart two moments of one window may be, ms
  bool joins_ = false;
  std::string group_;
};

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_ROW_KEYS_H_
