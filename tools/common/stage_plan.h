// StagePlan: what one command means: the nodes of its topology and how to run them. The topology
// that runs, the file of --print-spec and the text of --explain are all made from one plan, so they
// cannot differ.
//
// Tested by tests/unit/tools/stage_plan_test.cc and spec_test.cc.
#ifndef KSTREAM_TOOLS_COMMON_STAGE_PLAN_H_
#define KSTREAM_TOOLS_COMMON_STAGE_PLAN_H_

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/stage_options.h"
#include "kstream/joins.h"
#include "kstream/location.h"
#include "kstream/operators.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream::tools {

// A join of its two parents, left and right. Sources of tables say so (SourceSpec::table).
struct TableJoin {
  enum class Of : uint8_t { kStreamWithTable, kTables };
  Of of = Of::kStreamWithTable;
  TableJoinSpec spec;
};

struct PlanNode {
  std::string name;
  std::vector<std::string> parents;
  std::variant<SourceSpec, FilterSpec, MapSpec, SinkSpec, GroupBySpec, AggregateSpec,
               StreamJoinSpec, DistinctKeySpec, DistinctSpec, TableJoin, RekeySpec>
      spec;
};

// The properties of a cluster, for -X dump.
struct PlanCluster {
  std::string name;
  std::vector<Property> properties;
};

struct StagePlan {
  std::vector<PlanNode> nodes;  // parents before children
  RuntimeOptions runtime;
};

// Whether Kafka lets a topic be called so, and so whatever becomes a part of a topic's name.
bool IsTopicName(std::string_view name);

// Where places of the command line are: the layers of properties decide whether there are brokers.
struct Places {
  std::vector<PlanCluster> clusters;  // home first
  std::set<std::string> names;        // of --cluster
  bool brokers = false;

  // kUsage names the flag. An output cannot be a pattern.
  Result<Location> Parse(std::string_view flag, std::string_view text) const;
  Result<Location> ParseOutput(std::string_view flag, std::string_view text) const;
};

// Reads files and environment. kUsage.
Result<Places> FindPlaces(const StageOptions& options);

// How the clusters are reached.
void AddClusters(const Places& places, RuntimeOptions* runtime);

// What --on-error, --dead-letter and --max-errors say together. kUsage when they contradict each
// other.
Status SetErrorPolicy(const StageOptions& options, const Places& places, RuntimeOptions* runtime);

// Clusters and error policy of a plan, whose nodes the tool adds. kUsage when flags contradict each
// other.
Result<StagePlan> StartPlan(const StageOptions& options, const Places& places);

// Adds a source that is called `name` and reads what a flag says, all values of it.
Status AddSource(const StageOptions& options, const Places& places, std::string name,
                 const std::pair<std::string_view, std::vector<std::string>>& inputs,
                 StagePlan* plan);
// kUsage: what the run is to do needs topics to read, and there are none.
Status CheckSources(const StagePlan& plan, const Places& places);
// Whether some input of a source is a topic.
bool ReadsTopics(const SourceSpec& source);
// Whether records of one key, as they come, may be in several tasks.
bool KeysScattered(const SourceSpec& source, const RuntimeOptions& runtime);
// Whether those of one group may be; `by_key`: a group is a key.
bool GroupsScattered(const SourceSpec& source, const RuntimeOptions& runtime, bool by_key);

// What --output says; stdout when it was not given.
std::string OutputOf(const StageOptions& options);

// Adds a sink that is called `name` and writes to `output`.
void AddSink(const StageOptions& options, std::string name, Location output, std::string parent,
             StagePlan* plan);
// Sends what `parent` gives through the repartition topic of that name: nodes `sink` and `source`.
void AddRepartition(std::string parent, std::string sink, std::string source,
                    const std::string& topic, StagePlan* plan);
// Adds what rows that a stage makes go to: the sink "out", of JSON whatever the values were, and,
// if `late` (what --late says) is not empty, the sink "late" for records that come too late.
Status AddRowSinks(const StageOptions& options, const Places& places, const std::string& late,
                   const std::string& parent, StagePlan* plan);

// What --store says must be fit for the name of a topic, too.
Status CheckStoreName(const std::string& store);
// --close-at-end is for runs that have an end; files always have.
Status CheckCloseAtEnd(bool topics, const RuntimeOptions& runtime);

// The name of the store that a node is to have; empty: none.
std::string StoreOf(const PlanNode& node);

Result<Topology> BuildTopology(const StagePlan& plan);

// Every expression of a node, with the name that messages and the topology file give it.
std::vector<std::pair<std::string, const Expression*>> Expressions(const PlanNode& node);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_STAGE_PLAN_H_
