// Planner's look at stores that the application has not had before.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "runtime/changelogs.h"
#include "runtime/planner.h"

namespace kstream::runtime {
namespace {

using transport::Admin;
using transport::PartitionOffset;
using transport::TopicPartition;

// Whether stage `from` writes a repartition topic that stage `to` reads.
bool Feeds(const RunState& state, const TopologyStage& from, const TopologyStage& to) {
  const auto& nodes = state.graph().nodes;
  return std::ranges::any_of(to.sources, [&](size_t source) {
    return std::ranges::any_of(nodes[source].source.inputs, [&](const Location& input) {
      return input.kind == Location::Kind::kRepartition &&
             std::ranges::any_of(from.nodes, [&](size_t node) {
               return nodes[node].kind == TopologyNode::Kind::kSink &&
                      nodes[node].sink.output == input;
             });
    });
  });
}

}  // namespace

// The stage and all whose records come to it through repartition topics: those keep nothing of what
// was read before.
std::set<size_t> Planner::Upstream(size_t stage) const {
  const auto& stages = state_->graph().stages;
  std::set<size_t> found{stage};
  std::vector<size_t> open{stage};
  while (!open.empty()) {
    const size_t to = open.back();
    open.pop_back();
    for (size_t from = 0; from < stages.size(); from++) {
      if (!Feeds(*state_, stages[from], stages[to])) continue;
      if (found.insert(from).second) open.push_back(from);
    }
  }
  return found;
}

// A position of the group at home, of inputs of these stages, that is past the beginning of its
// log; nullopt: nothing has been read that is still there to be read.
Result<std::optional<PartitionOffset>> Planner::ReadBefore(const std::set<size_t>& stages,
                                                           const Plans& plans) const {
  std::vector<TopicPartition> names;
  for (const size_t stage : stages) {
    for (const InputTopic& topic : plans[stage].topics) {
      if (!topic.cluster.empty()) continue;
      for (int32_t i = 0; i < topic.partitions; i++) names.push_back({topic.topic, i});
    }
  }
  if (names.empty()) return std::optional<PartitionOffset>();
  // Not by the admin's request for a group's offsets: one whose broker goes away meanwhile aborts
  // librdkafka 2.0.2 (rd_kafka_enq_once_del_source_return), and starts are when brokers are away.
  transport::ConsumerOptions options;
  options.group = state_->options.app;
  KSTREAM_ASSIGN_OR_RETURN(auto consumer, state_->clusters.at("")->NewConsumer(options));
  KSTREAM_ASSIGN_OR_RETURN(std::vector<PartitionOffset> committed, consumer->Committed(names));
  KSTREAM_RETURN_IF_ERROR(consumer->Close());
  std::erase_if(committed, [](const PartitionOffset& p) { return p.offset <= 0; });
  if (committed.empty()) return std::optional<PartitionOffset>();
  names.clear();
  for (const PartitionOffset& p : committed) names.push_back(p.partition);
  KSTREAM_ASSIGN_OR_RETURN(const auto logs,
                           admins_->Ask("", [&](Admin* admin) { return admin->Offsets(names); }));
  for (PartitionOffset& p : committed) {
    if (p.offset > logs.at(p.partition).low) return std::optional(std::move(p));
  }
  return std::optional<PartitionOffset>();
}

// A store that is added to an application that has run would begin with nothing behind positions
// that are past its records: every number in it would be too small, and nobody would see.
Status Planner::CheckNewStores(const Plans& plans) {
  if (manifest_ && !decided()) return Status::Ok();  // a reset has chosen the positions
  const TopologyGraph& graph = state_->graph();
  const std::string& app = state_->options.app;
  for (size_t i = 0; i < graph.stages.size(); i++) {
    for (const size_t number : graph.stages[i].stores) {
      const TopologyStore& store = graph.stores[number];
      const auto topic = ChangelogOf(app, store);
      if (!topic || (manifest_ && manifest_->Find(*topic) != nullptr)) continue;
      KSTREAM_ASSIGN_OR_RETURN(const auto read, ReadBefore(Upstream(i), plans));
      if (!read) continue;
      // Another process that starts with us may have made it, and begun to read.
      KSTREAM_ASSIGN_OR_RETURN(const std::optional<Manifest> now, log_->Read());
      if (now && now->Find(*topic) != nullptr) continue;
      const std::string what = fmt::format(
          "store {} is new, and application {} has read {}[{}] up to offset {}", store.name(), app,
          read->partition.topic, read->partition.partition, read->offset);
      if (state_->options.from_given) {
        Log(LogLevel::kWarning, fmt::format("{}: the store begins there, with nothing", what));
        continue;
      }
      return Status(
          StatusCode::kState,
          fmt::format("{}: the store would miss what came before: reset the application "
                      "(kstream-inspect-state -G {} reset) to read all of it again, start under "
                      "another id (-G), or let it begin there, with nothing, by any --from",
                      what, app));
    }
  }
  return Status::Ok();
}

}  // namespace kstream::runtime
