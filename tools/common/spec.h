// Spec: a plan as a topology file (--print-spec). kstream-run would run the same stage from it.
#ifndef KSTREAM_TOOLS_COMMON_SPEC_H_
#define KSTREAM_TOOLS_COMMON_SPEC_H_

#include <string>

#include "common/stage_plan.h"
#include "kstream/status.h"

namespace kstream::tools {

// Pretty-printed JSON with a line end. Brokers and properties belong to the place where a topology
// runs and are left out. kUsage when a name is not UTF-8.
Result<std::string> ToSpec(const StagePlan& plan);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_SPEC_H_
