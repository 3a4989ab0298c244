// Table and GroupedStream: the stateful half of the DSL (see stream.h).
//
//   StreamBuilder builder;
//   Table counts = builder.Source(Location::Topic("orders"))
//                      .GroupBy(".user", "by-user")
//                      .Count("orders-per-user");
//   counts.ToStream().To(Location::Topic("counts"));
//   builder.Table(Location::Topic("users"), "users").ToStream().To(Location::Topic("copy"));
//
// Every stateful operator is given the name of its store: state is found by that name after a
// restart, also when the program has changed around it. An operator's node has the name of its
// store.
#ifndef KSTREAM_TABLE_H_
#define KSTREAM_TABLE_H_

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/export.h"
#include "kstream/operators.h"
#include "kstream/record.h"
#include "kstream/stream.h"
#include "kstream/windows.h"

namespace kstream {

// The first value of a group that has none.
using Initializer = std::function<std::string()>;
// The next value of a group, of a record and the value so far; null deletes the group's row, and
// its next record begins anew.
using Aggregator = std::function<MadeBytes(const Record& record, std::string_view aggregate)>;
// As Aggregator, where the first record's value is the group's first.
using Reducer = std::function<MadeBytes(std::string_view aggregate, const Record& record)>;
// The value of two spans of time of one group that become one, of the values of both.
using Merger = std::function<MadeBytes(std::string_view earlier, std::string_view later)>;

class GroupedTable;
class WindowedStream;

// Until when Table::Suppress holds rows back, by stream time (KIP-328).
struct Suppressed {
  // Until a row's window has closed: the row comes once, as it is then.
  static Suppressed UntilWindowCloses() { return {}; }
  // Until so long after the time of the first change that is held back: a row comes once in that
  // time at most, as it was last.
  static Suppressed UntilTimeLimit(std::chrono::milliseconds limit) { return {.limit = limit}; }

  std::optional<std::chrono::milliseconds> limit = {};
};

// The latest value of each key. Its changes are a stream: a record for each row that changes, and
// a tombstone where one ceases. Copied and valid as streams are.
class KSTREAM_EXPORT Table {
 public:
  // The changes.
  const Stream& ToStream() const { return changes_; }
  // The store that keeps it: what Stream::Process names to read it.
  const std::string& store() const { return store_; }
  // Whether that has the rows as they are, so that whoever joins with them needs none of its own.
  bool keeps_rows() const { return keeps_rows_; }

  // The table of which a row comes only when it is due: at the commit point, or the end of the
  // input, that finds it so. What is held back is kept in the store `store`. Until windows close:
  // of a table by windows (GroupedStream::WindowedBy) whose rows come with changes; what is
  // withdrawn before then never comes.
  Table Suppress(const Suppressed& until, const std::string& store) const;

  // Rows by group, for a table to be made of them: a row that changes is taken out of the group
  // that it was in and into the one that it is in now. Rows go through the repartition topic
  // "<app>-<name>-repartition"; what they were is kept in the store "<name>-rows". A key of null
  // means no group. The key is made of a row's key, value and time, and of equal ones it must be
  // equal; nothing else of a record is there to see.
  GroupedTable GroupBy(const StreamExpression& key, const std::string& name) const;
  GroupedTable GroupBy(KeySelector key, const std::string& name) const;

  // The table that two make by key (see JoinTables), in the store `name`; rows of both are kept in
  // "<name>-left" and "<name>-right".
  Table Join(const Table& right, const std::string& name, const JoinedValue& value = {}) const;
  // And rows of this table that have no partner.
  Table LeftJoin(const Table& right, const std::string& name, const JoinedValue& value = {}) const;
  // And rows of the other.
  Table OuterJoin(const Table& right, const std::string& name, const JoinedValue& value = {}) const;
  // Any of these; serdes and keeps_rows of the specification are not looked at, and its store is
  // called as the node where it has no name.
  Table Join(const Table& right, TableJoinSpec spec) const;

 private:
  friend class GroupedStream;
  friend class Stream;
  friend class StreamBuilder;
  friend class WindowedStream;
  Table JoinWith(const Table& right, TableJoinSpec spec, const JoinedValue& value) const;
  Table(Stream changes, std::string store, bool keeps_rows = false)
      : changes_(std::move(changes)), store_(std::move(store)), keeps_rows_(keeps_rows) {}

  Stream changes_;
  std::optional<WindowSpec> window_ = {};  // of which the rows tell their changes
  std::string store_;
  bool keeps_rows_;  // the store has them as they are
};

// A stream whose records are grouped, of which a table can be made. Records without a key or a
// value are of no group: they are left out, and counted in the log.
class KSTREAM_EXPORT GroupedStream {
 public:
  // Rows {"key":..,"count":n}.
  Table Count(const std::string& store) const;
  // As kstream::Aggregate; `store` and `serdes` of the specification are not looked at, nor is `by`
  // but where there is one task (StreamBuilder::OneTask). The rows are JSON, whatever the values
  // were.
  Table Aggregate(AggregateSpec spec, const std::string& store) const;
  // Values are the user's own bytes; a row is forwarded at each commit point after it changed.
  Table Aggregate(Initializer init, Aggregator add, const std::string& store) const;
  // `add` makes the next value of `$acc`, the value so far, and `.`, that of the record.
  Table Reduce(const StreamExpression& add, const std::string& store) const;
  template <std::convertible_to<Reducer> Function>
  Table Reduce(Function add, const std::string& store) const {
    return ReduceBy(std::move(add), store);
  }
  // The same for each window of time: a row for each group and window, which comes as `emit` says;
  // kFinal: once, when its window closes. Late records are counted in the log.
  WindowedStream WindowedBy(WindowSpec window,
                            AggregateSpec::Emit emit = AggregateSpec::Emit::kUpdate) const;

 private:
  friend class GroupedTable;
  friend class WindowedStream;
  friend class Stream;
  friend class StreamBuilder;
  friend class Table;
  explicit GroupedStream(Stream stream) : stream_(std::move(stream)) {}
  Table ReduceBy(Reducer add, const std::string& store) const;
  Table Make(Result<ProcessorSupplier> supplier, const std::string& store) const;

  Stream stream_;
};

// A grouped stream by windows (kstream/windows.h). A mistake in the window is one of what is made
// of it.
//
// Values of functions are the user's own bytes, so the record keys tell the windows of such rows:
// ["<group>",<start>] in JSON, of sessions with the end too. A row that is no more is withdrawn by
// a tombstone, unless it comes only once.
//
// Sessions that a record joins become one, and a sliding window is added up of moments. So of those
// windows values must add up: in the order of time, by a Merger, or by a Reducer, which is given
// the later value as that of a record that has nothing else. There no value may be null: a record
// for which a function gives it is bad.
class KSTREAM_EXPORT WindowedStream {
 public:
  // Rows {"key":..,"window_start":ms,"window_end":ms,"count":n}.
  Table Count(const std::string& store) const;
  // As GroupedStream::Aggregate; `window` and `emit` of the specification are not looked at.
  Table Aggregate(AggregateSpec spec, const std::string& store) const;
  // Of tumbling and hopping windows.
  Table Aggregate(Initializer init, Aggregator add, const std::string& store) const;
  // Of any.
  Table Aggregate(Initializer init, Aggregator add, Merger merge, const std::string& store) const;
  Table Reduce(const StreamExpression& add, const std::string& store) const;
  template <std::convertible_to<Reducer> Function>
  Table Reduce(Function add, const std::string& store) const {
    return ReduceBy(std::move(add), store);
  }

 private:
  friend class GroupedStream;
  WindowedStream(GroupedStream groups, WindowSpec window, AggregateSpec::Emit emit)
      : groups_(std::move(groups)), window_(std::move(window)), emit_(emit) {}
  Table ReduceBy(Reducer add, const std::string& store) const;
  Table Windowed(Table rows) const;

  GroupedStream groups_;
  WindowSpec window_;
  AggregateSpec::Emit emit_;
};

// A table whose rows are grouped. What is made of it counts each row as it is now: a row that
// changes, or ceases, is undone before it counts anew. A group whose rows are all gone stays, with
// what is left when all of them are undone.
class KSTREAM_EXPORT GroupedTable {
 public:
  // Rows {"key":..,"count":n}.
  Table Count(const std::string& store) const;
  // As kstream::Aggregate of a table; `by`, `table`, `store` and `serdes` of the specification are
  // not looked at.
  Table Aggregate(AggregateSpec spec, const std::string& store) const;
  // Values are the user's own bytes; `sub` undoes what `add` did for a row.
  Table Aggregate(Initializer init, Aggregator add, const Aggregator& sub,
                  const std::string& store) const;
  // `add` makes the next value of `$acc`, the value so far, and `.`, that of a row; `sub` undoes
  // it.
  Table Reduce(const StreamExpression& add, const StreamExpression& sub,
               const std::string& store) const;
  template <std::convertible_to<Reducer> Function>
  Table Reduce(Function add, const Reducer& sub, const std::string& store) const {
    return ReduceBy(std::move(add), sub, store);
  }

  // The changes: a stream of which Aggregate makes a table where AggregateSpec::table is set.
  const GroupedStream& changes() const { return changes_; }

 private:
  friend class Stream;
  explicit GroupedTable(GroupedStream changes) : changes_(std::move(changes)) {}
  Table ReduceBy(Reducer add, const Reducer& sub, const std::string& store) const;

  GroupedStream changes_;
};

}  // namespace kstream

#endif  // KSTREAM_TABLE_H_
