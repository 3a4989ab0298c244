// Layout: which partitions make which task (kstream/grouper.h), at the first start and at every
// later one.
//
// There is one rule for both: a layout is the recorded one (none at the first start) plus the
// partitions that it lacks, in the place that the grouper has for a new one. So what was in a task
// stays there by construction (check (a) of KIP-28), and a new partition joins a task or makes one
// (check (b)). A function of the user's answers for everything at once, so it alone is checked.
//
// The place of a new partition:
//   default    task i for partition i; where there is none, a new task if the lead can carry it
//              (LayoutRules::max_tasks), else task i modulo the number of tasks
//   single     task 0
//   by-topic   the task of its topic; a new topic is a new task
//   broadcast  of TOPIC: every task; of others: as default
//
// An application has one choice for all its stages. Broadcast is about those that read TOPIC; to
// the others it is default, which is what OfStage says and the manifest records.
//
// A stage with stores knows keys by their partition, and a topic that grows moves keys: that stops
// it (kCluster), unless the grouper keeps the topic together (single, by-topic, the TOPIC of
// broadcast) or a function puts the new partitions into tasks that are there. Tested by
// tests/unit/runtime/layout_test.cc.
#ifndef KSTREAM_RUNTIME_LAYOUT_H_
#define KSTREAM_RUNTIME_LAYOUT_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/grouper.h"
#include "kstream/status.h"
#include "runtime/grouper_choice.h"

namespace kstream::runtime {

// What the manifest says of a stage that has run before.
struct RecordedLayout {
  std::string grouper;  // GrouperChoice::ToString
  TaskLayout tasks;
};

struct LayoutRules {
  bool stateful = false;  // the stage has a store
  // How many tasks the lead can carry: its partitions now; no limit for an internal one, which the
  // runtime makes larger. At least 1, and not less than the recorded number.
  size_t max_tasks = std::numeric_limits<size_t>::max();
};

// The layout for `topics` as they are now: at least one, each once, in the order of the inputs and
// those of a pattern by name. `recorded` is null at the first start. Partitions of a task come in
// the order of `topics`, then by number; tasks keep their numbers, and new ones come last.
//
// `grouper` is that of the stage.
//
// kUsage: TOPIC of broadcast is the only input; a function's layout is empty, has an empty task,
// names a partition that does not exist or one twice in a task, or leaves one out.
// kRefused: another grouper than the recorded one, or a function that moves a partition.
// kCluster, with both counts: a topic vanished, shrank, or grew under a stage with stores; a new
// topic needs a task that the stage cannot have.
Result<TaskLayout> LayOut(const GrouperChoice& grouper, const std::vector<InputTopic>& topics,
                          const RecordedLayout* recorded, const LayoutRules& rules);

// The topic whose assignment stands for the tasks of a stage.
struct LeadChoice {
  bool internal = false;  // partitions of <app>.tasks, one for each task
  std::string topic;      // else this input at home
  int32_t partitions = 0;
};

// At the first start (later the manifest says it), `grouper` being that of the stage: the input at
// home with most partitions, the first of equals. Internal, if the stage has a pattern, another
// grouper than default, no input at home, or an input elsewhere with more partitions than each at
// home.
LeadChoice LeadOf(const GrouperChoice& grouper, bool pattern,
                  const std::vector<InputTopic>& topics);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_LAYOUT_H_
