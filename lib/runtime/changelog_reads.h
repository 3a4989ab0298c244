// ChangelogReads: changelog partitions that are being read into the stores that they journal.
//
// A store goes on from its checkpoint if that is of this application's incarnation, lies within the
// log, is not older than what tombstones stay for, and the last record it contains is still the one
// that is there. Otherwise it is made anew from the beginning of the log, and the log says why.
//
// Whose reads these are is all that tells a restore, which ends where the log ended when it began,
// from a standby, which has no end. What is read is kept apart from who reads: batches are handed
// in, and what a consumer has to do for it is asked for, so that a read may be ended in one thread
// while another waits for records. Tested by tests/unit/runtime/restore_test.cc and
// standbys_test.cc.
#ifndef KSTREAM_RUNTIME_CHANGELOG_READS_H_
#define KSTREAM_RUNTIME_CHANGELOG_READS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "runtime/run_shared.h"
#include "runtime/task_stores.h"
#include "transport/consumer.h"

namespace kstream::runtime {

// For one thread at a time; but see Begin.
class ChangelogReads {
 public:
  struct Read {
    TaskId task;
    TaskStores::Store* store = nullptr;
    std::string incarnation;  // of the application
    int64_t low = 0;
    int64_t position = 0;
    int64_t end = 0;
    bool check = false;    // the first record must be the last one of the checkpoint
    bool anew = false;     // begun anew with this batch, whose end is of the reading before
    bool reached = false;  // it has come to where the log ends, once
    int64_t records = 0;
  };
  using Reads = std::map<transport::TopicPartition, Read>;

  // What the consumer has to do, in this order, for what was added and removed.
  struct Moves {
    std::vector<transport::TopicPartition> leave;
    std::vector<transport::PartitionOffset> read;
    Status Make(transport::Consumer* consumer) const;
  };

  static constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

  explicit ChangelogReads(RunShared* shared) : shared_(shared) {}

  // A consumer for changelogs: without a group, of what is committed.
  static Result<std::unique_ptr<transport::Consumer>> NewConsumer(RunShared* shared);

  // Where the changelog of a store is to be read from; a store that cannot go on is cleared. The
  // read is for Add: nothing here is touched, so that others may use it meanwhile. kState.
  Result<Read> Begin(TaskId id, TaskStores::Store* store, transport::Admin::Watermarks log,
                     const std::string& incarnation) const;
  void Add(const Read& read);
  // Ends the reads of a task; of one.
  void Remove(TaskId id);
  void Remove(const transport::TopicPartition& name);

  // Takes records into the stores. The tasks whose stores could not take theirs, each with its
  // first failure: their reads stand where they were.
  std::map<TaskId, Status> Take(const transport::Batch& batch);

  Reads& reads() { return reads_; }
  Moves TakeMoves();

 private:
  Status StartAnew(Read* read, const std::string& why) const;
  Status Apply(Read* read, std::span<const Record> records);
  Status Load(Read* read, std::span<const Record> records, store::Checkpoint at);
  void Leave(const transport::TopicPartition& name);

  RunShared* const shared_;
  Reads reads_;
  Moves moves_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_CHANGELOG_READS_H_
