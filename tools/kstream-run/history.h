// History: whether topics keep their records for as long as the nodes below look back.
#ifndef KSTREAM_TOOLS_KSTREAM_RUN_HISTORY_H_
#define KSTREAM_TOOLS_KSTREAM_RUN_HISTORY_H_

#include <string>
#include <vector>

#include "kstream/online_check.h"
#include "kstream/stages.h"
#include "kstream/topology_file.h"

namespace kstream::tools {

// Whether the stage has what the topology has for a node of the file: by its own name, by that of
// its store, or, of a topic in between, the end from which it goes on.
bool Holds(const Stage& stage, const TopologyFileNode& node);

// What the brokers delete too early, as warnings: it harms who begins anew (a first start, a reset)
// or was away for longer, not who follows.
std::vector<std::string> CheckHistory(const BuiltTopology& built,
                                      const std::vector<TopicFacts>& topics);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_RUN_HISTORY_H_
