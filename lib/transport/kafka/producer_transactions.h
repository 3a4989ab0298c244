// TransactionalProducer: records and the offsets that they stand for, visible together.
//
// Deciding a transaction takes several round trips of calls that block. They are made by a thread
// of their own, so the stage goes on: once all that was sealed is acknowledged it has the client
// for itself, and until its outcome is taken over nobody else touches it; what is sent meanwhile is
// buffered. It blocks in short turns, since librdkafka lets a commit that timed out be taken up
// again, so that a producer of a cluster that is gone can be destroyed.
//
// It has one client, whose batches every topic that it knows takes: two clients would be two
// transactions. A topic that is opened too late for that is never given more at once than it takes.
// A batch that is refused all the same has failed the transaction; BatchLimit, which the producers
// of a cluster share, sees to it that the next one's are smaller, down to the single record that
// is the culprit.
//
// A member of a group has a generation. One that has none (its session ran out) would be taken by
// the broker for somebody who needs none, so it is refused here; while it joins, nothing is sent.
//
// Tested by tests/unit/transport/kafka/transactions_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_PRODUCER_TRANSACTIONS_H_
#define KSTREAM_TRANSPORT_KAFKA_PRODUCER_TRANSACTIONS_H_

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/kafka/consumer.h"
#include "transport/kafka/producer_client.h"
#include "transport/kafka/producer_topics.h"
#include "transport/producer.h"

namespace kstream::transport::kafka {

// Bytes of a batch of transactional producers; only falls.
using BatchLimit = std::atomic<int64_t>;

class TransactionalProducer final : public Producer {
 public:
  static Result<std::unique_ptr<Producer>> New(const Options& options,
                                               const ProducerOptions& producer,
                                               std::shared_ptr<BatchLimit> limit);
  ~TransactionalProducer() override;

  Result<Topic*> Open(std::string_view topic, const TopicOptions& options) override;
  Status Send(Topic* topic, int32_t partition, const Record& record, uint32_t tag) override;
  void Poll(std::chrono::milliseconds wait) override;
  uint64_t Pending(uint32_t tag) const override { return deliveries_.pending[tag & 1]; }
  int64_t Acknowledged(const Topic* topic, int32_t partition, uint32_t tag) const override {
    return static_cast<const KafkaTopic*>(topic)->Acknowledged(partition, tag);
  }
  Status failure() const override { return deliveries_.failure; }
  bool recoverable() const override { return deliveries_.recoverable; }
  Status Flush(std::chrono::milliseconds limit) override;

  Status InitTransactions() override;
  Status Begin() override;
  Status Seal(std::vector<PartitionOffset> offsets, Consumer* member) override;
  Result<bool> Commit(std::chrono::milliseconds wait) override;
  Status Abort() override;

 private:
  enum class State { kNew, kReady, kOpen, kSealed, kDeciding };

  TransactionalProducer(const Options& options, const ProducerOptions& producer,
                        std::shared_ptr<BatchLimit> limit)
      : options_(options), producer_(producer), limit_(std::move(limit)) {}

  rd_kafka_t* client() { return client_->handle()->get(); }
  Status MakeClient();
  Status Misuse(std::string_view call) const;
  // Takes an error over as the failure; ok when there is none.
  Status Take(Error error, std::string_view what);
  void LowerLimit(int64_t bytes);
  void NoteRefused();
  // How much of the sealed or open transaction is not acknowledged.
  uint64_t Outstanding() const;
  Status SendNow(KafkaTopic* topic, int32_t partition, const Record& record, uint32_t tag);
  Status AwaitOutcome();
  // From kSealed to kDeciding, when it is time for it.
  Status Decide();
  Status BeginNext();

  const Options options_;
  const ProducerOptions producer_;
  const std::shared_ptr<BatchLimit> limit_;
  Deliveries deliveries_;
  Admission admission_;
  std::map<std::string, KafkaTopic, std::less<>> topics_;
  std::unique_ptr<ProducerClient> client_;
  int64_t batch_bytes_ = 0;                // of client_
  std::map<KafkaTopic*, int64_t> narrow_;  // bytes under way to those that take less
  std::chrono::milliseconds timeout_{};    // of a transaction

  State state_ = State::kNew;
  std::vector<PartitionOffset> offsets_;  // of the sealed transaction, of member_
  KafkaConsumer* member_ = nullptr;
  Clock::time_point end_;  // the outcome of the sealed transaction is not waited for longer
  std::deque<ProducerClient::Message> buffered_;  // sent since Seal
  size_t buffered_bytes_ = 0;
  bool decided_ = false;  // committed while Send waited: the next Commit says so
  std::atomic<bool> quit_ = false;
  std::future<Error> outcome_;  // uses client_ and quit_, so it ends before them
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_PRODUCER_TRANSACTIONS_H_
