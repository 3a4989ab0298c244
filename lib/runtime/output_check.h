// What a run must not write: the internal topics of its application, and what it reads, by whatever
// name of their cluster. Tested by tests/unit/runtime/output_check_test.cc.
#ifndef KSTREAM_RUNTIME_OUTPUT_CHECK_H_
#define KSTREAM_RUNTIME_OUTPUT_CHECK_H_

#include "kstream/status.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// kUsage: an output is one of these. Before the clusters are made their names are all that is
// known; afterwards those of which several are in use are asked who they are, which fails as an
// Admin does. Topics that records name are checked as they come: ThreadOutputs.
Status CheckOutputs(const RunState& state);

// Whether what is written to `output` is read from `input`, whatever names their cluster has. Fails
// as an Admin does, where clusters have to be asked who they are.
Result<bool> Feeds(const RunState& state, const Location& output, const Location& input);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_OUTPUT_CHECK_H_
