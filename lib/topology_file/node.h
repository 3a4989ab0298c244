// What a kind of node has to work with while it is made: what the file says of the node, the
// streams that it comes from, and the topology that grows.
#ifndef KSTREAM_TOPOLOGY_FILE_NODE_H_
#define KSTREAM_TOPOLOGY_FILE_NODE_H_

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/runtime.h"
#include "kstream/stream.h"
#include "kstream/table.h"
#include "kstream/topology_file.h"
#include "topology_file/fields.h"

namespace kstream::topology_file {

// A stream that a node gives. `scattered`: records of one key may be in several tasks although none
// of its keys was changed, since its sources say so.
struct Upstream {
  Stream stream;
  bool scattered = false;
};

// What all nodes share.
struct Assembly {
  const RuntimeOptions& options;
  const TopologyFileDefaults& defaults;
  bool topics = false;    // whether any source reads a topic
  bool one_task = false;  // whether each stage is one task, in which all records meet
  StreamBuilder builder;
  std::map<std::string, Upstream, std::less<>> outputs = {};  // by the names that `from` takes
  std::map<std::string, Table, std::less<>> tables = {};  // those of them that are changes of one
  std::map<std::string, std::string> stores = {};         // whose each is
  std::vector<TopologyFileNode> nodes = {};               // as they were made
};

class Node {
 public:
  Node(std::string name, std::string_view kind, FileValue value, Fields fields)
      : Node(Declared(std::move(name), kind), value, std::move(fields)) {}

  const std::string& name() const { return shown_.name; }
  const std::string& kind() const { return shown_.kind; }
  // What stands in the field that is called as the kind is.
  FileValue value() const { return value_; }
  Fields& fields() { return fields_; }

  // --- while it is made ---

  // Its parents are those of `names`, which are all made.
  void SetParents(std::vector<std::string> names, Assembly* assembly);
  Assembly& assembly() { return *assembly_; }
  const Upstream& parent(size_t i = 0) const {
    return assembly_->outputs.find(shown_.parents[i])->second;
  }
  // The table whose changes that gives; null: it is a stream.
  const Table* table(size_t i) const;
  size_t parents() const { return shown_.parents.size(); }

  // Compiles an expression, and shows it as `field`.
  Result<Expression> Compile(std::string_view field, FileValue value,
                             const std::vector<std::string>& names = {});
  // The same of a field that may be missing.
  Result<std::optional<Expression>> TakeExpression(std::string_view field,
                                                   const std::vector<std::string>& names = {});
  // The same of the kind's own value.
  Result<Expression> CompileValue() { return Compile(kind(), value_); }
  // A condition, which must not be the same for every record.
  Result<Expression> CompileCondition(std::string_view field, FileValue value,
                                      const std::vector<std::string>& names = {});

  // A place as the command line reads it, shown as one of this node's. kUsage: a topic, and no
  // brokers are known.
  Result<Location> Place(FileValue value);
  void ShowWallClock() { shown_.wall_clock = true; }
  void ShowReach(std::chrono::milliseconds reach) { shown_.reach = reach; }
  void ShowPlace(Location place) { shown_.places.push_back(std::move(place)); }
  // The name of its store: that of the node, if the file gives none. Shown.
  Result<std::string> TakeStore();

  // It gives this stream under its name, or as one of its outputs.
  void Give(Stream stream, bool scattered) { GiveAs(name(), std::move(stream), scattered); }
  void GiveAs(const std::string& output, Stream stream, bool scattered);
  void GiveTable(Table table);

  const TopologyFileNode& shown() const { return shown_; }

 private:
  static TopologyFileNode Declared(std::string name, std::string_view kind) {
    TopologyFileNode node;
    node.name = std::move(name);
    node.kind = kind;
    return node;
  }
  Node(TopologyFileNode shown, FileValue value, Fields fields)
      : shown_(std::move(shown)), value_(value), fields_(std::move(fields)) {}

  TopologyFileNode shown_;
  FileValue value_;
  Fields fields_;
  Assembly* assembly_ = nullptr;
};

// A name that the file gives to a node, or to one of its outputs, or that refers to one.
struct NameInFile {
  std::string name;
  FileValue at;
};

// A kind of node: a row of the table in kinds.cc.
struct Kind {
  std::string_view name;
  // The nodes that it comes from; null: those of "from".
  Result<std::vector<NameInFile>> (*parents)(Node* node);
  // Names, other than the node's own, that `from` may take; null: none.
  Result<std::vector<NameInFile>> (*outputs)(Node* node);
  // Adds it to the topology. Takes every field that the kind has.
  Status (*make)(Node* node);
  // Whether its own name is one that `from` may take.
  bool gives = true;
};

std::span<const Kind> Kinds();

// Sources, sinks and what is in between. kExpression, or kUsage where brokers are missing.
Status MakeSource(Node* node);
Status MakeTable(Node* node);
Status MakeSink(Node* node);
Status MakeThrough(Node* node);
// Whether the source or table reads a topic. kExpression.
Result<bool> ReadsTopic(Node* node);

// Operators without state.
Status MakeFilter(Node* node);
Status MakeMap(Node* node);
Status MakeMapValues(Node* node);
Status MakeSelectKey(Node* node);
Status MakeBranch(Node* node);
Status MakeMerge(Node* node);
Status MakePeek(Node* node);
Status MakeProcess(Node* node);
Result<std::vector<NameInFile>> BranchOutputs(Node* node);
Result<std::vector<NameInFile>> MergedParents(Node* node);

// Those with state.
Status MakeAggregate(Node* node);
Status MakeJoin(Node* node);
Result<std::vector<NameInFile>> JoinedParents(Node* node);
Result<std::vector<NameInFile>> LateOutput(Node* node);
Status MakeUnique(Node* node);
Result<std::vector<NameInFile>> UniqueRest(Node* node);

}  // namespace kstream::topology_file

#endif  // KSTREAM_TOPOLOGY_FILE_NODE_H_
