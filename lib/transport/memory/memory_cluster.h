// MemoryCluster: a Kafka cluster in this process, the twin of kafka/ for tests: topics,
// transactions and groups behind the interfaces of transport/, with the same promises and no clock
// of its own.
//
// It keeps what decides whether a stage is right: positions, ends, commits, rebalances that wait
// for their answer, acknowledgements that come later than sends. A test drives it from outside: it
// holds acknowledgements back, lets deliveries and polls fail, takes partitions away. With OnIdle a
// stage of one thread and its test take turns in that one thread, so nothing is left to timing.
//
// Copies are the same cluster. Thread-safe. Misuse by a test (a topic that does not exist) throws
// std::out_of_range. Tested by tests/unit/transport/memory/.
#ifndef KSTREAM_TRANSPORT_MEMORY_MEMORY_CLUSTER_H_
#define KSTREAM_TRANSPORT_MEMORY_MEMORY_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/cluster.h"
#include "transport/memory/log.h"

namespace kstream::transport::memory {

struct Broker;

class MemoryCluster final : public Cluster {
 public:
  explicit MemoryCluster(const std::string& name = "");

  const std::string& name() const override;
  Result<std::unique_ptr<Consumer>> NewConsumer(const ConsumerOptions& options) override;
  Result<std::unique_ptr<Producer>> NewProducer(const ProducerOptions& options = {}) override;
  Result<std::unique_ptr<Admin>> NewAdmin() override;

  void CreateTopic(const std::string& topic, int32_t partitions,
                   const std::map<std::string, std::string>& config = {});
  // Together with CreateTopic: the topic is made anew. Commits stay.
  void DeleteTopic(const std::string& topic);
  // Members of groups that follow the topic are given the new partitions.
  void GrowTopic(const std::string& topic, int32_t total);

  // Returns the record's offset.
  int64_t Produce(const std::string& topic, int32_t partition, StoredRecord record,
                  Transaction transaction = kNoTransaction);
  // A transaction opens in a partition with its first record and ends with a marker there.
  Transaction BeginTransaction();
  void EndTransaction(Transaction transaction, bool commit);
  void DeleteRecords(const TopicPartition& partition, int64_t low);
  // The records that a read_committed reader finds, by partition and offset.
  std::vector<StoredRecord> Read(const std::string& topic) const;

  // kNoOffset: none.
  int64_t Committed(const std::string& group, const TopicPartition& partition) const;
  void Commit(const std::string& group, const PartitionOffset& offset);
  // How many partitions each member owns, in the order of joining.
  std::vector<size_t> Members(const std::string& group) const;
  // Puts the owner of a partition out of its group; it hears so at its next Poll and joins again.
  void Evict(const std::string& group, const TopicPartition& partition);
  // The member with this client id (or member id, as DescribeGroup tells it) is no more: its
  // partitions are free, a static one's too, and nothing that its consumer does counts: kFenced.
  void Crash(const std::string& group, const std::string& member);
  // The session of a static member is over, as after its consumer was closed for too long.
  void ExpireStatic(const std::string& group, const std::string& instance_id) {
    Crash(group, instance_id);
  }

  // The timeout of the transaction that the holder of this id has begun is over: it is aborted, and
  // its holder, if it lives, hears so when it next sends or commits: kCluster, recoverable.
  void ExpireTransaction(const std::string& transactional_id);

  // While held, what is sent stays in its producer: neither written nor acknowledged, and no
  // transaction that has something to write is decided.
  void HoldAcks(bool hold);
  // From now on every delivery (`most` of them), poll or commit (of a transaction too) fails so;
  // ok: they work again.
  void FailDeliveries(const Status& status, int64_t most = INT64_MAX);
  void FailPolls(const Status& status);
  void FailCommits(const Status& status);
  // The next transaction that is decided fails so. `committed`: it is committed all the same, as
  // after an answer that got lost.
  void FailTransaction(const Status& status, bool committed);

  // The most records that a Poll brings; 500 at first.
  void LimitPolls(size_t records);
  // No Poll reads of a partition while this is true of it, as if its leader were slow; null: none.
  // Called with the cluster locked.
  void Hide(std::function<bool(const TopicPartition&)> hidden);

  // Grows with everything that a client does here or is told: while it stands, all is quiet.
  int64_t Activity() const;

  // Called, without locks, in the thread of each client that would have to wait, instead of
  // waiting: a Poll that found nothing, a Flush that is not acknowledged.
  void OnIdle(std::function<void()> idle);

 private:
  std::shared_ptr<Broker> broker_;
};

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_MEMORY_CLUSTER_H_
