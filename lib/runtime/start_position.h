// Where a task begins in a partition: its commit if the log still holds it, else what --from says.
// Tested by tests/unit/runtime/start_position_test.cc.
#ifndef KSTREAM_RUNTIME_START_POSITION_H_
#define KSTREAM_RUNTIME_START_POSITION_H_

#include <cstdint>

#include "kstream/status.h"
#include "runtime/run_state.h"
#include "runtime/stage_task.h"
#include "transport/admin.h"

namespace kstream::runtime {

// `partition.given_out` is what is committed, or kNoOffset; `from` what holds without a commit.
// kCluster, with numbers: the log has lost the commit, and the user has not said --from.
Result<int64_t> StartPosition(const RunState& state, const TaskPartition& partition,
                              const transport::Admin::Watermarks& log, int64_t from);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_START_POSITION_H_
