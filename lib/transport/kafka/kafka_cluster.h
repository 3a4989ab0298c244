// The Kafka transport: librdkafka behind the interfaces of transport/.
#ifndef KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_
#define KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "kstream/status.h"
#include "transport/cluster.h"

namespace kstream::transport::kafka {

struct Options {
  std::string name;       // Cluster::name()
  std::string bootstrap;  // host:port,...
  Properties consumer,
      producer;  // the user's librdkafka properties for each side; kUsage when unknown
  // murmur2, crc32 or fnv1a, by which records without a key are spread; or librdkafka's name of
  // one.
  std::string partitioner = "murmur2";
  // How long an unreachable cluster is tried: then kCluster.
  std::chrono::milliseconds deadline{30000};
  // When it becomes true, whoever waits for the cluster to answer a question (metadata, offsets,
  // administration, the opening of a topic, committed offsets) gives up within a few tenths of a
  // second: kStopped (base/stopped.h). A question that is answered at once is answered still, and
  // commits and flushes keep their limits, so that a stage can end in good order. Null: never.
  // Outlives the cluster and its clients.
  const std::atomic<bool>* stop = nullptr;
};

// Checks the properties; connects lazily.
Result<std::unique_ptr<Cluster>> NewCluster(const Options& options);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_
