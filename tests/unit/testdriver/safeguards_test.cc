// What becomes of state without one of the safeguards: each scenario is run with all of them, and
// is right, and then without the one that it is about, and is wrong. So none of them is there for
// nothing.
#include "runtime/safeguards.h"

#include <gmock/gmock.h>

#include <map>

#include "base/clock.h"
#include "testdriver/application.h"
#include "testdriver/clusters.h"
#include "testdriver/scratch.h"
#include "unit/testdriver/word_count.h"

namespace kstream::testdriver {
namespace {

using Rows = std::map<std::string, std::string>;

class SafeguardsTest : public testing::Test {
 protected:
  ~SafeguardsTest() override { runtime::safeguards = {}; }

  // A process of the application, with a state directory of its own as on another host.
  class Process {
   public:
    Process(SafeguardsTest* test, const std::string& host, Topology topology) {
      TestDriverOptions options{.partitions = {{"in", 1}, {"a", 2}, {"b", 2}}};
      options.runtime.state_dir = test->scratch_.path() + "/" + host;
      options.runtime.store_type = StoreSpec::Engine::kRocksDb;
      application_ = std::make_unique<Application>(std::move(topology), options, test->clock_,
                                                   &test->clusters_);
      const Status opened = application_->Open();
      EXPECT_TRUE(opened.ok()) << opened.message();
    }
    Status Settle() { return application_->Settle(); }
    void Close() {
      const Status closed = application_->Close();
      EXPECT_TRUE(closed.ok()) << closed.message();
    }

   private:
    std::unique_ptr<Application> application_;
  };

  // Counts by key, in a kept store.
  static Topology Counts() {
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {Location::Topic("in")}})
        .AddProcessor("count", Does(Count, "count"), {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddSink("out", {.output = Location::Topic("out")}, {"count"});
    return *builder.Build();
  }
  // Passes on what is in two topics.
  static Topology Merges() {
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {Location::Topic("a"), Location::Topic("b")}})
        .AddSink("out", {.output = Location::Topic("out")}, {"in"});
    return *builder.Build();
  }

  void Put(const std::string& topic, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      const TestRecord record{.key = key, .value = "1"};
      ASSERT_TRUE(clusters_.Produce(topic, record, clock_->WallMs()).ok());
    }
  }
  // The last value of each key that the application has written.
  Rows Out() {
    Rows rows;
    for (const TestRecord& record : *clusters_.ReadAll("out")) rows[*record.key] = *record.value;
    return rows;
  }
  // Counts what is in the input, on a host, to a clean end.
  void CountOn(const std::string& host) {
    Process process(this, host, Counts());
    const Status settled = process.Settle();
    ASSERT_TRUE(settled.ok()) << settled.message();
    process.Close();
  }

  // A topic gets more partitions than the lead has, and a second process starts.
  size_t CopiesWhereTheLeadWouldBeAnother();
  // The last owner's transaction is decided, and its marker is on its way to the changelog.
  Rows CountsBehindAMarkerOnItsWay();
  // Host "one" keeps what an application counted that was reset on host "two".
  Rows CountsOnAStoreOfBefore();

  const Scratch scratch_{true};
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(1'000'000);
  Clusters clusters_;
};

size_t SafeguardsTest::CopiesWhereTheLeadWouldBeAnother() {
  Process first(this, "one", Merges());
  EXPECT_TRUE(first.Settle().ok());
  EXPECT_TRUE(clusters_.GrowTopic("b", 4).ok());
  Process second(this, "two", Merges());
  for (int turn = 0; turn < 20; turn++) {
    EXPECT_TRUE(first.Settle().ok());
    EXPECT_TRUE(second.Settle().ok());
  }
  Put("a", {"k"});
  for (int turn = 0; turn < 20; turn++) {
    EXPECT_TRUE(first.Settle().ok());
    EXPECT_TRUE(second.Settle().ok());
  }
  return clusters_.ReadAll("out")->size();
}

TEST_F(SafeguardsTest, TheLeadIsTheManifests) { EXPECT_EQ(CopiesWhereTheLeadWouldBeAnother(), 1); }

TEST_F(SafeguardsTest, WithoutTheManifestsLeadTasksHaveTwoOwners) {
  runtime::safeguards.lead_of_manifest = false;
  EXPECT_EQ(CopiesWhereTheLeadWouldBeAnother(), 2);
}

Rows SafeguardsTest::CountsBehindAMarkerOnItsWay() {
  CountOn("one");  // makes the topics
  Put("in", {"k"});
  CountOn("one");
  transport::memory::MemoryCluster& cluster = clusters_.home();
  Put("in", {"k"});
  const auto transaction = cluster.BeginTransaction();
  cluster.Produce("test-counts-changelog", 0, {.key = "k", .value = "2"}, transaction);
  cluster.Commit("test", {{"in", 0}, 2, ""});

  Put("in", {"k"});
  Process next(this, "two", Counts());
  // A thread that restores goes on asking, so there is no rest before the marker has come.
  EXPECT_TRUE(next.Settle().ok());
  cluster.EndTransaction(transaction, true);
  EXPECT_TRUE(next.Settle().ok());
  next.Close();
  return Out();
}

TEST_F(SafeguardsTest, ARestoreWaitsForAMarkerOnItsWay) {
  EXPECT_EQ(CountsBehindAMarkerOnItsWay(), (Rows{{"k", "3"}}));
}

TEST_F(SafeguardsTest, ARestoreToTheLastStableOffsetMissesIt) {
  runtime::safeguards.restore_to_watermark = false;
  EXPECT_EQ(CountsBehindAMarkerOnItsWay(), (Rows{{"k", "2"}}));
}

Rows SafeguardsTest::CountsOnAStoreOfBefore() {
  CountOn("one");  // makes the topics
  Put("in", {"a", "z"});
  CountOn("one");
  transport::memory::MemoryCluster& cluster = clusters_.home();
  for (const char* topic : {"test-counts-changelog", "test.kstream", "in", "out"}) {
    cluster.DeleteTopic(topic);
  }
  const transport::TopicPartition partitions[] = {{"in", 0}};
  EXPECT_TRUE((*cluster.NewAdmin())->DeleteGroupOffsets("test", partitions).ok());
  CountOn("two");         // makes the topics
  Put("in", {"b", "z"});  // the changelog will end as it did: as far on, with the same record
  CountOn("two");
  Put("in", {"a"});
  CountOn("one");
  return Out();
}

TEST_F(SafeguardsTest, AStoreOfAnotherIncarnationIsMadeAnew) {
  EXPECT_EQ(CountsOnAStoreOfBefore(), (Rows{{"a", "1"}, {"b", "1"}, {"z", "1"}}));
}

TEST_F(SafeguardsTest, WithoutTheIncarnationAResetIsUndoneByAnOldStore) {
  runtime::safeguards.incarnation = false;
  EXPECT_EQ(CountsOnAStoreOfBefore(), (Rows{{"a", "2"}, {"b", "1"}, {"z", "1"}}));
}

}  // namespace
}  // namespace kstream::testdriver
