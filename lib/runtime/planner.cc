#include "runtime/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kstream/internal_topics.h"
#include "runtime/safeguards.h"
#include "topology/co_partition.h"
#include "topology/graph.h"

namespace kstream::runtime {
namespace {

using transport::Admin;
using transport::TopicPartition;

std::vector<TopicPartition> PartitionsOf(const InputTopic& topic) {
  std::vector<TopicPartition> partitions;
  for (int32_t i = 0; i < topic.partitions; i++) partitions.push_back({topic.topic, i});
  return partitions;
}

std::set<InputPartition> SharedIn(const TaskLayout& tasks) {
  std::set<InputPartition> seen, shared;
  for (const auto& task : tasks) {
    for (const InputPartition& partition : task) {
      if (!seen.insert(partition).second) shared.insert(partition);
    }
  }
  return shared;
}

bool HasPattern(const RunState& state, const TopologyStage& stage) {
  return std::any_of(stage.sources.begin(), stage.sources.end(), [&](size_t source) {
    const auto& inputs = state.graph().nodes[source].source.inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const Location& input) { return input.is_pattern(); });
  });
}

int32_t PartitionsAt(const std::vector<InputTopic>& topics, const std::string& home_topic) {
  const auto found = std::find_if(topics.begin(), topics.end(), [&](const InputTopic& topic) {
    return topic.cluster.empty() && topic.topic == home_topic;
  });
  return found == topics.end() ? 0 : found->partitions;
}

// The first partition of `topic` that no stage uses as a lead.
int32_t NextLead(const std::vector<StagePlan>& plans, const std::string& topic) {
  int32_t next = 0;
  for (const StagePlan& plan : plans) {
    if (plan.lead.topic != topic) continue;
    for (const Lead::Run& run : plan.lead.runs) next = std::max(next, run.first + run.count);
  }
  return next;
}

// Stages in an order in which those upstream come first.
std::vector<size_t> ByLevel(const TopologyGraph& graph) {
  std::vector<size_t> order(graph.stages.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return graph.stages[a].level < graph.stages[b].level;
  });
  return order;
}

}  // namespace

Planner::Planner(const RunState* state, Admins* admins) : state_(state), admins_(admins) {}

Status Planner::Open() {
  const std::lock_guard lock(mutex_);
  KSTREAM_ASSIGN_OR_RETURN(
      grouper_, GrouperChoice::Parse(state_->options.grouper, state_->options.custom_grouper));
  if (state_->grouped()) {
    // In this order: what is there before a manifest is cannot be of this application.
    KSTREAM_ASSIGN_OR_RETURN(existing_, InternalTopicsThere());
  }
  // One that is there binds an application that would need none, too.
  if (state_->grouped() && (!InternalTopics(state_->topology, state_->options).empty() ||
                            existing_.contains(ManifestTopic(state_->options.app)))) {
    log_ = std::make_unique<ManifestLog>(state_->clusters.at("").get(), state_->options.app,
                                         state_->clock.get());
    KSTREAM_ASSIGN_OR_RETURN(manifest_, log_->Read());
    if (!decided() && state_->options.dry_run) {
      return Status::Usage(fmt::format(
          "--dry-run: application {} has not run yet, and its tasks are laid out by its "
          "first run: leave out --app",
          state_->options.app));
    }
    if (state_->options.dry_run && state_->graph().stages.size() > 1) {
      return Status::Usage(
          fmt::format("--dry-run: the stages of application {} meet in topics at home, where "
                      "nothing may be written: leave out --app",
                      state_->options.app));
    }
  }
  Result<Plans> plans = PlanAll(false);
  if (!plans.ok() && plans.status().code() == StatusCode::kCluster && decided() &&
      manifest_->hash != state_->topology.Hash()) {
    return Status::Refused(fmt::format("application {} has run another topology: {}",
                                       state_->options.app, plans.status().message()));
  }
  KSTREAM_RETURN_IF_ERROR(plans.status());
  if (log_) KSTREAM_RETURN_IF_ERROR(KeepManifest(&*plans, false));
  return Publish(*std::move(plans)).status();
}

std::shared_ptr<const RunPlan> Planner::plan() const {
  const std::lock_guard lock(plan_mutex_);
  return plan_;
}

Result<bool> Planner::Refresh(bool owns_first) {
  const std::lock_guard lock(mutex_);
  if (log_) {
    KSTREAM_ASSIGN_OR_RETURN(const std::optional<Manifest> found, log_->Read());
    KSTREAM_RETURN_IF_ERROR(CheckIncarnation(state_->options.app, *manifest_, found));
    manifest_ = found;
  }
  KSTREAM_ASSIGN_OR_RETURN(Plans plans, PlanAll(!log_ || owns_first));
  if (log_ && owns_first) KSTREAM_RETURN_IF_ERROR(KeepManifest(&plans, true));
  return Publish(std::move(plans));
}

Result<bool> Planner::Publish(Plans plans) {
  auto plan = std::make_shared<RunPlan>();
  plan->stages = std::move(plans);
  if (manifest_) plan->incarnation = manifest_->incarnation;
  for (StagePlan& stage : plan->stages) stage.shared = SharedIn(stage.tasks);
  if (plan_ && plan_->stages == plan->stages && plan_->incarnation == plan->incarnation) {
    return false;
  }
  for (const StagePlan& stage : plan->stages) {
    for (const InputTopic& topic : stage.topics) {
      if (topic.cluster != kInProcess) continue;
      KSTREAM_RETURN_IF_ERROR(admins_
                                  ->Ask(topic.cluster,
                                        [&](Admin* admin) {
                                          return admin->CreateTopic(topic.topic, topic.partitions,
                                                                    1);
                                        })
                                  .status());
    }
  }
  if (plan_) {
    // The end of a run, and what was there at its start, are facts about the start.
    plan->ends = plan_->ends;
    plan->at_start = plan_->at_start;
  } else {
    KSTREAM_RETURN_IF_ERROR(FindEnds(plan.get()));
  }
  // Threads ask for it at every turn, and must not wait for those who ask a cluster.
  const std::lock_guard lock(plan_mutex_);
  plan_ = std::move(plan);
  return true;
}

// Topics that a pattern never reads, whatever it matches.
bool Planner::IsInternal(const InputPartition& input) const {
  if (!state_->grouped() || !input.cluster.empty()) return false;
  const std::string& app = state_->options.app;
  return input.topic == ManifestTopic(app) || input.topic == TasksTopic(app) ||
         state_->IsRepartition(input.cluster, input.topic) ||
         (manifest_ && manifest_->Find(input.topic) != nullptr);
}

bool Planner::IsOutput(const InputPartition& input) const {
  const Location location = Location::Topic(input.topic, input.cluster);
  const auto& nodes = state_->graph().nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const TopologyNode& node) {
    return node.kind == TopologyNode::Kind::kSink && !node.sink.topic_of_record &&
           state_->Resolve(node.sink.output) == location;
  });
}

std::optional<Planner::Recorded> Planner::RecordedOf(size_t stage) const {
  if (decided() && safeguards.lead_of_manifest) {
    const ManifestStage& recorded = manifest_->stages[stage];
    return Recorded{recorded.lead, {recorded.grouper, recorded.tasks}};
  }
  if (!plan_) return std::nullopt;
  const StagePlan& before = plan_->stages[stage];
  return Recorded{before.lead, {grouper_.OfStage(before.topics).ToString(), before.tasks}};
}

Result<std::vector<InputTopic>> Planner::TopicsOf(const TopologyStage& stage, const Plans& plans) {
  std::vector<InputTopic> topics;
  for (const size_t source : stage.sources) {
    for (const Location& input : state_->graph().nodes[source].source.inputs) {
      KSTREAM_ASSIGN_OR_RETURN(const auto found, TopicsOfInput(input, plans));
      for (const InputTopic& topic : found) {
        if (std::find(topics.begin(), topics.end(), topic) == topics.end()) topics.push_back(topic);
      }
    }
  }
  if (stage.co_partitioned) Align(&topics);
  return topics;
}

// A repartition topic that is read together with others is made to have as many partitions as they
// have: as a topic that is there, else as the largest.
void Planner::Align(std::vector<InputTopic>* topics) const {
  int32_t count = 0, most = 0;
  for (const InputTopic& topic : *topics) {
    most = std::max(most, topic.partitions);
    if (!state_->IsRepartition(topic.cluster, topic.topic))
      count = std::max(count, topic.partitions);
  }
  for (InputTopic& topic : *topics) {
    const bool made = manifest_ && manifest_->Find(topic.topic);
    if (!made && !plan_ && state_->IsRepartition(topic.cluster, topic.topic)) {
      topic.partitions = count > 0 ? count : most;
    }
  }
}

Result<std::vector<InputTopic>> Planner::TopicsOfInput(const Location& input, const Plans& plans) {
  if (input.kind == Location::Kind::kFile) {
    return std::vector{InputTopic{std::string(kFiles), input.name, state_->options.partitions}};
  }
  const Location location = state_->Resolve(input);
  if (input.kind == Location::Kind::kRepartition) {
    return std::vector{
        InputTopic{location.cluster, location.name, RepartitionCount(location, plans)}};
  }
  const auto& create = state_->options.create_output;
  if (create && !state_->options.dry_run && IsOutput({location.cluster, location.name, 0})) {
    KSTREAM_RETURN_IF_ERROR(admins_
                                ->Ask(location.cluster,
                                      [&](Admin* admin) {
                                        return admin->CreateTopic(
                                            location.name, create->first,
                                            static_cast<int16_t>(create->second));
                                      })
                                .status());
  }
  KSTREAM_ASSIGN_OR_RETURN(const Location place, state_->identities.Of(location));
  KSTREAM_ASSIGN_OR_RETURN(const auto counts, admins_->Ask(location.cluster, [&](Admin* admin) {
    return admin->Topics(location.name);
  }));
  std::vector<InputTopic> topics;
  for (const auto& [name, partitions] : counts) {
    if (!location.is_pattern() || !IsInternal({place.cluster, name, 0}))
      topics.push_back({location.cluster, name, partitions});
  }
  if (topics.empty()) {
    return Status::Cluster(fmt::format("no topic matches {}: check the pattern", location.name));
  }
  return topics;
}

// As many as the tasks of the stage that writes it had at first, the largest of several, unless the
// stage that reads it has laid it out otherwise.
int32_t Planner::RepartitionCount(const Location& topic, const Plans& plans) const {
  const InternalTopic* const recorded = manifest_ ? manifest_->Find(topic.name) : nullptr;
  if (recorded) return recorded->partitions;
  for (size_t i = 0; plan_ && i < plan_->stages.size(); i++) {
    for (const InputTopic& had : plan_->stages[i].topics) {
      if (had.cluster == topic.cluster && had.topic == topic.name) return had.partitions;
    }
  }
  for (const StagePlan& plan : plans) {
    for (const InputTopic& read : plan.topics) {
      if (read.cluster == topic.cluster && read.topic == topic.name) return read.partitions;
    }
  }
  size_t count = 1;
  const TopologyGraph& graph = state_->graph();
  for (size_t i = 0; i < graph.stages.size(); i++) {
    for (const size_t number : graph.stages[i].nodes) {
      const TopologyNode& node = graph.nodes[number];
      if (node.kind == TopologyNode::Kind::kSink && state_->Resolve(node.sink.output) == topic) {
        count = std::max(count, plans[i].tasks.size());
      }
    }
  }
  return static_cast<int32_t>(count);
}

Result<StagePlan> Planner::PlanStage(size_t number, const Plans& plans, bool grow) {
  const TopologyStage& stage = state_->graph().stages[number];
  StagePlan plan;
  KSTREAM_ASSIGN_OR_RETURN(plan.topics, TopicsOf(stage, plans));
  if (stage.co_partitioned) KSTREAM_RETURN_IF_ERROR(CheckCoPartitioned(plan.topics));
  const GrouperChoice grouper = grouper_.OfStage(plan.topics);
  const std::optional<Recorded> recorded = RecordedOf(number);
  const bool grouped = state_->grouped();
  const LeadChoice choice =
      recorded ? LeadChoice{.internal = recorded->lead.topic == TasksTopic(state_->options.app),
                            .topic = recorded->lead.topic,
                            .partitions = PartitionsAt(plan.topics, recorded->lead.topic)}
               : LeadOf(grouper, HasPattern(*state_, stage), plan.topics);
  LayoutRules rules;
  rules.stateful = !stage.stores.empty();
  if (grouped && !choice.internal) rules.max_tasks = static_cast<size_t>(choice.partitions);
  KSTREAM_ASSIGN_OR_RETURN(
      plan.tasks, LayOut(grouper, plan.topics, recorded ? &recorded->layout : nullptr, rules));
  if (recorded && !grow) plan.tasks = recorded->layout.tasks;
  if (!grouped) return plan;

  if (recorded) plan.lead = recorded->lead;
  plan.lead.topic = choice.internal ? TasksTopic(state_->options.app) : choice.topic;
  const auto tasks = static_cast<int32_t>(plan.tasks.size());
  if (const int32_t had = plan.lead.tasks(); had < tasks) {
    plan.lead.Grow(choice.internal ? NextLead(plans, plan.lead.topic) : had, tasks - had);
  }
  return plan;
}

Result<Planner::Plans> Planner::PlanAll(bool grow) {
  const TopologyGraph& graph = state_->graph();
  if (decided()) KSTREAM_RETURN_IF_ERROR(CheckStages());
  Plans plans(graph.stages.size());
  // Leads that exist already count for all: a stage that grows goes behind the last of them.
  for (size_t i = 0; i < plans.size(); i++) {
    if (const auto recorded = RecordedOf(i)) plans[i].lead = recorded->lead;
  }
  for (const size_t stage : ByLevel(graph)) {
    KSTREAM_ASSIGN_OR_RETURN(plans[stage], PlanStage(stage, plans, grow));
  }
  std::vector<InputTopic> topics;
  for (const StagePlan& plan : plans) {
    topics.insert(topics.end(), plan.topics.begin(), plan.topics.end());
  }
  KSTREAM_RETURN_IF_ERROR(grouper_.CheckRead(topics));
  return plans;
}

Status Planner::FindEnds(RunPlan* plan) {
  for (const StagePlan& stage : plan->stages) {
    for (const InputTopic& topic : stage.topics) {
      for (int32_t i = 0; i < topic.partitions; i++) {
        plan->at_start.insert({topic.cluster, topic.topic, i});
      }
      // Files end by themselves, and what stages write ends when they do.
      if (!state_->has_end() || topic.cluster == kFiles ||
          IsOutput({topic.cluster, topic.topic, 0}))
        continue;
      const std::vector<TopicPartition> partitions = PartitionsOf(topic);
      if (state_->from.until_time) {
        KSTREAM_ASSIGN_OR_RETURN(const auto ends, admins_->Ask(topic.cluster, [&](Admin* admin) {
          return admin->OffsetsForTime(partitions, *state_->from.until_time);
        }));
        for (const auto& [p, end] : ends) plan->ends[{topic.cluster, p.topic, p.partition}] = end;
        continue;
      }
      KSTREAM_ASSIGN_OR_RETURN(const auto marks, admins_->Ask(topic.cluster, [&](Admin* admin) {
        return admin->Offsets(partitions);
      }));
      for (const auto& [p, log] : marks)
        plan->ends[{topic.cluster, p.topic, p.partition}] = log.high;
    }
  }
  return Status::Ok();
}

}  // namespace kstream::runtime
