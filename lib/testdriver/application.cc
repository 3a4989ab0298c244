#include "testdriver/application.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "runtime/configuration.h"

namespace kstream::testdriver {
namespace {

using runtime::StageTask;
using runtime::StreamThread;
using runtime::TaskId;

// An application that is busy for longer has no rest. A round takes all there is to read.
constexpr int kMostRounds = 2'000;

RuntimeOptions OptionsOf(const TestDriverOptions& options) {
  RuntimeOptions runtime = options.runtime;
  if (runtime.app.empty()) runtime.app = "test";
  if (!runtime.create_output) runtime.create_output = {options.default_partitions, 1};
  return runtime;
}

std::set<InputPartition> PartitionsOf(const StageTask& task) {
  std::set<InputPartition> partitions;
  for (const auto& partition : task.partitions()) partitions.insert(partition.input);
  return partitions;
}

}  // namespace

Application::Application(Topology topology, const TestDriverOptions& options,
                         std::shared_ptr<const ManualClock> clock, Clusters* clusters)
    : options_(options),
      clusters_(clusters),
      state_(std::move(topology), OptionsOf(options)),
      shared_(&state_, &files_) {
  state_.clock = std::move(clock);
}

Application::~Application() {
  while (!threads_.empty()) static_cast<void>(Crash(threads_.begin()->first));
}

Status Application::Open() {
  outcome_ = [&]() -> Status {
    KSTREAM_RETURN_IF_ERROR(runtime::CheckConfiguration(&state_));
    KSTREAM_RETURN_IF_ERROR(
        clusters_->Serve(&state_, options_.partitions, options_.default_partitions));
    clusters_->BeginTurn();
    return shared_.Open();
  }();
  for (int i = 0; outcome_.ok() && i < state_.options.threads; i++) outcome_ = Start(i);
  if (!outcome_.ok()) static_cast<void>(Close());
  return outcome_;
}

// A thread that cannot even begin ends the application.
Status Application::Start(int index) {
  clusters_->BeginTurn();
  auto thread = std::make_unique<StreamThread>(&shared_, index);
  Status status = thread->Open();
  if (status.ok()) {
    threads_[index] = std::move(thread);
    return status;
  }
  failures_.push_back({index, thread->Finish(std::move(status))});
  return failures_.back().error;
}

Status Application::Close() {
  Status first;
  while (!threads_.empty()) {
    const int index = threads_.begin()->first;
    Status status = End(index, Status::Ok());
    if (!status.ok()) failures_.push_back({index, status});
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status Application::CheckThread(int index) const {
  if (threads_.contains(index)) return Status::Ok();
  return Status::Usage(fmt::format("there is no thread {}", index));
}

Status Application::AddThread() {
  if (!running()) return Status::Usage("the application has ended: Restart it first");
  int index = 0;
  while (threads_.contains(index)) index++;
  outcome_ = Start(index);
  return outcome_;
}

Status Application::Remove(int index) {
  KSTREAM_RETURN_IF_ERROR(CheckThread(index));
  if (Status status = End(index, Status::Ok()); !status.ok()) Failed(index, std::move(status));
  return outcome_;
}

Status Application::End(int index, Status why) {
  clusters_->BeginTurn();
  const auto thread = std::move(threads_.extract(index).mapped());
  return thread->Finish(std::move(why));
}

Status Application::Crash(int index) {
  KSTREAM_RETURN_IF_ERROR(CheckThread(index));
  // Its group first, so that its consumer does not leave in good order.
  runtime::MemberTag tag = shared_.tag;
  tag.thread = index;
  clusters_->home().Crash(state_.options.app, tag.ToClientId());
  clusters_->BeginTurn();
  threads_.erase(index);
  clusters_->home().ExpireTransaction(shared_.transactional_id(index));
  return Status::Ok();
}

Status Application::ExpireTransaction(int index) {
  KSTREAM_RETURN_IF_ERROR(CheckThread(index));
  clusters_->home().ExpireTransaction(shared_.transactional_id(index));
  return Status::Ok();
}

Status Application::Evict(int index) {
  KSTREAM_RETURN_IF_ERROR(CheckThread(index));
  const auto plan = shared_.planner.plan();
  for (const auto& [id, task] : threads_.at(index)->tasks()) {
    const auto lead = plan->LeadOf(id);
    if (!lead) continue;
    clusters_->home().Evict(state_.options.app, *lead);
    break;  // the session is over, for all of them
  }
  return Status::Ok();
}

std::map<TaskId, int> Application::Owners() const {
  std::map<TaskId, int> owners;
  for (const auto& [index, thread] : threads_) {
    for (const auto& [id, task] : thread->tasks()) owners[id] = index;
  }
  return owners;
}

const StageTask& Application::TaskOf(TaskId task, int thread) const {
  return *threads_.at(thread)->tasks().at(task);
}

Status Application::Settle() {
  int rounds = 0;
  for (int64_t before = -1; running() && clusters_->Activity() != before;) {
    before = clusters_->Activity();
    TakeTurns();
    if (++rounds > kMostRounds) {
      return Status(
          StatusCode::kTimeLimit,
          fmt::format("the application has not come to rest after {} rounds: does it write "
                      "what it reads, or fail again and again?",
                      kMostRounds));
    }
  }
  return outcome_;
}

void Application::TakeTurns() {
  const int64_t before = clusters_->Activity();
  std::set<int> indexes;
  for (const auto& [index, thread] : threads_) indexes.insert(index);
  for (const int index : indexes) Turn(index, std::nullopt);
  if (clusters_->Activity() != before) return;
  const size_t failed = failures_.size();
  for (const auto& [task, thread] : Owners()) {
    Turn(thread, task);
    if (failures_.size() != failed) return;
  }
}

void Application::Turn(int index, std::optional<TaskId> task) {
  const auto found = threads_.find(index);
  if (found == threads_.end()) return;
  StreamThread& thread = *found->second;
  std::set<InputPartition> visible;
  if (task) {
    const auto now = thread.tasks().find(*task);
    if (now == thread.tasks().end()) return;  // it has moved on
    visible = PartitionsOf(*now->second);
  }
  std::set<InputPartition> inputs;
  for (const auto& stage : shared_.planner.plan()->stages) {
    for (const auto& partitions : stage.tasks) inputs.insert(partitions.begin(), partitions.end());
  }
  clusters_->Hide([visible, inputs](const InputPartition& partition) {
    return inputs.contains(partition) && !visible.contains(partition);
  });
  thread.Let([task](TaskId id) { return id == task; });
  clusters_->BeginTurn();
  turns_++;
  const Result<bool> more = thread.Turn();
  if (more.ok() && *more) return;
  if (Status status = End(index, more.status()); !status.ok()) Failed(index, std::move(status));
}

void Application::Failed(int index, Status error) {
  clusters_->FailDeliveries(Status::Ok());
  failures_.push_back({index, error});
  if (options_.on_error && options_.on_error(error, index) == ErrorResponse::kReplaceThread) {
    error = Start(index);
    if (error.ok()) return;
  }
  outcome_ = std::move(error);
  static_cast<void>(Close());
}

}  // namespace kstream::testdriver
