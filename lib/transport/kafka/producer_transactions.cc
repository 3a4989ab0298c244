#include "transport/kafka/producer_transactions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "transport/kafka/errors.h"

namespace kstream::transport::kafka {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTurn{500};  // of a call that can be taken up again
constexpr milliseconds kPause{20};  // between two that were answered at once
constexpr milliseconds kPollTurn{5};

using GroupMetadata = std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                                      Destroy<rd_kafka_consumer_group_metadata_destroy>>;

// Whether the member has an id. There is no other way to ask than to look into the form in which
// librdkafka writes this down: a mark that ends with a colon, the generation, and then, each with a
// NUL, the group and the member.
bool IsMember(const rd_kafka_consumer_group_metadata_t* metadata) {
  void* data = nullptr;
  size_t size = 0;
  if (rd_kafka_error_t* error = rd_kafka_consumer_group_metadata_write(metadata, &data, &size)) {
    rd_kafka_error_destroy(error);
    return false;
  }
  const std::string text(static_cast<const char*>(data), size);
  rd_kafka_mem_free(nullptr, data);
  const size_t colon = text.find(':');
  if (colon == text.npos || text.size() < colon + 1 + sizeof(int32_t)) return false;
  const size_t group = text.find('\0', colon + 1 + sizeof(int32_t));
  return group != text.npos && group + 1 < text.size() && text[group + 1] != '\0';
}

// Calls until the answer is one, or the time is over.
template <typename F>
Error Retry(Clock::time_point end, const std::atomic<bool>& quit, F call) {
  for (;;) {
    const Clock::time_point begin = Clock::now();
    const auto left = std::chrono::duration_cast<milliseconds>(end - begin);
    Error error(call(static_cast<int>(std::clamp(left, milliseconds(1), kTurn).count())));
    if (error == nullptr || !rd_kafka_error_is_retriable(error.get())) return error;
    if (quit.load(std::memory_order_relaxed) || Clock::now() >= end) return error;
    std::this_thread::sleep_until(begin + kPause);
  }
}

size_t BytesOf(const ProducerClient::Message& message) {
  size_t bytes =
      sizeof message + message.key.value_or("").size() + message.value.value_or("").size();
  for (const auto& [name, value] : message.headers) {
    bytes += name.size() + value.value_or("").size();
  }
  return bytes;
}

ProducerClient::Message Copy(KafkaTopic* topic, int32_t partition, const Record& record,
                             uint32_t tag) {
  auto text = [](const Bytes& bytes) {
    return bytes ? std::optional<std::string>(*bytes) : std::nullopt;
  };
  ProducerClient::Message copy;
  copy.ticket = tag & 1;
  copy.topic = topic;
  copy.partition = partition;
  copy.timestamp = record.timestamp_type == TimestampType::kNone ? 0 : record.timestamp;
  copy.key = text(record.key);
  copy.value = text(record.value);
  for (const Header& header : record.headers) {
    copy.headers.emplace_back(header.name, text(header.value));
  }
  return copy;
}

}  // namespace

Result<std::unique_ptr<Producer>> TransactionalProducer::New(const Options& options,
                                                             const ProducerOptions& producer,
                                                             std::shared_ptr<BatchLimit> limit) {
  std::unique_ptr<TransactionalProducer> self(
      new TransactionalProducer(options, producer, std::move(limit)));
  KSTREAM_ASSIGN_OR_RETURN(const Conf conf, ProducerConf(self->options_, producer, kBatchBytes));
  const std::string timeout = Get(conf.get(), "transaction.timeout.ms");
  int64_t ms = 0;
  std::from_chars(timeout.data(), timeout.data() + timeout.size(), ms);
  self->timeout_ = self->deliveries_.timeout = milliseconds(ms);
  KSTREAM_RETURN_IF_ERROR(self->MakeClient());
  return std::unique_ptr<Producer>(std::move(self));
}

TransactionalProducer::~TransactionalProducer() {
  quit_ = true;
  if (outcome_.valid()) outcome_.wait();
  NoteRefused();
}

Status TransactionalProducer::MakeClient() {
  client_.reset();  // before the next one has handles of the topics
  batch_bytes_ = *limit_;
  KSTREAM_ASSIGN_OR_RETURN(client_,
                           ProducerClient::New(options_, producer_, batch_bytes_, &deliveries_));
  for (auto& [name, topic] : topics_) client_->Add(&topic);
  return Status::Ok();
}

void TransactionalProducer::LowerLimit(int64_t bytes) {
  bytes = std::max<int64_t>(bytes, 1);
  for (int64_t now = *limit_; bytes < now && !limit_->compare_exchange_weak(now, bytes);) {
  }
}

void TransactionalProducer::NoteRefused() {
  if (deliveries_.refused_records > 1) LowerLimit(deliveries_.refused_bytes / 2);
}

Result<Producer::Topic*> TransactionalProducer::Open(std::string_view name,
                                                     const TopicOptions& options) {
  if (auto known = topics_.find(name); known != topics_.end()) {
    known->second.tracked = known->second.tracked || options.track_offsets;
    return &known->second;
  }
  if (state_ == State::kDeciding) {
    // The client is the other thread's until the outcome is there, which is soon.
    KSTREAM_RETURN_IF_ERROR(AwaitOutcome());
  }
  const std::string topic(name);
  KSTREAM_ASSIGN_OR_RETURN(const TopicLimits limits, FindTopic(client_->handle(), options_, topic));
  KafkaTopic& opened = topics_[topic];
  opened.name = topic;
  opened.limits = limits;
  opened.tracked = options.track_offsets;
  client_->Add(&opened);
  LowerLimit(limits.max_bytes);
  if (limits.max_bytes >= batch_bytes_) return &opened;
  if (state_ == State::kNew) {
    KSTREAM_RETURN_IF_ERROR(MakeClient());
  } else {
    narrow_[&opened] = 0;
  }
  return &opened;
}

Status TransactionalProducer::Send(Topic* to, int32_t partition, const Record& record,
                                   uint32_t tag) {
  auto* const topic = static_cast<KafkaTopic*>(to);
  KSTREAM_RETURN_IF_ERROR(deliveries_.failure);
  if (state_ == State::kNew || state_ == State::kReady) return Misuse("Send");
  KSTREAM_RETURN_IF_ERROR(admission_.Check(topic, record));
  partition = PartitionFor(*topic, partition, record);
  while (state_ != State::kOpen && buffered_bytes_ >= producer_.buffer_bytes) {
    KSTREAM_RETURN_IF_ERROR(AwaitOutcome());
  }
  if (state_ == State::kOpen) return SendNow(topic, partition, record, tag);
  deliveries_.pending[tag & 1]++;
  buffered_.push_back(Copy(topic, partition, record, tag));
  buffered_bytes_ += BytesOf(buffered_.back());
  return Status::Ok();
}

// Waits for the sealed transaction, and remembers the outcome for the next Commit.
Status TransactionalProducer::AwaitOutcome() {
  for (bool done = false; !done;) {
    KSTREAM_ASSIGN_OR_RETURN(done, Commit(kTurn));
  }
  decided_ = true;
  return deliveries_.failure;
}

Status TransactionalProducer::SendNow(KafkaTopic* topic, int32_t partition, const Record& record,
                                      uint32_t tag) {
  if (const auto narrow = narrow_.find(topic); narrow != narrow_.end()) {
    const int64_t bytes = BatchBytes(record);
    if (narrow->second > 0 && narrow->second + bytes > topic->limits.max_bytes) {
      while (Outstanding() > 0 && deliveries_.failure.ok()) client_->Flush(kTurn);
      for (auto& [any, under_way] : narrow_) under_way = 0;
    }
    narrow->second += bytes;
  }
  if (!deliveries_.begun) deliveries_.begun = Clock::now();
  return client_->Send(topic, partition, record, tag);
}

void TransactionalProducer::Poll(milliseconds wait) {
  admission_.Tick();
  if (state_ != State::kDeciding) {
    client_->Poll(wait);
    NoteRefused();
  } else if (wait.count() > 0) {
    outcome_.wait_for(wait);
  }
}

uint64_t TransactionalProducer::Outstanding() const {
  return deliveries_.pending[0] + deliveries_.pending[1] - buffered_.size();
}

Status TransactionalProducer::Flush(milliseconds limit) {
  if (state_ != State::kOpen) return Misuse("Flush");
  const Clock::time_point end = Clock::now() + limit;
  while (deliveries_.failure.ok() && Outstanding() > 0) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (left.count() < 0) {
      return Status::Cluster(
          fmt::format("{} records not acknowledged within {} s: check -b and that the brokers run",
                      Outstanding(), limit.count() / 1000.0));
    }
    client_->Flush(std::min(left, kTurn));
  }
  return deliveries_.failure;
}

Status TransactionalProducer::Misuse(std::string_view call) const {
  constexpr std::string_view kStates[] = {"NewProducer", "InitTransactions or Abort", "Begin",
                                          "Seal", "Seal"};
  return Status::Usage(fmt::format("transactions: {} does not follow on {}", call,
                                   kStates[static_cast<size_t>(state_)]));
}

Status TransactionalProducer::Take(Error error, std::string_view what) {
  if (error == nullptr) return Status::Ok();
  client_->Poll(milliseconds(0));  // a failed record says more than that there was one
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error.get());
  const bool fenced = code == RD_KAFKA_RESP_ERR__FENCED ||
                      code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
                      code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
  const std::string text = fmt::format("{}: {}", what, rd_kafka_error_string(error.get()));
  client_->Fail(fenced ? Status(StatusCode::kFenced, text) : Status::Cluster(text),
                IsHopeless(code));
  return deliveries_.failure;
}

Status TransactionalProducer::InitTransactions() {
  if (state_ != State::kNew) return Misuse("InitTransactions");
  Error last;
  const Status status = client_->handle()->Try(
      "taking over transactional.id " + producer_.transactional_id, [&](int ms) {
        last.reset(rd_kafka_init_transactions(client(), ms));
        if (last == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
        return rd_kafka_error_is_retriable(last.get()) ? RD_KAFKA_RESP_ERR__TIMED_OUT
                                                       : rd_kafka_error_code(last.get());
      });
  if (status.ok()) {
    state_ = State::kReady;
    return Status::Ok();
  }
  client_->Fail(status, IsHopeless(rd_kafka_error_code(last.get())));
  return deliveries_.failure;
}

Status TransactionalProducer::Begin() {
  if (state_ != State::kReady) return Misuse("Begin");
  KSTREAM_RETURN_IF_ERROR(deliveries_.failure);
  return BeginNext();
}

Status TransactionalProducer::BeginNext() {
  KSTREAM_RETURN_IF_ERROR(
      Take(Error(rd_kafka_begin_transaction(client())), "beginning a transaction"));
  for (auto& [topic, under_way] : narrow_) under_way = 0;
  deliveries_.begun.reset();
  state_ = State::kOpen;
  std::vector<Header> headers;
  for (; !buffered_.empty(); buffered_.pop_front()) {
    const ProducerClient::Message& message = buffered_.front();
    const auto tag = static_cast<uint32_t>(message.ticket);
    Status sent = SendNow(message.topic, message.partition, message.View(&headers), tag);
    if (!sent.ok()) {
      client_->Fail(std::move(sent), true);  // as it had been accepted
      return deliveries_.failure;
    }
    deliveries_.pending[tag]--;  // counted when it was buffered, and now again
  }
  buffered_bytes_ = 0;
  return Status::Ok();
}

Status TransactionalProducer::Seal(std::vector<PartitionOffset> offsets, Consumer* member) {
  if (state_ != State::kOpen) return Misuse("Seal");
  KSTREAM_RETURN_IF_ERROR(deliveries_.failure);
  KSTREAM_RETURN_IF_ERROR(CheckMetadata(offsets));
  member_ = dynamic_cast<KafkaConsumer*>(member);
  if (!offsets.empty() && member_ == nullptr) {
    return Status::Usage("offsets are committed for a consumer of the same cluster");
  }
  offsets_ = std::move(offsets);
  end_ = Clock::now() + timeout_;
  decided_ = false;
  state_ = State::kSealed;
  return Status::Ok();
}

Result<bool> TransactionalProducer::Commit(milliseconds wait) {
  if (std::exchange(decided_, false)) return true;
  if (state_ != State::kSealed && state_ != State::kDeciding) return Misuse("Commit");
  const Clock::time_point until = Clock::now() + wait;
  auto left = [&] {
    return std::max(milliseconds(0),
                    std::chrono::duration_cast<milliseconds>(until - Clock::now()));
  };
  Poll(milliseconds(0));
  while (state_ == State::kSealed) {
    KSTREAM_RETURN_IF_ERROR(deliveries_.failure);
    if (Outstanding() == 0 && (offsets_.empty() || !member_->joining())) {
      KSTREAM_RETURN_IF_ERROR(Decide());
    } else if (Clock::now() >= end_) {
      client_->Fail(Status::Cluster(fmt::format(
          "a transaction was not ready to be committed within its {} s (transaction.timeout.ms): "
          "{} records not acknowledged",
          timeout_.count() / 1000.0, Outstanding())));
    } else if (left().count() == 0) {
      return false;
    } else {
      Poll(std::min(left(), kPollTurn));
    }
  }
  if (outcome_.wait_for(left()) != std::future_status::ready) return false;
  state_ = State::kSealed;  // the client is ours again
  KSTREAM_RETURN_IF_ERROR(Take(outcome_.get(), "committing a transaction"));
  static_cast<void>(BeginNext());  // what failed is failure()
  return true;
}

Status TransactionalProducer::Decide() {
  GroupMetadata group;
  if (!offsets_.empty()) {
    group.reset(rd_kafka_consumer_group_metadata(member_->client()));
    if (group == nullptr || !IsMember(group.get())) {
      client_->Fail(Status::Cluster("committing offsets: the group has put this member out"));
      return deliveries_.failure;
    }
  }
  state_ = State::kDeciding;
  outcome_ = std::async(
      std::launch::async, [client = client(), end = end_, &quit = quit_,
                           list = ToCommit(std::exchange(offsets_, {})), group = std::move(group)] {
        if (group != nullptr) {
          Error error = Retry(end, quit, [&](int ms) {
            return rd_kafka_send_offsets_to_transaction(client, list.get(), group.get(), ms);
          });
          if (error != nullptr) return error;
        }
        return Retry(end, quit, [&](int ms) { return rd_kafka_commit_transaction(client, ms); });
      });
  return Status::Ok();
}

Status TransactionalProducer::Abort() {
  if (state_ == State::kNew) return Misuse("Abort");
  if (outcome_.valid()) {  // it may have committed: whoever asks for committed offsets learns so
    quit_ = true;
    outcome_.get();
    quit_ = false;
  }
  buffered_.clear();
  buffered_bytes_ = 0;
  offsets_.clear();
  decided_ = false;
  if (state_ != State::kReady) {
    const Clock::time_point end = Clock::now() + std::min(timeout_, options_.deadline);
    const Error error =
        Retry(end, quit_, [&](int ms) { return rd_kafka_abort_transaction(client(), ms); });
    deliveries_.pending[0] = deliveries_.pending[1] = 0;
    state_ = State::kReady;
    if (error != nullptr) {
      const rd_kafka_resp_err_t code = rd_kafka_error_code(error.get());
      client_->Fail(
          Status::Cluster(fmt::format("aborting a transaction: {}", rd_kafka_err2str(code))),
          IsHopeless(code));
      return deliveries_.failure;
    }
  }
  return Status::Ok();
}

}  // namespace kstream::transport::kafka
