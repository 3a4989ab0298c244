// RunState: what all threads of one run share. Everything mutable in it is atomic or has a lock.
#ifndef KSTREAM_RUNTIME_RUN_STATE_H_
#define KSTREAM_RUNTIME_RUN_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "kstream/runtime.h"
#include "kstream/topology.h"
#include "metrics/registry.h"
#include "record/serde.h"
#include "runtime/from_spec.h"
#include "runtime/identities.h"
#include "runtime/placement.h"
#include "runtime/thread_metrics.h"
#include "store/committed_reader.h"
#include "task/bad_records.h"
#include "topology/graph.h"
#include "transport/cluster.h"

namespace kstream::runtime {

// Clusters that no user names: the files, and the topics that exist in this process alone. No
// --cluster may be called so.
inline constexpr std::string_view kFiles = "<files>";
inline constexpr std::string_view kInProcess = "<process>";

// What the user has set a property to that is in ms; `otherwise`: nothing, or no number.
std::chrono::milliseconds MillisecondsOf(const Properties& properties, std::string_view name,
                                         std::chrono::milliseconds otherwise);

struct RunState {
  RunState(Topology topology, RuntimeOptions options)
      : topology(std::move(topology)), options(std::move(options)), registry(this->options.app) {}

  const Topology topology;
  const RuntimeOptions options;
  Serdes serdes;
  FromSpec from;
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  std::map<std::string, std::unique_ptr<transport::Cluster>> clusters;  // by name; home is ""
  const Identities identities{&clusters};
  metrics::Registry registry;
  store::OpenStores stores;  // of the tasks that run

  Placement placement;

  std::atomic<bool> stop{false};
  std::atomic<bool> time_over{false};
  std::atomic<bool> paused{false};         // seen by each thread at its next turn
  task::BadRecordCounts bad;               // for --max-errors
  std::atomic<int64_t> budget{INT64_MAX};  // output records that --limit still allows

  // The metrics of thread number `thread`, made when it is first asked for.
  ThreadMetrics* MetricsOf(int thread);
  // What passed so far: threads add to it once a turn, and before they end.
  Counts counts() const;

  const TopologyGraph& graph() const { return topology.graph(); }
  // The sources of the topology in the order of its nodes.
  std::vector<const SourceSpec*> Sources() const;
  // The inputs of all sources, resolved.
  std::vector<Location> Inputs() const;
  // Where `location` lies: a repartition topic is one of this application at home, or of this
  // process alone.
  Location Resolve(const Location& location) const;
  // Whether an input, as a source gives it, reads this topic. kUsage: its pattern is none.
  Result<bool> Matches(const Location& input, const InputTopic& topic) const;
  // Whether a topic is an internal one between two stages.
  bool IsRepartition(const std::string& cluster, const std::string& topic) const;
  // What expressions of a source see.
  Result<Serdes> SerdesOf(const SourceSpec& source) const;

  // What keeps a store: as it says itself, or --store-type.
  StoreSpec::Engine EngineOf(const StoreSpec& store) const;

  // Whether threads are members of a group, which keeps their positions.
  bool grouped() const { return !options.app.empty() && reads_topics_; }
  task::BadRecords::Policy policy() const { return {options.on_error, options.max_errors}; }
  bool limit_reached() const { return budget.load(std::memory_order_relaxed) <= 0; }
  bool stopping() const { return stop.load(std::memory_order_relaxed); }
  bool has_end() const { return options.exit_at_end || from.until_time.has_value(); }

 private:
  static bool ReadsTopics(const TopologyGraph& graph);
  const bool reads_topics_ = ReadsTopics(topology.graph());
  std::mutex mutex_;                      // guards threads_
  std::map<int, ThreadMetrics> threads_;  // by number
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_RUN_STATE_H_
