// Group: the members of one consumer group, which partitions each owns, and the committed offsets.
//
// The assignment is cooperative and depends on nothing but the order of events: a free partition
// goes to the member that owns fewest, the first of equals in the order of joining; when loads
// differ by two or more, the last partitions of those that own most are revoked. What is revoked
// stays with its owner until it is given back, and nothing more is revoked meanwhile.
// Tested by tests/unit/transport/memory/group_test.cc.
#ifndef KSTREAM_TRANSPORT_MEMORY_GROUP_H_
#define KSTREAM_TRANSPORT_MEMORY_GROUP_H_

#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "transport/pattern.h"
#include "transport/types.h"

namespace kstream::transport::memory {

class Group {
 public:
  struct Member {
    std::set<std::string> names;
    std::vector<TopicPattern> patterns;

    std::set<TopicPartition> owned;                       // those being revoked included
    std::set<TopicPartition> revoking;                    // until they are given back
    std::vector<TopicPartition> assigned, revoked, lost;  // what it has not been told yet

    bool Follows(const std::string& topic) const;
  };

  // The member stays where it is until it leaves. kUsage: a pattern does not parse.
  Result<Member*> Join(const std::vector<std::string>& topics);
  void Leave(const Member* member);

  // The member gives revoked partitions back, which makes them free.
  static void GiveBack(Member* member, std::span<const TopicPartition> partitions);

  // The owner of the partition is put out, as after a session that ran out: it has lost everything
  // and is last in the order of joining.
  void Evict(const TopicPartition& partition);

  // Moves partitions, of all that exist, to where they belong. After every change.
  void Rebalance(const std::vector<TopicPartition>& all);

  const std::list<Member>& members() const { return members_; }
  std::map<TopicPartition, PartitionOffset>& committed() { return committed_; }

 private:
  bool Owned(const TopicPartition& partition) const;
  void AssignFree(const std::vector<TopicPartition>& all);
  void RevokeSurplus();

  std::list<Member> members_;  // in the order of joining
  std::map<TopicPartition, PartitionOffset> committed_;
};

}  // namespace kstream::transport::memory

#endif  // KSTREAM_TRANSPORT_MEMORY_GROUP_H_
