#include "transport/kafka/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

constexpr std::chrono::seconds kJoinLimit{10};
constexpr std::chrono::seconds kRevokeLimit{2};
constexpr std::chrono::milliseconds kSilentLimit{2000};  // to leave whom a commit has not reached

}  // namespace

Result<std::unique_ptr<Consumer>> KafkaConsumer::New(const Options& options,
                                                     const ConsumerOptions& consumer) {
  KSTREAM_ASSIGN_OR_RETURN(Conf conf, ConsumerConf(options, consumer));
  rd_kafka_conf_set_rebalance_cb(conf.get(), OnRebalance);
  std::unique_ptr<KafkaConsumer> self(
      new KafkaConsumer(!consumer.group.empty(), !Get(conf.get(), "group.instance.id").empty()));
  self->joins_->Watch(conf.get());
  KSTREAM_ASSIGN_OR_RETURN(self->core_->handle,
                           Handle::New(RD_KAFKA_CONSUMER, std::move(conf), options, self.get()));
  self->core_->handle->Keep(self->joins_);
  self->core_->cluster = options.name;
  self->core_->handle->UseConsumerQueue();
  self->events_.reset(rd_kafka_queue_get_consumer(self->client()));
  self->records_.reset(rd_kafka_queue_new(self->client()));
  rd_kafka_queue_cb_event_enable(self->events_.get(), OnEventQueued, self->records_.get());
  self->commits_.emplace(self->core_->handle.get(), self->events_.get(), self->joins_.get());
  return std::unique_ptr<Consumer>(std::move(self));
}

KafkaConsumer::~KafkaConsumer() { static_cast<void>(Close()); }

Status KafkaConsumer::Close() {
  if (closing_ || core_->handle == nullptr) return Status::Ok();
  closing_ = true;
  if (!AwaitJoin()) {
    if (!stays_) rd_kafka_unsubscribe(client());
    core_->handle->Abandon();
    DropQueues();
    return Status::Ok();  // it was given nothing, so nothing is lost
  }
  owed_.clear();
  for (const auto& [partition, position] : positions_) leaving_.push_back(partition);
  positions_.clear();
  Status status = AnswerRevoke();
  // A consumer without a group has nobody to tell.
  if (grouped_) {
    Unsubscribe();
    Status left = LeaveGroup();
    if (status.ok()) status = std::move(left);
  }
  DropQueues();
  const Status& fatal = core_->handle->fatal();
  return status.ok() && fatal.code() == StatusCode::kFenced ? fatal : status;
}

// librdkafka 2.0.2 aborts the process (rd_kafka_sticky_assignor_state_destroy) when a consumer
// closes between the group's answer to its join and its first assignment: so that is waited for.
// When it does not come in time the client may not be closed. A stage that is stopped before the
// group was asked has nothing to wait for.
bool KafkaConsumer::AwaitJoin() {
  const Clock::time_point end =
      Clock::now() + std::min<std::chrono::milliseconds>(kJoinLimit, core_->handle->deadline());
  while (joining_ && Clock::now() < end && (joins_->asked() || !core_->handle->stopped())) {
    if (rd_kafka_message_t* message = rd_kafka_consumer_poll(client(), 100))
      rd_kafka_message_destroy(message);
  }
  return !joining_;
}

// Closing librdkafka 2.0.2 tells the group nothing when this member has no partition, and all its
// other members wait for this one until its session is over; unsubscribing tells it always. A
// static member keeps its place for the one that comes back.
void KafkaConsumer::Unsubscribe() {
  if (stays_) return;
  rd_kafka_unsubscribe(client());
  const Clock::time_point end = Clock::now() + kRevokeLimit;
  do {
    if (rd_kafka_message_t* message = rd_kafka_consumer_poll(client(), held_ > 0 ? 20 : 0))
      rd_kafka_message_destroy(message);
  } while (held_ > 0 && Clock::now() < end);
}

// Serves the callbacks of the last rebalance until the group knows. Not for ever: librdkafka does
// not end by itself when it waits for a partition whose topic was deleted.
Status KafkaConsumer::LeaveGroup() {
  Queue queue(rd_kafka_queue_new(client()));
  KSTREAM_RETURN_IF_ERROR(
      ClusterError(rd_kafka_consumer_close_queue(client(), queue.get()), "leaving the group"));
  const Clock::time_point end =
      Clock::now() + (commits_->unanswered() ? kSilentLimit : core_->handle->deadline());
  while (!rd_kafka_consumer_closed(client())) {
    // Records may still be on their way here, which rd_kafka_queue_poll_callback aborts on.
    if (rd_kafka_message_t* message = rd_kafka_consume_queue(queue.get(), 20))
      rd_kafka_message_destroy(message);
    if (Clock::now() >= end) {
      core_->handle->Abandon();
      return ClusterError(RD_KAFKA_RESP_ERR__TIMED_OUT, "leaving the group");
    }
  }
  return Status::Ok();
}

void KafkaConsumer::DropQueues() {
  rd_kafka_queue_cb_event_enable(events_.get(), nullptr, nullptr);
  events_.reset();
  records_.reset();
}

Status KafkaConsumer::Subscribe(const std::vector<std::string>& topics) {
  PartitionList list = NewPartitionList(topics.size());
  for (const std::string& topic : topics) Add(list, {topic, RD_KAFKA_PARTITION_UA});
  joining_ = true;
  return ClusterError(rd_kafka_subscribe(client(), list.get()), "joining the group");
}

Status KafkaConsumer::Assign(std::span<const PartitionOffset> partitions) {
  PartitionList add = NewPartitionList(partitions.size()), seek = NewPartitionList();
  for (const auto& [partition, offset, metadata] : partitions) {
    Position position;
    position.partition = partition;
    position.topic = *core_->topics.insert(partition.topic).first;
    position.asked = offset;
    position.next = std::max<int64_t>(offset, 0);
    positions_.insert_or_assign(partition, position);
    unheard_.insert(partition);
    // librdkafka still reads one that waits to leave with others.
    auto leaving = std::find(leaving_.begin(), leaving_.end(), partition);
    Add(leaving == leaving_.end() ? add : seek, partition, offset);
    if (leaving != leaving_.end()) leaving_.erase(leaving);
  }
  if (seek->cnt > 0) {
    const int limit = static_cast<int>(core_->handle->deadline().count());
    KSTREAM_RETURN_IF_ERROR(
        ClusterError(rd_kafka_seek_partitions(client(), seek.get(), limit), "seeking"));
  }
  if (add->cnt == 0) return Status::Ok();
  Forward();  // before a record comes: so none goes to the queue of events
  return ClusterError(rd_kafka_incremental_assign(client(), add.get()), "assigning partitions");
}

Status KafkaConsumer::Unassign(std::span<const TopicPartition> partitions) {
  for (const TopicPartition& partition : partitions) {
    owed_.erase(partition);
    if (positions_.erase(partition) > 0) leaving_.push_back(partition);
  }
  return owed_.empty() ? AnswerRevoke() : Status::Ok();
}

// Takes what leaves away from librdkafka, which is also the answer that a waiting group takes.
Status KafkaConsumer::AnswerRevoke() {
  PartitionList list = ToList(leaving_);
  leaving_.clear();
  return ClusterError(rd_kafka_incremental_unassign(client(), list.get()),
                      "unassigning partitions");
}

Status KafkaConsumer::Pause(std::span<const TopicPartition> partitions) {
  SetPaused(partitions, true);
  return ClusterError(rd_kafka_pause_partitions(client(), ToList(partitions).get()), "pausing");
}

void KafkaConsumer::SetPaused(std::span<const TopicPartition> partitions, bool paused) {
  for (const TopicPartition& partition : partitions) {
    const auto found = positions_.find(partition);
    if (found != positions_.end()) found->second.paused = paused;
  }
}

Status KafkaConsumer::Resume(std::span<const TopicPartition> partitions) {
  SetPaused(partitions, false);
  KSTREAM_RETURN_IF_ERROR(
      ClusterError(rd_kafka_resume_partitions(client(), ToList(partitions).get()), "resuming"));
  return ReadSkipped(partitions);
}

void KafkaConsumer::CommitAsync(std::vector<PartitionOffset> offsets,
                                std::function<void(Status)> done) {
  commits_->Start(std::move(offsets), std::move(done));
}

Status KafkaConsumer::CommitSync(std::vector<PartitionOffset> offsets) {
  return commits_->Wait(offsets, !owed_.empty());
}

Result<std::vector<PartitionOffset>> KafkaConsumer::Committed(
    std::span<const TopicPartition> partitions) {
  std::vector<PartitionOffset> result;
  if (!grouped_) {
    for (const TopicPartition& partition : partitions) result.push_back({partition, kNoOffset, ""});
    return result;
  }
  const PartitionList list = ToList(partitions);
  KSTREAM_RETURN_IF_ERROR(core_->handle->Try("asking for committed offsets", [&](int ms) {
    rd_kafka_resp_err_t error = rd_kafka_committed(client(), list.get(), ms);
    for (const auto& element : Elements(list.get())) {
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = element.err;
    }
    return error;
  }));
  for (const auto& element : Elements(list.get())) {
    PartitionOffset& offset = result.emplace_back();
    offset.partition = {element.topic, element.partition};
    if (element.offset >= 0) {
      offset.offset = element.offset;
      // librdkafka 2.0.2 copies no more than up to a NUL, and tells the size of all.
      const auto* text = static_cast<const char*>(element.metadata);
      if (text != nullptr) offset.metadata.assign(text, strnlen(text, element.metadata_size));
      committed_[offset.partition] = element.offset;
    }
  }
  return result;
}

}  // namespace kstream::transport::kafka
