// A stage on a cluster in memory. In a run of one thread the test takes its turn whenever the stage
// would have to wait, in the stage's own thread, so every run goes the same way each time.
#ifndef KSTREAM_TESTS_UNIT_RUNTIME_MEMORY_RUN_H_
#define KSTREAM_TESTS_UNIT_RUNTIME_MEMORY_RUN_H_

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/operators.h"
#include "runtime/group_check.h"
#include "runtime/loop_run.h"
#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {

inline Location TopicNamed(const std::string& name) {
  return {.kind = Location::Kind::kTopic, .cluster = "", .name = name};
}

class MemoryRun : public testing::Test {
 protected:
  static constexpr const char* kKeep = ". != null";

  MemoryRun() {
    source_.inputs = {TopicNamed("in")};
    sink_.output = TopicNamed("out");
    options_.commit_interval = std::chrono::milliseconds(0);  // every turn of the loop commits
    // A run that ends by itself and does not is a failure, not a hang.
    cluster_.OnIdle([this, turns = 0]() mutable {
      clock_->Advance(std::chrono::milliseconds(50));
      if (++turns < 10'000) return;
      ADD_FAILURE() << "the stage does not end";
      state_->stop = true;
    });
  }

  // Topics of one partition.
  void Topics(const std::vector<std::string>& names) {
    for (const std::string& name : names) cluster_.CreateTopic(name, 1);
  }
  void Produce(const std::string& topic, const std::vector<std::string>& values) {
    for (const std::string& value : values) cluster_.Produce(topic, 0, {.value = value});
  }
  std::vector<std::string> Values(const std::string& topic) const {
    std::vector<std::string> values;
    for (const auto& record : cluster_.Read(topic)) values.push_back(record.value.value_or("NULL"));
    return values;
  }
  int64_t Committed(const std::string& topic, int32_t partition = 0) const {
    return cluster_.Committed(options_.app, {topic, partition});
  }

  virtual Topology Build(const std::string& keep = kKeep) const {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("filter",
                      *Filter({.keep = *Expression::Compile(keep),
                               .negate = false,
                               .kept = {},
                               .rest = {},
                               .route = {},
                               .serdes = {}}),
                      {"in"})
        .AddSink("out", sink_, {"filter"});
    if (also_) builder.AddSink("also", *also_, {"filter"});
    return *builder.Build();
  }
  // The client.id of another member that runs the same.
  std::string ClientId() const {
    return MemberTag{.hash = Build().Hash(), .version = 0, .instance = "00000001", .thread = 0}
        .ToClientId();
  }

  // Gives the state of a run what the test has set, and takes note of it.
  void Prepare(RunState* state) {
    state->clock = clock_;
    state->from = *FromSpec::Parse(options_.from, 0);
    if (options_.limit) state->budget = *options_.limit;
    state->clusters[""] = std::make_unique<transport::memory::MemoryCluster>(cluster_);
    state->clusters[std::string(kInProcess)] =
        std::make_unique<transport::memory::MemoryCluster>(process_);
    for (auto& [name, cluster] : others_) {
      state->clusters[name] = std::make_unique<transport::memory::MemoryCluster>(cluster);
    }
    state_ = state;
  }

  Status Run(const std::string& keep = kKeep) { return RunTopology(Build(keep)); }

  Status RunTopology(const Topology& topology, const LoopCallbacks& callbacks = {}) {
    RunState state(topology, options_);
    Prepare(&state);
    OutputFiles files;
    const Status status = RunLoop(&state, &files, callbacks);
    counts_ = state.counts();
    last_metrics_ = state.registry.Take(clock_->Steady());
    state_ = nullptr;
    return status;
  }

  // Runs with `steps` as the test's turns; when they are over, the stage is told to stop, unless
  // it ends by itself. All of them must have had their turn.
  Status RunSteps(std::vector<std::function<void()>> steps) {
    return RunSteps(Build(), std::move(steps));
  }
  Status RunSteps(const Topology& topology, std::vector<std::function<void()>> steps) {
    size_t next = 0;
    cluster_.OnIdle([&] {
      clock_->Advance(std::chrono::milliseconds(50));
      if (next < steps.size()) {
        steps[next++]();
      } else {
        state_->stop = true;
      }
    });
    const Status status = RunTopology(topology);
    cluster_.OnIdle([this] { state_->stop = true; });
    EXPECT_EQ(next, steps.size()) << "steps had their turn";
    return status;
  }

  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();  // moves when all is idle
  transport::memory::MemoryCluster cluster_;                              // home
  transport::memory::MemoryCluster process_{std::string(kInProcess)};
  std::map<std::string, transport::memory::MemoryCluster> others_;  // by name
  SourceSpec source_;
  SinkSpec sink_;
  std::optional<SinkSpec> also_;  // of the same records
  RuntimeOptions options_;
  RunState* state_ = nullptr;  // while a run goes on
  Counts counts_;
  metrics::Snapshot last_metrics_;  // of the last run, at its end
};

}  // namespace kstream::runtime

#endif  // KSTREAM_TESTS_UNIT_RUNTIME_MEMORY_RUN_H_
