// KafkaBatch: the messages of one call to librdkafka, and records that look into them.
#ifndef KSTREAM_TRANSPORT_KAFKA_CONSUMER_BATCH_H_
#define KSTREAM_TRANSPORT_KAFKA_CONSUMER_BATCH_H_

#include <librdkafka/rdkafka.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/consumer.h"
#include "transport/kafka/handle.h"

namespace kstream::transport::kafka {

// What messages and records need to live. Consumer and batches share it, so either may go first.
struct ConsumerCore {
  std::string cluster;  // its name; Record::cluster points here
  std::unique_ptr<Handle> handle;
  std::set<std::string, std::less<>> topics;  // Record::topic points here; only grows
};

class KafkaBatch : public Batch {
 public:
  explicit KafkaBatch(std::shared_ptr<ConsumerCore> core) : core_(std::move(core)) {}
  ~KafkaBatch() override { Clear(); }
  KafkaBatch(const KafkaBatch&) = delete;
  KafkaBatch& operator=(const KafkaBatch&) = delete;

  void Clear();

  // Up to `size` messages that are there now, or, when `wait` is not 0, one that comes within it.
  // True when there were any.
  bool Take(rd_kafka_queue_t* queue, std::chrono::milliseconds wait, size_t size);
  const std::vector<rd_kafka_message_t*>& messages() const { return messages_; }

  // Adds a record for a message of this batch; `topic` is in the core.
  void Add(const rd_kafka_message_t& message, std::string_view topic);
  // To be called once after the last Add: only now headers stay where they are.
  void Finish();

 private:
  void AddHeaders(const rd_kafka_headers_t* headers);

  struct HeaderRange {
    size_t record, begin, size;
  };

  std::shared_ptr<ConsumerCore> core_;
  std::vector<rd_kafka_message_t*> messages_;
  std::vector<Header> headers_;
  std::vector<HeaderRange> ranges_;
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_CONSUMER_BATCH_H_
