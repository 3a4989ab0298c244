// MemoryProducer: what is sent waits in the producer until Poll, Flush or Commit delivers it, as
// with a client that sends in the background; only then it is written and acknowledged.
//
// A transaction's records are in the logs before it is committed, invisible to read_committed
// readers; its markers and the group's offsets come in one step under the broker's mutex.
// Tested by tests/unit/transport/memory/clients_test.cc and transactions_test.cc.
#ifndef KSTREAM_TRANSPORT_MEMORY_PRODUCER_H_
#define KSTREAM_TRANSPORT_MEMORY_PRODUCER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "transport/memory/broker.h"
#include "transport/memory/clients.h"
#include "transport/producer.h"

namespace kstream::transport::memory {

class MemoryProducer final : public Producer {
 public:
  MemoryProducer(std::shared_ptr<Broker> broker, const ProducerOptions& options)
      : broker_(std::move(broker)), options_(options) {}

  Result<Topic*> Open(std::string_view topic, const TopicOptions& options) override;
  Status Send(Topic* topic, int32_t partition, const Record& record, uint32_t tag) override;
  void Poll(std::chrono::milliseconds wait) override;
  uint64_t Pending(uint32_t tag) const override { return pending_[tag & 1]; }
  int64_t Acknowledged(const Topic* topic, int32_t partition, uint32_t tag) const override;
  Status failure() const override { return failure_; }
  bool recoverable() const override { return failure_.code() == StatusCode::kCluster; }
  Status Flush(std::chrono::milliseconds limit) override;

  Status InitTransactions() override;
  Status Begin() override;
  Status Seal(std::vector<PartitionOffset> offsets, Consumer* member) override;
  Result<bool> Commit(std::chrono::milliseconds wait) override;
  Status Abort() override;

 private:
  // Of a transactional producer; another one is always kOpen.
  enum class State { kNew, kReady, kOpen, kSealed };

  struct OpenTopic : Topic {
    std::string name;
    int32_t partitions = 0;
    int64_t max_bytes = 0;
    bool tracked = false;
    std::map<int32_t, int64_t> acknowledged[2];  // by tag and partition
  };
  struct InFlight {
    OpenTopic* to;
    int32_t partition;
    StoredRecord record;
    uint32_t tag;
  };

  bool transactional() const { return !options_.transactional_id.empty(); }
  Status Misuse(std::string_view call) const;
  void Fail(const Status& status) {
    if (failure_.ok()) failure_ = status;
  }

  // The broker's mutex is held by the callers of those below.
  Broker::TransactionalId& id() { return broker_->transactional_ids[options_.transactional_id]; }
  // Fails when the id has a newer holder.
  bool Fenced();
  void Deliver();
  void DeliverOne(InFlight sent);
  // False when something has still to be acknowledged.
  bool TryCommit();

  const std::shared_ptr<Broker> broker_;
  const ProducerOptions options_;
  std::map<std::string, OpenTopic, std::less<>> topics_;
  std::deque<InFlight> in_flight_;
  uint64_t pending_[2] = {0, 0};  // by tag modulo 2
  Status failure_;

  State state_ = transactional() ? State::kNew : State::kOpen;
  int holder_ = 0;
  Transaction transaction_ = kNoTransaction;
  std::vector<PartitionOffset> offsets_;  // of the sealed transaction, of member_
  Consumer* member_ = nullptr;
  std::deque<InFlight> buffered_;  // sent since Seal
  size_t buffered_bytes_ = 0;
  bool decided_ = false;  // committed while Send waited: the next Commit says so
};

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_PRODUCER_H_
