// Stream: a topology written as a chain of operators (Kafka Streams' DSL).
//
//   StreamBuilder builder;
//   builder.Source(Location::Topic("orders"))
//       .Filter(".amount > 100")
//       .SelectKey(".user")
//       .Repartition("by-user")
//       .MapValues([](const Record& order) { return Receipt(*order.value); })
//       .To(Location::Topic("receipts"));
//   Result<Topology> topology = builder.Build();
//
// Operators come in two forms: over expressions, which see key and value through serdes, and over
// functions of C++, which see the bytes. Each task calls a copy of its own of a function, from its
// own thread; only what the copies share must bear several threads. A function that fails with
// kData, or throws, makes the record a bad one, and then nothing of that record is forwarded.
//
// The last argument names an operator's node; without one it is named by its kind and by how many
// were named so before it in this builder, such as "filter-2". A name must be given where it
// outlives the program: it is part of a topic's name.
//
// Nothing here fails at once. Mistakes, expressions that do not compile among them, are kept and
// reported by StreamBuilder::Build, with the name of the operator.
#ifndef KSTREAM_STREAM_H_
#define KSTREAM_STREAM_H_

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/location.h"
#include "kstream/processor.h"
#include "kstream/record.h"
#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "kstream/topology.h"

namespace kstream {

class GroupedStream;  // kstream/table.h
class GroupedTable;
class Table;
struct DistinctSpec;    // kstream/operators.h
struct JoinWindows;     // kstream/windows.h
struct StreamJoinSpec;  // kstream/joins.h
struct TableJoinSpec;

namespace dsl {
class StreamGraph;
}

// An expression as an operator takes it: its text (read as on the command line), or a compiled one.
class KSTREAM_EXPORT StreamExpression {
 public:
  template <std::convertible_to<std::string_view> Text>
  StreamExpression(const Text& text)  // NOLINT(google-explicit-constructor)
      : source_(std::string(static_cast<std::string_view>(text))) {}
  StreamExpression(Expression compiled);          // NOLINT(google-explicit-constructor)
  StreamExpression(Result<Expression> compiled);  // NOLINT(google-explicit-constructor)

  // As Expression::Compile.
  Result<Expression> Compile(const std::vector<std::string>& names = {}) const;

 private:
  std::variant<std::string, Result<Expression>> source_;
};

// What a function makes of a record: bytes, std::nullopt for null, or the Status of its failure.
class MadeBytes : public Result<std::optional<std::string>> {
 public:
  MadeBytes(Status failure) : Result(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  template <std::convertible_to<std::optional<std::string>> Text>
  MadeBytes(Text bytes)  // NOLINT(google-explicit-constructor)
      : Result(std::optional<std::string>(std::move(bytes))) {}
};

using Predicate = std::function<Result<bool>(const Record& record)>;
// Gives the new value; null is a tombstone. Sees null payloads too.
using ValueMapper = std::function<MadeBytes(const Record& record)>;
// Gives the new key; null means no key.
using KeySelector = std::function<MadeBytes(const Record& record)>;
// Calls `emit` for each record that `record` becomes, most easily with a changed copy of it; emit
// copies what it is given. Record::cache takes care of itself here.
using Emit = std::function<Status(const Record& made)>;
using Mapper = std::function<Status(const Record& record, const Emit& emit)>;
using Action = std::function<Status(const Record& record)>;
// Makes the value of a join's result; null: the record of that side is missing. Records have key,
// value, time and headers.
using ValueJoiner = std::function<MadeBytes(const Record* left, const Record* right)>;

// The value of a join's result: an expression over $left, $right (null: missing) and $key, or a
// function. By default {"left":..,"right":..}.
struct JoinedValue {
  JoinedValue() = default;
  template <std::convertible_to<StreamExpression> Text>
  JoinedValue(const Text& text)  // NOLINT(google-explicit-constructor)
      : expression(StreamExpression(text)) {}
  template <std::convertible_to<ValueJoiner> Function>
  requires(!std::convertible_to<Function, StreamExpression>)
      JoinedValue(Function joiner)  // NOLINT(google-explicit-constructor)
      : function(std::move(joiner)) {}

  std::optional<StreamExpression> expression = {};
  ValueJoiner function = nullptr;
};

// What Map makes of a record. A null payload is unmapped, and only gets its place. In all but
// `value`, `$out` is the value made.
struct MapExpressions {
  StreamExpression value = ".";
  std::optional<StreamExpression> tombstone = {};  // true: a null payload instead
  std::optional<StreamExpression> key = {};        // null: no key; text if a string
  std::vector<std::pair<std::string, StreamExpression>> headers = {};  // appended
  std::optional<StreamExpression> to = {};         // the topic, for SinkSpec::topic_of_record
  std::optional<StreamExpression> partition = {};  // for SinkSpec::partition_of_record
};

struct BranchSpec {
  std::string name;  // of the branch: a node
  std::variant<StreamExpression, Predicate> when;
};

// A stream of records between two operators. Cheap to copy; several operators on one stream each
// get all of it. Valid as long as its builder, and like it of one thread.
class KSTREAM_EXPORT Stream {
 public:
  // Forwards a record untouched when the condition holds (Filter) or does not (FilterNot).
  Stream Filter(const StreamExpression& keep, std::string name = {}) const;
  Stream Filter(Predicate keep, std::string name = {}) const;
  Stream FilterNot(const StreamExpression& drop, std::string name = {}) const;
  Stream FilterNot(Predicate drop, std::string name = {}) const;

  // The rows of a table for which the condition holds (with `negate`: does not hold), which the
  // records are: every other one becomes a tombstone, as FilterSpec::table says.
  Stream FilterRows(const StreamExpression& keep, bool negate = false, std::string name = {}) const;

  // One record for one; any other number makes it bad. A function may change all of the record, so
  // the stream is re-keyed; expressions re-key it if they set the key.
  Stream Map(const MapExpressions& made, std::string name = {}) const;
  template <std::convertible_to<Mapper> Function>  // so that braces can only mean expressions
  Stream Map(Function mapper, std::string name = {}) const {
    return MapBy(std::move(mapper), std::move(name));
  }
  // 0..n records for one; otherwise as Map.
  Stream FlatMap(const MapExpressions& made, std::string name = {}) const;
  template <std::convertible_to<Mapper> Function>
  Stream FlatMap(Function mapper, std::string name = {}) const {
    return FlatMapBy(std::move(mapper), std::move(name));
  }
  // One value for one, and the key stays.
  Stream MapValues(StreamExpression value, std::string name = {}) const;
  Stream MapValues(ValueMapper mapper, std::string name = {}) const;
  // 0..n records for one; the key stays whatever the function emits.
  Stream FlatMapValues(StreamExpression values, std::string name = {}) const;
  Stream FlatMapValues(Mapper mapper, std::string name = {}) const;
  // Replaces the key and nothing else, of null payloads too. The value of an expression is text if
  // a string, else compact JSON, by the serde of keys; null means no key.
  Stream SelectKey(const StreamExpression& key, std::string name = {}) const;
  Stream SelectKey(KeySelector key, std::string name = {}) const;

  // Each record goes to the first branch whose condition holds, or nowhere. Gives the branches in
  // their order; `otherwise`, if it is named, is the last and gets the rest.
  std::vector<Stream> Branch(std::vector<BranchSpec> branches, std::string otherwise = {},
                             std::string name = {}) const;
  // The records of both, as they come. Both must be seen through the same serdes.
  Stream Merge(const Stream& other, std::string name = {}) const;
  // The same records, as those of a node `name`: for a processor that forwards to a child by name.
  // With `serdes`, expressions see them through these.
  Stream As(std::string name, std::optional<SerdeNames> serdes = {}) const;
  // Without the records that repeat another one: see kstream/operators.h. `name` is that of the
  // node, and of its store and repartition topic unless the specification names a store. Unless the
  // unique key is `$key`, and the stream not re-keyed, records go through the topic
  // "<app>-<store>-repartition", and the stream is re-keyed after it.
  Stream Distinct(const StreamExpression& by, std::chrono::milliseconds within,
                  const std::string& name) const;
  Stream Distinct(DistinctSpec spec, const std::string& name) const;
  // Looks at each record, which goes on untouched.
  Stream Peek(Action action, std::string name = {}) const;
  // A processor of one's own, with the stores that it is to see. It may change the key.
  Stream Process(ProcessorSupplier supplier, std::string name = {},
                 std::vector<std::string> stores = {}) const;

  // Through a topic of the user's: what one stage writes, the next reads. Bytes, headers and
  // timestamps stay. Its nodes are "<name>-sink" and "<name>-source".
  Stream Through(Location topic, std::string name = {}) const;
  // Through the internal topic "<app>-<name>-repartition": records of one key meet in one task
  // again after the key has changed.
  Stream Repartition(const std::string& name) const;

  // Brings records of one group together, for a table to be made of them (kstream/table.h). By
  // another key than the one they were distributed by, they go through the repartition topic
  // "<app>-<name>-repartition", so the name must be given; by the key that they have, they do so
  // only if the stream is re-keyed. A null key means no group.
  GroupedStream GroupBy(const StreamExpression& key, std::string name) const;
  GroupedStream GroupBy(KeySelector key, std::string name) const;
  GroupedStream GroupByKey(std::string name = {}) const;
  // As Table::GroupBy, of records that are the rows of a table, which is kept in the store `store`.
  // Without a name the rows of a group are together already.
  GroupedTable GroupRows(const StreamExpression& key, const std::string& store,
                         const std::string& name = {}) const;

  // Joins two streams by key: records of both that are near enough to each other by time (see
  // kstream/joins.h). `name` is that of the node and its store, which is needed. A stream that is
  // re-keyed goes through the repartition topic "<app>-<name>-left-repartition" (or -right-).
  // Results have the key of the left stream's serde, and JSON as values unless a function makes
  // them.
  Stream Join(const Stream& right, const JoinWindows& windows, const std::string& name,
              const JoinedValue& value = {}) const;
  // And left records that have no partner.
  Stream LeftJoin(const Stream& right, const JoinWindows& windows, const std::string& name,
                  const JoinedValue& value = {}) const;
  // And right ones.
  Stream OuterJoin(const Stream& right, const JoinWindows& windows, const std::string& name,
                   const JoinedValue& value = {}) const;
  // Only right records that are earlier than the left one.
  Stream JoinPrior(const Stream& right, const JoinWindows& windows, const std::string& name,
                   const JoinedValue& value = {}) const;
  // Joins with a table by key: the row as it is when the record's turn comes (see JoinTable).
  // `name` is that of the node, and of the store for the rows of a table that does not keep them as
  // they are, such as one of aggregates.
  Stream Join(const Table& table, const std::string& name, const JoinedValue& value = {}) const;
  // And records that have no row.
  Stream LeftJoin(const Table& table, const std::string& name, const JoinedValue& value = {}) const;
  // Either; serdes and keeps_rows of the specification are not looked at, and its store, after
  // which the topic of a re-keyed stream is named too, is called as the node where it has no name.
  Stream Join(const Table& table, TableJoinSpec spec) const;
  // Any of these, and others; serdes of the specification are not looked at, and its store, after
  // which the topics are named too, is called as the node is where it has no name.
  Stream Join(const Stream& right, StreamJoinSpec spec) const;

  // An end of the stream; it may have several.
  void To(Location output, std::string name = {}) const;
  void To(SinkSpec sink, std::string name = {}) const;

  // The node that gives these records.
  const std::string& name() const { return node_; }
  // Whether the key may differ from that by which the records were distributed, so that what
  // follows and goes by key must repartition first.
  bool rekeyed() const { return rekeyed_; }
  // Through which expressions see these records.
  const SerdeNames& serdes() const { return serdes_; }

 private:
  friend class GroupedStream;
  friend class GroupedTable;
  friend class StreamBuilder;
  friend class Table;
  Stream(dsl::StreamGraph* graph, std::string node, SerdeNames serdes, bool rekeyed);
  Stream Add(std::string name, Result<ProcessorSupplier> supplier, bool rekeyed,
             std::vector<std::string> stores = {}) const;
  GroupedTable Regroup(Result<ProcessorSupplier> supplier, const std::string& store,
                       const std::string& name) const;
  Stream MapBy(Mapper mapper, std::string name) const;
  Stream FlatMapBy(Mapper mapper, std::string name) const;
  Stream Via(Location topic, const std::string& name) const;
  Stream JoinWith(const Stream& right, StreamJoinSpec spec, const JoinedValue& value) const;
  Stream JoinWith(const Table& table, TableJoinSpec spec, const JoinedValue& value) const;

  dsl::StreamGraph* graph_;
  std::string node_;
  SerdeNames serdes_;  // through which expressions see these records
  bool rekeyed_ = false;
};

// Collects streams. Belongs to one thread.
class KSTREAM_EXPORT StreamBuilder {
 public:
  // `serdes`: how expressions, and sinks that are files, see keys and values of the streams whose
  // source does not say otherwise.
  explicit StreamBuilder(SerdeNames serdes = {});
  ~StreamBuilder();
  // What was moved from is as new: it has no streams, and Build says so.
  StreamBuilder(StreamBuilder&&) noexcept;

  // Says that each stage will run as one task (files that are not spread over partitions, or
  // --grouper single), where records of one key meet anyway: what would be an internal repartition
  // topic is left out from now on.
  StreamBuilder& OneTask();

  // A source with a key of its own over a topic is re-keyed.
  Stream Source(Location input, std::string name = {});
  Stream Source(SourceSpec source, std::string name = {});
  // The latest value of each key of a changelog topic, kept in the store `store`: a null payload
  // deletes, records without a key are left out and counted, and a value that is not of its serde
  // (an empty payload is no JSON) makes a bad record. A source with a key of its own is
  // repartitioned.
  kstream::Table Table(Location input, const std::string& store);
  kstream::Table Table(SourceSpec source, const std::string& store);
  // A store for Process to name; with a supplier, one that the runtime does not keep.
  StreamBuilder& AddStore(StoreSpec store);
  StreamBuilder& AddStore(std::string name, StoreSupplier supplier);

  // The first mistake made, else as TopologyBuilder::Build.
  Result<Topology> Build() const;

 private:
  std::unique_ptr<dsl::StreamGraph> graph_;
};

}  // namespace kstream

#endif  // KSTREAM_STREAM_H_
