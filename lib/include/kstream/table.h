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

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "kstream/export.h"
#include "kstream/operators.h"
#include "kstream/record.h"
#include "kstream/stream.h"

namespace kstream {

// The first value of a group that has none.
using Initializer = std::function<std::string()>;
// The next value of a group, of a record and the value so far; null deletes the group's row, and
// its next record begins anew.
using Aggregator = std::function<MadeBytes(const Record& record, std::string_view aggregate)>;
// As Aggregator, where the first record's value is the group's first.
using Reducer = std::function<MadeBytes(std::string_view aggregate, const Record& record)>;

class GroupedTable;

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
  Table JoinWith(const Table& right, TableJoinSpec spec, const JoinedValue& value) const;
  Table(Stream changes, std::string store, bool keeps_rows = false)
      : changes_(std::move(changes)), store_(std::move(store)), keeps_rows_(keeps_rows) {}

  Stream changes_;
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

 private:
  friend class GroupedTable;
  friend class Stream;
  friend class StreamBuilder;
  friend class Table;
  explicit GroupedStream(Stream stream) : stream_(std::move(stream)) {}
  Table ReduceBy(Reducer add, const std::string& store) const;
  Table Make(Result<ProcessorSupplier> supplier, const std::string& store) const;

  Stream stream_;
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
