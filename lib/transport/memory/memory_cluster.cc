#include "transport/memory/memory_cluster.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/memory/broker.h"
#include "transport/memory/clients.h"

namespace kstream::transport::memory {
namespace {

PartitionLog& LogOf(Broker* broker, const TopicPartition& partition) {
  PartitionLog* const log = broker->Find(partition);
  if (log == nullptr) throw std::out_of_range("no partition of topic " + partition.topic);
  return *log;
}

}  // namespace

MemoryCluster::MemoryCluster(const std::string& name) : broker_(std::make_shared<Broker>()) {
  static std::atomic<int> made = 0;
  broker_->name = name;
  broker_->id = "memory-" + std::to_string(++made);
}

const std::string& MemoryCluster::name() const { return broker_->name; }

Result<std::unique_ptr<Consumer>> MemoryCluster::NewConsumer(const ConsumerOptions& options) {
  return NewMemoryConsumer(broker_, options);
}

Result<std::unique_ptr<Producer>> MemoryCluster::NewProducer(const ProducerOptions& options) {
  return NewMemoryProducer(broker_, options);
}

Result<std::unique_ptr<Admin>> MemoryCluster::NewAdmin() { return NewMemoryAdmin(broker_); }

void MemoryCluster::CreateTopic(const std::string& topic, int32_t partitions,
                                const std::map<std::string, std::string>& config) {
  const std::lock_guard lock(broker_->mutex);
  broker_->Create(topic, partitions, config);
}

void MemoryCluster::DeleteTopic(const std::string& topic) {
  const std::lock_guard lock(broker_->mutex);
  broker_->topics.erase(topic);
  broker_->Changed();
}

void MemoryCluster::GrowTopic(const std::string& topic, int32_t total) {
  const std::lock_guard lock(broker_->mutex);
  if (!broker_->Grow(topic, total)) throw std::out_of_range("no topic " + topic);
}

int64_t MemoryCluster::Produce(const std::string& topic, int32_t partition, StoredRecord record,
                               Transaction transaction) {
  const std::lock_guard lock(broker_->mutex);
  const int64_t offset =
      LogOf(broker_.get(), {topic, partition}).Append(std::move(record), transaction);
  broker_->Changed();
  return offset;
}

Transaction MemoryCluster::BeginTransaction() {
  const std::lock_guard lock(broker_->mutex);
  return ++broker_->last_transaction;
}

void MemoryCluster::EndTransaction(Transaction transaction, bool commit) {
  const std::lock_guard lock(broker_->mutex);
  broker_->End(transaction, commit);
  broker_->Changed();
}

void MemoryCluster::DeleteRecords(const TopicPartition& partition, int64_t low) {
  const std::lock_guard lock(broker_->mutex);
  LogOf(broker_.get(), partition).RaiseLow(low);
}

std::vector<StoredRecord> MemoryCluster::Read(const std::string& topic) const {
  const std::lock_guard lock(broker_->mutex);
  std::vector<StoredRecord> records;
  for (const PartitionLog& log : broker_->topics.at(topic).partitions) {
    for (auto record = log.Next(0); record != nullptr; record = log.Next(record->offset + 1)) {
      records.push_back(*record);
    }
  }
  return records;
}

int64_t MemoryCluster::Committed(const std::string& group, const TopicPartition& partition) const {
  const std::lock_guard lock(broker_->mutex);
  const auto& committed = broker_->groups[group].committed();
  const auto found = committed.find(partition);
  return found == committed.end() ? kNoOffset : found->second.offset;
}

void MemoryCluster::Commit(const std::string& group, const PartitionOffset& offset) {
  const std::lock_guard lock(broker_->mutex);
  broker_->groups[group].committed()[offset.partition] = offset;
}

std::vector<size_t> MemoryCluster::Members(const std::string& group) const {
  const std::lock_guard lock(broker_->mutex);
  std::vector<size_t> owned;
  for (const auto& member : broker_->groups[group].members()) {
    owned.push_back(member->owned.size());
  }
  return owned;
}

void MemoryCluster::Evict(const std::string& group, const TopicPartition& partition) {
  const std::lock_guard lock(broker_->mutex);
  broker_->groups[group].Evict(partition);
  broker_->Changed();
}

void MemoryCluster::Crash(const std::string& group, const std::string& member) {
  const std::lock_guard lock(broker_->mutex);
  broker_->groups[group].Remove(member);
  broker_->Changed();
}

void MemoryCluster::HoldAcks(bool hold) {
  const std::lock_guard lock(broker_->mutex);
  broker_->hold_acks = hold;
  broker_->changed.notify_all();
}

void MemoryCluster::ExpireTransaction(const std::string& transactional_id) {
  const std::lock_guard lock(broker_->mutex);
  Broker::TransactionalId& id = broker_->transactional_ids[transactional_id];
  broker_->End(std::exchange(id.open, kNoTransaction), false);
  broker_->Changed();
}

void MemoryCluster::FailTransaction(const Status& status, bool committed) {
  const std::lock_guard lock(broker_->mutex);
  broker_->transaction_failure = status;
  broker_->commits_all_the_same = committed;
}

void MemoryCluster::FailDeliveries(const Status& status, int64_t most) {
  const std::lock_guard lock(broker_->mutex);
  broker_->delivery_failure = status;
  broker_->failing_deliveries = most;
  broker_->changed.notify_all();
}

void MemoryCluster::FailPolls(const Status& status) {
  const std::lock_guard lock(broker_->mutex);
  broker_->poll_failure = status;
  broker_->changed.notify_all();
}

void MemoryCluster::FailCommits(const Status& status) {
  const std::lock_guard lock(broker_->mutex);
  broker_->commit_failure = status;
}

void MemoryCluster::LimitPolls(size_t records) {
  const std::lock_guard lock(broker_->mutex);
  broker_->poll_records = records;
}

void MemoryCluster::Hide(std::function<bool(const TopicPartition&)> hidden) {
  const std::lock_guard lock(broker_->mutex);
  broker_->hidden = std::move(hidden);
}

int64_t MemoryCluster::Activity() const {
  const std::lock_guard lock(broker_->mutex);
  return broker_->activity;
}

void MemoryCluster::OnIdle(std::function<void()> idle) {
  const std::lock_guard lock(broker_->mutex);
  broker_->idle = std::move(idle);
}

}  // namespace kstream::transport::memory
