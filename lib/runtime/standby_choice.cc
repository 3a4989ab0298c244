#include "runtime/standby_choice.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "topology/graph.h"

namespace kstream::runtime {
namespace {

// Of two texts that differ in the last byte FNV-1a gives numbers that lie close together, and for
// all tasks the same instance would come first: so its bits are mixed (the end of MurmurHash3).
uint64_t Rank(const std::string& instance, TaskId task) {
  uint64_t hash = Fnv1a(fmt::format("{} {}", instance, task.ToString()));
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

}  // namespace

std::string InstanceName(const MemberTag& tag, const std::string& instance_id) {
  return instance_id.empty() ? tag.instance : instance_id;
}

LiveInstances LiveInstances::Of(const transport::GroupDescription& group) {
  LiveInstances live;
  for (const transport::GroupMember& member : group.members) {
    const std::optional<MemberTag> tag = MemberTag::Parse(member.client_id);
    if (!tag) continue;
    // A thread's own is "<id>-<thread>".
    const std::string id = member.instance_id.substr(0, member.instance_id.rfind('-'));
    const std::string name = InstanceName(*tag, id);
    live.names.insert(name);
    for (const transport::TopicPartition& lead : member.assigned) live.owners[lead] = name;
  }
  return live;
}

std::set<TaskId> TasksToFollow(const LiveInstances& live, const RunPlan& plan,
                               const std::set<TaskId>& tasks, const std::set<TaskId>& warm,
                               const std::string& self, int copies) {
  std::set<TaskId> followed;
  if (!live.names.contains(self)) return followed;
  for (const TaskId task : tasks) {
    const auto lead = plan.LeadOf(task);
    const auto owner = lead ? live.owners.find(*lead) : live.owners.end();
    const std::string runs_in = owner == live.owners.end() ? "" : owner->second;
    if (runs_in == self) {
      if (warm.contains(task)) followed.insert(task);
      continue;
    }
    int before = 0;
    for (const std::string& other : live.names) {
      if (other == self || other == runs_in) continue;
      if (Rank(other, task) < Rank(self, task)) before++;
    }
    if (before < copies) followed.insert(task);
  }
  return followed;
}

}  // namespace kstream::runtime
