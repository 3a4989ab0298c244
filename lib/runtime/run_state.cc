#include "runtime/run_state.h"

#include <algorithm>
#include <charconv>

namespace kstream::runtime {

ThreadMetrics* RunState::MetricsOf(int thread) {
  const std::lock_guard lock(mutex_);
  const auto found = threads_.find(thread);
  if (found != threads_.end()) return &found->second;
  return &threads_.try_emplace(thread, &registry, thread).first->second;
}

Counts RunState::counts() const {
  return {.read = registry.Total("kstream_records_read_total"),
          .written = registry.Total("kstream_records_written_total"),
          .skipped = registry.Total("kstream_records_skipped_total"),
          .dead_letters = registry.Total("kstream_dead_letters_total")};
}

std::vector<const SourceSpec*> RunState::Sources() const {
  std::vector<const SourceSpec*> sources;
  for (const TopologyNode& node : graph().nodes) {
    if (node.kind == TopologyNode::Kind::kSource) sources.push_back(&node.source);
  }
  return sources;
}

std::vector<Location> RunState::Inputs() const {
  std::vector<Location> inputs;
  for (const SourceSpec* source : Sources()) {
    for (const Location& input : source->inputs) inputs.push_back(Resolve(input));
  }
  return inputs;
}

Location RunState::Resolve(const Location& location) const {
  if (location.kind != Location::Kind::kRepartition) return location;
  // A dry run writes nothing at home.
  if (!grouped() || options.dry_run)
    return Location::Topic(location.name + "-repartition", std::string(kInProcess));
  return Location::Topic(options.app + "-" + location.name + "-repartition");
}

Result<bool> RunState::Matches(const Location& input, const InputTopic& topic) const {
  if (topic.cluster == kFiles) {
    return input.kind == Location::Kind::kFile && input.name == topic.topic;
  }
  // What lies between two stages is for the source that names it, and no pattern's.
  if (input.is_pattern() && IsRepartition(topic.cluster, topic.topic)) return false;
  return Reads(Resolve(input), Location::Topic(topic.topic, topic.cluster));
}

bool RunState::IsRepartition(const std::string& cluster, const std::string& topic) const {
  const Location location = Location::Topic(topic, cluster);
  return std::any_of(graph().nodes.begin(), graph().nodes.end(), [&](const TopologyNode& node) {
    return node.sink.output.kind == Location::Kind::kRepartition &&
           Resolve(node.sink.output) == location;
  });
}

std::chrono::milliseconds MillisecondsOf(const Properties& properties, std::string_view name,
                                         std::chrono::milliseconds otherwise) {
  for (const auto& [property, value] : properties) {
    int64_t ms = 0;
    const char* const end = value.data() + value.size();
    if (property == name && std::from_chars(value.data(), end, ms).ptr == end) {
      otherwise = std::chrono::milliseconds(ms);
    }
  }
  return otherwise;
}

Result<Serdes> RunState::SerdesOf(const SourceSpec& source) const {
  if (!source.serdes) return serdes;
  return Serdes::Parse(source.serdes->key, source.serdes->value);
}

StoreSpec::Engine RunState::EngineOf(const StoreSpec& store) const {
  using Engine = StoreSpec::Engine;
  if (store.engine != Engine::kDefault) return store.engine;
  if (options.store_type != Engine::kDefault) return options.store_type;
  return options.app.empty() || options.dry_run ? Engine::kMemory : Engine::kRocksDb;
}

bool RunState::ReadsTopics(const TopologyGraph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const TopologyNode& node) {
    return node.kind == TopologyNode::Kind::kSource &&
           std::any_of(node.source.inputs.begin(), node.source.inputs.end(),
                       [](const Location& input) { return input.is_topic(); });
  });
}

}  // namespace kstream::runtime
