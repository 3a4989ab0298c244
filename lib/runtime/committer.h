// Committer: when an epoch of a thread is done, and what is committed then.
//
// An epoch is sealed at a record boundary: processors give what they held back, stores journal what
// has changed, positions are copied, and records sent from then on carry the next tag. The thread
// goes on at once; a later turn of its loop finds the epoch safe. At most one epoch is sealed at a
// time, so tags modulo 2 tell epochs apart.
//
// At least once: safe is what is acknowledged. Then stores keep the epoch, beside the thread, and
// its offsets are committed: in this order, so that after a crash a store may have seen records
// that are read again, but has lost none.
//
// Exactly once: what was sent and the offsets are one transaction, and stores keep the epoch when
// it is committed: on disk there is never what was aborted. An epoch in which nothing was sent and
// no position has moved is no transaction.
//
// Tested by tests/unit/runtime/committer_test.cc.
#ifndef KSTREAM_RUNTIME_COMMITTER_H_
#define KSTREAM_RUNTIME_COMMITTER_H_

#include <chrono>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "kstream/status.h"
#include "runtime/thread_metrics.h"
#include "runtime/thread_outputs.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// The tasks of a thread, as a commit sees them. Called in this order.
class CommitHost {
 public:
  virtual ~CommitHost() = default;
  // Processors forward and store what they held back.
  virtual Status FlushTasks() = 0;
  // Stores journal what has changed since the last seal.
  virtual Status SealStores() = 0;
  // Positions that have changed since they were last given out (`all`: every owned one).
  virtual Result<std::vector<transport::PartitionOffset>> Positions(bool all) = 0;
  // What to call once these positions are committed, if they are: tasks learn of it.
  virtual std::function<void()> WhenCommitted() = 0;
  // All that was sent before the seal is safe: stores keep what they sealed. False: they are still
  // at it, and are asked again; never with `wait`.
  virtual Result<bool> KeepStores(bool wait) = 0;
};

// Belongs to one thread.
class Committer {
 public:
  // `consumer` null: no offsets are committed; epochs bound what is in flight, and stores keep
  // them.
  Committer(ThreadOutputs* outputs, transport::Consumer* consumer,
            std::chrono::milliseconds interval, CommitHost* host, const Clock& clock,
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

  // These partitions were lost: whatever is sealed for them belongs to others now. Not with
  // transactions, which are whole or not at all: Reset.
  void Forget(const std::vector<transport::TopicPartition>& partitions);

  // Begins anew, with outputs that were opened anew: what was open or sealed is gone.
  void Reset();

  // How many epochs with something in them are safe by now.
  int64_t kept() const { return kept_; }

 private:
  Status Seal(Clock::Instant now);
  // Whether the sealed epoch is safe, or becomes it within `wait`.
  Result<bool> Safe(std::chrono::milliseconds wait);
  // Whether the stores have the sealed epoch, which is safe; then it is over.
  Result<bool> Keep(bool wait);
  Status FinishTransactions();
  void Committed(const Status& status, Clock::Instant since);
  // Counts a commit that was decided now.
  void Count(const Status& status, Clock::Instant since);

  ThreadOutputs* const outputs_;
  transport::Consumer* const consumer_;
  const std::chrono::milliseconds interval_;
  CommitHost* const host_;
  const Clock& clock_;
  CommitMetrics* const metrics_;

  uint32_t epoch_ = 0;
  bool sealed_ = false;
  bool safe_ = false;  // the sealed epoch is, and stores are about to keep it
  bool sealed_something_ = false;
  int64_t kept_ = 0;
  std::vector<transport::PartitionOffset> sealed_positions_;
  std::function<void()> when_committed_ = [] {};  // of the sealed epoch
  bool requested_ = false;
  Clock::Instant last_seal_, last_full_;
  int failed_commits_ = 0;  // in a row
  Status failure_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_COMMITTER_H_
