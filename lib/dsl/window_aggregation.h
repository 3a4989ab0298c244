// WindowAggregation: the processor behind aggregates with tumbling or hopping windows.
//
// Each open window has a table of rows. Stream time closes windows in the order of their ends,
// which is that of their starts: `final` rows come then, those of other modes are forwarded as far
// as they are due, and the table goes. What a window needs of the store depends on how long it
// lives: one that closes before the next commit point is never stored, since its record's positions
// and its rows are committed together; one that was made here and has not been emptied for lack of
// memory is whole, and is not looked up.
//
// Stored rows have the key "start of the window (8 bytes, big-endian, sign flipped), group". They
// are deleted when the stream time that closed their window has been committed, not before: a crash
// in between reads again what filled them. So whatever is found at a start is either of an open
// window, or was closed and emitted.
//
// Tested by tests/unit/dsl/window_aggregate_test.cc and window_state_test.cc, and with restarts by
// tests/unit/testdriver/windows_test.cc; the edges by share/doc/kstream/windows.md.
#ifndef KSTREAM_DSL_WINDOW_AGGREGATION_H_
#define KSTREAM_DSL_WINDOW_AGGREGATION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/aligned_windows.h"
#include "dsl/windowed_processor.h"

namespace kstream::dsl {

class WindowAggregation final : public WindowedProcessor {
 public:
  explicit WindowAggregation(const AggregationPlan& plan);

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  Status Punctuate(const Punctuation& punctuation) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  // A window that is closed, and of which the store has rows.
  struct Closed {
    WindowBounds window;
    std::optional<std::vector<std::string>> keys;  // nullopt: whatever is found there
  };
  // A row that the record at hand goes into.
  struct Target {
    RowTable* table;
    Entry* entry;
    bool fresh;
  };

  // What the store has from former lives.
  Status FindWindows();
  Status StoreRows(RowTable* table);
  RowTable* TableOf(size_t window);
  RowTable* Open(const WindowBounds& window);
  // Into all windows that are open at stream time `now`, or none. False: there are none.
  Result<bool> Take(const Record& record, std::string_view key, int64_t now);
  Status Collect(const Record& record, std::string_view key, int64_t now);

  // Closes what ends at `end` or before.
  Status CloseUpTo(int64_t end);
  Status CloseFirst();
  // Deletes stored rows of windows that are closed for good.
  Status Expire();
  Status Delete(const Closed& closed);
  Status Spill();

  const int64_t grace_, kept_for_;  // past the end of a window, ms
  AlignedWindows aligned_;
  std::map<int64_t, RowTable> open_;  // by start
  std::vector<RowTable*> current_;    // of aligned_.windows(); null: not looked for yet
  std::vector<Target> targets_;
  std::deque<Closed> closed_;
  int64_t closes_at_;  // the stream time that closes the first window
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_WINDOW_AGGREGATION_H_
