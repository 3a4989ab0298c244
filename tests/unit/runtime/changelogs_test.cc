// Changelogs on a real cluster, when KSTREAM_BROKERS names one: what a broker makes of their
// settings, no twin in memory can say.
#include "runtime/changelogs.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>

#include "runtime/planner.h"
#include "transport/kafka/kafka_cluster.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using testing::HasSubstr;

class ChangelogsTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const brokers = std::getenv("KSTREAM_BROKERS");
    if (brokers == nullptr) GTEST_SKIP() << "KSTREAM_BROKERS names no cluster";
    options_.home.brokers = brokers;
    options_.app = "app-" + NewIncarnation();
    cluster_ = Connect();
    admin_ = *cluster_->NewAdmin();
    ASSERT_TRUE(admin_->CreateTopic(in_ = options_.app + ".in", 3, 1).ok());
  }
  void TearDown() override {
    if (!admin_) return;
    for (const std::string& topic : {in_, changelog(), ManifestTopic(options_.app)}) {
      EXPECT_EQ(Said(admin_->DeleteTopic(topic)), "");
    }
  }

  std::unique_ptr<transport::Cluster> Connect() const {
    transport::kafka::Options kafka;
    kafka.bootstrap = options_.home.brokers;
    return *transport::kafka::NewCluster(kafka);
  }
  std::string changelog() const { return ChangelogTopic(options_.app, "cnt"); }

  // A start of a process that counts.
  Status Open() const {
    TopologyBuilder builder;
    StoreSpec store;
    store.name = "cnt";
    builder.AddSource("in", {.inputs = {Location::Topic(in_)}})
        .AddProcessor("count", Passes(), {"in"})
        .AddStore(store, {"count"});
    RunState state(*builder.Build(), options_);
    state.from = *FromSpec::Parse("beginning", 0);
    state.clusters[""] = Connect();
    Admins admins(&state);
    return Planner(&state, &admins).Open();
  }

  RuntimeOptions options_;
  std::string in_;
  std::unique_ptr<transport::Cluster> cluster_;
  std::unique_ptr<transport::Admin> admin_;
};

TEST_F(ChangelogsTest, AreMadeAsTheyMustBeAndMissed) {
  ASSERT_EQ(Said(Open()), "");
  EXPECT_EQ(admin_->Topics(changelog())->at(changelog()), 3);
  const TopicSettings found = *admin_->TopicConfig(changelog());
  for (const auto& [name, value] : ChangelogSettings()) EXPECT_EQ(found.at(name), value) << name;
  ASSERT_EQ(Said(Open()), "") << "a later start finds it as it must be";

  ASSERT_TRUE(admin_->DeleteTopic(changelog()).ok());
  Status status = Open();
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(Said(status), HasSubstr(changelog() + " is gone"));

  // As a broker would make it for whoever asks.
  ASSERT_TRUE(admin_->CreateTopic(changelog(), 3, 1).ok());
  status = Open();
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(Said(status), HasSubstr("cleanup.policy=delete"));

  ASSERT_TRUE(admin_->DeleteTopic(changelog()).ok());
  ASSERT_TRUE(admin_->CreateTopic(changelog(), 4, 1, ChangelogSettings()).ok());
  status = Open();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(Said(status), HasSubstr("made with 3 partitions and has 4 now"));
}

TEST_F(ChangelogsTest, OfAnotherAreRefused) {
  ASSERT_TRUE(admin_->CreateTopic(changelog(), 3, 1, ChangelogSettings()).ok());
  const Status status = Open();
  EXPECT_EQ(status.code(), StatusCode::kRefused);
  EXPECT_THAT(Said(status), HasSubstr(changelog()));
}

}  // namespace
}  // namespace kstream::runtime
