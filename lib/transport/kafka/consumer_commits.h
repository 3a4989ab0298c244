// Commits: the offset commits of one consumer that are under way.
//
// A group's generation moves in the background when a member joins, and coordinators move, so a
// refused commit is normal: it is sent again until the deadline. Not so once partitions were lost:
// they may have a new owner, and what is then under way is let go. While the member joins, commits
// wait here: see consumer_joins.h.
//
// Who waits for a commit has two kinds of patience: the cluster's deadline for a coordinator that
// does not answer or is not there, and a few seconds for a group that moves. It moves while this
// member joins, when its last answer was that it does, and while it waits for this very member.
//
// Tested by tests/unit/transport/kafka/commits_test.cc and faults_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_CONSUMER_COMMITS_H_
#define KSTREAM_TRANSPORT_KAFKA_CONSUMER_COMMITS_H_

#include <librdkafka/rdkafka.h>

#include <functional>
#include <list>
#include <vector>

#include "kstream/status.h"
#include "transport/kafka/consumer_joins.h"
#include "transport/kafka/handle.h"
#include "transport/types.h"

namespace kstream::transport::kafka {

class Commits {
 public:
  Commits(Handle* handle, rd_kafka_queue_t* queue, const Joins* joins)
      : handle_(handle), queue_(queue), joins_(joins) {}
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;

  // `done` is called from Serve().
  void Start(std::vector<PartitionOffset> offsets, std::function<void(Status)> done);
  // Until the cluster has answered; kCluster when it has not by the deadline, kFenced when the
  // group has moved for longer than it is given: 5 s, or 2 s when it waits for an answer that this
  // member has `owed` it since before. All of it counts from the call.
  Status Wait(const std::vector<PartitionOffset>& offsets, bool owed);

  // Whether a Wait ended without an answer.
  bool unanswered() const { return unanswered_; }

  // Partitions were taken away.
  void Lost();
  // Sends again what was refused for a while, and reports what is decided.
  void Serve();

 private:
  struct Commit {
    Commits* commits;
    std::vector<PartitionOffset> offsets;
    std::function<void(Status)> done;
    Status refused;           // not fit to be sent
    Clock::time_point end;    // no further try after it; counted from the first
    Clock::time_point again;  // when refused: the next try
    bool tried = false;
    bool under_way = false;
    bool lost = false;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  };

  static void OnCommit(rd_kafka_t* client, rd_kafka_resp_err_t error,
                       rd_kafka_topic_partition_list_t* offsets, void* commit);
  void Send(Commit* commit);
  Status Outcome(rd_kafka_resp_err_t error) const;
  // Takes partitions for which a newer commit comes out of those that wait for another try.
  void Supersede(const std::vector<PartitionOffset>& newer);

  Handle* const handle_;
  rd_kafka_queue_t* const queue_;
  const Joins* const joins_;
  bool unanswered_ = false;
  std::list<Commit> commits_;  // their addresses are with librdkafka
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_CONSUMER_COMMITS_H_
