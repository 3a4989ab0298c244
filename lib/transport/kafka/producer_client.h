// ProducerClient: one librdkafka producer, and what becomes of the batches that a broker refuses.
//
// A refused batch (too large, a timestamp, a missing key) says nothing about its single records.
// They are sent again one by one, and what was queued behind them after them, in the old order: an
// old value must never land behind a newer one of its key. librdkafka sends on by itself after a
// failure, unless it must leave no gap (enable.gapless.guarantee): then the first refusal stops the
// client for good. So it is drained, replaced by a new one with smaller batches, and everything not
// acknowledged goes again in the order of the first Send. Records of other partitions whose fate
// was open at that moment may be written twice, as after any lost connection. A record that is
// refused alone, and every other failure, ends in Deliveries::failure; nothing is written after it.
//
// Belongs to one thread. Tested by tests/unit/transport/kafka/producer_test.cc and resend_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_PRODUCER_CLIENT_H_
#define KSTREAM_TRANSPORT_KAFKA_PRODUCER_CLIENT_H_

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kstream/record.h"
#include "transport/kafka/handle.h"
#include "transport/kafka/topic_limits.h"
#include "transport/producer.h"

namespace kstream::transport::kafka {

// The state of everything sent by one Producer, whichever client carries it.
struct Deliveries {
  uint64_t pending[2] = {0, 0};
  Status failure;
  bool recoverable = false;  // see Producer
  // Of the open transaction: when its first record was sent, and how long it may last.
  std::optional<Clock::time_point> begun;
  std::chrono::milliseconds timeout{0};
  // What a transaction lost to the broker's refusal of batches, for the next to have smaller ones.
  uint64_t refused_records = 0;
  int64_t refused_bytes = 0;
};

class ProducerClient;

struct KafkaTopic : Producer::Topic {
  std::string name;
  TopicLimits limits;
  ProducerClient* client = nullptr;
  TopicHandle handle;   // of client
  bool warned = false;  // of an odd record

  bool tracked = false;
  std::vector<int64_t> acknowledged[2] = {};  // by tag and partition, where it is tracked
  int64_t Acknowledged(int32_t partition, uint32_t tag) const {
    const auto at = static_cast<size_t>(partition);
    return at < acknowledged[tag & 1].size() ? acknowledged[tag & 1][at] : kNoOffset;
  }
};

class ProducerClient {
 public:
  // A record that is sent later than it was given.
  struct Message {
    uintptr_t ticket = 0;
    KafkaTopic* topic = nullptr;
    int32_t partition = -1;
    int64_t timestamp = 0;  // 0: now
    std::optional<std::string> key, value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    bool alone = false;  // its batch was refused

    // The record, as long as this and `headers` live.
    Record View(std::vector<Header>* headers) const;
  };

  static Result<std::unique_ptr<ProducerClient>> New(const Options& options,
                                                     const ProducerOptions& producer,
                                                     int64_t batch_bytes, Deliveries* deliveries);
  ProducerClient(const ProducerClient&) = delete;
  ProducerClient& operator=(const ProducerClient&) = delete;
  ~ProducerClient();

  Handle* handle() { return handle_.get(); }
  // Makes this the client of `topic`, which the caller owns and must outlive it.
  void Add(KafkaTopic* topic);

  // Queues one record, waiting for room. kData when the partition does not exist, else
  // Deliveries::failure.
  Status Send(KafkaTopic* topic, int32_t partition, const Record& record, uint32_t tag);
  void Poll(std::chrono::milliseconds wait);
  // Sends what is queued without lingering, for up to `limit`.
  void Flush(std::chrono::milliseconds limit);
  // Makes the failure that all further ones are, unless there was one. `hopeless`: a new producer
  // would fail in the same way.
  void Fail(Status status, bool hopeless = false);

 private:
  ProducerClient(const Options& options, const ProducerOptions& producer, int64_t batch_bytes,
                 Deliveries* deliveries)
      : options_(options),
        producer_(producer),
        batch_bytes_(batch_bytes),
        deliveries_(deliveries) {}

  static void OnDelivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);
  void NoteOffset(const rd_kafka_message_t& message);
  void OnFailure(const rd_kafka_message_t& message);
  static int64_t Timestamp(const rd_kafka_message_t& message);
  Message Keep(const rd_kafka_message_t& message, bool alone);
  rd_kafka_resp_err_t Produce(KafkaTopic* topic, int32_t partition, const Record& record,
                              uintptr_t ticket);
  rd_kafka_resp_err_t Produce(const Message& message);

  Status Open();
  void Serve();
  void Drain();
  void Resend(std::vector<Message> messages);
  bool ResendOne(const Message& message);
  void Settle(uintptr_t ticket) { deliveries_->pending[ticket & 1]--; }
  static Status Refusal(const rd_kafka_message_t& message);
  void FailRefused();
  Status WhyFenced() const;
  // Sends again what a broker refused; in a transaction nothing is, it has failed as a whole.
  bool resends() const { return producer_.transactional_id.empty(); }

  const Options& options_;
  const ProducerOptions& producer_;
  int64_t batch_bytes_;
  Deliveries* const deliveries_;
  std::unique_ptr<Handle> handle_;
  std::map<std::string, KafkaTopic*, std::less<>> topics_;
  // Deliveries come in runs of one topic: the last one's.
  const rd_kafka_topic_t* delivered_ = nullptr;
  KafkaTopic* delivered_topic_ = nullptr;
  uintptr_t sent_ = 0;  // tickets are numbers in the order of Send, with the tag as last bit
  std::vector<Message> again_;
  Status refusal_;       // the first one of a transaction
  uintptr_t alone_ = 0;  // the ticket of the record that is under way by itself
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_PRODUCER_CLIENT_H_
