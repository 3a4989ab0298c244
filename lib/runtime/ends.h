// Ends: where a run that ends (-e, @T1:T2, files) stops in each partition, and whether others still
// work towards it.
//
// What comes from outside ends where it ended at the start. A topic between two stages ends where
// it ends once the stage above is *complete*: all of its partitions processed to their ends,
// everywhere, and committed (with a group) or acknowledged (in this process). Stages are completed
// from the top down.
//
// A member of a group ends when what is not done here is committed: what others have may still come
// here, and what one has that was killed does when its session is over. Tested by
// tests/unit/runtime/ends_test.cc.
#ifndef KSTREAM_RUNTIME_ENDS_H_
#define KSTREAM_RUNTIME_ENDS_H_

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "kstream/status.h"
#include "runtime/admins.h"
#include "runtime/plan.h"
#include "runtime/run_state.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// Thread-safe.
class Ends {
 public:
  Ends(const RunState* state, Admins* admins);

  // The end of a partition; nullopt: there is none, or it is not known yet.
  std::optional<int64_t> Of(const RunPlan& plan, const InputPartition& input) const;

  // The task has come to its end in this process. Without a group: what it wrote is acknowledged.
  void Completed(TaskId task);
  // It has left, or begins again.
  void Left(TaskId task);

  // Whether a stage is complete. With a group it is asked at most once a second, by way of
  // `consumer`, whose group keeps the positions. Failures to ask are a no.
  bool IsComplete(const RunPlan& plan, size_t stage, transport::Consumer* consumer);
  // Whether nothing is left to do for this process, a member of a group: each task has come to its
  // end in it, or elsewhere and is committed. Asked as IsComplete is.
  bool AllDone(const RunPlan& plan, transport::Consumer* consumer);
  // Looks whether stages have become complete, so that those below have ends.
  Status Update(const RunPlan& plan, transport::Consumer* consumer);
  // One more whenever Of knows more.
  int version() const;

 private:
  bool MayAsk(size_t stage);
  Result<bool> Committed(const RunPlan& plan, size_t stage, const std::vector<int32_t>& tasks,
                         transport::Consumer* consumer);

  const RunState* const state_;
  Admins* const admins_;

  mutable std::mutex mutex_;                  // guards all below
  std::vector<std::set<int32_t>> completed_;  // here: tasks of each stage
  std::vector<bool> complete_;                // stages, once and for ever
  std::vector<std::optional<Clock::Instant>> asked_;
  std::vector<bool> known_;                  // stages whose inputs have ends
  std::map<InputPartition, int64_t> inner_;  // ends of what stages write
  int version_ = 0;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_ENDS_H_
