// Stream: a topology written as a chain of operators (Kafka Streams' DSL).
//
//   StreamBuilder builder;
//   builder.Source("orders", {.inputs = {Location::Topic("orders")}})
//          .Filter(*Expression::Compile(".amount > 100"))
//          .SelectKey(*Expression::Compile(".user"))
//          .Repartition("by-user")
//          .To("out", {.output = Location::Topic("big")});
//   Result<Topology> topology = builder.Build();
//
// Every operator has a form over expressions, which see the value as JSON, and a form over
// functions of C++, which see the record's bytes. A function that fails with kData makes the record
// a bad one; it is called from the threads of all tasks, so what it captures must bear that.
// Operators are named by their kind and number ("filter-2") unless the last argument names them.
#ifndef KSTREAM_STREAM_H_
#define KSTREAM_STREAM_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/operators.h"
#include "kstream/processor.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

using Predicate = std::function<Result<bool>(const Record& record)>;
// Gives the new value; nullopt: a null payload (a tombstone).
using ValueMapper = std::function<Result<std::optional<std::string>>(const Record& record)>;
// Gives the new key; nullopt: no key.
using KeySelector = ValueMapper;
// Calls `emit` for each record that `record` becomes; what it emits is a view of memory that lives
// during the call, most easily a changed copy of `record`.
using Emit = std::function<Status(const Record& record)>;
using Mapper = std::function<Status(const Record& record, const Emit& emit)>;
using Action = std::function<Status(const Record& record)>;

struct BranchSpec {
  std::string name;  // of the branch, unique in the topology
  std::variant<Expression, Predicate> when;
};

class StreamBuilder;

// A stream of records between two operators. Cheap to copy; several operators on one stream each
// get all of it. Valid as long as its builder.
class KSTREAM_EXPORT Stream {
 public:
  Stream Filter(Expression keep, std::string name = {}) const;
  Stream Filter(Predicate keep, std::string name = {}) const;
  Stream FilterNot(Expression drop, std::string name = {}) const;
  Stream FilterNot(Predicate drop, std::string name = {}) const;

  // Value and key may both change: the stream is re-keyed. A mapping function emits exactly one
  // record, otherwise the record is bad.
  Stream Map(MapSpec spec, std::string name = {}) const;
  Stream Map(Mapper mapper, std::string name = {}) const;
  // The key stays. The expression must give exactly one value, otherwise the record is bad.
  Stream MapValues(Expression value, std::string name = {}) const;
  Stream MapValues(ValueMapper mapper, std::string name = {}) const;
  // 0..n records for one.
  Stream FlatMap(MapSpec spec, std::string name = {}) const;
  Stream FlatMap(Mapper mapper, std::string name = {}) const;
  // 0..n records for one; the key stays whatever the function says.
  Stream FlatMapValues(Expression values, std::string name = {}) const;
  Stream FlatMapValues(Mapper mapper, std::string name = {}) const;
  // Replaces the key: text if a string, else compact JSON; null means no key.
  Stream SelectKey(Expression key, std::string name = {}) const;
  Stream SelectKey(KeySelector key, std::string name = {}) const;

  // Each record goes to the first branch whose condition holds, or nowhere. As many streams as
  // branches, in their order. `otherwise`, if named, gets the rest and is the last.
  std::vector<Stream> Branch(std::vector<BranchSpec> branches, std::string otherwise = {},
                             std::string name = {}) const;
  // The records of both, as they come.
  Stream Merge(const Stream& other, std::string name = {}) const;
  // Looks at each record, which goes on untouched.
  Stream Peek(Action action, std::string name = {}) const;
  // A processor of one's own, with the stores it is to see.
  Stream Process(ProcessorSupplier supplier, std::string name = {},
                 std::vector<std::string> stores = {}) const;

  // Through a topic of the user's: written by one stage, read by the next.
  Stream Through(Location topic, std::string name = {}) const;
  // Through an internal topic "<app>-<name>-repartition": records of one key meet in one task again
  // after the key has changed.
  Stream Repartition(std::string name) const;

  // The end of the stream; records of one stream may go to several places.
  void To(std::string name, SinkSpec sink) const;

  // Whether the key may differ from that of the topic it was read from, so that what follows and
  // goes by key must repartition first.
  bool rekeyed() const { return rekeyed_; }

 private:
  friend class StreamBuilder;
  struct Graph;
  Stream(Graph* graph, std::string node, bool rekeyed, std::string child_of = {});

  Graph* graph_;
  std::string node_;   // the node that gives these records
  std::string child_;  // of a branch: the name by which `node_` forwards
  bool rekeyed_ = false;
};

// Collects streams; mistakes are reported by Build.
class KSTREAM_EXPORT StreamBuilder {
 public:
  // `serdes`: what expressions see of keys and values, unless a source says otherwise.
  explicit StreamBuilder(SerdeNames serdes = {});
  ~StreamBuilder();
  StreamBuilder(StreamBuilder&&) noexcept;

  Stream Source(std::string name, SourceSpec source);
  // A store for Process to name.
  StreamBuilder& AddStore(std::string name, StoreSupplier supplier);

  // As TopologyBuilder::Build.
  Result<Topology> Build() const;

 private:
  std::unique_ptr<Stream::Graph> graph_;
};

}  // namespace kstream

#endif  // KSTREAM_STREAM_H_
