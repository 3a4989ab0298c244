// Explain: a plan for people and programs: nodes, places, expressions and what runs them, tasks
// and the topics that would be created.
#ifndef KSTREAM_TOOLS_COMMON_EXPLAIN_H_
#define KSTREAM_TOOLS_COMMON_EXPLAIN_H_

#include <string>
#include <string_view>

#include "common/stage_plan.h"

namespace kstream::tools {

// `topology` is that of the plan; `form`: "text", "json" or "dot" (Graphviz).
std::string Explain(const StagePlan& plan, const Topology& topology, std::string_view tool,
                    std::string_view form);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_EXPLAIN_H_
