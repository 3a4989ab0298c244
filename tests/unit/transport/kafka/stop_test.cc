// Options::stop: whoever waits for a cluster that does not answer gives up at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/stopped.h"
#include "fixture.h"

namespace kstream::transport::kafka {
namespace {

using ::testing::HasSubstr;

class Stop : public ::testing::Test {
 protected:
  void SetUp() override {
    SetLog({.name = "test", .least = LogLevel::kError, .json = false});
    Options options;
    options.bootstrap = "127.0.0.1:1";
    options.deadline = seconds(30);
    options.stop = &stop_;
    cluster_ = Must(NewCluster(options));
  }
  // `call` must fail long before the deadline, and say that it was stopped.
  template <typename F>
  void ExpectStopped(const char* what, F call) {
    const auto start = std::chrono::steady_clock::now();
    const Status status = call();
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(20)) << what;
    EXPECT_TRUE(IsStopped(status)) << what;
    EXPECT_THAT(std::string(status.message()), HasSubstr("stopped while")) << what;
  }
  std::atomic<bool> stop_{true};
  std::unique_ptr<Cluster> cluster_;
  const TopicPartition in0_{"in", 0};
};

TEST_F(Stop, EndsEveryQuestionOfAnAdmin) {
  auto admin = Must(cluster_->NewAdmin());
  ExpectStopped("topics", [&] { return admin->Topics("in").status(); });
  ExpectStopped("pattern", [&] { return admin->Topics("^in").status(); });
  ExpectStopped("offsets", [&] { return admin->Offsets({&in0_, 1}).status(); });
  ExpectStopped("time", [&] { return admin->OffsetsForTime({&in0_, 1}, 0).status(); });
  ExpectStopped("config", [&] { return admin->TopicConfig("in").status(); });
  ExpectStopped("create", [&] { return admin->CreateTopic("in", 1, 1).status(); });
  ExpectStopped("grow", [&] { return admin->CreatePartitions("in", 2); });
  ExpectStopped("delete", [&] { return admin->DeleteTopic("in"); });
  ExpectStopped("delete records", [&] { return admin->DeleteRecords({{in0_, 1}}); });
  ExpectStopped("group", [&] { return admin->DescribeGroup("g").status(); });
}

TEST_F(Stop, EndsTheOpeningOfATopic) {
  auto producer = Must(cluster_->NewProducer());
  ExpectStopped("open", [&] { return producer->Open("out").status(); });
}

TEST_F(Stop, EndsAMemberThatHasNotReachedItsGroup) {
  ConsumerOptions options;
  options.group = "g";
  auto consumer = Must(cluster_->NewConsumer(options));
  ASSERT_OK(consumer->Subscribe({"in"}));
  ExpectStopped("committed", [&] { return consumer->Committed({&in0_, 1}).status(); });
  const auto start = std::chrono::steady_clock::now();
  ASSERT_OK(consumer->Close());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(20));
}

class StopMock : public MockTest {};

TEST_F(StopMock, WhatIsAnsweredAtOnceIsAnsweredStill) {
  NewTopic("in", 2);
  std::atomic<bool> stop = true;
  Options options;
  options.bootstrap = brokers_;
  options.stop = &stop;
  auto cluster = Must(NewCluster(options));
  auto admin = Must(cluster->NewAdmin());
  // The first question may end before the connection is made.
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (!admin->Topics("in").ok() && std::chrono::steady_clock::now() < end) continue;
  EXPECT_EQ(Must(admin->Topics("in"))["in"], 2);
  const TopicPartition partition{"in", 1};
  EXPECT_EQ(Must(admin->Offsets({&partition, 1}))[partition].high, 0);
}

}  // namespace
}  // namespace kstream::transport::kafka
