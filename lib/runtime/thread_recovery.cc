// StreamThread's way back: when what it has begun cannot be committed, its tasks begin again where
// they were committed last.
//
// That an epoch fails is no accident: under exactly-once every change of the group may do it, since
// a transaction's offsets must be of the group's present generation. What was sent is not committed
// then, or nobody knows whether it is (a commit that was never answered). So nothing is concluded
// from what is here: the outputs are opened anew, which decides the transactions of their id one
// way or the other; then the positions are asked of the group, and the stores read the tail of
// their changelogs. Tested by tests/unit/testdriver/exactly_once_test.cc and stateful_test.cc.
#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "runtime/changelogs.h"
#include "runtime/standbys.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

// Attempts in a row of which none has committed anything. Each may halve the batches that a topic
// has refused (see kafka/producer_transactions.h), from the largest down to a single record.
constexpr int kMostTries = 20;

}  // namespace

// Whether more than positions must go back with an epoch that fails.
bool StreamThread::puts_back() const { return outputs_.transactional() || outputs_.journals(); }

// Takes a failure of the outputs that is not for good: ok when the thread can go on.
Status StreamThread::Mend(Status why) {
  if (why.ok() || !puts_back() || !outputs_.recoverable()) return why;
  // The first failure is the one that tells most; later ones follow from it.
  why = outputs_.failure();
  if (std::exchange(kept_at_last_try_, committer_->kept()) != committer_->kept()) tries_ = 0;
  if (++tries_ > kMostTries) {
    return {why.code(), fmt::format("{} (tried {} times)", why.message(), kMostTries)};
  }
  Log(LogLevel::kWarning,
      fmt::format("thread {}: {}: its tasks go back to what is committed (try {} of {})", index_,
                  why.message(), tries_, kMostTries));
  return PutBack();
}

// Drops what is not committed, and lets all tasks begin again.
Status StreamThread::PutBack() {
  for (auto& [id, task] : tasks_) {
    for (auto& reader : readers_) {
      const std::vector<transport::TopicPartition> left = reader->Remove(task.get());
      if (!left.empty()) KSTREAM_RETURN_IF_ERROR(reader->consumer()->Unassign(left));
    }
    metrics_->punctuations.Add(task->TakePunctuations());
    // What it could not send at its end is sent again by the next.
    if (const Status closed = task->Close(); !closed.ok()) {
      Log(LogLevel::kDebug, closed.At("task " + id.ToString()).message());
    }
  }
  tasks_.clear();
  ForgetCompleted();
  for (auto& [id, restoring] : restoring_) {
    KSTREAM_RETURN_IF_ERROR(restorer_.Remove(id));
    stores_[id] = std::move(restoring.stores);
  }
  restoring_.clear();
  for (auto& [id, stores] : stores_) {
    stores->Drop();
    rewound_[id] = std::move(stores);
  }
  stores_.clear();
  waiting_.assign(leads_.begin(), leads_.end());
  next_show_.reset();
  return OpenOutputsAnew();
}

Status StreamThread::OpenOutputsAnew() {
  outputs_.Drop();
  committer_->Reset();
  // Under exactly-once they are decided about again.
  if (outputs_.transactional()) {
    bad_records_->Undo(std::exchange(sealed_bad_, {}));
    bad_records_->Undo(bad_records_->Take());
  }
  // Of outputs that are missing these are for nobody to make.
  for (const std::string& changelog : outputs_.Changelogs()) {
    const auto find = [&](transport::Admin* admin) { return admin->FindTopic(changelog); };
    KSTREAM_ASSIGN_OR_RETURN(const auto found, shared_->admins.Ask("", find));
    if (!found) return ChangelogGone(state_->options.app, changelog);
  }
  KSTREAM_RETURN_IF_ERROR(outputs_.Open());
  bad_records_->SendTo(outputs_.dead_letters());
  return Status::Ok();
}

// The stores of a task: those that it had before it was put back, those that stood by, or fresh
// ones.
Result<std::unique_ptr<TaskStores>> StreamThread::StoresOf(TaskId id) {
  std::unique_ptr<TaskStores> stores;
  if (auto rewound = rewound_.extract(id)) {
    stores = std::move(rewound.mapped());
  } else if (shared_->standbys) {
    KSTREAM_ASSIGN_OR_RETURN(stores, shared_->standbys->Take(id));
  } else {
    KSTREAM_ASSIGN_OR_RETURN(stores, TaskStores::Open(shared_, id));
  }
  if (!stores) return stores;
  stores->ShowStandby(id, false);
  KSTREAM_RETURN_IF_ERROR(stores->OpenJournals(&outputs_));
  return stores;
}

}  // namespace kstream::runtime
