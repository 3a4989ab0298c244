// Tested by tests/unit/topology/co_partition_test.cc.
#include "topology/co_partition.h"

#include <fmt/format.h>

#include "kstream/location.h"

namespace kstream {

Status CheckCoPartitioned(const std::vector<InputTopic>& topics) {
  const auto count = [](const InputTopic& topic) {
    return fmt::format("{} has {} partition{}",
                       Location::Topic(topic.topic, topic.cluster).ToString(), topic.partitions,
                       topic.partitions == 1 ? "" : "s");
  };
  for (const InputTopic& topic : topics) {
    if (topic.partitions == topics[0].partitions) continue;
    return Status::Cluster(
        fmt::format("{} and {}: equal keys would not meet; repartition one of them",
                    count(topics[0]), count(topic)));
  }
  return Status::Ok();
}

}  // namespace kstream
