#include "runtime/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/run_state.h"
#include "task/thrown.h"

namespace kstream::runtime {
namespace {

using Tasks = std::set<size_t>;

std::string NameOf(const InputPartition& partition) {
  return fmt::format("{}[{}]", NameOfTopic(partition.cluster, partition.topic),
                     partition.partition);
}
std::string NameOf(const Tasks& tasks) {
  return fmt::format("{} {}", tasks.size() == 1 ? "task" : "tasks", fmt::join(tasks, ", "));
}

// The same in two forms: what is in a task, and in which tasks something is.
std::map<InputPartition, Tasks> Places(const TaskLayout& layout) {
  std::map<InputPartition, Tasks> places;
  for (size_t task = 0; task < layout.size(); task++) {
    for (const InputPartition& partition : layout[task]) places[partition].insert(task);
  }
  return places;
}

using Counts = std::map<std::pair<std::string, std::string>, int32_t>;  // by cluster and topic

Counts CountsOf(const TaskLayout& layout) {
  Counts counts;
  for (const auto& task : layout) {
    for (const InputPartition& partition : task) {
      int32_t& count = counts[{partition.cluster, partition.topic}];
      count = std::max(count, partition.partition + 1);
    }
  }
  return counts;
}

std::string Had(const std::string& name, int32_t before, std::string_view now) {
  return fmt::format("{} had {} partition{} when the application last laid out its tasks and {}",
                     name, before, before == 1 ? "" : "s", now);
}

// Everything that was there is there still.
Status CheckKept(const Counts& before, const std::vector<InputTopic>& topics) {
  Counts now;
  for (const InputTopic& topic : topics) now[{topic.cluster, topic.topic}] = topic.partitions;
  for (const auto& [key, count] : before) {
    const std::string name = NameOfTopic(key.first, key.second);
    const auto found = now.find(key);
    if (found == now.end()) {
      return Status::Cluster(
          Had(name, count,
              "is no input now: bring it back, or start under another application id (-G)"));
    }
    if (found->second < count) {
      return Status::Cluster(Had(
          name, count,
          fmt::format("has {} now: it was made anew, so start under another application id (-G)",
                      found->second)));
    }
  }
  return Status::Ok();
}

// A layout that grows, one new partition at a time.
class Growth {
 public:
  Growth(const std::vector<InputTopic>& topics, const RecordedLayout* recorded,
         const LayoutRules& rules)
      : topics_(topics), rules_(rules) {
    if (recorded == nullptr) return;
    tasks_ = recorded->tasks;
    places_ = Places(tasks_);
    counts_ = CountsOf(tasks_);
  }

  // As default, for all topics but `apart`, which may be null.
  Status ByNumber(const InputTopic* apart) {
    int32_t most = 0;
    for (const InputTopic& topic : topics_) most = std::max(most, topic.partitions);
    // By number first, so that new tasks are made in the order of their partitions.
    for (int32_t i = 0; i < most; i++) {
      for (const InputTopic& topic : topics_) {
        if (&topic == apart || i >= topic.partitions || Known(topic, i)) continue;
        KSTREAM_RETURN_IF_ERROR(CheckKeysStay(topic));
        const auto number = static_cast<size_t>(i);
        if (number < tasks_.size()) {
          Put(topic, i, number);
        } else if (number == tasks_.size() && number < rules_.max_tasks) {
          KSTREAM_RETURN_IF_ERROR(NewTask(topic));
          Put(topic, i, number);
        } else {
          Put(topic, i, number % tasks_.size());
        }
      }
    }
    return Status::Ok();
  }

  Status Single() {
    if (tasks_.empty()) KSTREAM_RETURN_IF_ERROR(NewTask(topics_.front()));
    for (const InputTopic& topic : topics_) PutAll(topic, 0);
    return Status::Ok();
  }

  Status ByTopic() {
    for (const InputTopic& topic : topics_) {
      const auto first = places_.find({topic.cluster, topic.topic, 0});
      const size_t task = first == places_.end() ? tasks_.size() : *first->second.begin();
      if (task == tasks_.size()) KSTREAM_RETURN_IF_ERROR(NewTask(topic));
      PutAll(topic, task);
    }
    return Status::Ok();
  }

  Status Broadcast(const std::string& name) {
    const auto everywhere = std::ranges::find_if(
        topics_, [&](const InputTopic& topic) { return NameOfTopic(topic) == name; });
    if (everywhere == topics_.end()) return ByNumber(nullptr);
    if (topics_.size() == 1) {
      return Status::Usage(fmt::format(
          "--grouper broadcast:{}: the tasks come from the other inputs, and there is none", name));
    }
    KSTREAM_RETURN_IF_ERROR(ByNumber(&*everywhere));
    for (size_t task = 0; task < tasks_.size(); task++) PutAll(*everywhere, task);
    return Status::Ok();
  }

  TaskLayout Take() && { return std::move(tasks_); }

 private:
  bool Known(const InputTopic& topic, int32_t partition) const {
    return places_.contains({topic.cluster, topic.topic, partition});
  }

  void Put(const InputTopic& topic, int32_t partition, size_t task) {
    InputPartition input{topic.cluster, topic.topic, partition};
    if (places_[input].insert(task).second) tasks_[task].push_back(std::move(input));
  }
  void PutAll(const InputTopic& topic, size_t task) {
    for (int32_t i = 0; i < topic.partitions; i++) Put(topic, i, task);
  }

  Status NewTask(const InputTopic& topic) {
    if (tasks_.size() >= rules_.max_tasks) {
      return Status::Cluster(
          fmt::format("{} is new and needs a task of its own, but the stage has {} for good: start "
                      "under another application id (-G)",
                      NameOfTopic(topic), tasks_.size()));
    }
    tasks_.emplace_back();
    return Status::Ok();
  }

  // Of a topic that is laid out by number: its keys are where its stores expect them.
  Status CheckKeysStay(const InputTopic& topic) const {
    if (!rules_.stateful || counts_.empty()) return Status::Ok();
    const auto before = counts_.find({topic.cluster, topic.topic});
    constexpr std::string_view kAdvice =
        "its keys are no longer where the stores have them, so start under another application id "
        "(-G)";
    if (before != counts_.end()) {
      return Status::Cluster(Had(NameOfTopic(topic), before->second,
                                 fmt::format("has {} now: {}", topic.partitions, kAdvice)));
    }
    if (static_cast<size_t>(topic.partitions) <= tasks_.size()) return Status::Ok();
    return Status::Cluster(fmt::format(
        "{} is new and has {} partitions, but the stage has stores for {} tasks: start under "
        "another application id (-G)",
        NameOfTopic(topic), topic.partitions, tasks_.size()));
  }

  const std::vector<InputTopic>& topics_;
  const LayoutRules rules_;
  TaskLayout tasks_;
  std::map<InputPartition, Tasks> places_;
  Counts counts_;  // as recorded
};

// A function of the user's may return anything.
Status CheckSound(const TaskLayout& layout, const std::vector<InputTopic>& topics) {
  if (layout.empty()) return Status::Usage("the grouper gives no task");
  std::set<InputPartition> missing;
  for (const InputTopic& topic : topics) {
    for (int32_t i = 0; i < topic.partitions; i++) missing.insert({topic.cluster, topic.topic, i});
  }
  const std::set<InputPartition> all = missing;
  for (size_t task = 0; task < layout.size(); task++) {
    if (layout[task].empty())
      return Status::Usage(fmt::format("the grouper leaves task {} empty", task));
    std::set<InputPartition> seen;
    for (const InputPartition& partition : layout[task]) {
      if (!all.contains(partition)) {
        return Status::Usage(fmt::format("the grouper puts {} into task {}, but there is none",
                                         NameOf(partition), task));
      }
      if (!seen.insert(partition).second) {
        return Status::Usage(
            fmt::format("the grouper puts {} into task {} twice", NameOf(partition), task));
      }
      missing.erase(partition);
    }
  }
  if (missing.empty()) return Status::Ok();
  return Status::Usage(fmt::format("the grouper puts {} into no task", NameOf(*missing.begin())));
}

// Checks (a) and (b): what is in `recorded` is in the same tasks of `layout`; it may be in new ones
// as well, as an input that all tasks read is.
Status CheckStays(const TaskLayout& layout, const TaskLayout& recorded, const LayoutRules& rules) {
  const size_t tasks = recorded.size();
  if (layout.size() > std::max(tasks, rules.max_tasks)) {
    return Status::Refused(fmt::format("the grouper gives {} tasks, but the stage has {} for good",
                                       layout.size(), tasks));
  }
  const auto before = Places(recorded);
  const Counts counts = CountsOf(recorded);
  for (const auto& [partition, now] : Places(layout)) {
    const Tasks old_tasks(now.begin(), now.lower_bound(tasks));
    const auto found = before.find(partition);
    if (found != before.end() && found->second != old_tasks) {
      return Status::Refused(fmt::format(
          "the grouper moves {} from {} to {}: what is in a task stays there, so keep it, or start "
          "under another application id (-G)",
          NameOf(partition), NameOf(found->second), NameOf(now)));
    }
    const auto count = counts.find({partition.cluster, partition.topic});
    if (rules.stateful && found == before.end() && count != counts.end() && old_tasks.empty()) {
      return Status::Cluster(Had(NameOfTopic(partition.cluster, partition.topic), count->second,
                                 fmt::format("has more now: a stage with stores needs {} in a task "
                                             "that is there, and the grouper makes a new one",
                                             NameOf(partition))));
    }
  }
  return Status::Ok();
}

constexpr std::string_view kFilePrefix = "file:";  // no topic's name holds a colon

// What the user's grouper sees of files is told in kstream/grouper.h: they are at no cluster.
std::vector<InputTopic> ForUser(std::vector<InputTopic> topics) {
  for (InputTopic& topic : topics) {
    if (topic.cluster != kFiles) continue;
    topic.cluster.clear();
    topic.topic.insert(0, kFilePrefix);
  }
  return topics;
}

TaskLayout FromUser(TaskLayout layout) {
  for (auto& task : layout) {
    for (InputPartition& partition : task) {
      if (!partition.cluster.empty() || !partition.topic.starts_with(kFilePrefix)) continue;
      partition.cluster = kFiles;
      partition.topic.erase(0, kFilePrefix.size());
    }
  }
  return layout;
}

Result<TaskLayout> Ask(const Grouper& grouper, const std::vector<InputTopic>& topics,
                       const RecordedLayout* recorded, const LayoutRules& rules) {
  Result<TaskLayout> layout = TaskLayout();
  try {
    layout = grouper(ForUser(topics));
  } catch (...) {
    return Status::Usage(std::string(task::Thrown("the grouper").message()));
  }
  if (!layout.ok()) return layout.status().At("grouper");
  layout = FromUser(*std::move(layout));
  KSTREAM_RETURN_IF_ERROR(CheckSound(*layout, topics));
  if (recorded != nullptr) {
    if (layout->size() < recorded->tasks.size()) {
      return Status::Refused(fmt::format("the grouper gives {} tasks, but the stage has {}",
                                         layout->size(), recorded->tasks.size()));
    }
    KSTREAM_RETURN_IF_ERROR(CheckStays(*layout, recorded->tasks, rules));
  }
  return layout;
}

Result<TaskLayout> Grow(const GrouperChoice& grouper, const std::vector<InputTopic>& topics,
                        const RecordedLayout* recorded, const LayoutRules& rules) {
  using Kind = GrouperChoice::Kind;
  if (grouper.kind == Kind::kCustom) return Ask(grouper.custom, topics, recorded, rules);
  Growth growth(topics, recorded, rules);
  switch (grouper.kind) {
    case Kind::kSingle:
      KSTREAM_RETURN_IF_ERROR(growth.Single());
      break;
    case Kind::kByTopic:
      KSTREAM_RETURN_IF_ERROR(growth.ByTopic());
      break;
    case Kind::kBroadcast:
      KSTREAM_RETURN_IF_ERROR(growth.Broadcast(grouper.broadcast));
      break;
    default:
      KSTREAM_RETURN_IF_ERROR(growth.ByNumber(nullptr));
  }
  return std::move(growth).Take();
}

}  // namespace

Result<TaskLayout> LayOut(const GrouperChoice& grouper, const std::vector<InputTopic>& topics,
                          const RecordedLayout* recorded, const LayoutRules& rules) {
  if (recorded != nullptr) {
    // First, as a stage that lost the TOPIC of broadcast has another grouper because of it.
    KSTREAM_RETURN_IF_ERROR(CheckKept(CountsOf(recorded->tasks), topics));
    if (recorded->grouper != grouper.ToString()) {
      return Status::Refused(fmt::format(
          "the application was first started with grouper {}, not {}: what is in a task "
          "stays there, so keep it, or start under another application id (-G)",
          recorded->grouper, grouper.ToString()));
    }
  }
  KSTREAM_ASSIGN_OR_RETURN(TaskLayout layout, Grow(grouper, topics, recorded, rules));

  std::map<std::pair<std::string, std::string>, size_t> order;
  for (const InputTopic& topic : topics)
    order.emplace(std::pair(topic.cluster, topic.topic), order.size());
  for (auto& task : layout) {
    std::ranges::sort(task, {}, [&](const InputPartition& partition) {
      return std::pair(order.at({partition.cluster, partition.topic}), partition.partition);
    });
  }
  return layout;
}

LeadChoice LeadOf(const GrouperChoice& grouper, bool pattern,
                  const std::vector<InputTopic>& topics) {
  constexpr auto kLess = [](const InputTopic& a, const InputTopic& b) {
    return a.partitions < b.partitions;
  };
  std::vector<InputTopic> home;
  std::ranges::copy_if(topics, std::back_inserter(home),
                       [](const InputTopic& topic) { return topic.cluster.empty(); });
  const LeadChoice internal{.internal = true, .topic = {}, .partitions = 0};
  if (pattern || home.empty() || grouper.kind != GrouperChoice::Kind::kDefault) return internal;
  const InputTopic& lead = *std::ranges::max_element(home, kLess);  // the first of equals
  const InputTopic& largest = *std::ranges::max_element(topics, kLess);
  if (lead.partitions < largest.partitions) return internal;
  return {.internal = false, .topic = lead.topic, .partitions = lead.partitions};
}

}  // namespace kstream::runtime
