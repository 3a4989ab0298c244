// One thread of a stage on topics: what is read, written and committed, and where it ends.
#include "runtime/loop_run.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/stopped.h"
#include "unit/runtime/memory_run.h"

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using transport::kNoOffset;
using transport::memory::StoredRecord;

class KafkaRun : public MemoryRun {
 protected:
  KafkaRun() {
    Topics({"in", "out"});
    options_.app = "app";
    options_.exit_at_end = true;
  }
};

TEST_F(KafkaRun, FiltersUntilTheEndAndKeepsEveryField) {
  Produce("in", {"1", "2"});
  cluster_.Produce("in", 0,
                   {.key = "",
                    .value = "3",
                    .headers = {{"b", "1"}, {"a", std::nullopt}, {"b", ""}},
                    .timestamp = 1234});
  options_.app = "";
  ASSERT_TRUE(Run(". > 1").ok());
  EXPECT_THAT(Values("out"), ElementsAre("2", "3"));
  const StoredRecord kept = cluster_.Read("out")[1];
  EXPECT_EQ(kept.key, "");
  EXPECT_THAT(kept.headers, ElementsAre(Pair("b", "1"), Pair("a", std::nullopt), Pair("b", "")));
  EXPECT_EQ(kept.timestamp, 1234);
  EXPECT_EQ(counts_.read, 3);
  EXPECT_EQ(counts_.written, 2);
}

TEST_F(KafkaRun, AnEmptyTopicIsAtItsEnd) {
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), IsEmpty());
}

TEST_F(KafkaRun, CommitsOnlyWhatIsAcknowledged) {
  Produce("in", {"1", "2", "3"});
  options_.exit_at_end = false;
  cluster_.HoldAcks(true);
  const auto nothing_yet = [&] { EXPECT_EQ(Committed("in"), kNoOffset); };
  ASSERT_TRUE(RunSteps({nothing_yet, nothing_yet, nothing_yet,
                        [&] {
                          nothing_yet();
                          cluster_.HoldAcks(false);
                        },
                        [&] {
                          EXPECT_EQ(Committed("in"), 3);
                          EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3"));
                        }})
                  .ok());
}

// As when a stop comes while the group is asked for positions.
TEST_F(KafkaRun, AQuestionThatAStopLeavesUnansweredIsNoFailure) {
  Produce("in", {"1"});
  options_.exit_at_end = false;
  options_.commit_interval = std::chrono::hours(1);
  const Status status = RunSteps({[&] { EXPECT_EQ(Values("out").size(), 1u); },
                                  [&] {
                                    EXPECT_EQ(Committed("in"), kNoOffset);
                                    cluster_.FailPolls(Stopped("stopped while asking"));
                                  }});
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRun, TheEndWaitsForAcknowledgements) {
  Produce("in", {"1"});
  cluster_.HoldAcks(true);
  ASSERT_TRUE(RunSteps({[&] { EXPECT_EQ(Committed("in"), kNoOffset); },
                        [&] {
                          EXPECT_EQ(Committed("in"), kNoOffset);
                          cluster_.HoldAcks(false);
                        }})
                  .ok());
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRun, NothingIsCommittedAfterAFileThatCannotBeWritten) {
  Produce("in", {"1", "2"});
  sink_.output = {Location::Kind::kFile, "", "/dev/full"};
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_EQ(status.message(), "cannot write /dev/full: No space left on device");
  EXPECT_EQ(Committed("in"), kNoOffset);
  EXPECT_EQ(counts_.written, 0);
}

TEST_F(KafkaRun, AFileOfAGroupIsAddedToWhereTheLastRunStopped) {
  const std::string path = testing::TempDir() + "kafka_run_appends";
  std::remove(path.c_str());
  sink_.output = {Location::Kind::kFile, "", path};
  Produce("in", {"1"});
  ASSERT_TRUE(Run().ok());
  Produce("in", {"2"});
  ASSERT_TRUE(Run().ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "1\n2\n");
}

TEST_F(KafkaRun, ARecordThatTheLimitCutsIsNotDone) {
  cluster_.CreateTopic("also", 1);
  also_ = sink_;
  also_->output = TopicNamed("also");
  Produce("in", {"1", "2"});
  options_.limit = 3;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Values("out").size() + Values("also").size(), 3u);
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRun, GoesOnAfterTheCommit) {
  Produce("in", {"1", "2"});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Committed("in"), 2);
  Produce("in", {"3"});
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3"));
  EXPECT_EQ(Committed("in"), 3);
}

TEST_F(KafkaRun, AStopFinishesAndCommits) {
  options_.exit_at_end = false;
  options_.commit_interval = std::chrono::hours(1);
  ASSERT_TRUE(RunSteps({[&] {
                          Produce("in", {"1", "2"});
                        },
                        [&] {
                          EXPECT_EQ(Committed("in"), kNoOffset) << "the interval is not over";
                          state_->stop = true;
                        }})
                  .ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("in"), 2);
}

TEST_F(KafkaRun, ALimitCommitsWhatItLetThrough) {
  Produce("in", {"1", "2", "3", "4"});
  options_.limit = 2;
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("in"), 2);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3", "4"));
}

TEST_F(KafkaRun, ADryRunWritesAndCommitsNothing) {
  Produce("in", {"1", "2"});
  options_.dry_run = true;
  ASSERT_TRUE(Run(". > 1").ok());
  EXPECT_EQ(counts_.written, 1);
  EXPECT_THAT(Values("out"), IsEmpty());
  EXPECT_EQ(Committed("in"), kNoOffset);
}

TEST_F(KafkaRun, MakesTheOutputTopicOnlyWhenAsked) {
  Produce("in", {"1"});
  sink_.output = TopicNamed("made");
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(status.message()), HasSubstr("topic made does not exist"));
  EXPECT_EQ(Committed("in"), kNoOffset);
  options_.create_output = {3, 1};
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("made"), ElementsAre("1"));
  EXPECT_EQ((*cluster_.NewAdmin())->Topics("made")->at("made"), 3);
}

TEST_F(KafkaRun, ABadRecordIsWhereTheNextRunBegins) {
  Produce("in", {"1", "{", "3"});
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(std::string(status.message()), StartsWith("in[0]@1: "));
  EXPECT_THAT(Values("out"), ElementsAre("1"));
  EXPECT_EQ(Committed("in"), 1);
  EXPECT_EQ(Run().code(), StatusCode::kData);
  EXPECT_EQ(Committed("in"), 1);
  options_.on_error = OnError::kSkip;
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "3"));
  EXPECT_EQ(Committed("in"), 3);
}

TEST_F(KafkaRun, ADeadLetterSaysWhereAndWhyAndKeepsTheRest) {
  Topics({"dead"});
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = TopicNamed("dead");
  cluster_.Produce("in", 0, {.value = "1"});
  cluster_.Produce("in", 0,
                   {.key = "k", .value = "{", .headers = {{"h", std::nullopt}}, .timestamp = 77});
  cluster_.HoldAcks(true);
  ASSERT_TRUE(RunSteps({[&] {
                EXPECT_EQ(Committed("in"), kNoOffset);
                cluster_.HoldAcks(false);
              }}).ok());
  EXPECT_THAT(Values("out"), ElementsAre("1"));
  ASSERT_THAT(Values("dead"), ElementsAre("{"));
  const StoredRecord letter = cluster_.Read("dead")[0];
  EXPECT_EQ(letter.key, "k");
  EXPECT_EQ(letter.timestamp, 77);
  EXPECT_THAT(
      letter.headers,
      ElementsAre(Pair("h", std::nullopt), Pair("kstream.error.reason", testing::Ne("")),
                  Pair("kstream.error.topic", "in"), Pair("kstream.error.partition", "0"),
                  Pair("kstream.error.offset", "1"), Pair("kstream.error.timestamp", "77")));
  EXPECT_EQ(counts_.dead_letters, 1);
  EXPECT_EQ(Committed("in"), 2);
}

TEST_F(KafkaRun, ARecordTooLargeForTheTopicIsBadAlone) {
  cluster_.CreateTopic("small", 1, {{"max.message.bytes", "4"}});
  sink_.output = TopicNamed("small");
  Produce("in", {"1", "22222", "3"});
  options_.on_error = OnError::kSkip;
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("small"), ElementsAre("1", "3"));
  EXPECT_EQ(counts_.skipped, 1);
}

TEST_F(KafkaRun, NothingIsCommittedAfterAFailedDelivery) {
  Produce("in", {"1", "2"});
  options_.exit_at_end = false;
  const Status status =
      RunSteps({[&] {
                  EXPECT_EQ(Committed("in"), 2);
                  cluster_.HoldAcks(true);
                  Produce("in", {"3"});
                },
                [&] { cluster_.FailDeliveries(Status::Cluster("broker gone")); }});
  EXPECT_EQ(status.message(), "broker gone");
  EXPECT_EQ(Committed("in"), 2);
}

TEST_F(KafkaRun, AFailedRunLosesNothing) {
  Produce("in", {"1", "2"});
  cluster_.FailDeliveries(Status::Cluster("broker gone"));
  EXPECT_EQ(Run().code(), StatusCode::kCluster);
  EXPECT_EQ(Committed("in"), kNoOffset);
  cluster_.FailDeliveries(Status::Ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
}

TEST_F(KafkaRun, WhatWasDoneBeforeAPollFailedIsKept) {
  Produce("in", {"1"});
  options_.exit_at_end = false;
  options_.commit_interval = std::chrono::hours(1);
  const Status status = RunSteps({[&] { cluster_.FailPolls(Status::Cluster("topic gone")); }});
  EXPECT_EQ(status.message(), "topic gone");
  EXPECT_EQ(Committed("in"), 1);
}

TEST_F(KafkaRun, TheEndIsBehindAnOpenTransaction) {
  Produce("in", {"1"});
  const auto open = cluster_.BeginTransaction();
  cluster_.Produce("in", 0, {.value = "2"}, open);
  Produce("in", {"3"});
  ASSERT_TRUE(RunSteps({[&] { EXPECT_EQ(Committed("in"), 1); },
                        [&] {
                          EXPECT_THAT(Values("out"), ElementsAre("1"));
                          cluster_.EndTransaction(open, true);
                        }})
                  .ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3"));
  EXPECT_EQ(Committed("in"), 3) << "the marker came after the run's end";
}

TEST_F(KafkaRun, AnAbortedTransactionAtTheEndIsPassed) {
  Produce("in", {"1"});
  const auto open = cluster_.BeginTransaction();
  cluster_.Produce("in", 0, {.value = "2"}, open);
  ASSERT_TRUE(RunSteps({[&] { cluster_.EndTransaction(open, false); }}).ok());
  EXPECT_THAT(Values("out"), ElementsAre("1"));
  EXPECT_EQ(Committed("in"), 2);
}

TEST_F(KafkaRun, WhatComesAfterTheEndIsLeftForTheNextRun) {
  options_.from = "@0:5";
  Produce("in", {"1", "2"});
  cluster_.Produce("in", 0, {.value = "3", .timestamp = 5});
  cluster_.Produce("in", 0, {.value = "4", .timestamp = 1});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_EQ(Committed("in"), 2) << "though the end of the log was seen";
  options_.from = "beginning";
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3", "4"));
}

// The log no longer holds the committed offset: never silently elsewhere.
class LostOffset : public KafkaRun {
 protected:
  LostOffset() {
    for (int i = 0; i < 100; i++) Produce("in", {std::to_string(i)});
  }
  void Commit(int64_t offset) { cluster_.Commit("app", {{"in", 0}, offset, ""}); }
  // The log of a run that goes well.
  std::string LogOfRun() {
    testing::internal::CaptureStderr();
    const Status status = Run();
    std::string log = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(status.ok()) << status.message();
    return log;
  }
};

TEST_F(LostOffset, BelowTheLogStops) {
  Commit(50);
  cluster_.DeleteRecords({"in", 0}, 75);
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("in[0]: committed 50, log starts at 75, 25 records gone"));
  EXPECT_THAT(Values("out"), IsEmpty());
  EXPECT_EQ(Committed("in"), 50);
}

TEST_F(LostOffset, BelowTheLogGoesOnWhereFromSays) {
  Commit(50);
  cluster_.DeleteRecords({"in", 0}, 75);
  options_.from_given = true;
  EXPECT_THAT(LogOfRun(), HasSubstr("in[0]: committed 50, log starts at 75, 25 records gone: "));
  ASSERT_EQ(Values("out").size(), 25u);
  EXPECT_EQ(Values("out").front(), "75");
  EXPECT_EQ(Committed("in"), 100);
}

TEST_F(LostOffset, AboveTheLogStops) {
  Commit(150);
  const Status status = Run();
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(status.message()), HasSubstr("in[0]: committed 150, log ends at 100"));
  EXPECT_EQ(Committed("in"), 150);
}

TEST_F(LostOffset, AboveTheLogGoesOnWhereFromSays) {
  Commit(150);
  options_.from_given = true;
  options_.from = "-10";
  EXPECT_THAT(LogOfRun(), HasSubstr("in[0]: committed 150, log ends at 100"));
  EXPECT_EQ(Values("out").size(), 10u);
  EXPECT_EQ(Committed("in"), 100);
}

TEST_F(LostOffset, AtTheEdgesOfTheLogIsNotLost) {
  cluster_.DeleteRecords({"in", 0}, 75);
  options_.from_given = true;
  for (const int64_t offset : {75, 100}) {
    Commit(offset);
    EXPECT_EQ(LogOfRun(), "");
  }
  EXPECT_EQ(Values("out").size(), 25u);
}

}  // namespace
}  // namespace kstream::runtime
