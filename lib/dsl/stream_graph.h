// StreamGraph: the nodes that a StreamBuilder's streams have asked for, and what was wrong with
// them. All that can be asked of a chain of operators ends here as a source, a processor or a sink
// with parents. Tested by tests/unit/dsl/stream_build_test.cc.
#ifndef KSTREAM_DSL_STREAM_GRAPH_H_
#define KSTREAM_DSL_STREAM_GRAPH_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kstream/serdes.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "kstream/topology.h"

namespace kstream::dsl {

class StreamGraph {
 public:
  explicit StreamGraph(SerdeNames serdes) : serdes_(std::move(serdes)) {}

  // Of streams whose source names none.
  const SerdeNames& serdes() const { return serdes_; }
  // Whether each stage will be one task, so that nothing has to be repartitioned.
  bool one_task() const { return one_task_; }
  void OneTask() { one_task_ = true; }
  // `given`, or the next name of this kind when it is empty.
  std::string Name(std::string given, std::string_view kind);

  void AddSource(std::string name, SourceSpec source);
  void AddProcessor(std::string name, ProcessorSupplier supplier, std::vector<std::string> parents,
                    std::vector<std::string> stores = {});
  void AddSink(std::string name, SinkSpec sink, std::string parent);
  void AddStore(StoreSpec store);
  void AddStore(std::string name, StoreSupplier supplier);

  // The source gives the rows of a table (SourceSpec::table).
  void SetTable(std::string_view source);

  // Something is wrong with `node`. The first such thing is what Build gives.
  void Mistake(std::string_view node, const Status& status);

  Result<Topology> Build() const;

 private:
  struct Node {
    std::string name;
    std::variant<SourceSpec, ProcessorSupplier, SinkSpec> what;
    std::vector<std::string> parents;
    std::vector<std::string> stores;
  };
  struct Store {
    StoreSpec spec;
    bool kept = true;        // by the runtime; else
    StoreSupplier supplier;  // the user's own
  };

  Status CheckStores() const;
  static void AddTo(TopologyBuilder* builder, const Node& node);
  std::vector<std::string> UsersOf(const std::string& store) const;

  const SerdeNames serdes_;
  bool one_task_ = false;
  int named_ = 0;  // names that Name has made up
  std::vector<Node> nodes_;
  std::vector<Store> stores_;
  Status mistake_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_STREAM_GRAPH_H_
