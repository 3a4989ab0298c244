#include "transport/kafka/consumer_joins.h"

#include <chrono>

namespace kstream::transport::kafka {
namespace {

constexpr const char* kName = "kstream";
constexpr int16_t kJoinGroup = 11, kSyncGroup = 14;
// A join that was expected and not sent by then is not waited for.
constexpr std::chrono::milliseconds kExpectedLimit{3000};
// After an error the next JoinGroup is sent by then.
constexpr std::chrono::milliseconds kAnsweredLimit{100};

rd_kafka_resp_err_t OnSent(rd_kafka_t*, int, const char*, int32_t, int16_t api, int16_t, int32_t,
                           size_t, void* joins) {
  static_cast<Joins*>(joins)->Sent(api);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnAnswered(rd_kafka_t*, int, const char*, int32_t, int16_t api, int16_t,
                               int32_t, size_t, int64_t, rd_kafka_resp_err_t, void* joins) {
  static_cast<Joins*>(joins)->Answered(api);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnNew(rd_kafka_t* client, const rd_kafka_conf_t*, void* joins, char*, size_t) {
  const rd_kafka_resp_err_t error =
      rd_kafka_interceptor_add_on_request_sent(client, kName, OnSent, joins);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
  return rd_kafka_interceptor_add_on_response_received(client, kName, OnAnswered, joins);
}

}  // namespace

void Joins::Watch(rd_kafka_conf_t* conf) {
  rd_kafka_conf_interceptor_add_on_new(conf, kName, OnNew, this);
}

bool Joins::under_way() const {
  const std::lock_guard lock(mutex_);
  switch (state_) {
    case State::kSettled:
      return false;
    case State::kExpected:
      return Clock::now() < since_ + kExpectedLimit;
    case State::kJoining:
      return true;
    case State::kAnswered:
      return Clock::now() < since_ + kAnsweredLimit;
  }
  return false;
}

bool Joins::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void Joins::Served(bool again) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kJoining) return;
  state_ = again ? State::kExpected : State::kSettled;
  since_ = Clock::now();
}

void Joins::Sent(int16_t api) {
  if (api != kJoinGroup) return;
  const std::lock_guard lock(mutex_);
  state_ = State::kJoining;
  asked_ = true;
}

void Joins::Answered(int16_t api) {
  if (api != kSyncGroup) return;
  const std::lock_guard lock(mutex_);
  if (state_ != State::kJoining) return;
  state_ = State::kAnswered;
  since_ = Clock::now();
}

}  // namespace kstream::transport::kafka
