// KafkaConsumer: batches of records, and the group's wishes noted for the loop to answer.
//
// librdkafka puts what it has fetched and what the group wants into one queue, in which a rebalance
// waits behind all the records there: minutes of work for a slow stage. So the partitions that are
// read are forwarded to a queue of records, and Poll serves the consumer's own queue, that of the
// events, first. An event wakes whoever waits for a record.
//
// Batches are taken with rd_kafka_consume_batch_queue, which costs a fraction of polling one by one
// and asks in return that assign, pause and resume happen only between two batches, on this thread
// and never in a callback. So a rebalance callback does the least: what is assigned is answered
// with an empty incremental assign and noted, what is revoked is noted, and Assign and Unassign do
// the rest when the loop is ready; the group waits meanwhile and the membership stays alive. Only
// what is lost, or revoked while closing, goes at once.
//
// A record that lies before the position expected of its partition is one that was under way when
// the partition was put back; it is dropped. One that librdkafka drops when a rebalance begins is
// read again (ReadSkipped).
//
// Tested by tests/unit/transport/kafka/consumer_test.cc and group_test.cc.
#ifndef KSTREAM_TRANSPORT_KAFKA_CONSUMER_H_
#define KSTREAM_TRANSPORT_KAFKA_CONSUMER_H_

#include <librdkafka/rdkafka.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "transport/consumer.h"
#include "transport/kafka/consumer_batch.h"
#include "transport/kafka/consumer_commits.h"
#include "transport/kafka/consumer_joins.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {

class KafkaConsumer : public Consumer {
 public:
  static Result<std::unique_ptr<Consumer>> New(const Options& options,
                                               const ConsumerOptions& consumer);
  ~KafkaConsumer() override;

  std::unique_ptr<Batch> NewBatch() override { return std::make_unique<KafkaBatch>(core_); }
  Status Subscribe(const std::vector<std::string>& topics) override;
  Status Assign(std::span<const PartitionOffset> partitions) override;
  // While the group waits for several revoked partitions it is answered when the last of them is
  // given here. Until then librdkafka fetches nothing, also not what stays: so answer soon.
  Status Unassign(std::span<const TopicPartition> partitions) override;
  Status Pause(std::span<const TopicPartition> partitions) override;
  Status Resume(std::span<const TopicPartition> partitions) override;
  Status Poll(std::chrono::milliseconds wait, Batch* batch, size_t most) override;
  void KeepAlive() override;
  void CommitAsync(std::vector<PartitionOffset> offsets, std::function<void(Status)> done) override;
  Status CommitSync(std::vector<PartitionOffset> offsets) override;
  Result<std::vector<PartitionOffset>> Committed(
      std::span<const TopicPartition> partitions) override;
  std::optional<int64_t> HighWatermark(const TopicPartition& partition) const override;
  Status Close() override;

  // For transactions, which take offsets along: the client, and whether its member is between two
  // generations of its group.
  rd_kafka_t* client() const { return core_->handle->get(); }
  bool joining() const { return joins_->under_way(); }

 private:
  // What is read, and from where.
  struct Position {
    TopicPartition partition;
    std::string_view topic;        // its name, in the core
    int64_t asked = kNoOffset;     // where reading began
    int64_t next = -1;             // records before it are stale
    std::optional<int64_t> ended;  // in the batch being filled: the end follows its last record
    bool at_end = false;           // nothing has come since its end
    bool paused = false;
  };

  KafkaConsumer(bool grouped, bool stays) : grouped_(grouped), stays_(stays) {}

  // Something was put into the queue of events, whose lock is held.
  static void OnEventQueued(rd_kafka_t* client, void* records);
  static void OnRebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                          rd_kafka_topic_partition_list_t* partitions, void* opaque);
  void SetPaused(std::span<const TopicPartition> partitions, bool paused);
  void OnRevoked(const rd_kafka_topic_partition_list_t* partitions, bool at_once);
  // False when the group has not answered the join in time.
  bool AwaitJoin();
  Status AnswerRevoke();
  void Unsubscribe();
  Status LeaveGroup();
  // No event calls back after it.
  void DropQueues();
  // Sends what is fetched of partitions that were assigned to records_.
  void Forward();
  // Lets a client that sleeps look again what is to be fetched.
  void Wake();
  // The position that a message belongs to; null when its partition is not read any more.
  Position* Find(const rd_kafka_message_t& message);
  Status Fill(KafkaBatch* batch);
  Status Take(std::chrono::milliseconds wait, size_t size, KafkaBatch* batch);
  Result<bool> TakeEvents(KafkaBatch* batch);
  Status ReadSkipped(std::span<const TopicPartition> partitions);
  Status OnEvent(const rd_kafka_message_t& message, std::vector<Position*>* ended);
  Status OffsetLost(const Position& position, int64_t offset);

  const bool grouped_;
  const bool stays_;  // a static member: the group keeps its place when it closes
  std::shared_ptr<ConsumerCore> core_ = std::make_shared<ConsumerCore>();
  Queue events_, records_;
  std::shared_ptr<Joins> joins_ = std::make_shared<Joins>();
  std::optional<Commits> commits_;
  bool closing_ = false;
  bool joining_ = false;  // subscribed, and no assignment has come yet
  bool rejoins_ = false;  // a revocation is being answered, after which the member joins again
  int held_ = 0;          // partitions that the group has given and not taken back

  std::map<TopicPartition, Position> positions_;
  std::set<TopicPartition> unheard_;             // nothing has come since Assign
  std::map<TopicPartition, int64_t> committed_;  // as Committed() told, for messages

  Clock::time_point woken_;  // when Wake has asked a broker

  // Noted by the callback, handed out by the Poll that serves it.
  std::vector<TopicPartition> assigned_, revoked_, lost_;
  bool rebalanced_ = false;
  std::set<TopicPartition> owed_;        // revoked: the group waits for Unassign
  std::vector<TopicPartition> leaving_;  // unassigned while others are owed
};

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_CONSUMER_H_
