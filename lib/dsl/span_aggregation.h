// SpanAggregation: what aggregates by session and by sliding window do alike. They keep, of each
// group, rows of spans of time: a session is one, and for sliding windows each moment at which
// there were records. A record joins the spans that it is near enough to, which become one; if
// there are none it begins a span.
//
// What is to be done when stream time has come so far is a timer: the end of a window, its start
// and its group, in the order in which rows come. Only beginnings set timers: a session that has
// grown meanwhile sets one anew when it finds that it is not due, so a record of a session that
// goes on costs a look-up and no more.
//
// As long as the spans of all groups fit in memory nothing is looked up in the store: it is written
// at commit points, for whoever begins there. When they do not, rows and timers are written and
// memory is emptied; from then on a group is read when a record or a timer names it, and timers
// wait in the store, by time. So memory is bounded, and timers are never stored in vain.
//
// Stored rows of what has closed are deleted when the stream time that closed it is committed: a
// crash before that reads again what made them. What is found closed at a start was emitted.
//
// Tested by tests/unit/dsl/session_test.cc, sliding_test.cc and span_state_test.cc; the edges are
// told in share/doc/kstream/windows.md.
#ifndef KSTREAM_DSL_SPAN_AGGREGATION_H_
#define KSTREAM_DSL_SPAN_AGGREGATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_table.h"
#include "dsl/span_key.h"
#include "dsl/windowed_processor.h"

namespace kstream::dsl {

class SpanAggregation : public WindowedProcessor {
 public:
  Status Init(ProcessorContext& context) final;
  Status Process(const Record& record) final;
  Status Punctuate(const Punctuation& punctuation) final;
  Status Flush() final;
  Status EndInput() final;
  void Close() final;

 protected:
  struct Span {
    int64_t start = 0;
    Row row;                            // its time is that of the last record
    size_t bytes = 0;                   // of memory, about
    std::optional<WindowBounds> shown;  // as what it is known to whoever reads the rows

    int64_t end() const { return row.timestamp; }
    WindowBounds bounds() const { return {start, end()}; }
  };
  struct Spans {
    std::vector<Span> spans = {};  // by time
    size_t timers = 0;             // in memory
    bool touched = false;          // is in touched_
  };
  using Group = ByteTable<Spans>::Entry;

  // `reach`: how far a record is at most from a span that it joins. `wait`: how long past its end a
  // window takes records.
  SpanAggregation(const AggregationPlan& plan, SpanKey::Kind kind, int64_t reach, int64_t wait);

  // The last window that the records of a span are needed for.
  virtual WindowBounds LastWindow(const WindowBounds& span) const = 0;
  // Sets the timers of a span that begins there.
  virtual void SetTimers(Group* group, const Span& span) = 0;
  // Whether there is such a window by now.
  virtual bool Has(const Group& group, const WindowBounds& window) const = 0;
  // It is time.
  virtual Status Fire(Group* group, const WindowBounds& window) = 0;
  // Forwards the windows of spans that are due, which then are not.
  virtual Status ForwardSpans(Group* group) = 0;

  void SetTimer(Group* group, const WindowBounds& window);
  // Whether the window's timer, if it had one, has yet to fire.
  bool IsOpen(const WindowBounds& window, std::string_view key) const;
  // Takes the first `count` spans behind `at` off a group. Their stored rows are deleted later.
  Status Drop(Group* group, size_t at, size_t count);

 private:
  // The end of a window, its start and its group: the order in which rows come.
  struct Timer {
    WindowBounds window;
    Group* group;
    bool operator<(const Timer& other) const;
  };
  // What was shown as something that is no more.
  struct Withdrawal {
    std::string key;
    WindowBounds window;
    int64_t timestamp;
  };
  struct Closed {
    int64_t until;  // stream time
    std::string key;
  };

  // In memory, about: with its timer, without what columns say of themselves.
  size_t SizeOfSpan() { return 160 + format().columns() * sizeof(Accumulator); }

  // The spans of a group, from the store if they may be there alone.
  Result<Group*> FindGroup(std::string_view key);
  std::pair<Group*, bool> MakeGroup(std::string_view key);
  void EraseIfEmpty(Group* group);

  // False: it is late at stream time `now`.
  Result<bool> Take(const Record& record, Group* group, int64_t now);
  Status Begin(const Record& record, Group* group, size_t at);
  Status Join(const Record& record, Group* group, size_t first, size_t count);
  Status Changed(Group* group, Span* span, size_t bytes);
  // A span has other bounds from now on, or is part of another one.
  void Leave(const Group& group, const Span& span, const WindowBounds& now);

  // Closes what ends at `end` or before.
  Status FireUpTo(int64_t end);
  Status FireFirst();
  void Touch(Group* group);
  void SortTouched();
  Status ForwardAllSpans();
  Status WithdrawAll();

  // Of the store: span_store.cc.
  Status LoadAll();
  Status Load(Group* group);
  // A row of the store that lies behind all spans of its group. False: it has closed.
  Result<bool> LoadSpan(Group* group, int64_t start, std::string_view value, int64_t timestamp);
  // Brings those timers from the store that are next and not behind `end`.
  Status FetchTimers(int64_t end);
  Status FindTimer(std::string from);
  Status OtherKey(std::string_view key) const;
  Status StoreSpans();
  Status StoreSpan(const Group& group, Span* span);
  Status Expire();
  // How many windows are open; of sliding ones that are not all in memory, how many moments.
  size_t CountOpen() const;
  size_t CountStored() const;
  Status Spill();
  // Leaves to the store what is in memory; all rows are stored.
  Status LeaveToStore();
  void Clear();

  const SpanKey::Kind kind_;
  const int64_t reach_, wait_;
  const int64_t kept_for_;  // past a window's end, ms

  ByteTable<Spans> groups_;
  bool whole_ = true;  // no span is in the store alone
  std::vector<Group*> touched_;
  std::set<Timer> timers_;
  std::optional<TimerKey> stored_timer_;  // the first of those in the store
  TimerKey fired_;                        // all up to it have
  std::vector<Withdrawal> withdrawn_;
  std::vector<std::string> left_;  // keys of stored rows that are others now
  std::deque<Closed> closed_;      // by `until`
  StoredRow stored_row_;
  std::optional<std::string> text_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SPAN_AGGREGATION_H_
