// What producers know of a topic before they send to it: that it exists, and what it takes.
// Tested by tests/unit/transport/kafka/producer_test.cc and topic_limits_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_PRODUCER_TOPICS_H_
#define KSTREAM_TRANSPORT_KAFKA_PRODUCER_TOPICS_H_

#include <cstdint>
#include <string>

#include "kstream/record.h"
#include "kstream/status.h"
#include "transport/kafka/producer_client.h"

namespace kstream::transport::kafka {

// kCluster when the topic does not exist. A cluster that does not tell its limits has none.
Result<TopicLimits> FindTopic(Handle* handle, const Options& options, const std::string& topic);

// Where a record goes that is sent to `partition` (-1: by the partitioner), as far as that is not
// for the client to choose.
int32_t PartitionFor(const KafkaTopic& topic, int32_t partition, const Record& record);

// Refuses records alone that would fail their batch.
class Admission {
 public:
  Admission();
  Status Check(KafkaTopic* topic, const Record& record);
  // Looks at the clock.
  void Tick();

 private:
  int64_t now_ = 0;  // ms since the epoch
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_PRODUCER_TOPICS_H_
