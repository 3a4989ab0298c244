// Producer: sends records to topics of one cluster and tells, tag by tag, what has been
// acknowledged; or, with a transactional id, makes records and offsets visible together.
//
// Belongs to one thread. Tags are the epochs of commits: the offsets of an epoch may be committed
// when Pending(tag) is 0 and failure() is ok.
//
// Transactions (all of it kUsage for a producer without a transactional id):
//
//   Open ... -> InitTransactions -> Begin -> Send* -> Seal -> [Send* | Poll | Commit -> false]*
//                                              ^                      | Commit -> true
//                                              +----------------------+
//
// Seal ends the epoch and says which offsets go with it; Commit is called until it says that both
// are visible. The stage goes on meanwhile: what is sent after Seal waits in the producer, at most
// ProducerOptions::buffer_bytes of it, and follows in the same order in the next transaction, which
// Commit has begun when it returns true. Never are there two producers in turn: their records could
// overtake each other.
//
// Every failure is for good: see failure() and recoverable(). Destroying a producer leaves its open
// transaction to the next holder of the id or to the transaction's timeout; Abort ends it now.
#ifndef KSTREAM_TRANSPORT_PRODUCER_H_
#define KSTREAM_TRANSPORT_PRODUCER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "transport/types.h"

namespace kstream::transport {

class Consumer;

struct ProducerOptions {
  std::string transactional_id = "";  // empty: no transactions
  // What is retried is written once and in order, whatever the user's properties say.
  bool idempotent = false;
  // The longest that a record may be under way, however large the user's message.timeout.ms is; 0:
  // as the transport thinks good for the session timeout of its consumers.
  std::chrono::milliseconds message_timeout{0};
  // Of the keys, values and headers that wait for a commit (see Seal).
  size_t buffer_bytes = size_t{64} << 20;
};

struct TopicOptions {
  bool track_offsets = false;  // for Acknowledged()
};

class Producer {
 public:
  virtual ~Producer() = default;

  // A handle for a topic, looked up once; the producer owns it. kCluster when it does not exist.
  // Each transport derives its own. Opened again, the options add up. A transactional producer
  // opens what it knows before InitTransactions: topics that come later may be slower.
  struct Topic {};
  virtual Result<Topic*> Open(std::string_view topic, const TopicOptions& options = {}) = 0;

  // Queues a copy of the record's key, value, headers and timestamp. `partition` -1: by its
  // partition_key, else by the partitioner. When the queue, or the buffer behind Seal, is full,
  // waits for room. kData: this record alone is refused (larger than the topic's max.message.bytes,
  // a timestamp that the topic or the protocol refuses, a partition that does not exist); nothing
  // else suffers.
  virtual Status Send(Topic* topic, int32_t partition, const Record& record, uint32_t tag) = 0;

  // Serves acknowledgements, without waiting when `wait` is 0.
  virtual void Poll(std::chrono::milliseconds wait) = 0;
  // How many records with this tag (modulo 2: epochs follow each other) are not acknowledged yet.
  virtual uint64_t Pending(uint32_t tag) const = 0;
  // The offset of the last acknowledged record with this tag (modulo 2) in a partition of a topic
  // that is tracked; kNoOffset: none is known. Whoever follows a partition keeps the largest of the
  // epochs that are done: where an epoch sent nothing, an older one's offset is told.
  virtual int64_t Acknowledged(const Topic* topic, int32_t partition, uint32_t tag) const = 0;
  // The first failure since the start; ok while there is none. It never heals. kFenced: another
  // producer has taken the transactional id over.
  virtual Status failure() const = 0;
  // Whether a failure() is that of one transaction: what a new producer with the same id sends from
  // the committed offsets on may well succeed (a record that was not acknowledged, an unknown
  // outcome, a group that has moved on). False: it would fail again.
  virtual bool recoverable() const { return false; }
  // Waits until everything is acknowledged, or failed, or the time is over (kCluster). Not after
  // Seal.
  virtual Status Flush(std::chrono::milliseconds limit) = 0;

  // Makes this the one holder of the transactional id: former ones are fenced, and what they left
  // open is aborted. Blocks up to the cluster's deadline (kCluster).
  virtual Status InitTransactions();
  // Begins the first transaction, and the next after an Abort without failure.
  virtual Status Begin();
  // Ends the epoch: the transaction holds what was sent so far and these offsets (of the next
  // records to read, with metadata) of the group of `member`, a consumer of the same cluster that
  // lives until the commit is decided. Null without offsets.
  virtual Status Seal(std::vector<PartitionOffset> offsets, Consumer* member);
  // Waits up to `wait` for the outcome of what was sealed. True: it is committed, and the next
  // transaction has begun (should that have failed, failure() says so). False: not decided yet,
  // call it again, soon, and poll the member meanwhile: the transaction goes on by these calls and
  // waits while the member joins, and has a timeout. A failure is
  // failure() from now on: kFenced, kData (a record that the topic refuses), or kCluster.
  virtual Result<bool> Commit(std::chrono::milliseconds wait);
  // Aborts the open transaction and drops what is buffered; nothing is pending after it. After a
  // failure it is worth a try, so that readers need not wait for the timeout.
  virtual Status Abort();
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_PRODUCER_H_
