// StreamThread's tasks: how they come, change and go.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/standbys.h"
#include "runtime/start_position.h"
#include "runtime/stream_thread.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using transport::Admin;
using transport::PartitionOffset;
using transport::TopicPartition;

// topic.metadata.refresh.interval.ms, if the user says nothing.
constexpr milliseconds kRefresh = std::chrono::minutes(5);
// While a lead is ours whose task the manifest does not know yet.
constexpr milliseconds kRefreshSoon{1000};
constexpr milliseconds kBetweenChecks{200};
constexpr std::chrono::seconds kPurge{30};  // repartition.purge.interval.ms of Kafka Streams
constexpr std::chrono::seconds kPurgeInProcess{1};

milliseconds RefreshInterval(const RunState& state) {
  const milliseconds interval =
      MillisecondsOf(state.options.home.consumer, "topic.metadata.refresh.interval.ms", kRefresh);
  return interval.count() > 0 ? interval : kRefresh;
}

}  // namespace

// Answers what the last poll of the group's member brought.
Status StreamThread::Rebalance() {
  const transport::Batch& batch = home()->batch();
  for (const TopicPartition& lead : batch.lost) leads_.erase(lead);
  for (const TopicPartition& lead : batch.revoked) leads_.erase(lead);
  if (!batch.lost.empty()) KSTREAM_RETURN_IF_ERROR(DropTasks(batch.lost, false));
  if (!batch.revoked.empty()) KSTREAM_RETURN_IF_ERROR(DropTasks(batch.revoked, true));
  leads_.insert(batch.assigned.begin(), batch.assigned.end());
  waiting_.insert(waiting_.end(), batch.assigned.begin(), batch.assigned.end());
  if (batch.rebalanced) {
    joined_ = true;
    if (shared_->standbys) shared_->standbys->Rebalanced();
    if (agreed_) KSTREAM_RETURN_IF_ERROR(shared_->check->Recheck());
  }
  if (!joined_) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const bool agreed, Agreed());
  if (agreed) KSTREAM_RETURN_IF_ERROR(AdoptWaiting());
  SetState(agreed && waiting_.empty() && restoring_.empty() ? AtWork() : ThreadState::kRebalancing);
  Tell(batch.lost.empty() ? "" : " (lost)");
  return Status::Ok();
}

Result<bool> StreamThread::Agreed() {
  if (agreed_) return true;
  const Clock::Instant now = state_->clock->Steady();
  if (next_check_ && now < *next_check_) return false;
  next_check_ = now + kBetweenChecks;
  KSTREAM_ASSIGN_OR_RETURN(const GroupCheck::Verdict verdict, shared_->check->Check());
  agreed_ = verdict == GroupCheck::Verdict::kGo;
  return agreed_;
}

Status StreamThread::AdoptWaiting() {
  std::vector<TopicPartition> unknown;
  for (; !waiting_.empty(); waiting_.pop_front()) {
    const TopicPartition& lead = waiting_.front();
    const std::optional<TaskId> id = plan_->TaskOf(lead);
    if (id) {
      KSTREAM_RETURN_IF_ERROR(Adopt(*id));
      // Whoever has the first task keeps the layout: it looks at once whether topics have grown.
      if (*id == TaskId{}) next_look_ = state_->clock->Steady();
    } else {
      unknown.push_back(lead);
    }
  }
  if (unknown.empty()) return Status::Ok();
  // A lead that has grown since the plan was made.
  waiting_.assign(unknown.begin(), unknown.end());
  return LookAgain(!next_look_ || *next_look_ > state_->clock->Steady() + kRefreshSoon);
}

// Without a group every thread has its share of all tasks.
Status StreamThread::AdoptOwn() {
  for (const TaskId id : plan_->Tasks()) {
    if (id.number % shared_->threads != index_ || tasks_.contains(id)) continue;
    KSTREAM_RETURN_IF_ERROR(Adopt(id));
  }
  return Status::Ok();
}

// Looks whether topics have grown, or others have found that they have. `soon`: not at once again,
// but sooner than usual.
Status StreamThread::LookAgain(bool soon) {
  if (readers_.front()->cluster() == kFiles || !agreed_) return Status::Ok();
  const Clock::Instant now = state_->clock->Steady();
  if (!next_look_) next_look_ = now + RefreshInterval(*state_);
  if (soon) next_look_ = now;
  if (now >= *next_look_) {
    next_look_ = now + (waiting_.empty() ? RefreshInterval(*state_) : kRefreshSoon);
    KSTREAM_RETURN_IF_ERROR(shared_->planner.Refresh(tasks_.contains(TaskId{})).status());
  }
  return Reconcile();
}

// Takes up what a new plan has for us: more partitions for tasks, more tasks.
Status StreamThread::Reconcile() {
  const std::shared_ptr<const RunPlan> plan = shared_->planner.plan();
  if (plan == plan_) return Status::Ok();
  plan_ = plan;
  for (auto& [id, task] : tasks_) {
    task->KeepApart(plan_->stages[id.stage].shared);
    KSTREAM_ASSIGN_OR_RETURN(auto partitions, plan_->PartitionsOf(*state_, id));
    const size_t had = task->partitions().size();
    std::erase_if(partitions, [&task = task](const TaskPartition& p) {
      return std::any_of(task->partitions().begin(), task->partitions().end(), [&](auto& other) {
        return other.input == p.input && other.source == p.source;
      });
    });
    if (partitions.empty()) continue;
    KSTREAM_RETURN_IF_ERROR(Place(&partitions));
    for (TaskPartition& partition : partitions) task->AddPartition(std::move(partition));
    for (auto& reader : readers_) KSTREAM_RETURN_IF_ERROR(reader->Add(task.get(), had));
    Log(LogLevel::kInfo, fmt::format("task {} reads {} new partitions", id.ToString(),
                                     task->partitions().size() - had));
  }
  return state_->grouped() ? Status::Ok() : AdoptOwn();
}

Status StreamThread::Adopt(TaskId id) {
  if (tasks_.contains(id) || restoring_.contains(id)) return Status::Ok();
  // First the positions, then where the changelogs end: see restorer.h.
  KSTREAM_ASSIGN_OR_RETURN(StageTask::Start start, StartOf(id));
  KSTREAM_ASSIGN_OR_RETURN(std::unique_ptr<TaskStores> stores, StoresOf(id));
  if (!stores || !stores->journaled()) {
    return AdoptRestored(id, std::move(start), std::move(stores));
  }
  KSTREAM_RETURN_IF_ERROR(restorer_.Add(id, stores.get(), plan_->incarnation));
  restoring_[id] = {std::move(start), std::move(stores)};
  return Status::Ok();
}

Status StreamThread::AdoptRestored(TaskId id, StageTask::Start start,
                                   std::unique_ptr<TaskStores> stores) {
  if (stores) KSTREAM_RETURN_IF_ERROR(CheckState(id, &start, *stores));
  // Ends that became known while the stores were restored.
  for (TaskPartition& p : start.partitions) {
    if (!p.end) p.end = shared_->ends.Of(*plan_, p.input);
  }
  StageTask::Env env{state_, index_, &outputs_, this, bad_records_.get(), &cache_, {}};
  for (auto& ingest : ingests_[id.stage]) env.ingests.push_back(ingest.get());
  auto task = std::make_unique<StageTask>(env, id, std::move(start));
  if (stores) {
    stores->SetEventTime([&task = task->task()] { return task.event_time(); });
    KSTREAM_RETURN_IF_ERROR(task->Init(stores->kept()));
    stores->Offer(id);
    stores_[id] = std::move(stores);
  } else {
    KSTREAM_RETURN_IF_ERROR(task->Init({}));
  }
  for (auto& reader : readers_) KSTREAM_RETURN_IF_ERROR(reader->Add(task.get()));
  task->metrics().Enter("running");
  tasks_[id] = std::move(task);
  metrics_->assigned.Add();
  if (state_->grouped()) changes_ += " +" + id.ToString();
  next_show_.reset();
  return Status::Ok();
}

// The task of a lead partition; null: it is not here.
StageTask* StreamThread::Find(const TopicPartition& lead) const {
  const std::optional<TaskId> id = plan_->TaskOf(lead);
  const auto found = id ? tasks_.find(*id) : tasks_.end();
  return found == tasks_.end() ? nullptr : found->second.get();
}

// Finishes and closes the tasks of these leads; `commit` false: they belong to others already.
Status StreamThread::DropTasks(const std::vector<TopicPartition>& leads, bool commit) {
  std::erase_if(waiting_, [&](const TopicPartition& lead) {
    return std::find(leads.begin(), leads.end(), lead) != leads.end();
  });
  Status finished;
  if (commit) {
    for (const TopicPartition& lead : leads) {
      if (StageTask* const task = Find(lead)) task->metrics().Enter("suspended");
    }
    finished = committer_->Finish();
  }
  if (!finished.ok()) {
    if (!outputs_.failure().ok() && !(puts_back() && outputs_.recoverable())) {
      return outputs_.failure();
    }
    // The new owner reads again what this commit would have saved.
    Log(LogLevel::kWarning, finished.message());
  }
  std::vector<TopicPartition> leaving = leads;
  Status closed = DropRestoring(leads);
  for (const TopicPartition& lead : leads) {
    StageTask* const task = Find(lead);
    if (task == nullptr) continue;
    for (auto& reader : readers_) {
      std::vector<TopicPartition> left = reader->Remove(task);
      if (reader.get() != home()) {
        if (!left.empty()) KSTREAM_RETURN_IF_ERROR(reader->consumer()->Unassign(left));
        continue;
      }
      std::erase_if(left, [&](const TopicPartition& p) {
        return std::find(leaving.begin(), leaving.end(), p) != leaving.end();
      });
      leaving.insert(leaving.end(), left.begin(), left.end());
    }
    if (Status status = task->Close(); closed.ok()) closed = std::move(status);
    if (Status status = CloseStores(task->id()); closed.ok()) closed = std::move(status);
    metrics_->punctuations.Add(task->TakePunctuations());
    (commit ? metrics_->revoked : metrics_->lost).Add();
    changes_ += " -" + task->id().ToString();
    if (completed_.erase(task->id()) > 0) shared_->ends.Left(task->id());
    tasks_.erase(TaskId(task->id()));
    next_show_.reset();
  }
  if (!commit) committer_->Forget(leaving);
  if (commit || leaving.size() > leads.size()) {
    KSTREAM_RETURN_IF_ERROR(home()->consumer()->Unassign(leaving));
  }
  // What could not be closed for that is closed anew.
  if (!outputs_.failure().ok()) return Mend(outputs_.failure());
  KSTREAM_RETURN_IF_ERROR(closed);
  // What the tasks that are gone have sent must not be committed with what the others did, nor come
  // after what their next owner sends.
  const bool spoilt = !commit || (outputs_.transactional() && !finished.ok());
  return spoilt && puts_back() ? PutBack() : Status::Ok();
}

// Those of them that are being restored have read nothing yet.
Status StreamThread::DropRestoring(const std::vector<TopicPartition>& leads) {
  for (const TopicPartition& lead : leads) {
    const std::optional<TaskId> id = plan_->TaskOf(lead);
    if (!id) continue;
    if (auto rewound = rewound_.extract(*id)) KSTREAM_RETURN_IF_ERROR(rewound.mapped()->Close());
    if (!restoring_.contains(*id)) continue;
    KSTREAM_RETURN_IF_ERROR(restorer_.Remove(*id));
    KSTREAM_RETURN_IF_ERROR(restoring_.extract(*id).mapped().stores->Close());
  }
  return Status::Ok();
}

Result<StageTask::Start> StreamThread::StartOf(TaskId id) {
  StageTask::Start start;
  start.lead = plan_->LeadOf(id);
  KSTREAM_ASSIGN_OR_RETURN(start.partitions, plan_->PartitionsOf(*state_, id));
  if (start.lead) {
    const TopicPartition asked[] = {*start.lead};
    KSTREAM_ASSIGN_OR_RETURN(const auto lead, home()->consumer()->Committed(asked));
    start.metadata = lead.front().metadata;
    KSTREAM_ASSIGN_OR_RETURN(const auto kept, task::CommitMetadata::Decode(start.metadata));
    start.stream_time = kept.stream_time;
    // Before a task was added that reads it too, a partition at home was committed by its offset.
    const bool ran = lead.front().offset != transport::kNoOffset;
    std::vector<TopicPartition> by_offset;
    for (TaskPartition& p : start.partitions) {
      const auto found = kept.positions.find(p.input);
      p.given_out = found == kept.positions.end() ? transport::kNoOffset : found->second;
      if (ran && !p.by_offset && p.input.cluster.empty() && found == kept.positions.end())
        by_offset.push_back(p.topic_partition());
    }
    if (!by_offset.empty()) {
      KSTREAM_ASSIGN_OR_RETURN(const auto offsets, home()->consumer()->Committed(by_offset));
      for (const PartitionOffset& offset : offsets) {
        for (TaskPartition& p : start.partitions) {
          if (p.input.cluster.empty() && p.topic_partition() == offset.partition)
            p.given_out = offset.offset;
        }
      }
    }
  }
  KSTREAM_RETURN_IF_ERROR(Place(&start.partitions));
  return start;
}

// Sets where partitions begin and end. given_out is what the metadata says of those that are kept
// there.
Status StreamThread::Place(std::vector<TaskPartition>* partitions) {
  for (auto& reader : readers_) {
    std::vector<TaskPartition*> here;
    std::vector<TopicPartition> names, committed_names;
    for (TaskPartition& p : *partitions) {
      if (p.input.cluster != reader->cluster()) continue;
      here.push_back(&p);
      names.push_back(p.topic_partition());
      if (p.by_offset && state_->grouped()) committed_names.push_back(p.topic_partition());
    }
    if (here.empty() || reader->cluster() == kFiles) continue;
    std::map<TopicPartition, int64_t> committed;
    if (!committed_names.empty()) {
      KSTREAM_ASSIGN_OR_RETURN(const auto offsets, reader->consumer()->Committed(committed_names));
      for (const PartitionOffset& offset : offsets) committed[offset.partition] = offset.offset;
    }
    KSTREAM_ASSIGN_OR_RETURN(const auto logs, shared_->admins.Ask(reader->cluster(), [&](Admin* a) {
      return a->Offsets(names);
    }));
    KSTREAM_ASSIGN_OR_RETURN(const auto from, shared_->admins.Ask(reader->cluster(), [&](Admin* a) {
      return state_->from.Resolve(a, names);
    }));
    for (TaskPartition* p : here) {
      const TopicPartition name = p->topic_partition();
      if (const auto found = committed.find(name); found != committed.end()) {
        p->given_out = found->second;
      } else if (!state_->grouped()) {
        p->given_out = transport::kNoOffset;
      }
      // What came after the start, and what stages write, is read from its beginning: --from is
      // about what was there.
      const bool old = plan_->at_start.contains(p->input) && !shared_->planner.IsOutput(p->input);
      KSTREAM_ASSIGN_OR_RETURN(p->position, StartPosition(*state_, *p, logs.at(name),
                                                          old ? from.at(name) : logs.at(name).low));
      p->end = shared_->ends.Of(*plan_, p->input);
      if (!p->end && state_->has_end() && !plan_->at_start.contains(p->input)) p->end = p->position;
    }
  }
  return Status::Ok();
}

// Deletes from repartition topics what has been read and committed.
Status StreamThread::Purge() {
  const bool in_process = ReaderOf(kInProcess) != nullptr;
  const Clock::Instant now = state_->clock->Steady();
  if (!next_purge_) next_purge_ = now + (in_process ? kPurgeInProcess : kPurge);
  if (now < *next_purge_ || (state_->options.dry_run && !in_process)) return Status::Ok();
  next_purge_ = now + (in_process ? kPurgeInProcess : kPurge);
  std::map<TopicPartition, int64_t> before;
  const std::string cluster = in_process ? std::string(kInProcess) : "";
  for (const auto& [id, task] : tasks_) {
    for (const TaskPartition& p : task->partitions()) {
      // Of one that several tasks read, no thread knows how far all have come.
      if (p.input.cluster != cluster || !state_->IsRepartition(p.input.cluster, p.input.topic) ||
          plan_->stages[id.stage].shared.contains(p.input))
        continue;
      const auto [entry, fresh] = before.emplace(p.topic_partition(), p.position);
      if (!fresh) entry->second = std::min(entry->second, p.position);
    }
  }
  if (before.empty()) return Status::Ok();
  if (!in_process) {
    std::vector<TopicPartition> names;
    for (const auto& [name, offset] : before) names.push_back(name);
    KSTREAM_ASSIGN_OR_RETURN(const auto committed, home()->consumer()->Committed(names));
    for (const PartitionOffset& offset : committed) before[offset.partition] = offset.offset;
    std::erase_if(before, [](auto& entry) { return entry.second < 0; });
  }
  const Status purged =
      shared_->admins.Ask(cluster, [&](Admin* admin) { return admin->DeleteRecords(before); });
  // It can wait: the next time deletes more.
  if (!purged.ok()) Log(LogLevel::kWarning, purged.message());
  return Status::Ok();
}

}  // namespace kstream::runtime
