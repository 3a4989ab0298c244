// How a client ends.
#include "transport/kafka/handle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

// Holds a client's destroy up until it is let go.
struct Gate {
  void Watch(rd_kafka_conf_t* conf) {
    rd_kafka_conf_interceptor_add_on_new(conf, "gate", OnNew, this);
  }
  static rd_kafka_resp_err_t OnNew(rd_kafka_t* client, const rd_kafka_conf_t*, void* gate, char*,
                                   size_t) {
    return rd_kafka_interceptor_add_on_destroy(client, "gate", OnDestroy, gate);
  }
  static rd_kafka_resp_err_t OnDestroy(rd_kafka_t*, void* opaque) {
    auto* gate = static_cast<Gate*>(opaque);
    gate->reached.set_value();
    gate->open.get_future().wait();
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  std::promise<void> reached, open;
};

struct Ended {
  Clock::duration took{};
  std::weak_ptr<void> kept;
};

Ended End(Gate* gate) {
  Options options;
  options.bootstrap = "127.0.0.1:1";
  Conf conf = Must(ConsumerConf(options, {}));
  if (gate != nullptr) gate->Watch(conf.get());
  auto handle = Must(Handle::New(RD_KAFKA_CONSUMER, std::move(conf), options, nullptr));
  auto something = std::make_shared<int>(1);
  Ended ended;
  ended.kept = something;
  handle->Keep(std::move(something));
  const Clock::time_point begin = Clock::now();
  handle.reset();
  ended.took = Clock::now() - begin;
  return ended;
}

TEST(Handle, AClientThatEndsIsWaitedForAndNoLonger) {
  const Ended ended = End(nullptr);
  EXPECT_LT(ended.took, seconds(5));
  EXPECT_TRUE(ended.kept.expired());
}

// It goes on in a thread of its own, and what that uses lives as long.
TEST(Handle, AClientThatDoesNotEndIsLeftBehindWithWhatItUses) {
  SetLog({.name = "test", .least = LogLevel::kError, .json = false});
  Gate gate;
  const Ended ended = End(&gate);
  EXPECT_GE(ended.took, seconds(5));
  EXPECT_LT(ended.took, seconds(60));
  ASSERT_EQ(gate.reached.get_future().wait_for(seconds(0)), std::future_status::ready);
  EXPECT_FALSE(ended.kept.expired());
  gate.open.set_value();
  const Clock::time_point limit = Clock::now() + seconds(30);
  while (!ended.kept.expired() && Clock::now() < limit) std::this_thread::yield();
  EXPECT_TRUE(ended.kept.expired());
}

}  // namespace
}  // namespace kstream::transport::kafka
