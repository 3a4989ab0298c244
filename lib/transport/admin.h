// Admin: questions to a cluster, and changes of its topics. Calls block up to the deadline of the
// cluster. Belongs to one thread.
#ifndef KSTREAM_TRANSPORT_ADMIN_H_
#define KSTREAM_TRANSPORT_ADMIN_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kstream/status.h"
#include "transport/types.h"

namespace kstream::transport {

// One member of a consumer group.
struct GroupMember {
  std::string client_id;    // as its consumer was made with, and whatever the user's own was
  std::string instance_id;  // empty: a dynamic member
  std::string member_id;    // given by the group
  std::string host;         // where it connects from
  // What it has been given. Brokers tell it while the group is Stable, else it is empty.
  std::vector<TopicPartition> assigned;
};

struct GroupDescription {
  // In Kafka's words: Empty, PreparingRebalance, CompletingRebalance, Stable; empty when the
  // cluster knows no such group.
  std::string state;
  std::vector<GroupMember> members;
};

// kRefused: the group has members, so its commits are theirs.
Status GroupInUse(const std::string& group);

class Admin {
 public:
  virtual ~Admin() = default;

  // What the cluster calls itself: the same by whatever addresses it is reached. Empty: it has no
  // name, as brokers before 0.10.1.
  virtual Result<std::string> ClusterId() = 0;
  // Partition counts of topics: exactly `name` (kCluster when missing, with what to do), or all
  // that match a pattern (begins with ^; internal topics of the brokers never match).
  virtual Result<std::map<std::string, int32_t>> Topics(const std::string& name_or_pattern) = 0;
  // How many partitions the topic has; nullopt: there is none. Asks about this one alone.
  virtual Result<std::optional<int32_t>> FindTopic(const std::string& name) = 0;

  struct Watermarks {
    int64_t low = 0;   // offset of the oldest record
    int64_t high = 0;  // offset after the newest record, open transactions included
  };
  virtual Result<std::map<TopicPartition, Watermarks>> Offsets(
      std::span<const TopicPartition> partitions) = 0;
  // For each partition the first offset whose timestamp is at least `timestamp` ms; its high
  // watermark where there is none.
  virtual Result<std::map<TopicPartition, int64_t>> OffsetsForTime(
      std::span<const TopicPartition> partitions, int64_t timestamp) = 0;

  virtual Result<std::map<std::string, std::string>> TopicConfig(const std::string& topic) = 0;

  // True: the topic was made by this call. False: it is there already, and left as it is.
  virtual Result<bool> CreateTopic(const std::string& name, int32_t partitions,
                                   int16_t replication_factor,
                                   const std::map<std::string, std::string>& config = {}) = 0;
  // Grows a topic to `total` partitions; nothing when it has as many. kCluster when it is missing.
  virtual Status CreatePartitions(const std::string& topic, int32_t total) = 0;
  // Ok when there is none.
  virtual Status DeleteTopic(const std::string& topic) = 0;
  // Deletes the records below the offsets given; what is gone already is no error. Brokers refuse
  // it for a topic that is only compacted (kCluster).
  virtual Status DeleteRecords(const std::map<TopicPartition, int64_t>& before) = 0;

  // Who is in the group, live. A group that is not known is an empty description.
  virtual Result<GroupDescription> DescribeGroup(const std::string& group) = 0;
  // All that the group has committed, with metadata; those of an open transaction once it has
  // ended. Nothing of a group that is not known.
  virtual Result<std::vector<PartitionOffset>> GroupOffsets(const std::string& group) = 0;
  // Commits for a group that nobody is in, and makes it when there is none. kRefused: somebody is.
  virtual Status SetGroupOffsets(const std::string& group,
                                 std::span<const PartitionOffset> offsets) = 0;
  // Forgets what a group has committed of these; where that is nothing it does nothing. kRefused:
  // somebody is in the group.
  virtual Status DeleteGroupOffsets(const std::string& group,
                                    std::span<const TopicPartition> partitions) = 0;
};

}  // namespace kstream::transport

#endif  // KSTREAM_TRANSPORT_ADMIN_H_
