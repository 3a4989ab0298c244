// Group: the members of one consumer group, which partitions each owns, and the committed offsets.
//
// The assignment is cooperative and depends on nothing but the order of events: a free partition
// goes to the member that owns fewest, the first of equals in the order of joining; when loads
// differ by two or more, the last partitions of those that own most are revoked. What is revoked
// stays with its owner until it is given back, and nothing more is revoked meanwhile.
//
// A static member (KIP-345) stays when its consumer closes: its partitions wait for the next
// consumer with its name, which takes the member over as it is. A consumer that had it before is
// not it any more.
// Tested by tests/unit/transport/memory/group_test.cc and membership_test.cc.
#ifndef KSTREAM_TRANSPORT_MEMORY_GROUP_H_
#define KSTREAM_TRANSPORT_MEMORY_GROUP_H_

#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "transport/admin.h"
#include "transport/pattern.h"
#include "transport/types.h"

namespace kstream::transport::memory {

class Group {
 public:
  struct Member {
    std::string id, client_id;
    std::string instance_id;  // empty: a dynamic member
    int holder = 1;           // how many consumers have been it; the newest is
    bool away = false;        // static, and its consumer has closed
    bool gone = false;        // put out for good

    std::set<std::string> names;
    std::vector<TopicPattern> patterns;

    std::set<TopicPartition> owned;                       // those being revoked included
    std::set<TopicPartition> revoking;                    // until they are given back
    std::vector<TopicPartition> assigned, revoked, lost;  // what it has not been told yet
    bool rebalanced = false;                              // and that there was something to tell

    bool Follows(const std::string& topic) const;
  };
  using MemberPtr = std::shared_ptr<Member>;

  // kUsage: a pattern does not parse.
  Result<MemberPtr> Join(const std::vector<std::string>& topics, const std::string& client_id = "",
                         const std::string& instance_id = "");
  // A static member stays, away.
  void Leave(const MemberPtr& member);
  // Whoever has this member id, client id or instance id is put out, static or not.
  void Remove(const std::string& name);

  // The member gives revoked partitions back, which makes them free.
  static void GiveBack(const MemberPtr& member, std::span<const TopicPartition> partitions);

  // The owner of the partition is put out, as after a session that ran out: it has lost everything
  // and is last in the order of joining.
  void Evict(const TopicPartition& partition);

  // Moves partitions, of all that exist, to where they belong. After every change.
  void Rebalance(const std::vector<TopicPartition>& all);

  GroupDescription Describe() const;
  const std::list<MemberPtr>& members() const { return members_; }
  std::map<TopicPartition, PartitionOffset>& committed() { return committed_; }

 private:
  bool Owned(const TopicPartition& partition) const;
  void AssignFree(const std::vector<TopicPartition>& all);
  void RevokeSurplus();
  bool Revoking() const;

  std::list<MemberPtr> members_;  // in the order of joining
  int joined_ = 0;                // ever: names members
  bool moved_ = false;            // since the last Rebalance
  std::map<TopicPartition, PartitionOffset> committed_;
};

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_GROUP_H_
