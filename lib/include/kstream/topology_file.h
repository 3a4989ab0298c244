// TopologyFile: a topology as text (JSON), for programs that load one instead of building it.
//
//   RuntimeOptions options;
//   Result<TopologyFile> file = TopologyFile::Read("revenue.json");
//   file->Configure(&options);
//   Result<BuiltTopology> built = file->Build(options);
//   Runtime::Create(built->topology, options);
//
// What may stand in a file is told in kstream-run(1). A mistake in it is kExpression, with
// FILE:LINE:COLUMN and what to do.
#ifndef KSTREAM_TOPOLOGY_FILE_H_
#define KSTREAM_TOPOLOGY_FILE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/expression.h"
#include "kstream/plugin.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

namespace topology_file {
class FileText;
}

// What `${NAME}` stands for in the strings of a file; `${NAME:-TEXT}` is TEXT where nothing is said
// of NAME, and `$${` is `${` itself.
struct TopologyVariables {
  std::map<std::string, std::string> given = {};
  bool environment = true;  // whether others are looked up there
};

// What a file leaves to where it is run.
struct TopologyFileDefaults {
  // Of sources and sinks that do not say it themselves; places, keys and serdes are not looked at.
  SourceSpec source = {};
  SinkSpec sink = {};
  Plugins plugins = {};  // what nodes may name
};

// A node of a file as people are shown it. Of some kinds the topology has several nodes for it,
// whose names begin with this one's.
struct TopologyFileNode {
  std::string name;
  std::string kind;                  // "filter", as the file says it
  std::vector<std::string> parents;  // names of nodes, or of their outputs
  std::vector<Location> places;      // of a source, a sink, a topic in between
  std::string store;                 // empty: none
  bool wall_clock = false;           // what it gives depends on when it runs
  // How far back in event time it looks: topics above it that keep records for less show it no
  // window whole. kForGood: its own topics are to keep the rows of a table.
  std::chrono::milliseconds reach{0};
  static constexpr std::chrono::milliseconds kForGood = std::chrono::milliseconds::max();
  std::vector<std::pair<std::string, Expression>> expressions;  // by the names of their fields
};

struct BuiltTopology {
  Topology topology;
  std::vector<TopologyFileNode> nodes;  // parents before children
};

// Immutable and cheap to copy. Threads: one at a time.
class KSTREAM_EXPORT TopologyFile {
 public:
  // kUsage: it cannot be read, or a variable was given that the file does not use.
  static Result<TopologyFile> Read(const std::string& path, TopologyVariables variables = {});
  // `name`: what messages call it.
  static Result<TopologyFile> Parse(std::string text, std::string name,
                                    TopologyVariables variables = {});

  // Sets what the file says of RuntimeOptions: "app", "version" and whatever else has a flag's
  // name. Brokers, clusters and properties are never in a file.
  Status Configure(RuntimeOptions* options) const;

  // The topology that the file describes. Whether a place is a topic or a file is told by
  // options.home.brokers and options.clusters, as on the command line; app, partitions and grouper
  // decide what must be repartitioned and when rows are emitted.
  Result<BuiltTopology> Build(const RuntimeOptions& options,
                              const TopologyFileDefaults& defaults = {}) const;

 private:
  explicit TopologyFile(std::shared_ptr<const topology_file::FileText> text);
  std::shared_ptr<const topology_file::FileText> text_;
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_FILE_H_
