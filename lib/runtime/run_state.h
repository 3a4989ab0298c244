// RunState: what all threads of one run share. Everything mutable in it is atomic.
#ifndef KSTREAM_RUNTIME_RUN_STATE_H_
#define KSTREAM_RUNTIME_RUN_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kstream/runtime.h"
#include "kstream/topology.h"
#include "record/serde.h"
#include "runtime/from_spec.h"
#include "task/bad_records.h"
#include "topology/graph.h"
#include "transport/cluster.h"

namespace kstream::runtime {

using Clock = std::chrono::steady_clock;

struct RunState {
  RunState(Topology topology, RuntimeOptions options)
      : topology(std::move(topology)), options(std::move(options)) {}

  const Topology topology;
  const RuntimeOptions options;
  Serdes serdes;
  FromSpec from;
  std::map<std::string, std::unique_ptr<transport::Cluster>> clusters;  // by name; home is ""

  std::atomic<bool> stop{false};
  std::atomic<bool> time_over{false};
  std::atomic<int64_t> read{0}, written{0};
  task::BadRecordCounts bad;
  std::atomic<int64_t> budget{INT64_MAX};  // output records that --limit still allows

  const SourceSpec& source() const {
    for (const TopologyNode& node : topology.graph().nodes) {
      if (node.kind == TopologyNode::Kind::kSource) return node.source;
    }
    std::abort();  // Build refuses a topology without a source
  }
  task::BadRecords::Policy policy() const { return {options.on_error, options.max_errors}; }
  bool limit_reached() const { return budget.load(std::memory_order_relaxed) <= 0; }
  bool stopping() const { return stop.load(std::memory_order_relaxed); }
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_RUN_STATE_H_
