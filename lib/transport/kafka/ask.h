// Ask: one request of librdkafka's admin API, which answers through an event queue, as a plain
// call.
#ifndef KSTREAM_TRANSPORT_KAFKA_ASK_H_
#define KSTREAM_TRANSPORT_KAFKA_ASK_H_

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "kstream/status.h"
#include "transport/kafka/errors.h"
#include "transport/kafka/handle.h"
#include "transport/kafka/raii.h"

namespace kstream::transport::kafka {

// How long librdkafka itself is to wait for the answer.
enum class Lapse : uint8_t {
  kWithUs,  // as long as we do
  // For good (it takes an hour at most): of what a coordinator is asked. When such a request times
  // out before librdkafka has found the coordinator, it goes on looking (all versions, 2.0 to
  // 2.12), and ends the process with a failed assertion when it has found it. What we do not wait
  // for any more is answered to nobody, and ends with the client.
  kNever,
};

// Sends one request and waits for its event, which may be one of an error; null: there was none in
// time. `send` gets the options and the queue of the answer.
template <typename F>
Result<Event> AnswerOf(Handle* handle, rd_kafka_admin_op_t op, const std::string& what,
                       std::chrono::milliseconds wait, Lapse lapse, F send) {
  constexpr int kLongestMs = 3'600'000;
  Queue queue(rd_kafka_queue_new(handle->get()));
  AdminOptions options(rd_kafka_AdminOptions_new(handle->get(), op));
  const bool with_us = lapse == Lapse::kWithUs;
  const int limit = static_cast<int>(std::clamp<int64_t>(wait.count(), 1, kLongestMs));
  char text[256];
  const rd_kafka_resp_err_t refused = rd_kafka_AdminOptions_set_request_timeout(
      options.get(), with_us ? limit : kLongestMs, text, sizeof text);
  if (refused != RD_KAFKA_RESP_ERR_NO_ERROR) return ClusterError(refused, what);
  send(options.get(), queue.get());
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(limit + with_us * 1000);
  for (;;) {
    Event event(rd_kafka_queue_poll(queue.get(), 100));
    if (event != nullptr) return event;
    if (handle->stopped()) return handle->Stopped(what);
    if (Clock::now() >= end) return event;
  }
}

// The same, of an answer that is no error.
template <typename F>
Result<Event> Ask(Handle* handle, rd_kafka_admin_op_t op, const std::string& what,
                  std::chrono::milliseconds wait, F send) {
  KSTREAM_ASSIGN_OR_RETURN(Event event, AnswerOf(handle, op, what, wait, Lapse::kWithUs, send));
  if (event == nullptr) return ClusterError(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
  const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get());
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    handle->Heard();
    return event;
  }
  rd_kafka_poll(handle->get(), 0);
  if (!handle->fatal().ok()) return handle->fatal();
  if (IsTransient(error)) {
    return handle->silent() ? handle->Unreachable() : ClusterError(error, what);
  }
  return Status::Cluster(fmt::format("{}: {}", what, rd_kafka_event_error_string(event.get())));
}

}  // namespace kstream::transport::kafka

#endif  // KSTREAM_TRANSPORT_KAFKA_ASK_H_
