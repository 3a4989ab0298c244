// Producer: sends records to topics of one cluster and tells, tag by tag, what has been
// acknowledged.
//
// Belongs to one thread. Tags are the epochs of commits: the offsets of an epoch may be committed
// when Pending(tag) is 0 and failure() is ok.
#ifndef KSTREAM_TRANSPORT_PRODUCER_H_
#define KSTREAM_TRANSPORT_PRODUCER_H_

#include <chrono>
#include <cstdint>
#include <string_view>

#include "kstream/record.h"
#include "kstream/status.h"

namespace kstream::transport {

class Producer {
 public:
  virtual ~Producer() = default;

  // A handle for a topic, looked up once; the producer owns it. kCluster when it does not exist.
  // Each transport derives its own.
  struct Topic {};
  virtual Result<Topic*> Open(std::string_view topic) = 0;

  // Queues a copy of the record's key, value, headers and timestamp. `partition` -1: by the
  // partitioner. When the queue is full, waits for room. kData: this record alone is refused
  // (larger than the topic's max.message.bytes, a timestamp that the topic or the protocol refuses,
  // a partition that does not exist); nothing else suffers.
  virtual Status Send(Topic* topic, int32_t partition, const Record& record, uint32_t tag) = 0;

  // Serves acknowledgements, without waiting when `wait` is 0.
  virtual void Poll(std::chrono::milliseconds wait) = 0;
  // How many records with this tag (modulo 2: epochs follow each other) are not acknowledged yet.
  virtual uint64_t Pending(uint32_t tag) const = 0;
  // The first delivery failure since the start; ok while there is none. It never heals.
  virtual Status failure() const = 0;
  // Waits until everything is acknowledged, or failed, or the time is over (kCluster).
  virtual Status Flush(std::chrono::milliseconds limit) = 0;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_PRODUCER_H_
