#include "transport/memory/group.h"

#include <algorithm>
#include <utility>

namespace kstream::transport::memory {

bool Group::Member::Follows(const std::string& topic) const {
  return names.contains(topic) ||
         std::ranges::any_of(patterns, [&](auto& pattern) { return pattern.Matches(topic); });
}

Result<Group::Member*> Group::Join(const std::vector<std::string>& topics) {
  Member member;
  for (const std::string& topic : topics) {
    if (!topic.starts_with('^')) {
      member.names.insert(topic);
      continue;
    }
    KSTREAM_ASSIGN_OR_RETURN(TopicPattern pattern, TopicPattern::Parse(topic));
    member.patterns.push_back(std::move(pattern));
  }
  return &members_.emplace_back(std::move(member));
}

void Group::Leave(const Member* member) {
  members_.remove_if([&](const Member& other) { return &other == member; });
}

void Group::GiveBack(Member* member, std::span<const TopicPartition> partitions) {
  for (const TopicPartition& partition : partitions) {
    if (member->revoking.erase(partition) > 0) member->owned.erase(partition);
  }
}

void Group::Evict(const TopicPartition& partition) {
  const auto found = std::ranges::find_if(
      members_, [&](const Member& member) { return member.owned.contains(partition); });
  if (found == members_.end()) return;
  for (const TopicPartition& lost : found->owned) {
    // What it has not heard of yet it cannot lose.
    if (std::erase(found->assigned, lost) == 0) found->lost.push_back(lost);
  }
  found->owned.clear();
  found->revoking.clear();
  found->revoked.clear();
  members_.splice(members_.end(), members_, found);
}

void Group::Rebalance(const std::vector<TopicPartition>& all) {
  AssignFree(all);
  RevokeSurplus();
  AssignFree(all);  // what was revoked before its owner had heard of it
}

bool Group::Owned(const TopicPartition& partition) const {
  return std::ranges::any_of(
      members_, [&](const Member& member) { return member.owned.contains(partition); });
}

void Group::AssignFree(const std::vector<TopicPartition>& all) {
  for (const TopicPartition& partition : all) {
    if (Owned(partition)) continue;
    Member* least = nullptr;
    for (Member& member : members_) {
      if (!member.Follows(partition.topic)) continue;
      if (least == nullptr || member.owned.size() < least->owned.size()) least = &member;
    }
    if (least == nullptr) continue;
    least->owned.insert(partition);
    least->assigned.push_back(partition);
  }
}

void Group::RevokeSurplus() {
  if (std::ranges::any_of(members_, [](auto& member) { return !member.revoking.empty(); })) return;
  std::map<Member*, size_t> load;
  for (Member& member : members_) load[&member] = member.owned.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (Member& from : members_) {
      for (Member& to : members_) {
        if (load[&from] < load[&to] + 2) continue;
        const auto surplus =
            std::find_if(from.owned.rbegin(), from.owned.rend(), [&](const auto& partition) {
              return !from.revoking.contains(partition) && to.Follows(partition.topic);
            });
        if (surplus == from.owned.rend()) continue;
        const TopicPartition partition = *surplus;
        load[&from]--;
        load[&to]++;
        moved = true;
        if (std::erase(from.assigned, partition) > 0) {
          from.owned.erase(partition);
        } else {
          from.revoking.insert(partition);
          from.revoked.push_back(partition);
        }
      }
    }
  }
}

}  // namespace kstream::transport::memory
