#include "admin/home.h"

#include "transport/kafka/kafka_cluster.h"

namespace kstream::admin {

Result<std::unique_ptr<transport::Cluster>> OpenHome(const ClusterOptions& options) {
  transport::kafka::Options kafka;
  kafka.bootstrap = options.brokers;
  kafka.consumer = options.consumer;
  kafka.producer = options.producer;
  return transport::kafka::NewCluster(kafka);
}

}  // namespace kstream::admin
