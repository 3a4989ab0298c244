// What kstream-run shows of a topology: its nodes as the file has them, its stages and tasks, and
// what stands in the way of equal results and of exactly-once.
#ifndef KSTREAM_TOOLS_KSTREAM_RUN_EXPLAIN_TOPOLOGY_H_
#define KSTREAM_TOOLS_KSTREAM_RUN_EXPLAIN_TOPOLOGY_H_

#include <string>

#include "common/explain.h"
#include "kstream/topology_file.h"

namespace kstream::tools {

// `name`: of the file.
Explanation ExplainTopology(const BuiltTopology& built, const RuntimeOptions& options,
                            const std::string& name);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_RUN_EXPLAIN_TOPOLOGY_H_
