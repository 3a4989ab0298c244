// The Kafka transport: librdkafka behind the interfaces of transport/.
#ifndef KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_
#define KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_

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
  std::chrono::milliseconds deadline{
      30000};  // how long an unreachable cluster is tried: then kCluster
};

// Checks the properties; connects lazily.
Result<std::unique_ptr<Cluster>> NewCluster(const Options& options);

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_KAFKA_CLUSTER_H_
