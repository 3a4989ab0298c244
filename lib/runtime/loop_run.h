// LoopRun: a topology in the loops of its threads, on topics, files, or both.
#ifndef KSTREAM_RUNTIME_LOOP_RUN_H_
#define KSTREAM_RUNTIME_LOOP_RUN_H_

#include <functional>

#include "kstream/runtime.h"
#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

struct LoopCallbacks {
  // A thread has its tasks or waits for them; of `threads`.
  std::function<void(int thread, bool ready, int threads)> on_ready = [](int, bool, int) {};
  ErrorHandler on_error = [](const Status&, int) { return ErrorResponse::kShutdown; };
};

// Runs until the end, a stop or a failure; by then everything done is flushed and committed.
Status RunLoop(RunState* state, OutputFiles* files, const LoopCallbacks& callbacks);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_LOOP_RUN_H_
