// StandbyChoice: which tasks of other instances this one keeps warm.
//
// Instances do not talk to each other about it: each knows who else lives and who runs what from
// the description of the group, and all come to the same answer. For a task the instances other
// than its owner are put in an order by a hash of instance and task (rendezvous hashing), and the
// first N follow it. So an instance that comes or goes changes the choice for its own share of the
// tasks alone. An instance is told apart by its --instance-id, which outlives a restart as its
// directory does; a dynamic one by the name that its process drew. Tested by
// tests/unit/runtime/standby_choice_test.cc.
#ifndef KSTREAM_RUNTIME_STANDBY_CHOICE_H_
#define KSTREAM_RUNTIME_STANDBY_CHOICE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "runtime/group_check.h"
#include "runtime/plan.h"
#include "runtime/stage_task.h"
#include "transport/admin.h"

namespace kstream::runtime {

// The instances of a group, and what they have been given.
struct LiveInstances {
  std::set<std::string> names;
  std::map<transport::TopicPartition, std::string> owners;  // of leads

  // Members that are no kstream are no instances.
  static LiveInstances Of(const transport::GroupDescription& group);
};

// What an instance is called there. `instance_id`: as RunShared has it.
std::string InstanceName(const MemberTag& tag, const std::string& instance_id);

// Of `tasks` those that `self` follows, if `copies` instances follow each. A task that nobody owns
// at the moment is followed as if it had an owner elsewhere; one of its own that is `warm` stays so
// until a thread takes it. None while `self` is not in the group.
std::set<TaskId> TasksToFollow(const LiveInstances& live, const RunPlan& plan,
                               const std::set<TaskId>& tasks, const std::set<TaskId>& warm,
                               const std::string& self, int copies);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STANDBY_CHOICE_H_
