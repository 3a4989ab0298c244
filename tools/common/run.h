// Running, for all tools that run a topology: signals, the live line, the last line; and what -X
// dump prints instead.
#ifndef KSTREAM_TOOLS_COMMON_RUN_H_
#define KSTREAM_TOOLS_COMMON_RUN_H_

#include <string>
#include <vector>

#include "common/reporter.h"
#include "common/stage_plan.h"
#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream::tools {

// Runs until its end, a signal or --timeout, and reports. `topics`: whether brokers have a part in
// it, which get time to acknowledge.
Status RunToEnd(Runtime* runtime, const RuntimeOptions& options, bool topics, Reporter* reporter);

// The properties of the clusters, and how state is kept.
std::string DumpOptions(const std::vector<PlanCluster>& clusters, const RuntimeOptions& options);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_RUN_H_
