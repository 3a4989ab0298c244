#include "runtime/plan.h"

#include <algorithm>

namespace kstream::runtime {

std::optional<TaskId> RunPlan::TaskOf(const transport::TopicPartition& lead) const {
  for (size_t i = 0; i < stages.size(); i++) {
    if (stages[i].lead.topic != lead.topic) continue;
    if (const auto task = stages[i].lead.TaskOf(lead.partition)) return TaskId{i, *task};
  }
  return std::nullopt;
}

std::optional<transport::TopicPartition> RunPlan::LeadOf(TaskId task) const {
  const Lead& lead = stages[task.stage].lead;
  if (lead.topic.empty()) return std::nullopt;
  return transport::TopicPartition{lead.topic, lead.PartitionOf(task.number)};
}

std::vector<TaskId> RunPlan::Tasks() const {
  std::vector<TaskId> tasks;
  for (size_t i = 0; i < stages.size(); i++) {
    for (size_t n = 0; n < stages[i].tasks.size(); n++) {
      tasks.push_back({i, static_cast<int32_t>(n)});
    }
  }
  return tasks;
}

namespace {

// Whether it matters to the stage where the keys of a topic lie, which others have placed.
bool GoesByKeys(const RunState& state, const StagePlan& plan, const TopologyStage& stage,
                const InputTopic& topic) {
  return stage.co_partitioned && plan.topics.size() > 1 && plan.tasks.size() > 1 &&
         topic.cluster != kFiles && !state.IsRepartition(topic.cluster, topic.topic);
}

}  // namespace

Result<std::vector<TaskPartition>> RunPlan::PartitionsOf(const RunState& state, TaskId task) const {
  std::vector<TaskPartition> result;
  const StagePlan& stage = stages[task.stage];
  if (static_cast<size_t>(task.number) >= stage.tasks.size()) return result;
  std::vector<InputPartition> partitions = stage.tasks[static_cast<size_t>(task.number)];
  std::sort(partitions.begin(), partitions.end());
  const auto& sources = state.graph().stages[task.stage].sources;
  for (size_t source = 0; source < sources.size(); source++) {
    std::set<InputPartition> taken;  // two inputs of one source may name the same topic
    for (const Location& input : state.graph().nodes[sources[source]].source.inputs) {
      for (const InputTopic& topic : stage.topics) {
        KSTREAM_ASSIGN_OR_RETURN(const bool reads, state.Matches(input, topic));
        if (!reads) continue;
        for (const InputPartition& partition : partitions) {
          if (partition.cluster != topic.cluster || partition.topic != topic.topic ||
              !taken.insert(partition).second)
            continue;
          TaskPartition& p = result.emplace_back();
          p.input = partition;
          p.source = source;
          if (GoesByKeys(state, stage, state.graph().stages[task.stage], topic)) {
            p.chosen_among = topic.partitions;
          }
          p.by_offset = partition.cluster.empty() && !stage.shared.contains(partition);
        }
      }
    }
  }
  return result;
}

}  // namespace kstream::runtime
