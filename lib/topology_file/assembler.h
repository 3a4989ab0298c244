// Assembler: from the nodes of a file to a topology. Reads what each node is, finds which follows
// which, makes them with parents first, and puts a place in the file before what the graph as a
// whole finds wrong. Tested by tests/unit/topology_file/topology_file_test.cc.
#ifndef KSTREAM_TOPOLOGY_FILE_ASSEMBLER_H_
#define KSTREAM_TOPOLOGY_FILE_ASSEMBLER_H_

#include <map>
#include <string>
#include <vector>

#include "topology_file/node.h"

namespace kstream::topology_file {

class Assembler {
 public:
  // `nodes`: the member "nodes" of the file.
  Assembler(FileValue nodes, const RuntimeOptions& options, const TopologyFileDefaults& defaults)
      : nodes_value_(nodes),
        assembly_{
            .options = options, .defaults = defaults, .builder = StreamBuilder(options.serdes)} {}

  Result<BuiltTopology> Build() &&;

 private:
  struct Declared {
    Node node;
    const Kind* kind;
    NameInFile name;
    std::vector<NameInFile> parents = {};
    enum class State : uint8_t { kNew, kOpen, kDone } state = State::kNew;
  };

  Status Declare(const FileValue::Member& member);
  // Names that `from` may take, each once.
  Status DeclareNames(size_t number, Declared* declared);
  Status FindParents(Declared* declared);
  Status CheckParent(const NameInFile& parent) const;
  Status LookAtSources();
  // The node and, before it, those that it comes from.
  Status Make(size_t number);
  // A mistake of the whole graph, which names one of its nodes.
  Status At(const Status& mistake) const;

  FileValue nodes_value_;
  Assembly assembly_;
  std::vector<Declared> declared_;
  std::map<std::string, size_t, std::less<>> makers_;  // of names that `from` may take
};

}  // namespace kstream::topology_file

#endif  // KSTREAM_TOPOLOGY_FILE_ASSEMBLER_H_
