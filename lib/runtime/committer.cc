#include "runtime/committer.h"

#include <utility>

#include "base/log.h"

namespace kstream::runtime {
namespace {

// The broker forgets offsets of topics that no live group subscribes to, so every owned position is
// committed this often, changed or not.
constexpr std::chrono::minutes kFullCommit{30};
// message.timeout.ms of the producers ends every wait before this.
constexpr std::chrono::seconds kFlushLimit{60};
// A rebalance under way refuses commits for a moment, and so does a group that has put us out until
// the next poll tells: the next commit brings every position again.
constexpr int kMostFailedCommits = 30;
// The transaction's own timeout ends the wait for a commit.
constexpr std::chrono::milliseconds kCommitTurn{100};

}  // namespace

Committer::Committer(ThreadOutputs* outputs, transport::Consumer* consumer,
                     std::chrono::milliseconds interval, CommitHost* host, const Clock& clock,
                     CommitMetrics* metrics)
    : outputs_(outputs),
      consumer_(consumer),
      interval_(interval),
      host_(host),
      clock_(clock),
      metrics_(metrics),
      last_seal_(clock.Steady()),
      last_full_(last_seal_) {}

Status Committer::Turn() {
  KSTREAM_RETURN_IF_ERROR(outputs_->failure());
  KSTREAM_RETURN_IF_ERROR(failure_);
  const Clock::Instant now = clock_.Steady();
  if (!sealed_ && (requested_ || now - last_seal_ >= interval_)) KSTREAM_RETURN_IF_ERROR(Seal(now));
  if (!sealed_) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const bool safe, Safe(std::chrono::milliseconds(0)));
  if (!safe) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const bool kept, Keep(/*wait=*/false));
  if (!kept) return Status::Ok();
  if (consumer_ && !sealed_positions_.empty()) {
    consumer_->CommitAsync(
        std::move(sealed_positions_),
        [this, since = last_seal_, when = std::move(when_committed_)](const Status& status) {
          if (status.ok()) when();
          Committed(status, since);
        });
    sealed_positions_.clear();
  }
  return Status::Ok();
}

Result<bool> Committer::Safe(std::chrono::milliseconds wait) {
  if (safe_) return true;
  if (!outputs_->transactional()) return safe_ = outputs_->Pending(epoch_ - 1) == 0;
  const Result<bool> committed = outputs_->Commit(wait);
  if (!committed.ok() || *committed) Count(committed.status(), last_seal_);
  safe_ = committed.ok() && *committed;
  return committed;
}

void Committer::Count(const Status& status, Clock::Instant since) {
  (status.ok() ? metrics_->done : metrics_->failed).Add();
  metrics_->latency.Observe(clock_.Steady() - since);
}

void Committer::Committed(const Status& status, Clock::Instant since) {
  Count(status, since);
  if (status.ok()) {
    failed_commits_ = 0;
  } else if (++failed_commits_ > kMostFailedCommits) {
    failure_ = status;
  } else {
    Log(failed_commits_ == 1 ? LogLevel::kWarning : LogLevel::kDebug, status.message());
  }
}

Status Committer::Seal(Clock::Instant now) {
  KSTREAM_RETURN_IF_ERROR(host_->FlushTasks());
  KSTREAM_RETURN_IF_ERROR(outputs_->FlushFiles());
  KSTREAM_RETURN_IF_ERROR(host_->SealStores());
  const bool full = failed_commits_ > 0 || now - last_full_ >= kFullCommit;
  if (full) last_full_ = now;
  KSTREAM_ASSIGN_OR_RETURN(sealed_positions_, host_->Positions(full));
  when_committed_ = host_->WhenCommitted();
  requested_ = false;
  last_seal_ = now;
  sealed_something_ = outputs_->sent() || !sealed_positions_.empty();
  if (outputs_->transactional()) {
    if (!sealed_something_) return host_->KeepStores(/*wait=*/true).status();
    KSTREAM_RETURN_IF_ERROR(outputs_->Seal(std::exchange(sealed_positions_, {}), consumer_));
  }
  outputs_->set_tag(++epoch_);
  sealed_ = true;
  return Status::Ok();
}

Result<bool> Committer::Keep(bool wait) {
  KSTREAM_ASSIGN_OR_RETURN(const bool kept, host_->KeepStores(wait));
  if (!kept) return false;
  sealed_ = safe_ = false;
  if (sealed_something_) kept_++;
  // Otherwise positions follow, and their acknowledgement counts.
  if (outputs_->transactional() || !consumer_) std::exchange(when_committed_, [] {})();
  return true;
}

void Committer::Reset() {
  sealed_ = safe_ = requested_ = false;
  sealed_positions_.clear();
  last_seal_ = clock_.Steady();
  outputs_->set_tag(++epoch_);
}

void Committer::Forget(const std::vector<transport::TopicPartition>& partitions) {
  for (const transport::TopicPartition& partition : partitions) {
    std::erase_if(sealed_positions_,
                  [&](auto& position) { return position.partition == partition; });
  }
}

Status Committer::Finish() {
  const Clock::Instant begin = clock_.Steady();
  KSTREAM_RETURN_IF_ERROR(failure_);
  if (outputs_->transactional()) return FinishTransactions();
  if (sealed_) {
    KSTREAM_RETURN_IF_ERROR(outputs_->FlushTopics(kFlushLimit));
    KSTREAM_RETURN_IF_ERROR(Keep(/*wait=*/true).status());
  }
  KSTREAM_RETURN_IF_ERROR(host_->FlushTasks());
  KSTREAM_RETURN_IF_ERROR(outputs_->FlushFiles());
  KSTREAM_RETURN_IF_ERROR(host_->SealStores());
  KSTREAM_RETURN_IF_ERROR(outputs_->FlushTopics(kFlushLimit));
  KSTREAM_RETURN_IF_ERROR(Keep(/*wait=*/true).status());
  sealed_positions_.clear();
  // All of them: one whose last commit is still under way must be decided before somebody else
  // reads on.
  KSTREAM_ASSIGN_OR_RETURN(std::vector<transport::PartitionOffset> positions,
                           host_->Positions(true));
  if (!consumer_ || positions.empty()) return Status::Ok();
  const std::function<void()> when_committed = host_->WhenCommitted();
  Status status = consumer_->CommitSync(std::move(positions));
  if (status.ok()) when_committed();
  Count(status, begin);
  return status;
}

Status Committer::FinishTransactions() {
  KSTREAM_RETURN_IF_ERROR(outputs_->failure());
  const auto await = [&]() -> Status {
    while (sealed_) {
      KSTREAM_ASSIGN_OR_RETURN(const bool safe, Safe(kCommitTurn));
      if (safe) KSTREAM_RETURN_IF_ERROR(Keep(/*wait=*/true).status());
    }
    return Status::Ok();
  };
  KSTREAM_RETURN_IF_ERROR(await());
  KSTREAM_RETURN_IF_ERROR(Seal(clock_.Steady()));
  return await();
}

}  // namespace kstream::runtime
