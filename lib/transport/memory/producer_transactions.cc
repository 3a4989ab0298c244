// MemoryProducer's transactions.
#include <fmt/format.h>

#include <utility>

#include "transport/memory/producer.h"

namespace kstream::transport::memory {

Status MemoryProducer::Misuse(std::string_view call) const {
  if (!transactional()) return Status::Usage("a producer without a transactional id has none");
  constexpr std::string_view kStates[] = {"InitTransactions", "Begin", "Begin", "Seal"};
  return Status::Usage(fmt::format("transactions: {} does not follow on {}", call,
                                   kStates[static_cast<size_t>(state_)]));
}

bool MemoryProducer::Fenced() {
  if (holder_ != id().holders) {
    Fail(Status(StatusCode::kFenced, fmt::format("another producer has taken {} over: start again",
                                                 options_.transactional_id)));
    return true;
  }
  if (transaction_ != kNoTransaction && id().open != transaction_) {
    Fail(Status::Cluster("a transaction lasted longer than its timeout"));
    return true;
  }
  return false;
}

Status MemoryProducer::InitTransactions() {
  if (!transactional() || state_ != State::kNew) return Misuse("InitTransactions");
  const std::lock_guard lock(broker_->mutex);
  holder_ = ++id().holders;
  broker_->End(std::exchange(id().open, kNoTransaction), false);
  broker_->Changed();
  state_ = State::kReady;
  return Status::Ok();
}

Status MemoryProducer::Begin() {
  if (!transactional() || state_ != State::kReady) return Misuse("Begin");
  const std::lock_guard lock(broker_->mutex);
  if (!failure_.ok() || Fenced()) return failure_;
  transaction_ = id().open = ++broker_->last_transaction;
  state_ = State::kOpen;
  return Status::Ok();
}

Status MemoryProducer::Seal(std::vector<PartitionOffset> offsets, Consumer* member) {
  if (!transactional() || state_ != State::kOpen) return Misuse("Seal");
  KSTREAM_RETURN_IF_ERROR(failure_);
  offsets_ = std::move(offsets);
  member_ = member;
  decided_ = false;
  state_ = State::kSealed;
  return Status::Ok();
}

Result<bool> MemoryProducer::Commit(std::chrono::milliseconds wait) {
  if (!transactional()) return Misuse("Commit");
  if (std::exchange(decided_, false)) return true;
  if (state_ != State::kSealed) return Misuse("Commit");
  std::unique_lock lock(broker_->mutex);
  bool done = TryCommit();
  if (!done && failure_.ok() && wait.count() > 0) {
    broker_->Wait(&lock, wait);
    done = TryCommit();
  }
  if (!failure_.ok()) return failure_;
  return done;
}

bool MemoryProducer::TryCommit() {
  Deliver();
  if (!failure_.ok() || !in_flight_.empty()) return false;
  const Status failure = std::exchange(broker_->transaction_failure, Status::Ok());
  if (!failure.ok() && !broker_->commits_all_the_same) {
    Fail(failure);
    return false;
  }
  auto* const member = dynamic_cast<GroupMember*>(member_);
  if (!offsets_.empty()) {
    Fail(member == nullptr ? Status::Cluster("committing offsets: not in a group")
                           : member->CheckOwns(offsets_));
    if (!failure_.ok()) return false;
    member->Apply(std::move(offsets_));
  }
  broker_->End(transaction_, true);
  if (!failure.ok()) {
    transaction_ = id().open = kNoTransaction;
    broker_->Changed();
    Fail(failure);
    return false;
  }
  transaction_ = id().open = ++broker_->last_transaction;
  in_flight_ = std::exchange(buffered_, {});
  buffered_bytes_ = 0;
  state_ = State::kOpen;
  broker_->Changed();
  return true;
}

Status MemoryProducer::Abort() {
  if (!transactional() || state_ == State::kNew) return Misuse("Abort");
  in_flight_.clear();
  buffered_.clear();
  buffered_bytes_ = 0;
  pending_[0] = pending_[1] = 0;
  offsets_.clear();
  decided_ = false;
  state_ = State::kReady;
  const std::lock_guard lock(broker_->mutex);
  transaction_ = kNoTransaction;
  if (Fenced()) return failure_;
  broker_->End(std::exchange(id().open, kNoTransaction), false);
  broker_->Changed();
  return Status::Ok();
}

}  // namespace kstream::transport::memory
