// TopologyBuilder: a stage as a graph of sources, processors and sinks (KIP-28).
//
//   TopologyBuilder builder;
//   builder.AddSource("orders", {.inputs = {orders}})
//          .AddProcessor("big", *Filter({.keep = *Expression::Compile(".amount > 100")}),
//          {"orders"}) .AddSink("out", {.output = out}, {"big"});
//   Result<Topology> topology = builder.Build();
#ifndef KSTREAM_TOPOLOGY_H_
#define KSTREAM_TOPOLOGY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/location.h"
#include "kstream/processor.h"
#include "kstream/status.h"

namespace kstream {

// Where records enter. Several inputs are merged by timestamp, ties in the order given.
struct SourceSpec {
  std::vector<Location> inputs;
  std::string format = "json";    // of files: json envelope raw csv tsv
  std::optional<Expression> key;  // replaces the key as a record is read
  // Event time: "record" (its own), "wallclock", or an expression over the value.
  std::string timestamp = "record";
  std::optional<Expression> timestamp_expression;
  std::string timestamp_unit = "ms";  // of numbers: ms s us ns; strings are RFC 3339
};

// Where records leave.
struct SinkSpec {
  Location output;                   // unused when topic_of_record is set
  std::string format = "json";       // of files: json envelope raw csv tsv format
  std::string format_text;           // with "format": kcat's tokens
  bool topic_of_record = false;      // to the topic that Record::topic names
  bool partition_of_record = false;  // to the partition that Record::partition names
};

struct TopologyGraph;  // the checked graph, for the engine

// A checked, immutable graph. Cheap to copy; threads may share it.
class KSTREAM_EXPORT Topology {
 public:
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
  TopologyBuilder(TopologyBuilder&&) noexcept;

  TopologyBuilder& AddSource(std::string name, SourceSpec source);
  TopologyBuilder& AddProcessor(std::string name, ProcessorSupplier supplier,
                                std::vector<std::string> parents);
  TopologyBuilder& AddSink(std::string name, SinkSpec sink, std::vector<std::string> parents);

  // kExpression naming the node: a name used twice, an unknown parent, a cycle, a node that no
  // source reaches, a source without inputs, a sink with children.
  Result<Topology> Build() const;

 private:
  std::unique_ptr<TopologyGraph> graph_;
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_H_
