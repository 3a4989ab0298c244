// KafkaProducer: sends to any number of topics, through as many librdkafka clients as their limits
// on batches ask for: nearly always one. The size of a batch is a property of a client, so topics
// that take only small ones get a client of their own and slow nobody else down.
// Tested by tests/unit/transport/kafka/producer_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_PRODUCER_H_
#define KSTREAM_TRANSPORT_KAFKA_PRODUCER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "transport/kafka/producer_client.h"
#include "transport/kafka/producer_topics.h"
#include "transport/producer.h"

namespace kstream::transport::kafka {

class KafkaProducer : public Producer {
 public:
  static Result<std::unique_ptr<Producer>> New(const Options& options,
                                               const ProducerOptions& producer);

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

 private:
  KafkaProducer(const Options& options, const ProducerOptions& producer)
      : options_(options), producer_(producer) {}
  Result<ProducerClient*> ClientFor(int64_t batch_bytes);

  const Options options_;
  const ProducerOptions producer_;
  Deliveries deliveries_;
  Admission admission_;
  std::map<std::string, KafkaTopic, std::less<>> topics_;
  std::map<int64_t, std::unique_ptr<ProducerClient>> clients_;  // by the size of their batches
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_PRODUCER_H_
