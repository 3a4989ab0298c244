// WindowStore and SessionStore: rows of windows and of sessions, for processors of one's own, over
// a key-value store that the runtime keeps (StoreSpec) and the processor has to itself.
//
//   Status Init(ProcessorContext& context) override {
//     Result<WindowStore> rows = WindowStore::Open(context, "rows", minutes(1), hours(1));
//     ...
//   Status Flush() override { return rows_->Expire(*context_); }
//
// What is written is in the changelog and comes back as any row does; kstream-inspect-state shows
// keys with their windows. Rows go by stream time, when Expire is called, so that memory and disk
// are bounded. Times are ms since the epoch, from 0 to the year 9999: others are kUsage.
#ifndef KSTREAM_WINDOW_STORE_H_
#define KSTREAM_WINDOW_STORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/processor.h"
#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream {

// A row as it is walked over; the views are valid during the call.
struct WindowRow {
  std::string_view key;
  int64_t start = 0, end = 0;  // of a session, the times of its first and last record
  std::string_view value;
};
// Is called for one row after the other while it returns true. It must not change the store.
using WindowVisitor = std::function<bool(const WindowRow& row)>;

// Rows by key and start of a window; all windows are `size` long.
class KSTREAM_EXPORT WindowStore {
 public:
  // The store of that name, which AddStore has connected to the node. A row goes once the committed
  // stream time is `retention` past its window's end. kUsage: no such store, no size; kState: it
  // has rows of something else.
  static Result<WindowStore> Open(ProcessorContext& context, const std::string& name,
                                  std::chrono::milliseconds size,
                                  std::chrono::milliseconds retention);

  Status Put(std::string_view key, int64_t start, std::string_view value);
  Status Delete(std::string_view key, int64_t start);
  // Fills in *row, whose memory is used again. False: there is no such row.
  Result<bool> Find(std::string_view key, int64_t start, StoredRow* row) const;
  // Those of a key that start from `from` to `to`, by start: a look-up for each start that the
  // store has in between.
  Status Fetch(std::string_view key, int64_t from, int64_t to, const WindowVisitor& visit) const;
  // Those of all keys, by start, then by key.
  Status All(int64_t from, int64_t to, const WindowVisitor& visit) const;
  // At a commit point: deletes what has outlived its retention.
  Status Expire(const ProcessorContext& context);

 private:
  WindowStore(KeyValueStore* store, int64_t size, int64_t retention)
      : store_(store), size_(size), retention_(retention) {}

  KeyValueStore* store_;
  int64_t size_, retention_;
  bool labelled_ = false;
};

// Rows by key and session.
class KSTREAM_EXPORT SessionStore {
 public:
  // As WindowStore::Open; a row goes `retention` past the end of its session. `gap` is what is told
  // of it to who looks into the store.
  static Result<SessionStore> Open(ProcessorContext& context, const std::string& name,
                                   std::chrono::milliseconds gap,
                                   std::chrono::milliseconds retention);

  // A session of the same key and start is replaced.
  Status Put(std::string_view key, int64_t start, int64_t end, std::string_view value);
  Status Delete(std::string_view key, int64_t start);
  // The sessions of a key that end at `earliest_end` or later, and start at `latest_start` or
  // before, by start.
  Status Find(std::string_view key, int64_t earliest_end, int64_t latest_start,
              const WindowVisitor& visit) const;
  Status Expire(const ProcessorContext& context);

 private:
  SessionStore(KeyValueStore* store, int64_t gap, int64_t retention)
      : store_(store), gap_(gap), retention_(retention) {}

  KeyValueStore* store_;
  int64_t gap_, retention_;
  bool labelled_ = false;
};

}  // namespace kstream

#endif  // KSTREAM_WINDOW_STORE_H_
