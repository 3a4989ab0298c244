// Consumer: records of the partitions that one thread reads, and its membership of a group.
//
// A consumer belongs to one thread. Rebalances come as lists in a Batch and are answered by calls
// between polls, so that nothing slow ever happens inside a callback of the client library.
#ifndef KSTREAM_TRANSPORT_CONSUMER_H_
#define KSTREAM_TRANSPORT_CONSUMER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "transport/types.h"

namespace kstream::transport {

// What one Poll brought. Owns the memory that its records point to; destroy it, or clear it by
// handing it to the next Poll, when no record of it is needed any more.
class Batch {
 public:
  virtual ~Batch() = default;

  std::vector<Record> records;  // in the order of each partition

  // Partitions whose end was reached after the records above; `offset` is the position: the offset
  // of the next record to come. Under read_committed this is below an open transaction.
  std::vector<PartitionOffset> ends;

  // Changes of the group's assignment, lead partitions only. `assigned` waits for Assign(),
  // `revoked` for Unassign(); `lost` have already been taken away: drop their work, do not commit.
  std::vector<TopicPartition> assigned, revoked, lost;
  // The group has settled an assignment of this member, if only an empty one: it has joined.
  bool rebalanced = false;

  // Partitions that bring nothing after the records above, ever: files that have ended. Each comes
  // once, and is among `ends` too.
  std::vector<TopicPartition> finished;

  // Of a transport that reads more than it can take as it is (files; see runtime/file_cluster.h).
  // Parallel to `records`, or empty: then a record is where it says that it is, and is as it was
  // read.
  struct Origin {
    const TopicPartition* partition = nullptr;  // one object a partition, of the consumer
    int64_t offset = -1;
    const void* source = nullptr;  // the source that it was decoded for; null: as good for any
  };
  std::vector<Origin> origins;
  std::vector<Record> as_read;
  // Records that are none: records[index] is what was read.
  struct Bad {
    size_t index = 0;
    Status why;
  };
  std::vector<Bad> bad;  // by rising index
};

// Checks a commit before it is sent: metadata must be UTF-8 text without NUL of at most
// kMaxCommitMetadata bytes, or it would not come back as it is (kCluster names the partition).
Status CheckMetadata(std::span<const PartitionOffset> offsets);

class Consumer {
 public:
  virtual ~Consumer() = default;

  virtual std::unique_ptr<Batch> NewBatch() = 0;

  // Joins the group of the configuration, following `topics` (names, or patterns that begin with
  // ^).
  virtual Status Subscribe(const std::vector<std::string>& topics) = 0;

  // Adds partitions to what is read, from explicit offsets (or kOffsetBeginning / kOffsetEnd).
  virtual Status Assign(std::span<const PartitionOffset> partitions) = 0;
  // Takes partitions away; for revoked ones this lets the rebalance go on.
  virtual Status Unassign(std::span<const TopicPartition> partitions) = 0;
  // Stops and restarts delivery; the prefetched records of a paused partition are thrown away and
  // read again on Resume.
  virtual Status Pause(std::span<const TopicPartition> partitions) = 0;
  virtual Status Resume(std::span<const TopicPartition> partitions) = 0;

  // Waits up to `wait` for something (0: not at all), clears *batch and fills it with at most
  // `most` records (and never more than the transport thinks good): a stage that is slow polls more
  // often that way. A failure ends the stage: kCluster (unreachable beyond the deadline,
  // unauthorised, topic gone, offset out of range with numbers), kFenced. Transient faults are
  // retried inside and logged.
  virtual Status Poll(std::chrono::milliseconds wait, Batch* batch, size_t most = SIZE_MAX) = 0;

  // Says that this thread makes progress, so that a batch that takes long does not cost the member
  // its place in the group (max.poll.interval.ms since the last Poll). Cheap, serves nothing.
  virtual void KeepAlive() = 0;

  // Commits positions (offset of the next record to read). Asynchronous: `done` is called from a
  // later Poll of the same thread. CommitSync blocks until it is decided. kFenced: the group has
  // moved on, and whoever has the partitions next reads again what was not committed; when it has
  // put this member out for good, the next Poll or Close says so.
  //
  // How long CommitSync blocks at most, from the call on: 2 s while revoked partitions wait for
  // Unassign, since the whole group waits for them (kFenced); 5 s while the group moves: this
  // member joins, which keeps a commit back, or the group refuses it for now (kFenced); and else,
  // without an answer of its coordinator, the deadline of the cluster (kCluster). An asynchronous
  // commit is kept back for as long as the join takes; a newer one of its partitions replaces it.
  virtual void CommitAsync(std::vector<PartitionOffset> offsets,
                           std::function<void(Status)> done) = 0;
  virtual Status CommitSync(std::vector<PartitionOffset> offsets) = 0;

  // The group's committed offsets; kNoOffset where there is none.
  virtual Result<std::vector<PartitionOffset>> Committed(
      std::span<const TopicPartition> partitions) = 0;

  // Where a partition that is read ends, as last heard with records of it: no request is made.
  // nullopt: nothing was heard yet, or it has no offsets to speak of.
  virtual std::optional<int64_t> HighWatermark(const TopicPartition& partition) const = 0;

  // Leaves the group (a static member stays until its session ends) and closes. kFenced: the group
  // had put this member out for good.
  virtual Status Close() = 0;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_CONSUMER_H_
