// Committer: at-least-once. Offsets of an epoch are committed when every output of it is
// acknowledged.
//
// An epoch is sealed at a record boundary: its positions are copied and records sent from then on
// carry the next tag. The thread goes on at once; a later turn of its loop finds the
// acknowledgements complete and commits. At most one epoch is sealed at a time, so tags modulo 2
// tell epochs apart. Tested by tests/unit/runtime/committer_test.cc.
#ifndef KSTREAM_RUNTIME_COMMITTER_H_
#define KSTREAM_RUNTIME_COMMITTER_H_

#include <chrono>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "kstream/status.h"
#include "runtime/outputs.h"
#include "runtime/thread_metrics.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// Belongs to one thread.
class Committer {
 public:
  // Positions that have changed since they were last given out (`all`: every owned one).
  using Positions = std::function<Result<std::vector<transport::PartitionOffset>>(bool all)>;

  // `consumer` null: nothing is committed, epochs only bound what is in flight.
  Committer(ThreadOutputs* outputs, transport::Consumer* consumer,
            std::chrono::milliseconds interval, Positions positions, const Clock& clock,
            CommitMetrics* metrics);

  // The next turn seals, interval or not.
  void Request() { requested_ = true; }

  // One turn: seals when the interval is over, commits when the sealed epoch is acknowledged. A
  // failure means that outputs were lost or that commits fail for long: nothing more may be
  // committed.
  Status Turn();

  // Writes, waits for every acknowledgement and commits what is done, blocking. For revocations and
  // the end.
  Status Finish();

  // These partitions were lost: whatever is sealed for them belongs to others now.
  void Forget(const std::vector<transport::TopicPartition>& partitions);

 private:
  Status Seal(Clock::Instant now);
  void Committed(const Status& status, Clock::Instant since);
  // Counts a commit that was decided now.
  void Count(const Status& status, Clock::Instant since);

  ThreadOutputs* const outputs_;
  transport::Consumer* const consumer_;
  const std::chrono::milliseconds interval_;
  const Positions positions_;
  const Clock& clock_;
  CommitMetrics* const metrics_;

  uint32_t epoch_ = 0;
  bool sealed_ = false;
  std::vector<transport::PartitionOffset> sealed_positions_;
  bool requested_ = false;
  Clock::Instant last_seal_, last_full_;
  int failed_commits_ = 0;  // in a row
  Status failure_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_COMMITTER_H_
