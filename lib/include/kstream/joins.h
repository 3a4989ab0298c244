// Joins of two streams: each record of one meets those of the other that have its key and whose
// time is near enough. Joins of a stream with a table, and of two tables: by key, as the rows are
// when the turn comes.
//
//   StreamBuilder builder;
//   Stream orders = builder.Source(Location::Topic("orders"));
//   Stream payments = builder.Source(Location::Topic("payments"));
//   orders.LeftJoin(payments, JoinWindows::Within(10min), "paid", {.value = "{o: $left, p:
//   $right}"})
//       .To(Location::Topic("paid"));
//
// What each kind of join gives for each order of arrival is told, case by case, in
// share/doc/kstream/joins.md.
#ifndef KSTREAM_JOINS_H_
#define KSTREAM_JOINS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/operators.h"
#include "kstream/processor.h"
#include "kstream/record.h"
#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "kstream/stream.h"
#include "kstream/windows.h"

namespace kstream {

enum class JoinType : uint8_t {
  kInner,  // pairs
  kLeft,   // and left records that have no partner, alone
  kOuter,  // and right ones
};
// "inner", "left", "outer".
KSTREAM_EXPORT std::string_view ToString(JoinType type);

// Which right records of the window a left one is paired with.
enum class JoinMatch : uint8_t {
  kAll,     // all
  kPrior,   // those with an earlier time than its own; `after` is not looked at
  kLatest,  // of those the one that is next to it: the last by time, then by arrival
};

struct StreamJoinSpec {
  JoinWindows windows = {};
  JoinType type = JoinType::kInner;
  JoinMatch match = JoinMatch::kAll;
  // The value of a result, of $left, $right (null: missing) and $key; no value: no result. Neither
  // this nor a function: {"left":..,"right":..}.
  std::optional<Expression> value = {};
  ValueJoiner joiner = nullptr;
  // Of the processor that joins; its sides are "<name>-left" and "<name>-right".
  std::string name = "join";
  std::string store = {};  // a key-value store of this join alone; empty: records stay in memory
  // Names of children. Results go to all of them, or to `rows`; records that come too late go, as
  // they came, to `late`, if it is named.
  std::string rows = {}, late = {};
  RouteSpec route = {};  // where results go: `.` is the result
  SerdeNames left_serdes = {}, right_serdes = {};
};

// The nodes of a join: records of the left stream go through `left`, those of the right through
// `right`; both are parents of `join`. `turn` is a store, named "<name>-turn", for all three; the
// store of the specification is for `join`.
struct StreamJoinNodes {
  ProcessorSupplier left, right, join;
  StoreSupplier turn;
};

// A result has the key of both records, the larger of their times, and the headers of the left one
// (of the right one, if that is alone). A key or a value that is null meets nothing and is counted;
// of a side that may be alone, a record without a key is.
//
// Records are kept, by stream time, until none that is in time can meet them. One that may be alone
// comes out once, when stream time has passed the last moment of its window and grace, and is gone
// then. A record that comes later than that is still paired with what is kept; without a partner it
// comes out at once, if it may be alone. What comes when all has gone that it could have met is
// late: counted, and sent to `late`.
//
// kUsage: windows that Check refuses, `late` without `rows`, an unknown serde, kLatest with an
// outer join.
KSTREAM_EXPORT Result<StreamJoinNodes> JoinStreams(StreamJoinSpec spec);

// A join with a table, whose rows replace each other by key and are deleted by null payloads.
struct TableJoinSpec {
  JoinType type = JoinType::kInner;  // kOuter: of two tables
  // As of StreamJoinSpec. One that gives no value, of two tables, makes a row that is not there.
  std::optional<Expression> value = {};
  ValueJoiner joiner = nullptr;
  std::string name = "join";  // as of StreamJoinSpec
  // A key-value store for the rows of the table: of this join alone or, where `keeps_rows` is
  // false, one that has them already.
  std::string store = {};
  bool keeps_rows = true;
  RouteSpec route = {};
  SerdeNames left_serdes = {}, right_serdes = {};
};

// The nodes of a join of a stream with a table: rows of the table go to `table`, records of the
// stream to `join`; the store is for both.
struct StreamTableJoinNodes {
  ProcessorSupplier table, join;
};

// A record of the stream meets the row that its key has when its turn comes; what becomes of the
// row later changes nothing. The result has key, time and headers of the record. A record without a
// value is left out; one without a key meets nothing. Rows come before records of equal times where
// their source says that it is a table (SourceSpec::table).
//
// kUsage: no store, an outer join, a value made twice, an unknown serde.
KSTREAM_EXPORT Result<StreamTableJoinNodes> JoinTable(TableJoinSpec spec);

// Two tables make a third: the nodes are those of JoinStreams; rows are in the stores
// "<store>-left" and "<store>-right", both of them for `join`. A row of the result changes when one
// of its rows does, and ceases with a tombstone when it has nothing to be made of any more. It has
// the larger of both times and no headers. Records without a key are left out.
//
// kUsage: as JoinTable, but for outer joins.
KSTREAM_EXPORT Result<StreamJoinNodes> JoinTables(TableJoinSpec spec);

struct RekeySpec {
  Expression key;     // made of a row's record; null: the row has none
  std::string store;  // a key-value store of this operator alone, for the keys that rows have
  SerdeNames serdes = {};
};

// The rows of a table by another key. A row that is deleted, or comes to have another key, is
// deleted under the one that it had; of two rows that have one key the last is there. Records
// without a key of their own are rows that nothing but another with their new key replaces. Rows
// that have no new key are counted.
//
// kUsage: no store, an unknown serde.
KSTREAM_EXPORT Result<ProcessorSupplier> RekeyTable(RekeySpec spec);

}  // namespace kstream

#endif  // KSTREAM_JOINS_H_
