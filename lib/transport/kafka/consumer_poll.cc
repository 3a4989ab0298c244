// KafkaConsumer's Poll: from librdkafka's messages and callbacks to a batch.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <thread>
#include <utility>

#include "base/log.h"
#include "transport/kafka/consumer.h"
#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

// Enough to make the cost of a call vanish; few enough that records and messages stay in the cache
// between the pass that fills them and the stage that reads them.
constexpr size_t kBatchRecords = 2000;
constexpr size_t kBatchEvents = 16;  // callbacks are served beside them
// For an answer to a client that is being closed.
constexpr std::chrono::seconds kAnswerLimit{2};
// A partition whose forwarding may have been undone is not waited for longer.
constexpr std::chrono::milliseconds kForwardTurn{20};
// Records that are there come sooner, unless the client is asleep.
constexpr std::chrono::milliseconds kWakeAfter{2}, kWakeEvery{100};
constexpr int kWakeLimitMs = 50;

std::string Where(const TopicPartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

Status TakeNothing(rd_kafka_t* client) {
  return ClusterError(rd_kafka_incremental_assign(client, NewPartitionList().get()),
                      "joining the group");
}

// The same while the client is closed. Librdkafka 2.0.2 may have ended its membership meanwhile,
// and then the call never returns: so a thread makes it, which is left behind with the client.
Status TakeNothingAtEnd(rd_kafka_t* client, Handle* handle) {
  std::packaged_task<Status()> task([client] { return TakeNothing(client); });
  std::future<Status> answered = task.get_future();
  std::thread(std::move(task)).detach();
  if (answered.wait_for(kAnswerLimit) == std::future_status::ready) return answered.get();
  handle->Abandon();
  return Status::Cluster("leaving the group: the client has not taken its last assignment");
}

void Remove(const TopicPartition& partition, std::vector<TopicPartition>* from) {
  from->erase(std::remove(from->begin(), from->end(), partition), from->end());
}

}  // namespace

void KafkaConsumer::OnRebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                                rd_kafka_topic_partition_list_t* partitions, void* opaque) {
  auto* self = Handle::Owner<KafkaConsumer>(opaque);
  self->joining_ = false;
  self->rebalanced_ = true;
  if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    self->held_ += partitions->cnt;
    for (const auto& element : Elements(partitions)) {
      self->assigned_.push_back({element.topic, element.partition});
    }
    const Status status =
        self->closing_ ? TakeNothingAtEnd(client, self->core_->handle.get()) : TakeNothing(client);
    if (!status.ok()) Log(LogLevel::kWarning, status.message());
    self->joins_->Served(std::exchange(self->rejoins_, false));
  } else if (event == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
    self->held_ -= partitions->cnt;
    const bool at_once = self->closing_ || rd_kafka_assignment_lost(client);
    self->rejoins_ = !at_once;
    self->joins_->Served(false);
    self->OnRevoked(partitions, at_once);
  } else {
    Log(LogLevel::kWarning, fmt::format("rebalance failed: {}", rd_kafka_err2str(event)));
    rd_kafka_assign(client, nullptr);
  }
}

void KafkaConsumer::OnEventQueued(rd_kafka_t*, void* records) {
  rd_kafka_queue_yield(static_cast<rd_kafka_queue_t*>(records));
}

void KafkaConsumer::OnRevoked(const rd_kafka_topic_partition_list_t* partitions, bool at_once) {
  for (const auto& element : Elements(partitions)) {
    const TopicPartition partition{element.topic, element.partition};
    const bool known = std::find(assigned_.begin(), assigned_.end(), partition) == assigned_.end();
    Remove(partition, &assigned_);
    Remove(partition, &revoked_);
    if (!at_once) {
      if (!known) continue;  // never handed out: nothing to ask for
      revoked_.push_back(partition);
      owed_.insert(partition);
      continue;
    }
    owed_.erase(partition);
    if (known) lost_.push_back(partition);
    if (positions_.erase(partition) > 0) leaving_.push_back(partition);
  }
  if (at_once) commits_->Lost();
  if (!owed_.empty()) return;
  const Status status = AnswerRevoke();
  if (!status.ok()) Log(LogLevel::kWarning, status.message());
}

Status KafkaConsumer::Poll(std::chrono::milliseconds wait, Batch* out, size_t most) {
  auto* batch = static_cast<KafkaBatch*>(out);
  batch->Clear();
  const size_t size = std::clamp<size_t>(most, 1, kBatchRecords);
  if (!unheard_.empty()) {
    Forward();
    wait = std::min(wait, kForwardTurn);
  }
  Status status = Take(wait, size, batch);
  if (status.ok()) status = Fill(batch);
  batch->assigned = std::exchange(assigned_, {});
  batch->revoked = std::exchange(revoked_, {});
  batch->lost = std::exchange(lost_, {});
  batch->rebalanced = std::exchange(rebalanced_, false);
  commits_->Serve();
  if (!status.ok()) return status;
  if (!batch->messages().empty()) core_->handle->Heard();
  return core_->handle->Check();
}

// Events go first. Records that are there cost one call; only their empty queue is waited on, for
// one message or an event, and what came with it is taken too.
//
// Before version 2.2 librdkafka sleeps for up to a second when a queue was full, whatever is taken
// from it meanwhile. So that not a second's worth has to be kept, it is woken.
Status KafkaConsumer::Take(std::chrono::milliseconds wait, size_t size, KafkaBatch* batch) {
  constexpr std::chrono::milliseconds kNow{0};
  KSTREAM_ASSIGN_OR_RETURN(const bool events, TakeEvents(batch));
  if (batch->Take(records_.get(), kNow, size) || events || rebalanced_ || wait <= kNow)
    return Status::Ok();
  const std::chrono::milliseconds first = std::min(wait, kWakeAfter);
  bool taken = batch->Take(records_.get(), first, 1);
  if (!taken) {
    KSTREAM_ASSIGN_OR_RETURN(const bool woken, TakeEvents(batch));
    // An event ends a wait early, too, and is not waited past.
    if (woken || rebalanced_ || wait <= first) return Status::Ok();
    Wake();
    taken = batch->Take(records_.get(), wait - first, 1);
    if (!taken) return TakeEvents(batch).status();
  }
  if (size > 1) batch->Take(records_.get(), kNow, size - 1);
  return Status::Ok();
}

// Whether there are messages among them. Callbacks are served, and after those of a rebalance no
// record is taken before the partitions are where they should be.
Result<bool> KafkaConsumer::TakeEvents(KafkaBatch* batch) {
  const bool served = std::exchange(rebalanced_, false);
  const bool taken = batch->Take(events_.get(), std::chrono::milliseconds(0), kBatchEvents);
  // Another may have been served between two polls.
  if (rebalanced_ || served) {
    rebalanced_ = true;
    std::vector<TopicPartition> read;
    for (const auto& [partition, position] : positions_) read.push_back(partition);
    KSTREAM_RETURN_IF_ERROR(ReadSkipped(read));
  }
  return taken;
}

// When a rebalance begins librdkafka pauses all partitions; what it has popped of them by then for
// a batch that it is still filling it throws away (rd_kafka_purge_outdated_messages), and yet goes
// on behind it, since version 2.0.2 counts as delivered what is popped. So a partition whose
// position lies beyond the last record that came here is read again from there. The pause was
// before the callback, and every other one is of this thread, between two batches.
Status KafkaConsumer::ReadSkipped(std::span<const TopicPartition> partitions) {
  if (partitions.empty()) return Status::Ok();
  PartitionList list = ToList(partitions), seek = NewPartitionList();
  KSTREAM_RETURN_IF_ERROR(
      ClusterError(rd_kafka_position(client(), list.get()), "asking for positions"));
  for (const auto& element : Elements(list.get())) {
    const auto found = positions_.find({element.topic, element.partition});
    if (found == positions_.end() || element.offset <= found->second.next) continue;
    const Position& position = found->second;
    const int64_t from = unheard_.contains(found->first) ? position.asked : position.next;
    Log(LogLevel::kDebug, fmt::format("{}: read again from {}, not from {}", Where(found->first),
                                      from, element.offset));
    Add(seek, found->first, from);
  }
  if (seek->cnt == 0) return Status::Ok();
  const int limit = static_cast<int>(core_->handle->deadline().count());
  return ClusterError(rd_kafka_seek_partitions(client(), seek.get(), limit), "seeking");
}

// Whatever is asked of a broker wakes the thread that fetches from it.
void KafkaConsumer::Wake() {
  const Clock::time_point now = Clock::now();
  if (now - woken_ < kWakeEvery) return;
  woken_ = now;
  for (const auto& [partition, position] : positions_) {
    if (position.at_end || position.paused || unheard_.contains(partition)) continue;
    int64_t low = 0, high = 0;
    rd_kafka_query_watermark_offsets(client(), partition.topic.c_str(), partition.partition, &low,
                                     &high, kWakeLimitMs);
    return;
  }
}

// When a partition is put back, librdkafka undoes the forwarding as it stops reading, which is
// after Assign has set it; and does not put its own there where ours once was. So it is set until
// something has come: records, their end or an error. What waits in the partition's own queue is
// moved by it.
void KafkaConsumer::Forward() {
  for (auto it = unheard_.begin(); it != unheard_.end();) {
    if (!positions_.contains(*it)) {
      it = unheard_.erase(it);
      continue;
    }
    const Queue own(rd_kafka_queue_get_partition(client(), it->topic.c_str(), it->partition));
    if (own != nullptr) rd_kafka_queue_forward(own.get(), records_.get());
    ++it;
  }
}

// librdkafka keeps what the last answer to a fetch said.
std::optional<int64_t> KafkaConsumer::HighWatermark(const TopicPartition& partition) const {
  int64_t low = 0, high = 0;
  if (rd_kafka_get_watermark_offsets(client(), partition.topic.c_str(), partition.partition, &low,
                                     &high) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      high < 0)
    return std::nullopt;
  return high;
}

// A call for no message at all only tells librdkafka that the application is alive.
void KafkaConsumer::KeepAlive() { rd_kafka_consume_batch_queue(events_.get(), 0, nullptr, 0); }

KafkaConsumer::Position* KafkaConsumer::Find(const rd_kafka_message_t& message) {
  if (message.rkt == nullptr) return nullptr;
  auto found = positions_.find({rd_kafka_topic_name(message.rkt), message.partition});
  if (found == positions_.end()) return nullptr;
  unheard_.erase(found->first);
  return &found->second;
}

Status KafkaConsumer::Fill(KafkaBatch* batch) {
  std::vector<Position*> ended;
  // Messages come in runs of one partition, so the last one's position serves nearly all.
  Position* position = nullptr;
  const rd_kafka_topic_t* topic = nullptr;
  int32_t partition = -1;
  for (const rd_kafka_message_t* message : batch->messages()) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      KSTREAM_RETURN_IF_ERROR(OnEvent(*message, &ended));
      topic = nullptr;
      continue;
    }
    if (message->rkt != topic || message->partition != partition) {
      topic = message->rkt;
      partition = message->partition;
      position = Find(*message);
      if (position != nullptr) {
        position->ended.reset();
        position->at_end = false;
      }
    }
    if (position == nullptr || message->offset < position->next) continue;
    position->next = message->offset + 1;
    batch->Add(*message, position->topic);
  }
  batch->Finish();
  for (Position* end : ended) {
    if (!end->ended) continue;  // more records came behind it, or it is listed already
    batch->ends.push_back({end->partition, *std::exchange(end->ended, std::nullopt), ""});
  }
  return Status::Ok();
}

Status KafkaConsumer::OnEvent(const rd_kafka_message_t& message, std::vector<Position*>* ended) {
  Position* position = Find(message);
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (position == nullptr || message.offset < position->next) return Status::Ok();
    position->next = message.offset;
    position->ended = message.offset;
    position->at_end = true;
    ended->push_back(position);
    return Status::Ok();
  }
  const char* topic = message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return position == nullptr ? Status::Ok() : OffsetLost(*position, message.offset);
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      if (!grouped_) return Status::Ok();
      return ClusterError(message.err, "reading");
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
      return Status::Ok();  // of a commit, which is told its outcome by itself
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      if (position == nullptr) return Status::Ok();
      core_->handle->Abandon();
      return Status::Cluster(
          fmt::format("{} does not exist: the topic was deleted, or has fewer "
                      "partitions: check its name and -b",
                      Where(position->partition)));
    default:
      break;
  }
  if (IsMissing(message.err)) {
    core_->handle->Abandon();
    return TopicMissing(topic, false);
  }
  if (IsTransient(message.err)) {
    Log(LogLevel::kDebug, rd_kafka_message_errstr(&message));
    return Status::Ok();
  }
  const std::string what =
      *topic == '\0' ? "reading" : fmt::format("reading {}", Where({topic, message.partition}));
  return core_->handle->Explain(message.err, what);
}

// The log does not hold the offset asked for: told with the numbers, since what to do depends on
// them.
Status KafkaConsumer::OffsetLost(const Position& position, int64_t offset) {
  if (offset < 0) offset = position.asked;
  const TopicPartition& partition = position.partition;
  int64_t low = 0, high = 0;
  const rd_kafka_resp_err_t error =
      rd_kafka_query_watermark_offsets(client(), partition.topic.c_str(), partition.partition, &low,
                                       &high, static_cast<int>(core_->handle->deadline().count()));
  KSTREAM_RETURN_IF_ERROR(ClusterError(error, "reading " + Where(partition)));
  auto committed = committed_.find(partition);
  const char* which =
      committed != committed_.end() && committed->second == offset ? "committed" : "asked for";
  if (offset < low) {
    return Status::Cluster(
        fmt::format("{}: {} {}, log starts at {}, {} records gone: say with --from where to go on",
                    Where(partition), which, offset, low, low - offset));
  }
  return Status::Cluster(fmt::format(
      "{}: {} {}, log ends at {}: the topic was made again or lost records; say with --from where "
      "to go on",
      Where(partition), which, offset, high));
}

}  // namespace kstream::transport::kafka
