// RunPlan: what there is to read: the topics of every stage, its tasks, and where the run ends.
//
// A plan never changes; when topics grow the Planner makes another. Tested by
// tests/unit/runtime/planner_test.cc.
#ifndef KSTREAM_RUNTIME_PLAN_H_
#define KSTREAM_RUNTIME_PLAN_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kstream/grouper.h"
#include "kstream/status.h"
#include "runtime/manifest.h"
#include "runtime/run_state.h"
#include "runtime/stage_task.h"
#include "transport/types.h"

namespace kstream::runtime {

struct StagePlan {
  std::vector<InputTopic> topics;  // in the order of the inputs; those of a pattern by name
  TaskLayout tasks;
  Lead lead;                        // in the group; without a topic where there is none
  std::set<InputPartition> shared;  // read by several tasks
  bool operator==(const StagePlan&) const = default;
};

struct RunPlan {
  std::vector<StagePlan> stages;  // parallel to TopologyGraph::stages
  // Of the application, as its manifest says; empty where there is none. Stores carry it.
  std::string incarnation;
  // Offsets to stop at, where the run has an end that is known at the start.
  std::map<InputPartition, int64_t> ends;
  // Partitions that were there at the start: --from is about them.
  std::set<InputPartition> at_start;

  std::optional<TaskId> TaskOf(const transport::TopicPartition& lead) const;
  std::optional<transport::TopicPartition> LeadOf(TaskId task) const;
  // All tasks, by stage and number.
  std::vector<TaskId> Tasks() const;
  // The partitions of a task as its sources read them, in the order that decides between equal
  // timestamps; positions are not set. Empty for a task that the plan does not know.
  Result<std::vector<TaskPartition>> PartitionsOf(const RunState& state, TaskId task) const;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_PLAN_H_
