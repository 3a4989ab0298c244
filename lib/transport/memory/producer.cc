#include "transport/memory/producer.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "record/partitioner.h"

namespace kstream::transport::memory {
namespace {

using Clock = std::chrono::steady_clock;

// How long a full buffer waits for the outcome at a time.
constexpr std::chrono::milliseconds kTurn{100};

int64_t MaxBytes(const std::map<std::string, std::string>& config) {
  int64_t bytes = INT64_MAX;
  if (const auto found = config.find("max.message.bytes"); found != config.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), bytes);
  }
  return bytes;
}

int64_t BytesOf(const StoredRecord& record) {
  size_t bytes = record.key.value_or("").size() + record.value.value_or("").size();
  for (const auto& [name, value] : record.headers) bytes += name.size() + value.value_or("").size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

Result<Producer::Topic*> MemoryProducer::Open(std::string_view topic, const TopicOptions& options) {
  const std::lock_guard lock(broker_->mutex);
  const auto found = broker_->topics.find(topic);
  if (found == broker_->topics.end()) return TopicMissing(topic, true);
  OpenTopic& opened = topics_[found->first];
  opened.name = found->first;
  opened.partitions = static_cast<int32_t>(found->second.partitions.size());
  opened.max_bytes = MaxBytes(found->second.config);
  opened.tracked = opened.tracked || options.track_offsets;
  return &opened;
}

Status MemoryProducer::Send(Topic* to, int32_t partition, const Record& record, uint32_t tag) {
  auto* const topic = static_cast<OpenTopic*>(to);
  if (transactional()) {
    KSTREAM_RETURN_IF_ERROR(failure_);
    if (state_ != State::kOpen && state_ != State::kSealed) return Misuse("Send");
  }
  if (partition < 0) {
    const Bytes& key = record.partition_key ? record.partition_key : record.key;
    partition = PartitionOfKey(key, topic->partitions, key ? 0 : broker_->unkeyed++);
  }
  if (partition >= topic->partitions) {
    return Status::Data(fmt::format("topic {} has no partition {}", topic->name, partition));
  }
  StoredRecord copy = StoredRecord::Copy(record);
  const int64_t bytes = BytesOf(copy);
  if (bytes > topic->max_bytes) {
    return Status::Data(fmt::format(
        "a record of {} bytes is larger than topic {} takes: raise its max.message.bytes ({})",
        bytes, topic->name, topic->max_bytes));
  }
  while (state_ == State::kSealed && buffered_bytes_ >= options_.buffer_bytes) {
    KSTREAM_ASSIGN_OR_RETURN(const bool done, Commit(kTurn));
    decided_ = done;
  }
  KSTREAM_RETURN_IF_ERROR(transactional() ? failure_ : Status::Ok());
  InFlight sent{topic, partition, std::move(copy), tag & 1};
  pending_[tag & 1]++;
  if (state_ == State::kSealed) {
    buffered_bytes_ += static_cast<size_t>(bytes);
    buffered_.push_back(std::move(sent));
  } else {
    in_flight_.push_back(std::move(sent));
  }
  return Status::Ok();
}

// Learns of new partitions, too, as a client that looks at metadata from time to time.
void MemoryProducer::Poll(std::chrono::milliseconds) {
  const std::lock_guard lock(broker_->mutex);
  Deliver();
  for (auto& [name, topic] : topics_) {
    if (const auto found = broker_->topics.find(name); found != broker_->topics.end()) {
      topic.partitions = static_cast<int32_t>(found->second.partitions.size());
    }
  }
}

int64_t MemoryProducer::Acknowledged(const Topic* topic, int32_t partition, uint32_t tag) const {
  const auto& offsets = static_cast<const OpenTopic*>(topic)->acknowledged[tag & 1];
  const auto found = offsets.find(partition);
  return found == offsets.end() ? kNoOffset : found->second;
}

Status MemoryProducer::Flush(std::chrono::milliseconds limit) {
  std::unique_lock lock(broker_->mutex);
  const Clock::time_point end = Clock::now() + limit;
  for (Deliver(); !in_flight_.empty(); Deliver()) {
    if (Clock::now() >= end) {
      return Status::Cluster(fmt::format("{} records not acknowledged", in_flight_.size()));
    }
    broker_->Wait(&lock, limit);
  }
  return failure_;
}

void MemoryProducer::Deliver() {
  if (transactional() && Fenced()) {
    for (const InFlight& sent : in_flight_) pending_[sent.tag]--;
    in_flight_.clear();
  }
  if (in_flight_.empty() || (broker_->hold_acks && broker_->delivery_failure.ok())) return;
  for (; !in_flight_.empty(); in_flight_.pop_front()) DeliverOne(std::move(in_flight_.front()));
  broker_->activity++;
  broker_->changed.notify_all();
}

void MemoryProducer::DeliverOne(InFlight sent) {
  pending_[sent.tag]--;
  const TopicPartition place{sent.to->name, sent.partition};
  PartitionLog* const log = broker_->Find(place);
  if (log == nullptr) return Fail(PartitionMissing(place));
  if (!broker_->delivery_failure.ok()) {
    Fail(broker_->delivery_failure);
    if (--broker_->failing_deliveries == 0) broker_->delivery_failure = Status::Ok();
    return;
  }
  const int64_t offset = log->Append(std::move(sent.record), transaction_);
  if (sent.to->tracked) sent.to->acknowledged[sent.tag][sent.partition] = offset;
}

std::unique_ptr<Producer> NewMemoryProducer(std::shared_ptr<Broker> broker,
                                            const ProducerOptions& options) {
  return std::make_unique<MemoryProducer>(std::move(broker), options);
}

}  // namespace kstream::transport::memory
