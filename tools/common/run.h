// Running, for all tools that run a topology: signals, the live line, the last line; and what -X
// dump prints instead.
#ifndef KSTREAM_TOOLS_COMMON_RUN_H_
#define KSTREAM_TOOLS_COMMON_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/reporter.h"
#include "common/stage_options.h"
#include "common/stage_plan.h"
#include "kstream/http.h"
#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream::tools {

// Runs until its end, a signal or --timeout, and reports. `topics`: whether brokers have a part in
// it, which get time to acknowledge. `http`: whether and where it answers HTTP (HttpOf).
Status RunToEnd(Runtime* runtime, const RuntimeOptions& options, bool topics,
                const std::optional<HttpOptions>& http, Reporter* reporter);

// What --http and --token say. `plan`: what --explain=json would print; called if there is --http.
// kUsage: --token without --http.
Result<std::optional<HttpOptions>> HttpOf(const StageOptions& options,
                                          const std::function<std::string()>& plan);

// The properties of the clusters, and how state is kept.
std::string DumpOptions(const std::vector<PlanCluster>& clusters, const RuntimeOptions& options);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_RUN_H_
