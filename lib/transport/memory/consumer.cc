// MemoryConsumer: takes records straight out of the logs, from a position a partition.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/memory/clients.h"

namespace kstream::transport::memory {
namespace {

class MemoryBatch final : public Batch {
 public:
  explicit MemoryBatch(std::shared_ptr<Broker> broker) : broker_(std::move(broker)) {}

  void Clear() {
    records.clear();
    ends.clear();
    assigned.clear();
    revoked.clear();
    lost.clear();
    rebalanced = false;
    stored_.clear();
    headers_.clear();
  }

  bool quiet() const {
    return records.empty() && ends.empty() && assigned.empty() && revoked.empty() && lost.empty() &&
           !rebalanced;
  }

  void Add(std::string_view topic, std::shared_ptr<const StoredRecord> stored) {
    Record& record = records.emplace_back();
    record.cluster = broker_->name;
    record.topic = topic;
    record.partition = stored->partition;
    record.offset = stored->offset;
    record.timestamp = stored->timestamp;
    record.timestamp_type = stored->timestamp_type;
    record.key = stored->key;
    record.value = stored->value;
    auto headers = std::make_unique<std::vector<Header>>();
    for (const auto& [name, value] : stored->headers) headers->push_back({name, value});
    record.headers = *headers;
    headers_.push_back(std::move(headers));
    stored_.push_back(std::move(stored));
  }

 private:
  const std::shared_ptr<Broker> broker_;
  std::vector<std::shared_ptr<const StoredRecord>> stored_;
  std::vector<std::unique_ptr<std::vector<Header>>> headers_;
};

class MemoryConsumer final : public Consumer, public GroupMember {
 public:
  MemoryConsumer(std::shared_ptr<Broker> broker, const ConsumerOptions& options)
      : broker_(std::move(broker)), options_(options) {}
  ~MemoryConsumer() override { static_cast<void>(Close()); }

  std::unique_ptr<Batch> NewBatch() override { return std::make_unique<MemoryBatch>(broker_); }

  Status Subscribe(const std::vector<std::string>& topics) override {
    const std::lock_guard lock(broker_->mutex);
    KSTREAM_ASSIGN_OR_RETURN(member_,
                             group().Join(topics, options_.client_id, options_.instance_id));
    holder_ = member_->holder;
    broker_->Changed();
    return Status::Ok();
  }

  Status Assign(std::span<const PartitionOffset> partitions) override {
    const std::lock_guard lock(broker_->mutex);
    for (const auto& [partition, offset, metadata] : partitions) {
      const PartitionLog* const log = broker_->Find(partition);
      if (log == nullptr) return PartitionMissing(partition);
      Position position;
      position.next = offset;
      if (offset == kOffsetBeginning) position.next = log->low();
      if (offset == kOffsetEnd) position.next = log->stable();
      positions_.insert_or_assign(partition, position);
      broker_->activity++;
    }
    return Status::Ok();
  }

  Status Unassign(std::span<const TopicPartition> partitions) override {
    const std::lock_guard lock(broker_->mutex);
    for (const TopicPartition& partition : partitions) positions_.erase(partition);
    if (member_ != nullptr && Membership().ok()) {
      Group::GiveBack(member_, partitions);
      broker_->Changed();
    }
    return Status::Ok();
  }

  Status Pause(std::span<const TopicPartition> partitions) override {
    return SetPaused(partitions, true);
  }
  Status Resume(std::span<const TopicPartition> partitions) override {
    return SetPaused(partitions, false);
  }

  Status Poll(std::chrono::milliseconds wait, Batch* out, size_t most) override;
  void KeepAlive() override {}

  void CommitAsync(std::vector<PartitionOffset> offsets,
                   std::function<void(Status)> done) override {
    decided_.emplace_back(std::move(done), CommitSync(std::move(offsets)));
  }

  Status CommitSync(std::vector<PartitionOffset> offsets) override {
    KSTREAM_RETURN_IF_ERROR(CheckMetadata(offsets));
    const std::lock_guard lock(broker_->mutex);
    KSTREAM_RETURN_IF_ERROR(broker_->commit_failure);
    if (member_ == nullptr) return Status::Cluster("committing offsets: not in a group");
    KSTREAM_RETURN_IF_ERROR(Membership());
    Apply(std::move(offsets));
    return Status::Ok();
  }

  Status CheckOwns(std::span<const PartitionOffset> offsets) override {
    KSTREAM_RETURN_IF_ERROR(CheckMetadata(offsets));
    KSTREAM_RETURN_IF_ERROR(broker_->commit_failure);
    if (member_ == nullptr) return Status::Cluster("committing offsets: not in a group");
    // Who was put out is of no generation, until it has heard so and has joined again.
    if (!Membership().ok() || !member_->lost.empty()) {
      return Status::Cluster("committing offsets: the group has put this member out");
    }
    for (const PartitionOffset& offset : offsets) {
      const TopicPartition& partition = offset.partition;
      // What it reads beside what it follows is its own affair.
      const bool owned = !member_->Follows(partition.topic) ||
                         (member_->owned.contains(partition) &&
                          std::ranges::count(member_->assigned, partition) == 0);
      if (owned) continue;
      return Status::Cluster(fmt::format("committing offsets: the group has given {}[{}] away",
                                         partition.topic, partition.partition));
    }
    return Status::Ok();
  }
  void Apply(std::vector<PartitionOffset> offsets) override {
    for (PartitionOffset& offset : offsets) {
      group().committed()[offset.partition] = std::move(offset);
      broker_->activity++;
    }
  }

  Result<std::vector<PartitionOffset>> Committed(
      std::span<const TopicPartition> partitions) override {
    const std::lock_guard lock(broker_->mutex);
    std::vector<PartitionOffset> result;
    for (const TopicPartition& partition : partitions) {
      result.push_back({partition, kNoOffset, ""});
      if (options_.group.empty()) continue;
      const auto found = group().committed().find(partition);
      if (found != group().committed().end()) result.back() = found->second;
    }
    return result;
  }

  std::optional<int64_t> HighWatermark(const TopicPartition& partition) const override {
    const std::lock_guard lock(broker_->mutex);
    const PartitionLog* const log = broker_->Find(partition);
    return log == nullptr ? std::nullopt : std::optional(log->high());
  }

  Status Close() override {
    const std::lock_guard lock(broker_->mutex);
    positions_.clear();
    if (member_ == nullptr) return Status::Ok();
    if (Membership().ok()) group().Leave(member_);
    member_ = nullptr;
    broker_->Changed();
    return Status::Ok();
  }

 private:
  struct Position {
    int64_t next = 0;
    int64_t told_end = -1;  // the end that was last told
    bool paused = false;
  };

  Group& group() { return broker_->groups[options_.group]; }

  // kFenced when this consumer is not the one that its member belongs to any more.
  Status Membership() const {
    if (member_->gone) {
      return Status(StatusCode::kFenced, "put out of the group: the session ran out: start again");
    }
    if (member_->holder == holder_) return Status::Ok();
    return Status(StatusCode::kFenced,
                  "put out of the group: another member has the same group.instance.id: give each "
                  "its own");
  }

  Status SetPaused(std::span<const TopicPartition> partitions, bool paused) {
    const std::lock_guard lock(broker_->mutex);
    for (const TopicPartition& partition : partitions) {
      const auto found = positions_.find(partition);
      if (found == positions_.end()) return PartitionMissing(partition);
      found->second.paused = paused;
      broker_->activity++;
    }
    return Status::Ok();
  }

  // With the broker's mutex held.
  Status Fill(MemoryBatch* batch, size_t most);
  Status Read(const TopicPartition& partition, Position* position, MemoryBatch* batch, size_t most);
  void TellRebalance(MemoryBatch* batch);

  const std::shared_ptr<Broker> broker_;
  const ConsumerOptions options_;
  Group::MemberPtr member_;  // null: in no group
  int holder_ = 0;
  std::map<TopicPartition, Position> positions_;
  size_t turn_ = 0;
  std::vector<std::pair<std::function<void(Status)>, Status>> decided_;  // commits to be reported
};

Status MemoryConsumer::Poll(std::chrono::milliseconds wait, Batch* out, size_t most) {
  auto* const batch = static_cast<MemoryBatch*>(out);
  batch->Clear();
  for (auto& [done, status] : std::exchange(decided_, {})) done(status);
  std::unique_lock lock(broker_->mutex);
  KSTREAM_RETURN_IF_ERROR(Fill(batch, most));
  if (!batch->quiet() || wait.count() == 0) return Status::Ok();
  broker_->Wait(&lock, wait);
  return Fill(batch, most);
}

Status MemoryConsumer::Fill(MemoryBatch* batch, size_t most) {
  KSTREAM_RETURN_IF_ERROR(broker_->poll_failure);
  if (member_ != nullptr) KSTREAM_RETURN_IF_ERROR(Membership());
  most = std::min(most, broker_->poll_records);
  TellRebalance(batch);
  // Another partition is the first each time, so that none starves.
  const size_t size = positions_.size();
  auto next = positions_.begin();
  if (size > 0) std::advance(next, turn_++ % size);
  for (size_t i = 0; i < size; i++) {
    auto& [partition, position] = *next;
    const bool readable = !position.paused && !(broker_->hidden && broker_->hidden(partition));
    if (readable) KSTREAM_RETURN_IF_ERROR(Read(partition, &position, batch, most));
    if (++next == positions_.end()) next = positions_.begin();
  }
  if (!batch->quiet()) broker_->activity++;
  return Status::Ok();
}

Status MemoryConsumer::Read(const TopicPartition& partition, Position* position, MemoryBatch* batch,
                            size_t most) {
  const PartitionLog* const log = broker_->Find(partition);
  if (log == nullptr) return PartitionMissing(partition);
  if (position->next < log->low() || position->next > log->high()) {
    return Status::Cluster(fmt::format("{}[{}]: asked for {}, log is from {} to {}",
                                       partition.topic, partition.partition, position->next,
                                       log->low(), log->high()));
  }
  const std::string& topic = *broker_->names.find(partition.topic);
  auto record = log->Next(position->next);
  for (; record != nullptr; record = log->Next(position->next)) {
    if (batch->records.size() >= most) return Status::Ok();
    position->next = record->offset + 1;
    batch->Add(topic, std::move(record));
  }
  position->next = std::max(position->next, log->stable());
  if (std::exchange(position->told_end, position->next) != position->next) {
    batch->ends.push_back({partition, position->next, ""});
  }
  return Status::Ok();
}

void MemoryConsumer::TellRebalance(MemoryBatch* batch) {
  if (member_ == nullptr) return;
  batch->assigned = std::exchange(member_->assigned, {});
  batch->revoked = std::exchange(member_->revoked, {});
  batch->lost = std::exchange(member_->lost, {});
  batch->rebalanced = std::exchange(member_->rebalanced, false);
  // What is lost is taken away at once.
  for (const TopicPartition& partition : batch->lost) positions_.erase(partition);
}

}  // namespace

std::unique_ptr<Consumer> NewMemoryConsumer(std::shared_ptr<Broker> broker,
                                            const ConsumerOptions& options) {
  return std::make_unique<MemoryConsumer>(std::move(broker), options);
}

}  // namespace kstream::transport::memory
