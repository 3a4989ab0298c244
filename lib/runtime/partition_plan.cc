#include "runtime/partition_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace kstream::runtime {
namespace {

using transport::TopicPartition;

std::vector<TopicPartition> PartitionsOf(const InputTopic& topic) {
  std::vector<TopicPartition> partitions;
  for (int32_t i = 0; i < topic.partitions; i++) partitions.push_back({topic.topic, i});
  return partitions;
}

// Where each partition of `topic` ends for this run.
Result<std::map<TopicPartition, int64_t>> EndsOf(const RunState& state, const InputTopic& topic,
                                                 transport::Admin* admin) {
  const std::vector<TopicPartition> partitions = PartitionsOf(topic);
  if (state.from.until_time) return admin->OffsetsForTime(partitions, *state.from.until_time);
  KSTREAM_ASSIGN_OR_RETURN(const auto watermarks, admin->Offsets(partitions));
  std::map<TopicPartition, int64_t> ends;
  for (const auto& [partition, marks] : watermarks) ends[partition] = marks.high;
  return ends;
}

}  // namespace

Result<PartitionPlan> PartitionPlan::Make(
    const RunState& state, const std::map<std::string, std::unique_ptr<transport::Admin>>& admins) {
  PartitionPlan plan;
  bool pattern = false;
  for (const Location& input : state.source().inputs) {
    pattern |= input.is_pattern();
    KSTREAM_ASSIGN_OR_RETURN(const auto topics, admins.at(input.cluster)->Topics(input.name));
    if (topics.empty()) {
      return Status::Cluster(fmt::format("no topic matches {}: check the pattern", input.name));
    }
    for (const auto& [name, partitions] : topics) {
      const InputTopic topic{input.cluster, name, partitions};
      if (std::find(plan.topics.begin(), plan.topics.end(), topic) == plan.topics.end())
        plan.topics.push_back(topic);
    }
  }
  if (!pattern) {
    // max_element gives the first of equals.
    plan.lead = std::max_element(plan.topics.begin(), plan.topics.end(), [](auto& a, auto& b) {
                  return a.partitions < b.partitions;
                })->topic;
  }
  if (state.options.exit_at_end || state.from.until_time) {
    for (const InputTopic& topic : plan.topics) {
      KSTREAM_ASSIGN_OR_RETURN(const auto ends,
                               EndsOf(state, topic, admins.at(topic.cluster).get()));
      for (const auto& [partition, end] : ends) plan.ends[{topic.cluster, partition}] = end;
    }
  }
  return plan;
}

std::vector<InputPartition> PartitionPlan::PartitionsOfTask(int32_t number) const {
  std::vector<InputPartition> partitions;
  for (const InputTopic& topic : topics) {
    if (number < topic.partitions) partitions.push_back({topic.cluster, {topic.topic, number}});
  }
  return partitions;
}

int32_t PartitionPlan::Tasks() const {
  int32_t tasks = 0;
  for (const InputTopic& topic : topics) tasks = std::max(tasks, topic.partitions);
  return tasks;
}

bool PartitionPlan::Holds(const InputPartition& input) const {
  return std::any_of(topics.begin(), topics.end(), [&](const InputTopic& topic) {
    return topic.cluster == input.cluster && topic.topic == input.partition.topic &&
           input.partition.partition < topic.partitions;
  });
}

}  // namespace kstream::runtime
