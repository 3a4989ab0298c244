// Operators: ready-made processors over expressions.
//
// In every expression `.` is the value that the record came with. A failing expression is a bad
// record (kData), and nothing of that record is forwarded.
#ifndef KSTREAM_OPERATORS_H_
#define KSTREAM_OPERATORS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/processor.h"
#include "kstream/serdes.h"
#include "kstream/windows.h"

namespace kstream {

// Where a record goes beside the sink's own rule; see SinkSpec::topic_of_record.
struct RouteSpec {
  std::optional<Expression> to = {};         // topic per record, a string
  std::optional<Expression> partition = {};  // partition number, an integer of at least 0
};

struct FilterSpec {
  Expression keep;
  bool negate = false;
  // Records are rows of a table: one that is not kept becomes a tombstone, as one with a null
  // payload is; with `rest` each row is a tombstone on one of both sides.
  bool table = false;
  // Names of children; an empty name means all children. With `rest`, what is not kept goes there.
  std::string kept = {}, rest = {};
  RouteSpec route = {};
  SerdeNames serdes = {};
};

// Forwards a record untouched when some output of `keep` is neither false nor null (jq) or its
// result is truthy (JsonLogic).
KSTREAM_EXPORT Result<ProcessorSupplier> Filter(FilterSpec spec);

// kExpression: the condition is the same for every record, which is a mistake of quoting more often
// than not. Only `true` and `false` alone are taken.
KSTREAM_EXPORT Status CheckCondition(const Expression& condition);

struct MapSpec {
  Expression value;                                              // 0..n outputs make 0..n records
  std::optional<Expression> tombstone = {};                      // true: a null payload instead
  std::optional<Expression> key = {};                            // null: no key; text if a string
  std::vector<std::pair<std::string, Expression>> headers = {};  // appended; null: a null value
  RouteSpec route = {};
  SerdeNames serdes = {};
  bool single = false;  // exactly one output is wanted; another number makes the record bad
};

// Replaces the value; a null payload passes unmapped. In `tombstone`, `key`, `headers` and `route`,
// `$out` is the value made. kUsage when a serde is unknown.
KSTREAM_EXPORT Result<ProcessorSupplier> Map(MapSpec spec);

// Which records repeat another one, and so are left out.
struct DistinctSpec {
  // The unique key. Null or missing: the record repeats nothing. Without it, what DistinctKey has
  // said before a repartition.
  std::optional<Expression> by = {};
  std::chrono::milliseconds within{0};
  // How far out of order records may be for each repeat to be found; without it, as `within`.
  std::optional<std::chrono::milliseconds> grace = {};
  std::string store = {};  // a key-value store of this operator alone; empty: it stays in memory
  // Names of children; an empty name means all children. With `rest`, repeats go there.
  std::string kept = {}, rest = {};
  RouteSpec route = {};
  SerdeNames serdes = {};
};

// Forwards a record untouched unless one of the same unique key was forwarded whose event time is
// no further than `within` from its own, before or after (KIP-655). Of equal times the first that
// comes is kept. A repeat is not remembered: what lies near to repeats alone is kept. How many
// repeats there were is told in the log when the operator closes.
//
// What is kept is remembered until stream time has moved by `within` plus `grace` since it came. A
// record that comes later than `grace` allows is held against what is remembered still; how many of
// those were kept is told too. A record without a time, or with one past the year 9999, is bad.
//
// After a restart no record is missing, and nothing more comes twice than what the guarantee
// allows: at least once, a record that was kept and is read again is kept again.
//
// kUsage: `within` is not longer than 0; `grace` less than 0; either past the year 9999; `rest`
// without `kept`; an unknown serde.
KSTREAM_EXPORT Result<ProcessorSupplier> Distinct(DistinctSpec spec);

struct DistinctKeySpec {
  Expression by;
  SerdeNames serdes = {};
};

// What stands before the repartition where records of one unique key are in several tasks: takes
// each record, under the key that it has, to the task of its unique key, which it tells Distinct in
// a header that Distinct takes off.
KSTREAM_EXPORT Result<ProcessorSupplier> DistinctKey(DistinctKeySpec spec);

struct GroupBySpec {
  Expression by;  // null or missing: the record is of no group
  SerdeNames serdes = {};
  // A key-value store of this operator alone, in which it keeps the rows of a table, which is what
  // the records are then: each replaces the row of its key, and one without a value deletes it.
  // Empty: they are a stream.
  std::string table = {};
};

// Replaces the key by the group's, and leaves out what no group takes: a record without a group key
// or without a value. How many those were is told in the log when the operator closes.
//
// Of a table it forwards, to the group that a row was in, and to that which it is in now, what was
// and what is: the record has the new value, null if the row is not in this group any more, and the
// old one in the header "kstream.old", which is missing if the row was not in it. Of a row that
// changes its group the old half comes first. `by` sees a row's key, value and time and nothing
// else of its record, for of old rows nothing else is known. Records without a key are left out.
KSTREAM_EXPORT Result<ProcessorSupplier> GroupBy(GroupBySpec spec);

// Something made of all records of a group. An argument that is null or missing is ignored, but by
// kCollect; where all were ignored the result is null, of kSum and kCount 0.
struct AggregateFunction {
  enum class Kind : uint8_t {
    kCount,       // records; with an argument, those in which it is not null
    kSum,         // numbers: integers exactly within 64 bits, else doubles
    kMin,         // numbers, or strings: the spelling stays
    kMax,         //
    kAvg,         // numbers, as kSum
    kFirst,       // by arrival
    kLast,        //
    kCollect,     // all, by arrival, nulls too
    kCollectSet,  // each value once, by first arrival
    kDistinct,    // how many different values
  };
  Kind kind = Kind::kCount;
  std::optional<Expression> argument = {};  // only kCount may lack it
  std::string name = {};  // of its member in the result; empty: the function's own ("collect_set")
};

// The function's own name, such as "collect_set", and that of a function's result.
KSTREAM_EXPORT std::string_view ToString(AggregateFunction::Kind kind);
KSTREAM_EXPORT std::string_view NameOf(const AggregateFunction& function);

// A fold: `init` makes the first `$acc` of a group from its first record, `add` the next one of
// `$acc` and each record, the first too. Of a table `sub` undoes what `add` did for a row that is
// no more.
struct FoldSpec {
  Expression init, add;  // each gives exactly one value
  std::string name = "value";
  std::optional<Expression> sub = {};  // with AggregateSpec::table, and then needed
};

struct AggregateSpec {
  enum class Emit : uint8_t {
    kFinal,   // all rows when the input has ended; of a window, when it closes
    kUpdate,  // at each commit point the rows that changed
    kChange,  // each change
    kEvery,   // the rows that changed, every `every` by the wall clock
  };

  std::vector<AggregateFunction> functions = {};
  std::optional<FoldSpec> fold = {};
  bool table = false;                     // of the changes of a table, as GroupBy forwards them
  std::optional<Expression> by = {};      // the group; without it, the record's key
  std::optional<WindowSpec> window = {};  // a row for each group and window
  Emit emit = Emit::kUpdate;
  std::chrono::milliseconds every{0};  // with kEvery
  // Without a window: a row that is so far behind stream time ceases; 0: rows stay.
  std::chrono::milliseconds ttl{0};
  std::string store = {};  // a key-value store of this operator alone; empty: rows stay in memory
  // Names of children. Rows go to all of them, or to `rows`; records that come too late for their
  // window go, as they came, to `late`, if it is named.
  std::string rows = {}, late = {};
  RouteSpec route = {};  // where rows go: `.` is the row
  SerdeNames serdes = {};
};

// Aggregates records by group. The result is a record with the group as its key, the largest time
// of the group's records, and the value {"key":..,<aggregates in their order, then the fold>}. What
// the store holds is told in share/doc/kstream/aggregates.md.
//
// A wrong type, and a sum that fits no number, make the record bad, and a bad record changes
// nothing. As with GroupBy, records of no group are left out and counted. In one call rows come in
// the order of the bytes of their keys.
//
// Of a table each row counts as it is now: what it was is taken back out of its group. A group
// whose rows are all gone stays, with counts and sums of 0. Arrays come in jq's order of values,
// for arrival is nothing that a row has; so there is no first and last. Expressions see a row's
// key, value and time. A new value that an aggregate refuses makes the record bad and counts as no
// row: what it replaces is taken out.
//
// With a window the value is {"key":..,"window_start":ms,"window_end":ms,<aggregates>}, a session's
// end being the time of its last record. kFinal gives a stream: one record for each group and
// window, when it closes, in the order of the windows' ends, starts and keys. Otherwise the rows
// are a table, whose record keys are ["<group>",<start>] in JSON, of sessions with the end too; a
// sink that goes by the key puts them where the group's key alone would be. A record without a
// time, or with one past the year 9999, is bad.
//
// With a `ttl` a row ceases once stream time is at its time plus `ttl`: it is deleted, a tombstone
// is forwarded (not with kFinal), and the group's next record begins anew. A record that is `ttl`
// or more behind stream time, and whose group has no row, is left out and counted.
//
// kUsage: no function; a name twice, or one that is taken ("key"); a function without its argument;
// kEvery without a period; a `ttl` below 0 or with a window; `late` without `rows` or without a
// window; a window that Check refuses; an unknown serde; a fold with sessions or sliding windows,
// which add rows up. Of a table: a window, a `ttl`, `by`, kFirst or kLast, a fold without `sub`;
// and `sub` without a table.
KSTREAM_EXPORT Result<ProcessorSupplier> Aggregate(AggregateSpec spec);

}  // namespace kstream

#endif  // KSTREAM_OPERATORS_H_
