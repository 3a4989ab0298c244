#include "transport/kafka/producer_topics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/stopped.h"
#include "record/partitioner.h"
#include "transport/kafka/admin_requests.h"
#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

// How long a broker may think about a topic's configuration: it is good to know, not needed.
constexpr std::chrono::milliseconds kLimitsWait{5000};

int64_t Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// How many partitions a topic has; 0: that is not known yet.
Result<int32_t> PartitionsOf(Handle* handle, const std::string& topic) {
  TopicHandle probe(rd_kafka_topic_new(handle->get(), topic.c_str(), nullptr));
  if (probe == nullptr) return Status::Usage(fmt::format("\"{}\" is not a topic name", topic));
  KSTREAM_ASSIGN_OR_RETURN(Metadata metadata, handle->Describe(probe.get()));
  for (int i = 0; i < metadata->topic_cnt; i++) {
    const rd_kafka_metadata_topic_t& found = metadata->topics[i];
    if (topic != found.topic) continue;
    if (IsMissing(found.err)) break;
    // A leader that is still to be chosen is waited for by librdkafka.
    if (found.err == RD_KAFKA_RESP_ERR_NO_ERROR || IsTransient(found.err)) {
      return static_cast<int32_t>(found.partition_cnt);
    }
    return ClusterError(found.err, "writing to topic " + topic);
  }
  return TopicMissing(topic, true);
}

}  // namespace

Result<TopicLimits> FindTopic(Handle* handle, const Options& options, const std::string& topic) {
  KSTREAM_ASSIGN_OR_RETURN(const int32_t partitions, PartitionsOf(handle, topic));
  const auto wait = std::min(options.deadline / 4, kLimitsWait);
  auto config = DescribeTopicConfig(handle, topic, wait);
  TopicLimits limits;
  if (config.ok()) {
    limits = ToLimits(*config);
  } else if (IsStopped(config.status())) {
    return config.status();
  } else {
    Log(LogLevel::kWarning,
        fmt::format("{}: its limits are found out by trying", config.status().message()));
  }
  limits.partitions = partitions;
  return limits;
}

// Of what goes by its key the client chooses it, which sees topics grow.
int32_t PartitionFor(const KafkaTopic& topic, int32_t partition, const Record& record) {
  if (partition >= 0 || !record.partition_key || topic.limits.partitions == 0) return partition;
  return PartitionOfKey(record.partition_key, topic.limits.partitions, 0);
}

Admission::Admission() { Tick(); }
void Admission::Tick() { now_ = Now(); }

Status Admission::Check(KafkaTopic* topic, const Record& record) {
  if (!Admit(topic->limits, topic->name, record, now_).ok()) {
    Tick();  // it may be our clock that is behind
    KSTREAM_RETURN_IF_ERROR(Admit(topic->limits, topic->name, record, now_));
  }
  if (!topic->warned) {
    const std::string odd = Oddity(topic->limits, topic->name, record, now_);
    topic->warned = !odd.empty();
    if (topic->warned) Log(LogLevel::kWarning, odd);
  }
  return Status::Ok();
}

}  // namespace kstream::transport::kafka
