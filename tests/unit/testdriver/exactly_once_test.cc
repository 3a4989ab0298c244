// Exactly-once over the whole engine: whatever fails, every record counts once, in the outputs, in
// the stores and in their changelogs.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "unit/testdriver/counted.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TestDriverOptions Eos(int threads = 1, int32_t partitions = 1) {
  TestDriverOptions options = Options(threads, partitions);
  options.runtime.guarantee = Guarantee::kExactlyOnce;
  return options;
}

// The counts that read_committed readers of "out" see, by key: each from 1 on, once.
Expected Told(const TestDriver& driver) {
  std::map<std::string, std::multiset<int>> all;
  for (const TestRecord& record : *driver.ReadAll("out")) {
    all[*record.key].insert(std::stoi(*record.value));
  }
  Expected told;
  for (const auto& [key, counts] : all) {
    int next = 1;
    for (const int count : counts) {
      EXPECT_EQ(count, next) << key << ": told twice, or not at all";
      next = count + 1;
    }
    told[key] = static_cast<int>(counts.size());
  }
  return told;
}

void ExpectAll(const TestDriver& driver, const Expected& truth) {
  EXPECT_EQ(Told(driver), truth);
  EXPECT_EQ(Table(driver), truth);
  EXPECT_EQ(Journal(driver), truth);
}

TEST(ExactlyOnce, WhatIsNotCommittedCannotBeRead) {
  auto driver = Driver(Counts(), Eos());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "a"})).ok());
  EXPECT_EQ(Table(*driver), (Expected{{"a", 2}, {"b", 1}}));
  EXPECT_THAT(*driver->ReadAll("out"), IsEmpty());
  EXPECT_EQ(*driver->Committed("in"), std::nullopt);
  EXPECT_EQ(driver->counts().written, 0);
  ASSERT_TRUE(driver->Advance(milliseconds(200)).ok());
  ExpectAll(*driver, {{"a", 2}, {"b", 1}});
  EXPECT_EQ(*driver->Committed("in"), 3);
  EXPECT_EQ(driver->counts().written, 3);
}

TEST(ExactlyOnce, EachStageWaitsForTheCommitOfTheOneBefore) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}});
  std::string source = "in";
  for (const std::string name : {"one", "two"}) {
    builder.AddSink(name + "-out", {.output = Location::Repartition(name)}, {source})
        .AddSource(name, {.inputs = {Location::Repartition(name)}});
    source = name;
  }
  builder.AddSink("out", {.output = Location::Topic("out")}, {source});
  auto driver = Driver(*builder.Build(), Eos());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  for (int commits = 0; commits < 3; commits++) {
    EXPECT_THAT(*driver->ReadAll("out"), IsEmpty()) << commits;
    ASSERT_TRUE(driver->Advance(milliseconds(200)).ok());
  }
  EXPECT_THAT(*driver->ReadAll("out"), SizeIs(1));
}

TEST(ExactlyOnce, AnEpochWithoutNewsIsNoTransaction) {
  auto driver = Driver(Counts(), Eos());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  // Fails what it finds: nothing.
  driver->FailTransaction(Status(StatusCode::kFenced, "a transaction was made"), false);
  for (int i = 0; i < 10; i++) ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_TRUE(driver->running());
}

TEST(ExactlyOnce, ACrashLeavesNothingOfWhatItHadBegun) {
  auto driver = Driver(Counts(), Eos(2));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "a"})).ok());
  ASSERT_TRUE(driver->Crash(driver->tasks().at(0).thread).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  ExpectAll(*driver, {{"a", 3}});
  EXPECT_EQ(driver->counts().written, 3);
}

TEST(ExactlyOnce, ALostTaskTakesAllOfItsThreadsTransactionAlong) {
  auto driver = Driver(Counts(), Eos(1, 2));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "c"})).ok());
  ASSERT_TRUE(driver->Evict(0).ok());
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  ExpectAll(*driver, {{"a", 2}, {"b", 1}, {"c", 1}});
}

TEST(ExactlyOnce, AMoveCommitsFirst) {
  auto driver = Driver(Counts(), Eos(1, 4));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "c", "d", "e", "f", "a"})).ok());
  ASSERT_TRUE(driver->AddThread().ok());
  EXPECT_THAT(*driver->ReadAll("out"), SizeIs(7));
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "f"})).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  ExpectAll(*driver, {{"a", 3}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 2}});
}

// What may happen to a transaction, one kind a test.
class ExactlyOnceFailure : public testing::Test {
 protected:
  ExactlyOnceFailure() {
    EXPECT_TRUE(driver_->PipeAll("in", Keys({"a", "b", "c", "d"})).ok());
    EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
    EXPECT_TRUE(driver_->PipeAll("in", Keys({"a", "d", "a"})).ok());
  }
  // All counts once, by the same thread as before.
  void ExpectMended() {
    EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
    EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
    EXPECT_THAT(driver_->failures(), IsEmpty());
    ExpectAll(*driver_, {{"a", 3}, {"b", 1}, {"c", 1}, {"d", 2}});
    EXPECT_EQ(driver_->counts().written, 7);
  }
  std::unique_ptr<TestDriver> driver_ = Driver(Counts(), Eos(1, 3));
};

TEST_F(ExactlyOnceFailure, ThatIsAbortedIsDoneAgain) {
  driver_->FailTransaction(Status::Cluster("the group has a new generation"), false);
  ExpectMended();
}

TEST_F(ExactlyOnceFailure, OfUnknownOutcomeIsDoneAgainIfItWasNot) {
  driver_->FailTransaction(Status::Cluster("no answer in time"), false);
  ExpectMended();
}

TEST_F(ExactlyOnceFailure, OfUnknownOutcomeIsNotDoneAgainIfItWas) {
  driver_->FailTransaction(Status::Cluster("no answer in time"), true);
  EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
  EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
  EXPECT_THAT(driver_->failures(), IsEmpty());
  ExpectAll(*driver_, {{"a", 3}, {"b", 1}, {"c", 1}, {"d", 2}});
}

TEST_F(ExactlyOnceFailure, OfADeliveryPoisonsWhatCameWithIt) {
  ASSERT_TRUE(driver_->Advance(seconds(1)).ok());
  driver_->FailDelivery(Status::Cluster("no answer in time"), 1);
  ASSERT_TRUE(driver_->PipeAll("in", Keys({"b"})).ok());
  EXPECT_TRUE(driver_->Advance(seconds(1)).ok());
  EXPECT_THAT(driver_->failures(), IsEmpty());
  ExpectAll(*driver_, {{"a", 3}, {"b", 2}, {"c", 1}, {"d", 2}});
}

TEST_F(ExactlyOnceFailure, ThatOutlivesItsTimeoutIsDoneAgain) {
  ASSERT_TRUE(driver_->ExpireTransaction(0).ok());
  ExpectMended();
}

TEST_F(ExactlyOnceFailure, ThatNeverEndsIsTriedSoOften) {
  driver_->FailCommits(Status::Cluster("no coordinator"));
  const Status status = driver_->Advance(seconds(1000));
  Status last = status;
  for (int i = 0; i < 30 && last.ok(); i++) last = driver_->Advance(seconds(1));
  EXPECT_EQ(last.code(), StatusCode::kCluster);
  EXPECT_EQ(last.message(), "no coordinator (tried 20 times)");
  ASSERT_THAT(driver_->failures(), SizeIs(1));
  driver_->FailCommits(Status::Ok());
  ASSERT_TRUE(driver_->Restart().ok());
  ASSERT_TRUE(driver_->Advance(seconds(1)).ok());
  ExpectAll(*driver_, {{"a", 3}, {"b", 1}, {"c", 1}, {"d", 2}});
}

TEST_F(ExactlyOnceFailure, ByAnotherHolderOfItsIdEndsTheThread) {
  driver_->FailTransaction(Status(StatusCode::kFenced, "taken over"), false);
  EXPECT_EQ(driver_->Advance(seconds(1)).code(), StatusCode::kFenced);
  ASSERT_THAT(driver_->failures(), SizeIs(1));
  ASSERT_TRUE(driver_->Restart().ok());
  ASSERT_TRUE(driver_->Advance(seconds(1)).ok());
  ExpectAll(*driver_, {{"a", 3}, {"b", 1}, {"c", 1}, {"d", 2}});
}

// The last commit of a run fails: it has not ended yet.
TEST(ExactlyOnce, ARunEndsWhenItsLastTransactionIsCommitted) {
  TestDriverOptions options = Eos();
  options.runtime.exit_at_end = true;
  options.runtime.commit_interval = seconds(5);
  auto driver = Driver(Counts(), options);
  ASSERT_FALSE(driver->running());  // nothing to read
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "a"})).ok());
  driver->FailTransaction(Status::Cluster("the group has a new generation"), false);
  ASSERT_TRUE(driver->Restart().ok());
  EXPECT_FALSE(driver->running());
  EXPECT_THAT(driver->failures(), IsEmpty());
  EXPECT_EQ(Told(*driver), (Expected{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(*driver->Committed("in"), 3);
}

TEST(ExactlyOnce, ALimitIsOfWhatIsCommitted) {
  TestDriverOptions options = Eos();
  options.runtime.limit = 3;
  auto driver = Driver(Counts(), options);
  driver->FailTransaction(Status::Cluster("the group has a new generation"), false);
  ASSERT_TRUE(driver->PipeAll("in", Keys({"a", "b", "a", "b", "c"})).ok());
  EXPECT_FALSE(driver->running());
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1", "1", "2"));
  EXPECT_EQ(driver->counts().written, 3);
  EXPECT_EQ(*driver->Committed("in"), 3);
}

// Fails of "bad", after it has let through or stored what came of it.
Topology FailsLate() {
  return Through(Does([](ProcessorContext& context, const Record& record) -> Status {
    KSTREAM_RETURN_IF_ERROR(context.Forward(record));
    return *record.value == "bad" ? Status::Data("too late") : Status::Ok();
  }));
}

TEST(ExactlyOnce, HalfARecordIsNotCommitted) {
  auto driver = Driver(FailsLate(), Eos());
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "1"}}).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_EQ(driver->PipeAll("in", {{.value = "2"}, {.value = "bad"}}).code(), StatusCode::kData);
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1"));
  EXPECT_EQ(*driver->Committed("in"), 1);
}

// Fails of "bad" before anything has come of it.
TEST(ExactlyOnce, WhatIsBeforeABadRecordIsCommitted) {
  auto driver =
      Driver(Through(Does([](ProcessorContext& context, const Record& record) -> Status {
               return *record.value == "bad" ? Status::Data("no number") : context.Forward(record);
             })),
             Eos());
  EXPECT_EQ(driver->PipeAll("in", {{.value = "1"}, {.value = "2"}, {.value = "bad"}}).code(),
            StatusCode::kData);
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1", "2"));
  EXPECT_EQ(*driver->Committed("in"), 2);
}

TEST(ExactlyOnce, DeadLettersBelongToTheTransaction) {
  TestDriverOptions options = Eos();
  options.runtime.on_error = OnError::kDeadLetter;
  options.runtime.dead_letter = Location::Topic("bad");
  options.runtime.max_errors = 1;
  auto driver =
      Driver(Through(Does([](ProcessorContext& context, const Record& record) -> Status {
               return *record.value == "bad" ? Status::Data("no number") : context.Forward(record);
             })),
             options);
  driver->FailTransaction(Status::Cluster("the group has a new generation"), false);
  ASSERT_TRUE(driver->PipeAll("in", {{.value = "1"}, {.value = "bad"}}).ok());
  EXPECT_THAT(*driver->ReadAll("bad"), IsEmpty());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  ASSERT_TRUE(driver->Advance(seconds(1)).ok());
  EXPECT_TRUE(driver->running()) << "one bad record, however often it is read, is one";
  EXPECT_THAT(ValuesOf(driver->ReadAll("bad")), ElementsAre("bad"));
  EXPECT_THAT(ValuesOf(driver->ReadAll("out")), ElementsAre("1"));
  EXPECT_EQ(driver->counts().dead_letters, 1);
}

TEST(ExactlyOnce, AProcessorSendsNowhereElse) {
  TestDriverOptions options = Eos();
  options.runtime.clusters["eu"];
  auto driver = Driver(Through(Does([](ProcessorContext& context, const Record& record) {
                         return context.Send(Location::Topic("there", "eu"), record);
                       })),
                       options);
  const Status status = driver->Pipe("in", {.value = "1"});
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_THAT(status.message(), HasSubstr("a record goes to cluster eu"));
}

// With everything that may happen to a transaction.
TEST(ExactlyOnce, EveryRecordCountsOnceInAStorm) {
  for (uint32_t seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    auto driver = Driver(Counts(), Eos(3, 4));
    const Expected truth = Storm(driver.get(), &dice, false, [&](int thread) {
      const Status aborted = Status::Cluster("the group has a new generation");
      switch (dice(5)) {
        case 0:
          driver->FailTransaction(aborted, false);
          break;
        case 1:
          driver->FailTransaction(Status::Cluster("no answer in time"), true);
          break;
        case 2:
          driver->FailDelivery(Status::Cluster("no answer in time"), 1);
          break;
        case 3:
          EXPECT_TRUE(driver->ExpireTransaction(thread).ok());
          break;
        default:
          driver->HoldAcks();
          return;
      }
      // A thread that is told to leave meets it as its end.
      EXPECT_TRUE(driver->Advance(seconds(1)).ok());
      driver->FailTransaction(Status::Ok(), false);
      driver->FailDelivery(Status::Ok());
    });
    ASSERT_TRUE(driver->ReleaseAcks().ok());
    for (int i = 0; i < 3; i++) ASSERT_TRUE(driver->Advance(seconds(1)).ok());
    EXPECT_THAT(driver->failures(), IsEmpty());
    ExpectAll(*driver, truth);
    ASSERT_TRUE(driver->Restart().ok());
    ExpectAll(*driver, truth);
  }
}

}  // namespace
}  // namespace kstream
