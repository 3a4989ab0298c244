// Grouper: which partitions of a stage's inputs make one task (KIP-28's partition grouper).
//
//   default          partition i of every input topic is in task i
//   single           one task reads everything
//   by-topic         one task a topic
//   broadcast:TOPIC  as default, and every task reads all of TOPIC as well
//
// The result is recorded in the application's manifest at its first start. From then on a partition
// stays in its task, and a new one joins a task that is there or makes a new one; a grouper of the
// user's is held to that (kRefused otherwise).
#ifndef KSTREAM_GROUPER_H_
#define KSTREAM_GROUPER_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kstream/status.h"

namespace kstream {

// A topic that an input names or matches. A grouper sees an input file as a topic at home that is
// called "file:PATH" ("file:-" is stdin), which no real topic can be, with --partitions partitions,
// and names it so in what it returns.
struct InputTopic {
  std::string cluster;  // as in Location: empty is home
  std::string topic;
  int32_t partitions = 0;
  auto operator<=>(const InputTopic&) const = default;
};

struct InputPartition {
  std::string cluster;
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const InputPartition&) const = default;
};

// The partitions of each task, by number. A partition may be in several.
using TaskLayout = std::vector<std::vector<InputPartition>>;

// Topics come in the order of the inputs, those of a pattern by name. Must give the same answer for
// the same topics in every process.
using Grouper = std::function<Result<TaskLayout>(const std::vector<InputTopic>& topics)>;

}  // namespace kstream

#endif  // KSTREAM_GROUPER_H_
