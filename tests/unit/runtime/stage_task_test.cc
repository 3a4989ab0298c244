#include "runtime/stage_task.h"

#include <gmock/gmock.h>

#include <deque>

#include "unit/runtime/task_bench.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using transport::kNoOffset;

// Partition `number` of the topic that all tests read, without a commit.
TaskPartition Of(int32_t number, size_t source = 0) {
  TaskPartition partition;
  partition.input = {"", "t", number};
  partition.source = source;
  partition.given_out = kNoOffset;
  return partition;
}

RuntimeOptions On(OnError policy) {
  RuntimeOptions options;
  options.on_error = policy;
  return options;
}

class StageTaskTest : public testing::Test {
 protected:
  // A record of `time`; it stays where it is, as in a batch.
  Status Add(StageTask* task, size_t partition, int64_t offset, int64_t time,
             const Status& bad = Status::Ok()) {
    Record& record = records_.emplace_back();
    record.topic = "t";
    record.partition = task->partitions()[partition].input.partition;
    record.offset = offset;
    record.timestamp = time;
    record.timestamp_type = TimestampType::kCreateTime;
    record.value = "1";
    return task->Add(partition, record, {.offset = offset, .bad = &bad}, owner_);
  }
  static Status Drain(StageTask* task) { return task->Drain(Clock::Instant::max()).status(); }
  // "t[0]=3" and the metadata of each position that is to be committed.
  static std::vector<std::string> Positions(StageTask* task, bool all = false) {
    std::vector<transport::PartitionOffset> positions;
    EXPECT_EQ(Said(task->Positions(all, &positions)), "");
    std::vector<std::string> text;
    for (const auto& [p, offset, metadata] : positions) {
      text.push_back(p.topic + "[" + std::to_string(p.partition) + "]=" + std::to_string(offset) +
                     (metadata.empty() ? "" : " ") + metadata);
    }
    return text;
  }

  std::deque<Record> records_;
  const std::shared_ptr<OwnedBatch> owner_ = std::make_shared<OwnedBatch>();
};

TEST_F(StageTaskTest, ATopicThatTwoSourcesReadIsCommittedAsFarAsBothHaveCome) {
  TaskBench bench(std::vector<SourceSpec>(2));
  const auto task = bench.Make(0, {Of(0, 0), Of(0, 1)});
  for (int64_t i = 0; i < 3; i++) ASSERT_EQ(Said(Add(task.get(), 0, i, 10 + i)), "");
  ASSERT_EQ(Said(Add(task.get(), 1, 0, 10)), "");
  task->AtEnd(0, 3);
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_THAT(bench.processed[0], ElementsAre(0, 0)) << "the second source may have an earlier one";
  EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=1"));

  task->AtEnd(1, 1);
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_EQ(task->partitions()[0].position, 3);
  EXPECT_THAT(Positions(task.get()), IsEmpty()) << "the second source is at 1 still";
  for (int64_t i = 1; i < 3; i++) ASSERT_EQ(Said(Add(task.get(), 1, i, 10 + i)), "");
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=3"));
}

TEST_F(StageTaskTest, MetadataGoesWithTheLeadAndOnlyWhenThereIsNews) {
  TaskBench bench;
  const auto task = bench.Make(0, {{Of(0), Of(1)}, {{"t", 0}}, {}, {}});
  EXPECT_THAT(Positions(task.get()), IsEmpty()) << "nothing to say yet";
  task->AtEnd(0, 0);
  ASSERT_EQ(Said(Add(task.get(), 1, 0, 100)), "");
  task->AtEnd(1, 1);
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=0 ks1 t=100", "t[1]=1"));
  EXPECT_THAT(Positions(task.get()), IsEmpty());

  ASSERT_EQ(Said(Add(task.get(), 1, 1, 50)), "");
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_THAT(Positions(task.get()), ElementsAre("t[1]=2")) << "stream time stands";
  task->AtEnd(1, 2);
  ASSERT_EQ(Said(Add(task.get(), 0, 0, 60)), "");
  ASSERT_EQ(Said(Drain(task.get())), "");
  EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=1 ks1 t=100"))
      << "a commit without its metadata would delete it";
  EXPECT_THAT(Positions(task.get(), true), ElementsAre("t[0]=1 ks1 t=100", "t[1]=2"));
}

TEST_F(StageTaskTest, ALeadWithoutRecordsKeepsThePositionsThatNoOffsetCanHold) {
  TaskBench bench;
  TaskPartition shared = Of(0);
  shared.by_offset = false;
  shared.position = 4;
  const auto task =
      bench.Make(0, {{shared}, {{"app.tasks", 2}}, "ks1 t=7 p=/t/0:4", std::optional<int64_t>(7)});
  EXPECT_THAT(Positions(task.get()), IsEmpty()) << "it is as it was committed";
  EXPECT_THAT(Positions(task.get(), true), ElementsAre("app.tasks[2]=0 ks1 t=7 p=/t/0:4"));
  ASSERT_EQ(Said(Add(task.get(), 0, 4, 5)), "");
  EXPECT_THAT(Positions(task.get()), ElementsAre("app.tasks[2]=0 ks1 t=7 p=/t/0:5"));
}

TEST_F(StageTaskTest, WhatIsBadWaitsItsTurnWhileRecordsAreMerged) {
  for (const OnError policy : {OnError::kFail, OnError::kSkip, OnError::kDeadLetter}) {
    TaskBench bench({SourceSpec{}}, On(policy));
    const auto task = bench.Make(0, {Of(0), Of(1)});
    EXPECT_EQ(Said(Add(task.get(), 1, 0, 20, Status::Data("broken"))), "");
    EXPECT_EQ(Said(Add(task.get(), 0, 7, 10)), "");
    EXPECT_EQ(Said(Add(task.get(), 0, 8, 30)), "");
    task->AtEnd(0, 9);
    task->AtEnd(1, 1);
    const Status status = Drain(task.get());
    if (policy == OnError::kFail) {
      EXPECT_EQ(Said(status), "t[1]@0: broken");
      EXPECT_THAT(bench.processed[0], ElementsAre(7)) << "what was before it is done";
      EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=8")) << "it is not done itself";
      continue;
    }
    EXPECT_EQ(Said(status), "");
    EXPECT_THAT(bench.processed[0], ElementsAre(7, 8));
    EXPECT_THAT(Positions(task.get()), ElementsAre("t[0]=9", "t[1]=1"));
    EXPECT_EQ(bench.state.bad.skipped, policy == OnError::kSkip ? 1 : 0);
    EXPECT_EQ(bench.letters.size(), policy == OnError::kDeadLetter ? 1u : 0u);
  }
}

TEST_F(StageTaskTest, WithNothingToMergeWhatIsBadFailsAtOnce) {
  TaskBench bench;
  const auto task = bench.Make(0, {Of(0)});
  EXPECT_EQ(Said(Add(task.get(), 0, 0, 1, Status::Data("broken"))), "t[0]@0: broken");
  EXPECT_EQ(task->partitions()[0].position, 0);
}

TEST_F(StageTaskTest, LeavesAloneWhatItHasHadAndWhatIsBehindTheEndOfTheRun) {
  TaskBench bench;
  const auto task = bench.Make(0, {Of(0)});
  task->SetEnd(0, 2);
  for (const int64_t offset : {0, 0, 1, 2, 3}) {
    ASSERT_EQ(Said(Add(task.get(), 0, offset, 1)), "");
    EXPECT_EQ(task->done(), offset > 0);
  }
  EXPECT_THAT(bench.processed[0], ElementsAre(0, 1));
  EXPECT_EQ(task->partitions()[0].position, 2);
}

// Two timers are due; the first one's punctuation fails.
class FailingPunctuation : public StageTaskTest {
 protected:
  std::unique_ptr<StageTask> Make(OnError policy, PunctuationType type, Status why) {
    fired_ = 0;
    bench_.emplace(
        std::vector<SourceSpec>(1), On(policy),
        [type](ProcessorContext& context) {
          for (int i = 0; i < 2; i++) EXPECT_TRUE(context.Schedule(milliseconds(10), type).ok());
        },
        [this, why](ProcessorContext&, const Punctuation&) {
          return fired_++ == 0 ? why : Status::Ok();
        });
    return bench_->Make(0, {Of(0)});
  }

  std::optional<TaskBench> bench_;
  int fired_ = 0;
};

TEST_F(FailingPunctuation, IsForThePolicyToDecide) {
  for (const OnError policy : {OnError::kFail, OnError::kSkip, OnError::kDeadLetter}) {
    const auto task = Make(policy, PunctuationType::kWallClockTime, Status::Data("late"));
    bench_->time->Advance(milliseconds(10));
    const Status status = task->Punctuate();
    EXPECT_EQ(bench_->state.bad.skipped, policy == OnError::kSkip ? 1 : 0);
    EXPECT_EQ(bench_->letters.size(), policy == OnError::kDeadLetter ? 1u : 0u);
    if (policy == OnError::kFail) {
      EXPECT_EQ(status.code(), StatusCode::kData);
      EXPECT_THAT(Said(status), HasSubstr("task 0_0: "));
      EXPECT_THAT(Said(status), HasSubstr("late"));
      EXPECT_EQ(fired_, 1);
    } else {
      EXPECT_EQ(Said(status), "");
      EXPECT_EQ(fired_, 2) << "the other timer has its turn";
    }
  }
}

TEST_F(FailingPunctuation, OfARecordThatIsDoneFailsInItsOwnName) {
  const auto skips = Make(OnError::kSkip, PunctuationType::kStreamTime, Status::Data("late"));
  ASSERT_EQ(Said(Add(skips.get(), 0, 0, 100)), "");
  ASSERT_EQ(Said(Add(skips.get(), 0, 1, 110)), "");
  EXPECT_EQ(fired_, 2);
  EXPECT_EQ(skips->partitions()[0].position, 2);

  const auto fails = Make(OnError::kFail, PunctuationType::kStreamTime, Status::Data("late"));
  ASSERT_EQ(Said(Add(fails.get(), 0, 0, 100)), "");
  EXPECT_THAT(Said(Add(fails.get(), 0, 1, 110)), HasSubstr("task 0_0: "));
  EXPECT_EQ(fails->partitions()[0].position, 1) << "it comes again";
}

TEST_F(FailingPunctuation, ThatIsNoMatterOfDataEndsTheStageUnderEveryPolicy) {
  for (const OnError policy : {OnError::kFail, OnError::kSkip, OnError::kDeadLetter}) {
    const auto task = Make(policy, PunctuationType::kWallClockTime, Status::Cluster("gone"));
    bench_->time->Advance(milliseconds(10));
    EXPECT_EQ(task->Punctuate().code(), StatusCode::kCluster);
    EXPECT_EQ(fired_, 1);
  }
}

}  // namespace
}  // namespace kstream::runtime
