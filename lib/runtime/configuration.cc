#include "runtime/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kstream/internal_topics.h"
#include "record/decoder.h"
#include "runtime/changelogs.h"
#include "runtime/encoding.h"
#include "runtime/layout.h"
#include "runtime/manifest.h"
#include "runtime/output_check.h"
#include "runtime/outputs.h"
#include "runtime/state_directory.h"
#include "task/ingest.h"
#include "topology/names.h"
#include "transport/kafka/kafka_cluster.h"
#include "transport/memory/memory_cluster.h"
#include "transport/timeouts.h"

namespace kstream::runtime {
namespace {

constexpr int kMostThreads = 256;
// Less does not hold the write buffers of a few stores.
constexpr int64_t kLeastMemory = int64_t{8} << 20;

Status CheckNumbers(const RuntimeOptions& options) {
  if (options.threads < 1 || options.threads > kMostThreads) {
    return Status::Usage(
        fmt::format("--threads: {} is not between 1 and {}", options.threads, kMostThreads));
  }
  if (options.partitions < 1) return Status::Usage("--partitions must be at least 1");
  if (options.limit && *options.limit < 0) return Status::Usage("--limit must not be negative");
  if (options.timeout && options.timeout->count() < 0)
    return Status::Usage("--timeout must not be negative");
  if (options.max_errors && *options.max_errors < 0)
    return Status::Usage("--max-errors must not be negative");
  if (options.CommitInterval().count() <= 0)
    return Status::Usage("--commit-interval must be more than 0");
  KSTREAM_RETURN_IF_ERROR(CheckMemory(options.memory).At("--memory"));
  if (options.max_idle.count() < 0) return Status::Usage("--max-idle must not be negative");
  if (options.max_skew && options.max_skew->count() < 0)
    return Status::Usage("--max-skew must not be negative");
  if (options.create_output &&
      (options.create_output->first < 1 || options.create_output->second < 1)) {
    return Status::Usage("--create-output P[:RF]: both must be at least 1");
  }
  return Status::Ok();
}

Status CheckClusterOf(const Location& location, const RuntimeOptions& options) {
  if (location.cluster.empty() || options.clusters.contains(location.cluster)) return Status::Ok();
  return Status::Usage(
      fmt::format("{}: no --cluster {} is given", location.ToString(), location.cluster));
}

// The clusters as the user named them: the engine's own are none of these.
Status CheckClusters(const RunState& state) {
  for (const auto& [name, cluster] : state.options.clusters) {
    if (name.empty() || name.front() == '<') {
      return Status::Usage(fmt::format("--cluster {}: no name for a cluster", name));
    }
  }
  for (const TopologyNode& node : state.graph().nodes) {
    for (const Location& input : node.source.inputs) {
      KSTREAM_RETURN_IF_ERROR(CheckClusterOf(input, state.options));
    }
    if (node.kind != TopologyNode::Kind::kSink || node.sink.topic_of_record) continue;
    KSTREAM_RETURN_IF_ERROR(CheckClusterOf(node.sink.output, state.options));
  }
  if (!state.options.dead_letter) return Status::Ok();
  return CheckClusterOf(*state.options.dead_letter, state.options);
}

Status CheckName(std::string_view what, std::string_view name) {
  const auto wrong = WrongName(what, name);
  return wrong ? Status::Usage(*wrong) : Status::Ok();
}

// Of what the topology does not name itself: the application and the topics made of its name.
Status CheckNames(const RunState& state) {
  const std::string& app = state.options.app;
  if (!app.empty()) KSTREAM_RETURN_IF_ERROR(CheckName("application", app));
  std::vector<Location> topics = state.Inputs();
  const std::vector<Location> outputs = SinkLocations(state);  // dead letters among them
  topics.insert(topics.end(), outputs.begin(), outputs.end());
  if (state.grouped()) {
    topics.push_back(Location::Topic(ManifestTopic(app)));
    for (const TopologyStore& store : state.graph().stores) {
      const auto changelog = ChangelogOf(app, store);
      if (changelog) topics.push_back(Location::Topic(*changelog));
    }
  }
  for (const Location& topic : topics) {
    if (!topic.is_topic() || topic.is_pattern() || topic.name.empty()) continue;
    KSTREAM_RETURN_IF_ERROR(CheckName("topic", topic.name));
  }
  return Status::Ok();
}

// A place for dead letters and the policy that writes there come together: with another policy the
// place would stay empty, and be taken for a run without bad records.
Status CheckErrorPolicy(const RuntimeOptions& options) {
  if (options.on_error == OnError::kDeadLetter && !options.dead_letter) {
    return Status::Usage("--on-error dead-letter needs --dead-letter DST");
  }
  if (options.dead_letter && options.dead_letter->is_pattern()) {
    return Status::Usage(
        fmt::format("--dead-letter {}: a pattern can only be read", options.dead_letter->name));
  }
  if (options.on_error == OnError::kDeadLetter || !options.dead_letter) return Status::Ok();
  return Status::Usage(fmt::format("--dead-letter contradicts --on-error {}",
                                   options.on_error == OnError::kSkip ? "skip" : "fail"));
}

Status CheckLocations(const RunState& state) {
  const std::vector<Location> inputs = state.Inputs();
  const bool files = std::any_of(inputs.begin(), inputs.end(),
                                 [](const Location& input) { return !input.is_topic(); });
  if (files && state.grouped()) {
    return Status::Usage(
        "--app with files and topics as inputs: a group keeps positions in topics alone; leave out "
        "--app, or write the files into a topic first");
  }
  if (std::count(inputs.begin(), inputs.end(),
                 Location{.kind = Location::Kind::kFile, .cluster = {}, .name = "-"}) > 1) {
    return Status::Usage("stdin is given as input twice");
  }
  KSTREAM_RETURN_IF_ERROR(CheckErrorPolicy(state.options));
  return CheckOutputs(state);
}

std::string WhatIs(const Location& output) {
  if (output.is_topic())
    return fmt::format("{} is a topic of cluster {}", output.name, output.cluster);
  return output.name == "-" ? "stdout is no topic" : fmt::format("{} is a file", output.name);
}

// Whether there is anything that another instance could keep warm, and take over.
Status CheckStandby(const RunState& state) {
  if (state.options.standby == 0) return Status::Ok();
  if (state.options.standby < 0) return Status::Usage("--standby must not be negative");
  if (!state.grouped()) {
    return Status::Usage(
        "--standby needs a topic to read and --app: its instances are those that stand by for one "
        "another");
  }
  const auto journaled = [&](const TopologyStore& store) {
    return ChangelogOf(state.options.app, store).has_value();
  };
  if (std::ranges::any_of(state.graph().stores, journaled)) return Status::Ok();
  return Status::Usage("--standby: this topology keeps no state that could be kept warm");
}

// The names that directories will have.
Status CheckState(const RunState& state) {
  if (!NeedsStateDirectory(state.topology, state.options)) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(state.options.StateDir().status());
  KSTREAM_RETURN_IF_ERROR(CheckFileName("application", state.options.app));
  for (const TopologyStore& store : state.graph().stores) {
    if (store.kept) KSTREAM_RETURN_IF_ERROR(CheckFileName("store", store.name()));
  }
  return Status::Ok();
}

// A transaction is open from its first record to its commit.
Status CheckTransactionTimeout(const RuntimeOptions& options) {
  const auto timeout = MillisecondsOf(options.home.producer, "transaction.timeout.ms",
                                      transport::kTransactionTimeout);
  if (options.CommitInterval() <= timeout / 2) return Status::Ok();
  return Status::Usage(fmt::format(
      "--commit-interval {} ms under exactly-once: at most {} ms, half of what a transaction may "
      "last: raise that with -X out.transaction.timeout.ms=MS",
      options.CommitInterval().count(), timeout.count() / 2));
}

// Whether transactions can hold everything that the run writes.
Status CheckGuarantee(const RunState& state) {
  if (state.options.guarantee == Guarantee::kAtLeastOnce) return Status::Ok();
  if (!state.grouped()) {
    return Status::Usage(
        "--guarantee exactly-once needs a topic to read and --app: what was read is committed with "
        "what came of it");
  }
  for (const Location& output : SinkLocations(state)) {
    if (output.is_topic() && (output.cluster.empty() || output.cluster == kInProcess)) continue;
    return Status::Usage(
        fmt::format("--guarantee exactly-once: output {}, and a transaction holds topics of the "
                    "home cluster alone: write to one there, or use at-least-once",
                    WhatIs(output)));
  }
  return CheckTransactionTimeout(state.options);
}

// Formats and serdes are checked here, so that a mistake in them never leaves a half-made output.
Status CheckFormats(RunState* state) {
  KSTREAM_ASSIGN_OR_RETURN(state->serdes,
                           Serdes::Parse(state->options.serdes.key, state->options.serdes.value));
  for (const TopologyNode& node : state->graph().nodes) {
    if (node.kind == TopologyNode::Kind::kSource) {
      KSTREAM_RETURN_IF_ERROR(ParseInputFormat(node.source.format).status());
      KSTREAM_RETURN_IF_ERROR(
          task::Ingest::Create(node.source, state->serdes, state->clock.get()).status());
    } else if (node.kind == TopologyNode::Kind::kSink) {
      KSTREAM_RETURN_IF_ERROR(SinkEncoder::Create(node.sink, state->serdes).status());
    }
  }
  return Status::Ok();
}

Status MakeKafkaCluster(RunState* state, const Location& location) {
  const ClusterOptions* const options = location.cluster.empty()
                                            ? &state->options.home
                                            : &state->options.clusters.at(location.cluster);
  transport::kafka::Options kafka;
  kafka.name = location.cluster;
  kafka.bootstrap = options->brokers;
  kafka.consumer = options->consumer;
  kafka.producer = options->producer;
  kafka.partitioner = state->options.partitioner;
  kafka.stop = &state->stop;
  KSTREAM_ASSIGN_OR_RETURN(state->clusters[location.cluster], transport::kafka::NewCluster(kafka));
  return Status::Ok();
}

}  // namespace

Status CheckChoice(std::string_view text, const std::vector<std::string_view>& choices) {
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return Status::Ok();
  return Status::Usage(fmt::format("'{}' is none of {}", text, fmt::join(choices, ", ")));
}

Status CheckPartitioner(std::string_view text) {
  return CheckChoice(text, {"murmur2", "murmur2_random", "crc32", "consistent", "consistent_random",
                            "fnv1a", "fnv1a_random", "random"});
}

Status CheckMemory(int64_t bytes) {
  if (bytes >= kLeastMemory) return Status::Ok();
  return Status::Usage(
      fmt::format("{} bytes are less than stores need: at least {}M", bytes, kLeastMemory >> 20));
}

Status CheckConfiguration(RunState* state) {
  KSTREAM_RETURN_IF_ERROR(CheckNumbers(state->options));
  KSTREAM_RETURN_IF_ERROR(
      GrouperChoice::Parse(state->options.grouper, state->options.custom_grouper)
          .status()
          .At("--grouper"));
  KSTREAM_RETURN_IF_ERROR(CheckPartitioner(state->options.partitioner).At("--partitioner"));
  KSTREAM_RETURN_IF_ERROR(CheckClusters(*state));
  KSTREAM_RETURN_IF_ERROR(CheckNames(*state));
  KSTREAM_RETURN_IF_ERROR(CheckLocations(*state));
  KSTREAM_RETURN_IF_ERROR(CheckGuarantee(*state));
  KSTREAM_RETURN_IF_ERROR(CheckState(*state));
  KSTREAM_RETURN_IF_ERROR(CheckStandby(*state));
  KSTREAM_RETURN_IF_ERROR(CheckFormats(state));
  Result<FromSpec> from = FromSpec::Parse(state->options.from, state->clock->WallMs());
  if (!from.ok()) return from.status().At("--from");
  state->from = *from;
  if (state->options.limit) state->budget = *state->options.limit;
  return Status::Ok();
}

Status MakeClusters(RunState* state) {
  std::vector<Location> all = SinkLocations(*state);
  const std::vector<Location> inputs = state->Inputs();
  all.insert(all.end(), inputs.begin(), inputs.end());
  const bool home = std::any_of(
      state->graph().nodes.begin(), state->graph().nodes.end(), [](const TopologyNode& node) {
        return node.kind == TopologyNode::Kind::kSink && node.sink.topic_of_record;
      });
  if (home || state->grouped()) all.push_back(Location::Topic("of a record, or of the group"));
  // Processors may send to any of those that are known.
  for (const auto& [name, options] : state->options.clusters) {
    all.push_back(Location::Topic("of a processor", name));
  }
  for (const Location& location : all) {
    if (!location.is_topic() || state->clusters.contains(location.cluster)) continue;
    if (location.cluster == kInProcess) {
      state->clusters[location.cluster] = std::make_unique<transport::memory::MemoryCluster>();
    } else {
      KSTREAM_RETURN_IF_ERROR(MakeKafkaCluster(state, location));
    }
  }
  // A run on files alone may go without, and who sends there is told so.
  if (!state->clusters.contains("") && !state->options.home.brokers.empty()) {
    static_cast<void>(MakeKafkaCluster(state, Location::Topic("of a processor")));
  }
  return Status::Ok();
}

}  // namespace kstream::runtime
