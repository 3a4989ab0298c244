#include "transport/kafka/producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "transport/kafka/admin_requests.h"
#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
Result<std::unique_ptr<Producer>> KafkaProducer::New(const Options& options,
                                                     const ProducerOptions& producer) {
  std::unique_ptr<KafkaProducer> self(new KafkaProducer(options, producer));
  KSTREAM_RETURN_IF_ERROR(self->ClientFor(kBatchBytes).status());
  return std::unique_ptr<Producer>(std::move(self));
}

Result<ProducerClient*> KafkaProducer::ClientFor(int64_t batch_bytes) {
  std::unique_ptr<ProducerClient>& client = clients_[std::min(batch_bytes, kBatchBytes)];
  if (client == nullptr) {
    auto made =
        ProducerClient::New(options_, producer_, std::min(batch_bytes, kBatchBytes), &deliveries_);
    if (!made.ok()) return made.status();
    client = *std::move(made);
  }
  return client.get();
}

Result<Producer::Topic*> KafkaProducer::Open(std::string_view name, const TopicOptions& options) {
  if (auto known = topics_.find(name); known != topics_.end()) {
    known->second.tracked = known->second.tracked || options.track_offsets;
    return &known->second;
  }
  const std::string topic(name);
  KSTREAM_ASSIGN_OR_RETURN(ProducerClient * client, ClientFor(kBatchBytes));
  KSTREAM_ASSIGN_OR_RETURN(const TopicLimits limits, FindTopic(client->handle(), options_, topic));
  KSTREAM_ASSIGN_OR_RETURN(client, ClientFor(limits.max_bytes));
  KafkaTopic& opened = topics_[topic];
  opened.name = topic;
  opened.limits = limits;
  opened.tracked = options.track_offsets;
  client->Add(&opened);
  return &opened;
}

Status KafkaProducer::Send(Topic* to, int32_t partition, const Record& record, uint32_t tag) {
  auto* topic = static_cast<KafkaTopic*>(to);
  KSTREAM_RETURN_IF_ERROR(admission_.Check(topic, record));
  return topic->client->Send(topic, PartitionFor(*topic, partition, record), record, tag);
}

void KafkaProducer::Poll(std::chrono::milliseconds wait) {
  for (auto& [bytes, client] : clients_) {
    client->Poll(wait);
    wait = std::chrono::milliseconds(0);  // the main one comes last: it has the largest batches
  }
  admission_.Tick();
}

Status KafkaProducer::Flush(std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  for (;;) {
    if (!deliveries_.failure.ok()) return deliveries_.failure;
    const uint64_t pending = Pending(0) + Pending(1);
    if (pending == 0) return Status::Ok();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() < 0) {
      return Status::Cluster(
          fmt::format("{} records not acknowledged within {} s: check -b and that the brokers run",
                      pending, limit.count() / 1000.0));
    }
    const auto turn = std::min(left, std::chrono::milliseconds(100));
    for (auto& [bytes, client] : clients_) client->Flush(turn);
  }
}

}  // namespace kstream::transport::kafka
