// ProducerClient: sending again what was not acknowledged when a broker refused a batch.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "transport/kafka/errors.h"
#include "transport/kafka/producer_client.h"

namespace kstream::transport::kafka {

void ProducerClient::Serve() {
  FailRefused();
  if (!handle_->fatal().ok()) {
    // What librdkafka calls fatal is so for this client alone; a refused log-in for every one.
    char text[512];
    const bool client =
        rd_kafka_fatal_error(handle_->get(), text, sizeof text) != RD_KAFKA_RESP_ERR_NO_ERROR;
    Fail(handle_->fatal(), !client);
  }
  while (!again_.empty() && deliveries_->failure.ok()) {
    Drain();
    std::vector<Message> messages = std::exchange(again_, {});
    std::sort(messages.begin(), messages.end(),
              [](const Message& a, const Message& b) { return a.ticket < b.ticket; });
    int64_t refused = 0;
    for (const Message& message : messages) {
      if (message.alone) {
        refused += static_cast<int64_t>(message.value.value_or("").size() +
                                        message.key.value_or("").size());
      }
    }
    Log(LogLevel::kWarning,
        fmt::format("topic {} refused a batch of {} bytes: its records are sent one by one",
                    messages.front().topic->name, refused));
    batch_bytes_ = std::clamp<int64_t>(refused / 2, 1, batch_bytes_);
    Resend(std::move(messages));
  }
}

// Has every record of the stopped client acknowledged, or in again_.
void ProducerClient::Drain() {
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE);
  const Clock::time_point end = Clock::now() + handle_->deadline();
  while (rd_kafka_outq_len(handle_->get()) > 0) {
    rd_kafka_poll(handle_->get(), 50);
    if (Clock::now() > end) rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_INFLIGHT);
  }
}

void ProducerClient::Resend(std::vector<Message> messages) {
  for (auto& [name, topic] : topics_) topic->handle.reset();
  handle_.reset();
  if (Status status = Open(); !status.ok()) Fail(std::move(status));
  for (Message& message : messages) {
    if (!deliveries_->failure.ok()) {
      Settle(message.ticket);
    } else if (!ResendOne(message)) {
      again_.push_back(std::move(message));  // the new client was stopped too: the next round
    }
  }
}

// False when the client takes no records any more.
bool ProducerClient::ResendOne(const Message& message) {
  auto flush = [this] {
    while (rd_kafka_flush(handle_->get(), 1000) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
    }
  };
  if (message.alone) {
    flush();
    if (!again_.empty()) return false;
    alone_ = message.ticket;
  }
  rd_kafka_resp_err_t error;
  while ((error = Produce(message)) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
    rd_kafka_poll(handle_->get(), 5);
  }
  if (message.alone) {
    flush();
    alone_ = 0;
  }
  if (error == RD_KAFKA_RESP_ERR__FATAL) return false;
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    Settle(message.ticket);
    Fail(ClusterError(error, "writing to topic " + message.topic->name));
  }
  return true;
}

rd_kafka_resp_err_t ProducerClient::Produce(const Message& message) {
  std::vector<Header> headers;
  return Produce(message.topic, message.partition, message.View(&headers), message.ticket);
}

Record ProducerClient::Message::View(std::vector<Header>* views) const {
  views->clear();
  for (const auto& [name, bytes] : headers) views->push_back({name, bytes});
  Record record;
  record.timestamp = timestamp;
  record.timestamp_type = TimestampType::kCreateTime;
  record.key = key;
  record.value = value;
  record.headers = *views;
  return record;
}

}  // namespace kstream::transport::kafka
