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

// The latest value of each key. Its changes are a stream: a record for each row that changes, and
// a tombstone where one ceases. Copied and valid as streams are.
class Table {
 public:
  // The changes.
  const Stream& ToStream() const { return changes_; }
  // The store that keeps it: what Stream::Process names to read it.
  const std::string& store() const { return store_; }

 private:
  friend class GroupedStream;
  friend class StreamBuilder;
  Table(Stream changes, std::string store)
      : changes_(std::move(changes)), store_(std::move(store)) {}

  Stream changes_;
  std::string store_;
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
  friend class Stream;
  friend class StreamBuilder;
  explicit GroupedStream(Stream stream) : stream_(std::move(stream)) {}
  Table ReduceBy(Reducer add, const std::string& store) const;
  Table Make(Result<ProcessorSupplier> supplier, const std::string& store) const;

  Stream stream_;
};

}  // namespace kstream

#endif  // KSTREAM_TABLE_H_
