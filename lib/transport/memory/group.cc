#include "transport/memory/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kstream::transport::memory {

bool Group::Member::Follows(const std::string& topic) const {
  return names.contains(topic) ||
         std::ranges::any_of(patterns, [&](auto& pattern) { return pattern.Matches(topic); });
}

Result<Group::MemberPtr> Group::Join(const std::vector<std::string>& topics,
                                     const std::string& client_id, const std::string& instance_id) {
  std::set<std::string> names;
  std::vector<TopicPattern> patterns;
  for (const std::string& topic : topics) {
    if (!topic.starts_with('^')) {
      names.insert(topic);
      continue;
    }
    KSTREAM_ASSIGN_OR_RETURN(TopicPattern pattern, TopicPattern::Parse(topic));
    patterns.push_back(std::move(pattern));
  }
  const auto same = std::ranges::find_if(members_, [&](const MemberPtr& member) {
    return !instance_id.empty() && member->instance_id == instance_id;
  });
  const bool taken_over = same != members_.end();
  const MemberPtr member = taken_over ? *same : members_.emplace_back(std::make_shared<Member>());
  if (taken_over) {
    member->holder++;
    member->away = false;
    member->revoking.clear();
    member->revoked.clear();
    member->lost.clear();
    member->assigned.assign(member->owned.begin(), member->owned.end());
  }
  member->id = fmt::format("member-{}", ++joined_);
  member->client_id = client_id;
  member->instance_id = instance_id;
  member->names = std::move(names);
  member->patterns = std::move(patterns);
  member->rebalanced = true;
  moved_ = moved_ || !taken_over;
  return member;
}

void Group::Leave(const MemberPtr& member) {
  if (!member->instance_id.empty()) {
    member->away = true;
    return;
  }
  moved_ = members_.remove(member) > 0 || moved_;
}

void Group::Remove(const std::string& name) {
  const auto removed = members_.remove_if([&](const MemberPtr& member) {
    member->gone = member->id == name || member->client_id == name || member->instance_id == name;
    return member->gone;
  });
  moved_ = moved_ || removed > 0;
}

void Group::GiveBack(const MemberPtr& member, std::span<const TopicPartition> partitions) {
  for (const TopicPartition& partition : partitions) {
    if (member->revoking.erase(partition) > 0) member->owned.erase(partition);
  }
}

void Group::Evict(const TopicPartition& partition) {
  const auto found = std::ranges::find_if(
      members_, [&](const MemberPtr& member) { return member->owned.contains(partition); });
  if (found == members_.end()) return;
  Member& evicted = **found;
  for (const TopicPartition& lost : evicted.owned) {
    // What it has not heard of yet it cannot lose.
    if (std::erase(evicted.assigned, lost) == 0) evicted.lost.push_back(lost);
  }
  evicted.owned.clear();
  evicted.revoking.clear();
  evicted.revoked.clear();
  members_.splice(members_.end(), members_, found);
  moved_ = true;
}

void Group::Rebalance(const std::vector<TopicPartition>& all) {
  AssignFree(all);
  RevokeSurplus();
  AssignFree(all);  // what was revoked before its owner had heard of it
  // A rebalance reaches every member, also those for whom nothing changes.
  if (!std::exchange(moved_, false)) return;
  for (const MemberPtr& member : members_) member->rebalanced = true;
}

bool Group::Owned(const TopicPartition& partition) const {
  return std::ranges::any_of(
      members_, [&](const MemberPtr& member) { return member->owned.contains(partition); });
}

bool Group::Revoking() const {
  return std::ranges::any_of(members_, [](auto& member) { return !member->revoking.empty(); });
}

void Group::AssignFree(const std::vector<TopicPartition>& all) {
  for (const TopicPartition& partition : all) {
    if (Owned(partition)) continue;
    Member* least = nullptr;
    for (const MemberPtr& member : members_) {
      if (member->away || !member->Follows(partition.topic)) continue;
      if (least == nullptr || member->owned.size() < least->owned.size()) least = member.get();
    }
    if (least == nullptr) continue;
    least->owned.insert(partition);
    least->assigned.push_back(partition);
    moved_ = true;
  }
}

void Group::RevokeSurplus() {
  if (Revoking()) return;
  std::map<Member*, size_t> load;
  for (const MemberPtr& member : members_) {
    if (!member->away) load[member.get()] = member->owned.size();
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (const MemberPtr& from : members_) {
      for (const MemberPtr& to : members_) {
        if (from->away || to->away) continue;
        if (load[from.get()] < load[to.get()] + 2) continue;
        const auto surplus =
            std::find_if(from->owned.rbegin(), from->owned.rend(), [&](const auto& partition) {
              return !from->revoking.contains(partition) && to->Follows(partition.topic);
            });
        if (surplus == from->owned.rend()) continue;
        const TopicPartition partition = *surplus;
        load[from.get()]--;
        load[to.get()]++;
        moved = moved_ = true;
        if (std::erase(from->assigned, partition) > 0) {
          from->owned.erase(partition);
        } else {
          from->revoking.insert(partition);
          from->revoked.push_back(partition);
        }
      }
    }
  }
}

GroupDescription Group::Describe() const {
  GroupDescription description;
  if (members_.empty()) {
    if (!committed_.empty()) description.state = "Empty";
    return description;
  }
  description.state = Revoking() ? "PreparingRebalance" : "Stable";
  for (const MemberPtr& member : members_) {
    auto& shown = description.members.emplace_back();
    shown.client_id = member->client_id;
    shown.instance_id = member->instance_id;
    shown.member_id = member->id;
    shown.host = "memory";
    if (!Revoking()) shown.assigned.assign(member->owned.begin(), member->owned.end());
  }
  return description;
}

}  // namespace kstream::transport::memory
