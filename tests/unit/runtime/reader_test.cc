#include "runtime/reader.h"

#include <gmock/gmock.h>

#include "transport/memory/memory_cluster.h"
#include "unit/runtime/task_bench.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::TopicPartition;
using transport::memory::MemoryCluster;

class ReaderTest : public testing::Test {
 protected:
  ReaderTest() : reader_("", *cluster_.NewConsumer({})) {
    cluster_.CreateTopic("t", 2);
    cluster_.CreateTopic("u", 1);
  }
  void Produce(const std::string& topic, int count) {
    for (int i = 0; i < count; i++) cluster_.Produce(topic, 0, {.value = "v"});
  }
  std::unique_ptr<StageTask> Task(int32_t number,
                                  std::vector<std::pair<TopicPartition, int64_t>> at) {
    std::vector<TaskPartition> partitions;
    for (const auto& [p, position] : at) {
      TaskPartition& partition = partitions.emplace_back();
      partition.input = {"", p.topic, p.partition};
      partition.position = position;
    }
    return bench_.Make(number, std::move(partitions));
  }
  // Polls until nothing comes: gives every record and end to its takers.
  void PollAll() {
    ends_.clear();
    delivered_.clear();
    for (;;) {
      ASSERT_TRUE(reader_.Poll(milliseconds(0), SIZE_MAX).ok());
      if (reader_.batch().records.empty() && reader_.batch().ends.empty()) return;
      for (Record& record : reader_.batch().records) {
        delivered_.push_back(record.offset);
        const Reader::Takers* takers = reader_.TakersOf(record);
        if (!takers) continue;
        for (const Reader::Taker& taker : *takers) {
          ASSERT_TRUE(
              taker.task->Add(taker.partition, record, {.offset = record.offset}, reader_.owned())
                  .ok());
        }
      }
      for (const auto& end : reader_.batch().ends) {
        const Reader::Takers* takers = reader_.TakersOf(end.partition);
        for (const Reader::Taker& taker : *takers) {
          taker.task->AtEnd(taker.partition, end.offset);
          ends_.push_back(taker.task->id().number);
        }
      }
    }
  }

  MemoryCluster cluster_;
  TaskBench bench_;
  Reader reader_;
  std::vector<int64_t> delivered_;
  std::vector<int32_t> ends_;  // who was told of one
};

TEST_F(ReaderTest, ReadsFromTheOneFurthestBackAndNobodyHasARecordTwice) {
  Produce("t", 10);
  auto ahead = Task(0, {{{"t", 0}, 7}}), back = Task(1, {{{"t", 0}, 4}});
  ASSERT_TRUE(reader_.Add(ahead.get()).ok());
  ASSERT_TRUE(reader_.Add(back.get()).ok());
  PollAll();
  EXPECT_THAT(delivered_, ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(bench_.processed[0], ElementsAre(7, 8, 9));
  EXPECT_THAT(bench_.processed[1], ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_EQ(ahead->partitions()[0].position, 10);
}

TEST_F(ReaderTest, ATakerThatComesLaterIsToldOfTheEndToo) {
  Produce("t", 3);
  auto first = Task(0, {{{"t", 0}, 0}});
  ASSERT_TRUE(reader_.Add(first.get()).ok());
  PollAll();
  EXPECT_THAT(ends_, ElementsAre(0));
  auto second = Task(1, {{{"t", 0}, 3}});
  ASSERT_TRUE(reader_.Add(second.get()).ok());
  PollAll();
  EXPECT_THAT(delivered_, IsEmpty());
  EXPECT_THAT(ends_, testing::Contains(1));
  EXPECT_EQ(second->partitions()[0].seen_end, 3);
}

TEST_F(ReaderTest, ATakerFurtherBackThanWhatIsReadIsServedFromThere) {
  Produce("t", 6);
  auto first = Task(0, {{{"t", 0}, 0}}), second = Task(1, {{{"t", 0}, 2}});
  ASSERT_TRUE(reader_.Add(first.get()).ok());
  PollAll();
  ASSERT_TRUE(reader_.Add(second.get()).ok());
  PollAll();
  EXPECT_THAT(bench_.processed[0], ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(bench_.processed[1], ElementsAre(2, 3, 4, 5));
}

TEST_F(ReaderTest, GivesBackWhatNobodyReadsAnyMore) {
  auto first = Task(0, {{{"t", 0}, 0}, {{"u", 0}, 0}}),
       second = Task(1, {{{"t", 1}, 0}, {{"u", 0}, 0}});
  ASSERT_TRUE(reader_.Add(first.get()).ok());
  ASSERT_TRUE(reader_.Add(second.get()).ok());
  EXPECT_THAT(reader_.Remove(first.get()), ElementsAre(TopicPartition{"t", 0}));
  EXPECT_THAT(reader_.Remove(first.get()), IsEmpty());
  EXPECT_EQ(reader_.TakersOf(TopicPartition{"t", 0}), nullptr);
  ASSERT_NE(reader_.TakersOf(TopicPartition{"u", 0}), nullptr);
  EXPECT_EQ(reader_.TakersOf(TopicPartition{"u", 0})->size(), 1u);
  EXPECT_THAT(reader_.Remove(second.get()),
              ElementsAre(TopicPartition{"t", 1}, TopicPartition{"u", 0}));
}

TEST_F(ReaderTest, LeavesOtherClustersAlone) {
  std::vector<TaskPartition> partitions(1);
  partitions[0].input = {"east", "t", 0};
  auto task = bench_.Make(0, std::move(partitions));
  ASSERT_TRUE(reader_.Add(task.get()).ok());
  EXPECT_EQ(reader_.TakersOf(TopicPartition{"t", 0}), nullptr);
}

TEST_F(ReaderTest, PausesWhatAllAreFullOfAndResumesWhatAllCanTake) {
  using Wish = Reader::Wish;
  auto first = Task(0, {{{"t", 0}, 0}}), second = Task(1, {{{"t", 0}, 0}});
  ASSERT_TRUE(reader_.Add(first.get()).ok());
  ASSERT_TRUE(reader_.Add(second.get()).ok());
  Wish wishes[2] = {Wish::kPause, Wish::kNone};
  const auto paused = [&] {
    EXPECT_TRUE(reader_
                    .PauseAndResume(
                        [&](const Reader::Taker& taker) { return wishes[taker.task->id().number]; })
                    .ok());
    return reader_.paused();
  };
  EXPECT_EQ(paused(), 0u) << "one of them wants more";
  wishes[1] = Wish::kPause;
  EXPECT_EQ(paused(), 1u);
  Produce("t", 2);
  PollAll();
  EXPECT_THAT(delivered_, IsEmpty());
  wishes[0] = Wish::kResume;
  EXPECT_EQ(paused(), 1u) << "one of them is full";
  wishes[1] = Wish::kResume;
  EXPECT_EQ(paused(), 0u);
  PollAll();
  EXPECT_THAT(delivered_, ElementsAre(0, 1));
}

TEST_F(ReaderTest, ANewTakerOfAPausedPartitionIsServed) {
  auto first = Task(0, {{{"t", 0}, 0}}), second = Task(1, {{{"t", 0}, 0}});
  ASSERT_TRUE(reader_.Add(first.get()).ok());
  ASSERT_TRUE(
      reader_.PauseAndResume([](const Reader::Taker&) { return Reader::Wish::kPause; }).ok());
  ASSERT_EQ(reader_.paused(), 1u);
  ASSERT_TRUE(reader_.Add(second.get()).ok());
  EXPECT_EQ(reader_.paused(), 0u);
  Produce("t", 1);
  PollAll();
  EXPECT_THAT(bench_.processed[1], ElementsAre(0));
}

}  // namespace
}  // namespace kstream::runtime
