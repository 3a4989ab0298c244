#include "transport/kafka/producer_client.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

// Null and empty are told apart by the pointer.
void* Pointer(const Bytes& bytes) {
  static char empty;
  if (!bytes) return nullptr;
  return bytes->data() == nullptr ? &empty : const_cast<char*>(bytes->data());
}
size_t Size(const Bytes& bytes) { return bytes ? bytes->size() : 0; }

std::optional<std::string> Copy(const void* data, size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(data), size);
}

std::string Where(const rd_kafka_message_t& message) {
  return fmt::format("{}[{}]", rd_kafka_topic_name(message.rkt), message.partition);
}

bool IsRefusal(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
         error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE ||
         error == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP || error == RD_KAFKA_RESP_ERR_INVALID_RECORD;
}

}  // namespace

Result<std::unique_ptr<ProducerClient>> ProducerClient::New(const Options& options,
                                                            const ProducerOptions& producer,
                                                            int64_t batch_bytes,
                                                            Deliveries* deliveries) {
  std::unique_ptr<ProducerClient> self(
      new ProducerClient(options, producer, batch_bytes, deliveries));
  KSTREAM_RETURN_IF_ERROR(self->Open());
  return self;
}

Status ProducerClient::Open() {
  KSTREAM_ASSIGN_OR_RETURN(Conf conf, ProducerConf(options_, producer_, batch_bytes_));
  rd_kafka_conf_set_dr_msg_cb(conf.get(), OnDelivery);
  KSTREAM_ASSIGN_OR_RETURN(handle_,
                           Handle::New(RD_KAFKA_PRODUCER, std::move(conf), options_, this));
  delivered_ = nullptr;
  for (auto& [name, topic] : topics_) Add(topic);
  return Status::Ok();
}

ProducerClient::~ProducerClient() {
  for (auto& [name, topic] : topics_) topic->handle.reset();
  if (handle_ == nullptr) return;
  // What is still queued was given up by whoever closes without Flush.
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                     RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void ProducerClient::Add(KafkaTopic* topic) {
  topics_[topic->name] = topic;
  topic->client = this;
  topic->handle.reset(rd_kafka_topic_new(handle_->get(), topic->name.c_str(), nullptr));
}

rd_kafka_resp_err_t ProducerClient::Produce(KafkaTopic* topic, int32_t partition,
                                            const Record& record, uintptr_t ticket) {
  HeaderList headers;
  if (!record.headers.empty()) {
    headers.reset(rd_kafka_headers_new(record.headers.size()));
    for (const Header& header : record.headers) {
      rd_kafka_header_add(headers.get(), header.name.data(),
                          static_cast<ssize_t>(header.name.size()), Pointer(header.value),
                          static_cast<ssize_t>(Size(header.value)));
    }
  }
  const int64_t timestamp =
      record.timestamp_type == TimestampType::kNone ? 0 : record.timestamp;  // 0: now
  auto produce = [&](auto... more) {
    return rd_kafka_producev(handle_->get(), RD_KAFKA_V_RKT(topic->handle.get()),
                             RD_KAFKA_V_PARTITION(partition),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_KEY(Pointer(record.key), Size(record.key)),
                             RD_KAFKA_V_VALUE(Pointer(record.value), Size(record.value)),
                             RD_KAFKA_V_TIMESTAMP(timestamp),
                             RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(ticket)), more...);
  };
  if (headers == nullptr) return produce(RD_KAFKA_V_END);
  const rd_kafka_resp_err_t error = produce(RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) std::ignore = headers.release();  // librdkafka's now
  return error;
}

Status ProducerClient::Send(KafkaTopic* topic, int32_t partition, const Record& record,
                            uint32_t tag) {
  const uintptr_t ticket = ++sent_ << 1 | (tag & 1);
  for (;;) {
    if (!deliveries_->failure.ok()) return deliveries_->failure;
    switch (const rd_kafka_resp_err_t error = Produce(topic, partition, record, ticket)) {
      case RD_KAFKA_RESP_ERR_NO_ERROR:
        deliveries_->pending[tag & 1]++;
        return Status::Ok();
      case RD_KAFKA_RESP_ERR__QUEUE_FULL:
      case RD_KAFKA_RESP_ERR__FATAL:  // why comes with the deliveries
        Poll(std::chrono::milliseconds(5));
        break;
      case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return Status::Data(fmt::format("topic {} has no partition {}", topic->name, partition));
      default:
        if (IsMissing(error)) return TopicMissing(topic->name, true);
        return ClusterError(error, "writing to topic " + topic->name);
    }
  }
}

void ProducerClient::Poll(std::chrono::milliseconds wait) {
  rd_kafka_poll(handle_->get(), static_cast<int>(wait.count()));
  Serve();
}

void ProducerClient::Flush(std::chrono::milliseconds limit) {
  rd_kafka_flush(handle_->get(), static_cast<int>(limit.count()));
  Serve();
}

void ProducerClient::OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto* self = Handle::Owner<ProducerClient>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    self->NoteOffset(*message);
    self->Settle(reinterpret_cast<uintptr_t>(message->_private));
  } else {
    self->OnFailure(*message);
  }
}

void ProducerClient::NoteOffset(const rd_kafka_message_t& message) {
  if (message.rkt != delivered_) {
    delivered_ = message.rkt;
    delivered_topic_ = topics_.find(rd_kafka_topic_name(message.rkt))->second;
  }
  // A batch that was written by a try that got no answer has no offset any more.
  if (!delivered_topic_->tracked || message.offset < 0) return;
  const auto tag = reinterpret_cast<uintptr_t>(message._private) & 1;
  std::vector<int64_t>& offsets = delivered_topic_->acknowledged[tag];
  const auto at = static_cast<size_t>(message.partition);
  if (at >= offsets.size()) offsets.resize(at + 1, kNoOffset);
  offsets[at] = message.offset;
}

void ProducerClient::OnFailure(const rd_kafka_message_t& message) {
  const bool refused = IsRefusal(message.err);
  const auto ticket = reinterpret_cast<uintptr_t>(message._private);
  if (resends() && deliveries_->failure.ok() && ticket != alone_ && (refused || !again_.empty())) {
    again_.push_back(Keep(message, refused));
    return;
  }
  Settle(ticket);
  if (refused && !resends()) {
    if (deliveries_->refused_records++ == 0) refusal_ = Refusal(message);
    deliveries_->refused_bytes += static_cast<int64_t>(message.len + message.key_len);
    return;
  }
  if (!deliveries_->failure.ok()) return;
  if (refused) return Fail(Refusal(message));
  // A record that is purged does not say why: what was fatal to the producer does.
  const bool purged = message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
                      message.err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
  const bool fatal = purged && rd_kafka_fatal_error(handle_->get(), nullptr, 0) != 0;
  const rd_kafka_resp_err_t error = fatal ? RD_KAFKA_RESP_ERR__FATAL : message.err;
  Fail(handle_->Explain(error, "writing to " + Where(message)), IsHopeless(error));
}

void ProducerClient::Fail(Status status, bool hopeless) {
  if (!deliveries_->failure.ok()) return;
  if (!resends() && status.code() == StatusCode::kFenced) status = WhyFenced();
  deliveries_->recoverable = !hopeless && status.code() == StatusCode::kCluster;
  deliveries_->failure = std::move(status);
}

Status ProducerClient::Refusal(const rd_kafka_message_t& message) {
  return Status::Data(fmt::format("{} refuses a record of {} bytes with timestamp {}: {}",
                                  Where(message), message.len + message.key_len, Timestamp(message),
                                  rd_kafka_err2str(message.err)));
}

// A broker that has aborted a transaction for its age says the same as one that has given its id to
// another producer. Our own age tells: the broker's count began after ours.
Status ProducerClient::WhyFenced() const {
  if (deliveries_->begun && Clock::now() - *deliveries_->begun >= deliveries_->timeout) {
    return Status::Cluster(
        fmt::format("a transaction lasted longer than its {} s (transaction.timeout.ms)",
                    deliveries_->timeout.count() / 1000.0));
  }
  return {StatusCode::kFenced,
          fmt::format("another producer has taken transactional.id {} over: is its state directory "
                      "a copy? Remove .instance from a copy",
                      producer_.transactional_id)};
}

// Of a transaction: whether it was the record or its company is known when the batch was small
// enough, and until then the next one's are smaller.
void ProducerClient::FailRefused() {
  const uint64_t records = deliveries_->refused_records;
  if (records == 0 || !deliveries_->failure.ok()) return;
  if (records == 1) return Fail(refusal_);
  Fail(Status::Cluster(fmt::format("a batch of {} records: {}", records, refusal_.message())));
}

// Not to be had of a message that failed, although it is there: librdkafka looks at the error
// first.
int64_t ProducerClient::Timestamp(const rd_kafka_message_t& message) {
  auto& failed = const_cast<rd_kafka_message_t&>(message);
  const rd_kafka_resp_err_t error = std::exchange(failed.err, RD_KAFKA_RESP_ERR_NO_ERROR);
  const int64_t timestamp = rd_kafka_message_timestamp(&message, nullptr);
  failed.err = error;
  return timestamp;
}

ProducerClient::Message ProducerClient::Keep(const rd_kafka_message_t& message, bool alone) {
  Message kept;
  kept.ticket = reinterpret_cast<uintptr_t>(message._private);
  kept.topic = topics_.find(rd_kafka_topic_name(message.rkt))->second;
  kept.partition = message.partition;
  kept.timestamp = Timestamp(message);
  kept.key = Copy(message.key, message.key_len);
  kept.value = Copy(message.payload, message.len);
  kept.alone = alone;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name;
    const void* value;
    size_t size;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         i++) {
      kept.headers.emplace_back(name, Copy(value, size));
    }
  }
  return kept;
}

}  // namespace kstream::transport::kafka
