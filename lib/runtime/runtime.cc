// The public Runtime: checks a configuration, makes the clusters, and picks files or Kafka.
#include "kstream/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/encoding.h"
#include "runtime/file_run.h"
#include "runtime/kafka_run.h"
#include "runtime/line_source.h"
#include "runtime/run_state.h"
#include "transport/kafka/kafka_cluster.h"
#include "transport/pattern.h"

namespace kstream {
namespace {

using runtime::RunState;

// Sets the flags of a run when its time is over.
class Deadline {
 public:
  explicit Deadline(RunState* state) {
    if (!state->options.timeout) return;
    thread_ = std::thread([this, state] {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, *state->options.timeout, [this] { return ended_; })) {
        state->time_over = true;
        state->stop = true;
      }
    });
  }
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

class StageRuntime final : public Runtime {
 public:
  explicit StageRuntime(std::unique_ptr<RunState> state) : state_(std::move(state)) {}

  Status Run() override {
    Status status;
    {
      const Deadline deadline(state_.get());
      status = RunStage();
    }
    if (status.ok() && state_->time_over) {
      status = Status(StatusCode::kTimeLimit, "the time given by --timeout is over");
    }
    return status;
  }

  void Stop() override { state_->stop = true; }

  Counts counts() const override {
    return {.read = state_->read,
            .written = state_->written,
            .skipped = state_->bad.skipped,
            .dead_letters = state_->bad.dead_letters};
  }

 private:
  Status RunStage() {
    runtime::OutputFiles files;
    Status status = state_->source().inputs[0].is_topic()
                        ? runtime::RunOnKafka(state_.get(), &files)
                        : runtime::RunOnFiles(state_.get(), &files);
    if (const Status closed = files.Close(); status.ok()) status = closed;
    return status;
  }

  const std::unique_ptr<RunState> state_;
};

Status CheckNumbers(const RuntimeOptions& options) {
  if (options.threads < 1) return Status::Usage("--threads must be at least 1");
  if (options.partitions < 1) return Status::Usage("--partitions must be at least 1");
  if (options.limit && *options.limit < 0) return Status::Usage("--limit must not be negative");
  if (options.max_errors && *options.max_errors < 0)
    return Status::Usage("--max-errors must not be negative");
  if (options.commit_interval.count() <= 0)
    return Status::Usage("--commit-interval must be more than 0");
  if (options.create_output &&
      (options.create_output->first < 1 || options.create_output->second < 1)) {
    return Status::Usage("--create-output P[:RF]: both must be at least 1");
  }
  return Status::Ok();
}

// Refuses an input that reads a topic that is written, and a pattern that is none.
Status CheckInput(const Location& input, const std::vector<Location>& outputs) {
  std::optional<transport::TopicPattern> pattern;
  if (input.is_pattern()) {
    KSTREAM_ASSIGN_OR_RETURN(pattern, transport::TopicPattern::Parse(input.name));
  }
  for (const Location& output : outputs) {
    if (!input.is_topic() || !output.is_topic() || input.cluster != output.cluster) continue;
    const bool reads = pattern ? pattern->Matches(output.name) : input.name == output.name;
    if (reads) {
      return Status::Usage(
          fmt::format("output {} is matched by input {}: it would read what it writes", output.name,
                      input.name));
    }
  }
  return Status::Ok();
}

Status CheckLocations(const RunState& state) {
  const auto& inputs = state.source().inputs;
  const auto outputs = runtime::SinkLocations(state);
  const bool topics = inputs[0].is_topic();
  for (const Location& input : inputs) {
    if (input.is_topic() != topics)
      return Status::Usage(
          "inputs are files or topics, not both: read one kind into the other first");
    if (!state.options.app.empty() && !input.cluster.empty()) {
      return Status::Usage(fmt::format(
          "--app with input {}: a group lives on the cluster of --brokers; name that cluster there",
          input.ToString()));
    }
    KSTREAM_RETURN_IF_ERROR(CheckInput(input, outputs));
  }
  if (std::count(inputs.begin(), inputs.end(),
                 Location{.kind = Location::Kind::kFile, .cluster = {}, .name = "-"}) > 1) {
    return Status::Usage("stdin is given as input twice");
  }
  if (state.options.on_error == OnError::kDeadLetter && !state.options.dead_letter) {
    return Status::Usage("--on-error dead-letter needs --dead-letter DST");
  }
  return Status::Ok();
}

Status MakeClusters(RunState* state) {
  std::vector<Location> all = runtime::SinkLocations(*state);
  const auto& inputs = state->source().inputs;
  all.insert(all.end(), inputs.begin(), inputs.end());
  bool home = false;
  for (const TopologyNode& node : state->topology.graph().nodes) {
    home |= node.kind == TopologyNode::Kind::kSink && node.sink.topic_of_record;
  }
  if (home) all.push_back({Location::Kind::kTopic, "", "topic of a record"});
  for (const Location& location : all) {
    if (!location.is_topic() || state->clusters.contains(location.cluster)) continue;
    const ClusterOptions* options = &state->options.home;
    if (!location.cluster.empty()) {
      const auto named = state->options.clusters.find(location.cluster);
      if (named == state->options.clusters.end()) {
        return Status::Usage(
            fmt::format("{}: no --cluster {} is given", location.ToString(), location.cluster));
      }
      options = &named->second;
    }
    transport::kafka::Options kafka;
    kafka.name = location.cluster;
    kafka.bootstrap = options->brokers;
    kafka.consumer = options->consumer;
    kafka.producer = options->producer;
    kafka.partitioner = state->options.partitioner;
    KSTREAM_ASSIGN_OR_RETURN(state->clusters[location.cluster],
                             transport::kafka::NewCluster(kafka));
  }
  return Status::Ok();
}

// Formats and serdes are checked here, so that a mistake in them never leaves a half-made output.
Status CheckFormats(RunState* state) {
  KSTREAM_ASSIGN_OR_RETURN(state->serdes,
                           Serdes::Parse(state->options.serdes.key, state->options.serdes.value));
  KSTREAM_RETURN_IF_ERROR(ParseInputFormat(state->source().format).status());
  KSTREAM_RETURN_IF_ERROR(task::Ingest::Create(state->source(), state->serdes).status());
  for (const TopologyNode& node : state->topology.graph().nodes) {
    if (node.kind != TopologyNode::Kind::kSink) continue;
    KSTREAM_RETURN_IF_ERROR(runtime::SinkEncoder::Create(node.sink, state->serdes).status());
  }
  return Status::Ok();
}

}  // namespace

Runtime::~Runtime() = default;

Result<std::unique_ptr<Runtime>> Runtime::Create(Topology topology, RuntimeOptions options) {
  const auto& nodes = topology.graph().nodes;
  if (std::count_if(nodes.begin(), nodes.end(),
                    [](auto& node) { return node.kind == TopologyNode::Kind::kSource; }) != 1) {
    return Status::Usage("a stage has one source; give it several inputs instead");
  }
  auto state = std::make_unique<RunState>(std::move(topology), std::move(options));
  KSTREAM_RETURN_IF_ERROR(CheckNumbers(state->options));
  KSTREAM_RETURN_IF_ERROR(CheckLocations(*state));
  KSTREAM_RETURN_IF_ERROR(CheckFormats(state.get()));
  const int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  KSTREAM_ASSIGN_OR_RETURN(state->from, runtime::FromSpec::Parse(state->options.from, now));
  if (state->options.limit) state->budget = *state->options.limit;
  KSTREAM_RETURN_IF_ERROR(MakeClusters(state.get()));
  return std::unique_ptr<Runtime>(new StageRuntime(std::move(state)));
}

}  // namespace kstream
