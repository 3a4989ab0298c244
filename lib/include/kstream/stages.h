// Stages: the parts of a topology that run as tasks of their own and meet in topics alone, for
// programs that show a topology or run one part of it.
#ifndef KSTREAM_STAGES_H_
#define KSTREAM_STAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/location.h"
#include "kstream/status.h"
#include "kstream/topology.h"

namespace kstream {

struct Stage {
  std::vector<std::string> nodes;   // parents before children; the first is a source
  std::vector<Location> inputs;     // of its sources, each once
  std::vector<Location> outputs;    // of its sinks, each once; not those that records name
  std::vector<std::string> stores;  // that it keeps
  std::vector<int> upstream;        // numbers of the stages that write what it reads
  bool topic_of_record = false;     // whether records name a topic that they go to
};

// In the order of their numbers, which are those in the names of tasks.
KSTREAM_EXPORT std::vector<Stage> StagesOf(const Topology& topology);

// The stage that has `node`, as a topology of its own: a process that runs it meets those that run
// the others in topics. What is an internal repartition topic of `app` becomes a plain topic of the
// same name, "<app>-<name>-repartition". kUsage: there is no such node.
KSTREAM_EXPORT Result<Topology> OnlyStage(const Topology& topology, std::string_view node,
                                          std::string_view app);

}  // namespace kstream

#endif  // KSTREAM_STAGES_H_
