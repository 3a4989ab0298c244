// RunStatus: how a run stands, as one line of JSON for people's programs: what the metrics say, put
// together by task and by store, with rates. share/doc/kstream/live.md tells the members. Tested by
// tests/unit/runtime/run_status_test.cc.
#ifndef KSTREAM_RUNTIME_RUN_STATUS_H_
#define KSTREAM_RUNTIME_RUN_STATUS_H_

#include <chrono>
#include <deque>
#include <mutex>
#include <string>

#include "kstream/runtime.h"
#include "metrics/snapshot.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

// Thread-safe.
class RunStatus {
 public:
  explicit RunStatus(const RunState* state);

  // `now` is of the run's registry.
  std::string Line(RuntimeState life, const metrics::Snapshot& now);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Passed {
    Time when;
    double read = 0, written = 0;
  };
  // Records a second, over the last ten seconds or so: since the oldest count that is remembered.
  // Whoever else asks does not shorten it.
  Passed RatesAt(const metrics::Snapshot& now);

  const RunState* const state_;
  const Time start_;
  std::mutex mutex_;  // guards passed_
  std::deque<Passed> passed_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_RUN_STATUS_H_
