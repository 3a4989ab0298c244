// MemoryProducer: what is sent waits in the producer until Poll or Flush delivers it, as with a
// client that sends in the background; only then it is written and acknowledged.
#include <fmt/format.h>

#include <charconv>
#include <deque>
#include <utility>

#include "record/partitioner.h"
#include "transport/memory/clients.h"

namespace kstream::transport::memory {
namespace {

using Clock = std::chrono::steady_clock;

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

class MemoryProducer final : public Producer {
 public:
  explicit MemoryProducer(std::shared_ptr<Broker> broker) : broker_(std::move(broker)) {}

  Result<Topic*> Open(std::string_view topic) override {
    const std::lock_guard lock(broker_->mutex);
    const auto found = broker_->topics.find(topic);
    if (found == broker_->topics.end()) return TopicMissing(topic, true);
    OpenTopic& opened = topics_[found->first];
    opened.name = found->first;
    opened.partitions = static_cast<int32_t>(found->second.partitions.size());
    opened.max_bytes = MaxBytes(found->second.config);
    return &opened;
  }

  Status Send(Topic* to, int32_t partition, const Record& record, uint32_t tag) override {
    auto* const topic = static_cast<OpenTopic*>(to);
    if (partition < 0)
      partition =
          PartitionOfKey(record.key, topic->partitions, record.key ? 0 : broker_->unkeyed++);
    if (partition >= topic->partitions) {
      return Status::Data(fmt::format("topic {} has no partition {}", topic->name, partition));
    }
    StoredRecord copy = StoredRecord::Copy(record);
    if (const int64_t bytes = BytesOf(copy); bytes > topic->max_bytes) {
      return Status::Data(fmt::format(
          "a record of {} bytes is larger than topic {} takes: raise its max.message.bytes ({})",
          bytes, topic->name, topic->max_bytes));
    }
    in_flight_.push_back({{topic->name, partition}, std::move(copy), tag & 1});
    pending_[tag & 1]++;
    return Status::Ok();
  }

  // Learns of new partitions, too, as a client that looks at metadata from time to time.
  void Poll(std::chrono::milliseconds) override {
    const std::lock_guard lock(broker_->mutex);
    Deliver();
    for (auto& [name, topic] : topics_) {
      if (const auto found = broker_->topics.find(name); found != broker_->topics.end()) {
        topic.partitions = static_cast<int32_t>(found->second.partitions.size());
      }
    }
  }

  uint64_t Pending(uint32_t tag) const override { return pending_[tag & 1]; }
  Status failure() const override { return failure_; }

  Status Flush(std::chrono::milliseconds limit) override {
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

 private:
  struct OpenTopic : Topic {
    std::string name;
    int32_t partitions = 0;
    int64_t max_bytes = 0;
  };
  struct InFlight {
    TopicPartition to;
    StoredRecord record;
    uint32_t tag;
  };

  // The broker's mutex is held.
  void Deliver() {
    if (in_flight_.empty() || (broker_->hold_acks && broker_->delivery_failure.ok())) return;
    for (; !in_flight_.empty(); in_flight_.pop_front()) {
      InFlight& sent = in_flight_.front();
      pending_[sent.tag]--;
      PartitionLog* const log = broker_->Find(sent.to);
      const Status failed = log == nullptr ? PartitionMissing(sent.to) : broker_->delivery_failure;
      if (failed.ok()) {
        log->Append(std::move(sent.record));
      } else if (failure_.ok()) {
        failure_ = failed;
      }
    }
    broker_->activity++;
    broker_->changed.notify_all();
  }

  const std::shared_ptr<Broker> broker_;
  std::map<std::string, OpenTopic> topics_;
  std::deque<InFlight> in_flight_;
  uint64_t pending_[2] = {0, 0};  // by tag modulo 2
  Status failure_;
};

}  // namespace

std::unique_ptr<Producer> NewMemoryProducer(std::shared_ptr<Broker> broker) {
  return std::make_unique<MemoryProducer>(std::move(broker));
}

}  // namespace kstream::transport::memory
