// LifeCycle: the state of a runtime, and who is told when it changes (kstream/runtime.h draws it).
// Tested by tests/unit/runtime/life_cycle_test.cc.
#ifndef KSTREAM_RUNTIME_LIFE_CYCLE_H_
#define KSTREAM_RUNTIME_LIFE_CYCLE_H_

#include <mutex>
#include <set>

#include "kstream/runtime.h"
#include "metrics/registry.h"

namespace kstream::runtime {

// Thread-safe.
class LifeCycle {
 public:
  // `shown` follows the state.
  explicit LifeCycle(metrics::State shown = {});

  void SetListener(StateListener listener);

  RuntimeState state() const;
  // False, and nothing happens, when the drawing has no such arrow.
  bool Move(RuntimeState to);

  // A thread has its tasks, or waits for them: kRunning when all `threads` have theirs. Cheap when
  // it says what it has said before.
  void Ready(int thread, bool ready, int threads);

 private:
  bool MoveTold(RuntimeState to);  // with telling_ held
  static bool Allowed(RuntimeState from, RuntimeState to);

  std::mutex telling_;        // held while the listener is called: one call at a time
  mutable std::mutex mutex_;  // guards all below
  RuntimeState state_ = RuntimeState::kCreated;
  StateListener listener_;
  metrics::State shown_;
  std::set<int> ready_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_LIFE_CYCLE_H_
