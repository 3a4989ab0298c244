// Joins: whether the member of one consumer is between two generations of its group.
//
// While a JoinGroup waits at the coordinator, what is sent behind it on the same connection is read
// only when the join is over, and then is of a generation that is no more. librdkafka 2.0.2 takes
// such an answer to a commit (ILLEGAL_GENERATION) for the loss of the whole assignment, so records
// are repeated for no reason. It does not tell when it joins, but its interceptors see the requests
// on their way: from a JoinGroup that is sent to the SyncGroup that is answered no commit should be
// sent. Two more spans belong to it. After an assignment that followed a revocation the member
// joins again at once. And an answered SyncGroup may have been an error, which the next JoinGroup
// shows: so it counts once the assignment was served, or a moment later.
//
// What is left is the moment between librdkafka's decision to join and the request's way to the
// socket. Thread-safe, since interceptors are called by the threads of brokers. Tested by
// tests/unit/transport/kafka/joins_test.cc and group_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_CONSUMER_JOINS_H_
#define KSTREAM_TRANSPORT_KAFKA_CONSUMER_JOINS_H_

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <mutex>

#include "transport/kafka/handle.h"

namespace kstream::transport::kafka {

class Joins {
 public:
  // Watches the client that is going to be made from `conf`, and must outlive it.
  void Watch(rd_kafka_conf_t* conf);

  // Whether a commit should wait.
  bool under_way() const;
  // Whether the group was ever asked.
  bool asked() const;

  // An assignment has been served. `again`: the member is about to join once more.
  void Served(bool again);
  // A request was sent, or its answer has arrived.
  void Sent(int16_t api);
  void Answered(int16_t api);

 private:
  enum class State { kSettled, kExpected, kJoining, kAnswered };

  mutable std::mutex mutex_;
  State state_ = State::kSettled;
  Clock::time_point since_;
  bool asked_ = false;
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_CONSUMER_JOINS_H_
