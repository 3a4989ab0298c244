#include "runtime/ends.h"

#include <algorithm>
#include <numeric>

#include "task/commit_metadata.h"

namespace kstream::runtime {
namespace {

using transport::Admin;
using transport::PartitionOffset;
using transport::TopicPartition;

constexpr std::chrono::seconds kBetweenQuestions{1};

}  // namespace

Ends::Ends(const RunState* state, Admins* admins)
    : state_(state),
      admins_(admins),
      completed_(state->graph().stages.size()),
      complete_(state->graph().stages.size()),
      asked_(state->graph().stages.size()),
      known_(state->graph().stages.size()) {
  for (size_t i = 0; i < known_.size(); i++) known_[i] = state->graph().stages[i].level == 0;
}

std::optional<int64_t> Ends::Of(const RunPlan& plan, const InputPartition& input) const {
  if (const auto found = plan.ends.find(input); found != plan.ends.end()) return found->second;
  const std::lock_guard lock(mutex_);
  const auto found = inner_.find(input);
  return found == inner_.end() ? std::nullopt : std::optional(found->second);
}

void Ends::Completed(TaskId task) {
  const std::lock_guard lock(mutex_);
  completed_[task.stage].insert(task.number);
}

void Ends::Left(TaskId task) {
  const std::lock_guard lock(mutex_);
  completed_[task.stage].erase(task.number);
}

bool Ends::IsComplete(const RunPlan& plan, size_t stage, transport::Consumer* consumer) {
  const std::lock_guard lock(mutex_);
  if (complete_[stage]) return true;
  if (!known_[stage]) return false;
  const size_t count = plan.stages[stage].tasks.size();
  if (!state_->grouped()) {
    complete_[stage] = completed_[stage].size() >= count;
    return complete_[stage];
  }
  if (!MayAsk(stage)) return false;
  std::vector<int32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  const Result<bool> committed = Committed(plan, stage, all, consumer);
  complete_[stage] = committed.ok() && *committed;
  return complete_[stage];
}

bool Ends::AllDone(const RunPlan& plan, transport::Consumer* consumer) {
  const std::lock_guard lock(mutex_);
  for (size_t stage = 0; stage < plan.stages.size(); stage++) {
    if (complete_[stage]) continue;
    std::vector<int32_t> left;
    for (int32_t n = 0; n < static_cast<int32_t>(plan.stages[stage].tasks.size()); n++) {
      if (!completed_[stage].contains(n)) left.push_back(n);
    }
    if (left.empty()) continue;
    if (!known_[stage] || !MayAsk(stage)) return false;
    const Result<bool> committed = Committed(plan, stage, left, consumer);
    if (!committed.ok() || !*committed) return false;
  }
  return true;
}

// With the mutex held.
bool Ends::MayAsk(size_t stage) {
  const Clock::Instant now = state_->clock->Steady();
  if (asked_[stage] && now - *asked_[stage] < kBetweenQuestions) return false;
  asked_[stage] = now;
  return true;
}

int Ends::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

Status Ends::Update(const RunPlan& plan, transport::Consumer* consumer) {
  const auto& stages = state_->graph().stages;
  for (size_t i = 0; i < stages.size(); i++) {
    {
      const std::lock_guard lock(mutex_);
      if (known_[i]) continue;
    }
    const auto& upstream = stages[i].upstream;
    if (!std::all_of(upstream.begin(), upstream.end(),
                     [&](size_t above) { return IsComplete(plan, above, consumer); }))
      continue;
    std::map<InputPartition, int64_t> ends;
    for (const InputTopic& topic : plan.stages[i].topics) {
      std::vector<TopicPartition> partitions;
      for (int32_t n = 0; n < topic.partitions; n++) {
        if (!plan.ends.contains({topic.cluster, topic.topic, n}))
          partitions.push_back({topic.topic, n});
      }
      if (partitions.empty() || topic.cluster == kFiles) continue;
      KSTREAM_ASSIGN_OR_RETURN(const auto logs, admins_->Ask(topic.cluster, [&](Admin* admin) {
        return admin->Offsets(partitions);
      }));
      for (const auto& [p, log] : logs) ends[{topic.cluster, p.topic, p.partition}] = log.high;
    }
    const std::lock_guard lock(mutex_);
    inner_.insert(ends.begin(), ends.end());
    known_[i] = true;
    version_++;
  }
  return Status::Ok();
}

// Whether the group has committed these tasks of a stage to their ends. With the mutex held.
Result<bool> Ends::Committed(const RunPlan& plan, size_t stage, const std::vector<int32_t>& tasks,
                             transport::Consumer* consumer) {
  std::set<TopicPartition> home;
  std::map<std::string, std::set<TopicPartition>> all;  // by cluster
  for (const int32_t n : tasks) {
    if (const auto lead = plan.LeadOf({stage, n})) home.insert(*lead);
    for (const InputPartition& input : plan.stages[stage].tasks[n]) {
      all[input.cluster].insert({input.topic, input.partition});
      if (input.cluster.empty()) home.insert({input.topic, input.partition});
    }
  }
  const std::vector<TopicPartition> asked(home.begin(), home.end());
  KSTREAM_ASSIGN_OR_RETURN(const auto committed, consumer->Committed(asked));
  std::map<TopicPartition, PartitionOffset> offsets;
  for (const PartitionOffset& offset : committed) offsets[offset.partition] = offset;

  std::map<InputPartition, Admin::Watermarks> logs;
  for (const auto& [cluster, partitions] : all) {
    const std::vector<TopicPartition> list(partitions.begin(), partitions.end());
    KSTREAM_ASSIGN_OR_RETURN(const auto found, admins_->Ask(cluster, [&](Admin* admin) {
      return admin->Offsets(list);
    }));
    for (const auto& [p, log] : found) logs[{cluster, p.topic, p.partition}] = log;
  }
  for (const int32_t n : tasks) {
    const TaskId task{stage, n};
    task::CommitMetadata kept;
    if (const auto lead = plan.LeadOf(task)) {
      KSTREAM_ASSIGN_OR_RETURN(kept, task::CommitMetadata::Decode(offsets.at(*lead).metadata));
    }
    for (const InputPartition& input : plan.stages[stage].tasks[n]) {
      const bool by_offset = input.cluster.empty() && !plan.stages[stage].shared.contains(input);
      int64_t position = transport::kNoOffset;
      if (by_offset) {
        position = offsets.at({input.topic, input.partition}).offset;
      } else if (const auto found = kept.positions.find(input); found != kept.positions.end()) {
        position = found->second;
      }
      const Admin::Watermarks& log = logs.at(input);
      const auto outer = plan.ends.find(input);
      const auto inner = inner_.find(input);
      const int64_t end = outer != plan.ends.end() ? outer->second
                          : inner != inner_.end()  ? inner->second
                                                   : log.low;
      if (position == transport::kNoOffset) {
        if (log.low < end) return false;
      } else if (position < std::max(end, log.low) || position > log.high) {
        // A commit that the log no longer holds is no end: whoever gets the partition tells of it.
        return false;
      }
    }
  }
  return true;
}

}  // namespace kstream::runtime
