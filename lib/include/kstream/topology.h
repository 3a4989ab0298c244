// TopologyBuilder: a graph of sources, processors, stores and sinks (KIP-28).
//
// What hangs together, by edges, by a store or by a topic that two sources read, is a stage (a
// sub-topology); stages meet in topics alone. Each stage runs as tasks of its own.
//
//   TopologyBuilder builder;
//   builder.AddSource("orders", {.inputs = {orders}})
//          .AddProcessor("big", *Filter({.keep = *Expression::Compile(".amount > 100")}),
//          {"orders"}) .AddSink("out", {.output = out}, {"big"});
//   Result<Topology> topology = builder.Build();
#ifndef KSTREAM_TOPOLOGY_H_
#define KSTREAM_TOPOLOGY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/location.h"
#include "kstream/processor.h"
#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/store.h"

namespace kstream {

// Gives the event time of a record in ms since the epoch; kData: it has none, and is a bad record.
// `partition_time` is the largest timestamp seen in its partition so far, -1 at first. Called from
// several threads.
using TimestampExtractor =
    std::function<Result<int64_t>(const Record& record, int64_t partition_time)>;

// Where records enter. Several inputs are merged by timestamp, ties in the order given.
struct SourceSpec {
  std::vector<Location> inputs = {};
  std::string format = "json";  // of files: json envelope raw csv tsv
  // Of key and value; nullopt: those of the runtime.
  std::optional<SerdeNames> serdes = std::nullopt;
  std::optional<Expression> key = std::nullopt;  // replaces the key as a record is read
  // Event time: "record" (its own), "wallclock", an expression over the value, or a function.
  std::string timestamp = "record";
  std::optional<Expression> timestamp_expression = std::nullopt;
  std::string timestamp_unit = "ms";  // of numbers: ms s us ns; strings are RFC 3339
  TimestampExtractor extractor = nullptr;
  bool table = false;  // of equal times in a task, its records come before those of other sources
};

// Where records leave.
struct SinkSpec {
  Location output = {};                             // unused when topic_of_record is set
  std::string format = "json";                      // of files: json envelope raw csv tsv format
  std::string format_text = {};                     // with "format": kcat's tokens
  std::optional<SerdeNames> serdes = std::nullopt;  // of files; nullopt: those of the runtime
  bool topic_of_record = false;                     // to the topic that Record::topic names
  bool partition_of_record = false;                 // to the partition that Record::partition names
};

struct TopologyGraph;  // the checked graph, for the engine

// A checked, immutable graph. Cheap to copy; threads may share it. To move it is to copy it: none
// is ever empty.
class KSTREAM_EXPORT Topology {
 public:
  Topology(const Topology&) = default;
  Topology& operator=(const Topology&) = default;

  // The stages with their nodes, as text of several lines, in the manner of Kafka Streams'
  // Topology.describe().
  std::string Describe() const;
  // 16 hexadecimal digits over all that Describe prints: members of one application must agree in
  // it.
  std::string Hash() const;

  const TopologyGraph& graph() const { return *graph_; }

 private:
  friend class TopologyBuilder;
  explicit Topology(std::shared_ptr<const TopologyGraph> graph);
  std::shared_ptr<const TopologyGraph> graph_;
};

// Collects nodes; mistakes are reported by Build, all names are unique within a topology.
class KSTREAM_EXPORT TopologyBuilder {
 public:
  TopologyBuilder();
  ~TopologyBuilder();
  // What was moved from is as new: it has no nodes, and Build says so.
  TopologyBuilder(TopologyBuilder&&) noexcept;

  TopologyBuilder& AddSource(std::string name, SourceSpec source);
  TopologyBuilder& AddProcessor(std::string name, ProcessorSupplier supplier,
                                std::vector<std::string> parents);
  TopologyBuilder& AddSink(std::string name, SinkSpec sink, std::vector<std::string> parents);
  // A store for the processors named; they become one stage. Names of stores are unique too. With a
  // supplier, a store of the user's own, which the runtime does not keep.
  TopologyBuilder& AddStore(StoreSpec store, std::vector<std::string> processors);
  TopologyBuilder& AddStore(std::string name, StoreSupplier supplier,
                            std::vector<std::string> processors);

  // kExpression naming the node: a name used twice, an unknown parent, a cycle (through topics
  // too), a node that no source reaches, a source without inputs, a sink with children, a
  // repartition topic that nothing writes or reads, a store of an unknown processor or of none, a
  // name that is none. Topics and stores, of which a topic or a directory may be made, have names
  // of 1 to 249 letters, digits, '.', '_' and '-'; that of a node, which is read by people, is 1 to
  // 249 bytes of UTF-8 without control characters.
  Result<Topology> Build() const;

 private:
  std::unique_ptr<TopologyGraph> graph_;
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_H_
