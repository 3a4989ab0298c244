// What a start makes of a store and of its changelog: goes on from where the store stands, or
// builds it anew and says why, one reason at a time. A row that no changelog has is planted in the
// store: it is gone after a rebuild, and still there when the store was gone on with.
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/changelogs.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using store::Checkpoint;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using transport::TopicPartition;
using Rows = std::map<std::string, std::string>;

constexpr const char* kChangelog = "app-counts-changelog";
constexpr int64_t kDay = int64_t{24} * 3'600'000;

class Restore : public MemoryRun {
 protected:
  Restore() {
    options_.app = "app";
    options_.state_dir = root_.path();
    options_.exit_at_end = true;
    Topics({"out"});
  }

  // Counts by key.
  Topology Build(const std::string& = "") const override {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("count", CountsByKey(), {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddSink("out", sink_, {"count"});
    return *builder.Build();
  }

  void Count(const std::vector<std::string>& keys, int32_t partition = 0) {
    for (const std::string& key : keys)
      cluster_.Produce("in", partition, {.key = key, .value = "1"});
  }
  // Runs to the end of what there is, which is one record more than before: else there would be
  // nothing to run for. What it says goes to said_.
  void RunToEnd() {
    Count({"tick"});
    testing::internal::CaptureStderr();
    const Status status = RunTopology(Build());
    said_ = testing::internal::GetCapturedStderr();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // A run that leaves a store {a: 2, b: 1} and its changelog.
  void Begin() {
    cluster_.CreateTopic("in", 1);
    Count({"a", "b", "a"});
    RunToEnd();
    ASSERT_EQ(Kept(), (Rows{{"a", "2"}, {"b", "1"}}));
  }

  std::string Directory(int task = 0) const {
    return root_.path() + "/app/counts/" + std::to_string(task);
  }
  Rows Kept() const {
    Rows rows;
    auto engine = store::rocksdb::OpenForReading(Directory());
    EXPECT_TRUE(engine.ok()) << Said(engine.status());
    if (!engine.ok()) return rows;
    for (auto at = (*engine)->NewIterator("", std::nullopt); at->Valid(); at->Next()) {
      if (at->key() != "tick") rows.emplace(at->key(), at->value());
    }
    return rows;
  }
  // Plants a row, and changes what the store says of itself.
  void Plant(const std::function<void(Checkpoint*)>& change = [](Checkpoint*) {}) {
    auto engine = store::rocksdb::Open(Directory(), store::rocksdb::Memory::New(8 << 20));
    ASSERT_TRUE(engine.ok()) << Said(engine.status());
    Checkpoint checkpoint = (*engine)->checkpoint();
    change(&checkpoint);
    const store::Change planted[] = {{"planted", "9", 0}};
    ASSERT_TRUE((*engine)->Write(planted, checkpoint).ok());
    ASSERT_TRUE((*engine)->Close().ok());
  }
  void ExpectRebuilt(const std::string& why) {
    EXPECT_EQ(Kept(), (Rows{{"a", "2"}, {"b", "1"}}));
    EXPECT_THAT(said_, HasSubstr("store counts of task 0_0 is rebuilt from " +
                                 std::string(kChangelog) + "[0]: " + why));
  }
  void ExpectGoneOn() {
    EXPECT_EQ(Kept(), (Rows{{"a", "2"}, {"b", "1"}, {"planted", "9"}}));
    EXPECT_THAT(said_, Not(HasSubstr("rebuilt")));
  }
  int64_t ChangelogEnd() {
    const TopicPartition names[] = {{kChangelog, 0}};
    return (*cluster_.NewAdmin())->Offsets(names)->at(names[0]).high;
  }
  void Append(const std::string& key, const std::string& value,
              transport::memory::Transaction transaction = transport::memory::kNoTransaction) {
    cluster_.Produce(kChangelog, 0, {.key = key, .value = value}, transaction);
  }

  TestFolder root_;
  std::string said_;
};

TEST_F(Restore, AStoreThatFitsIsGoneOnWith) {
  Begin();
  Plant();
  RunToEnd();
  ExpectGoneOn();
}

TEST_F(Restore, AnotherIncarnationIsRebuilt) {
  Begin();
  Plant([](Checkpoint* at) { at->incarnation = std::string(32, 'f'); });
  RunToEnd();
  ExpectRebuilt("it is of another incarnation of the application");
}

// The rest of the changelog is lost, and the store is all that knows what was in it.
TEST_F(Restore, AStoreBehindTheEndOfItsChangelogIsRefusedAndKept) {
  Begin();
  const int64_t end = ChangelogEnd();
  Plant([&](Checkpoint* at) { at->offset = end + 1; });
  Count({"tick"});
  const Status status = RunTopology(Build());
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(Said(status), HasSubstr(fmt::format(
                                "store counts has seen {}[0] up to offset {}, and that ends at {}",
                                kChangelog, end + 1, end)));
  ExpectGoneOn();
}

TEST_F(Restore, AChangelogThatWasMadeAnewAndIsEmptyIsRefused) {
  Begin();
  cluster_.DeleteTopic(kChangelog);
  cluster_.CreateTopic(kChangelog, 1, ChangelogSettings());
  Plant();
  Count({"tick"});
  EXPECT_EQ(RunTopology(Build()).code(), StatusCode::kState);
  ExpectGoneOn();
}

TEST_F(Restore, AStoreBeforeTheBeginningOfItsChangelogIsRebuilt) {
  Begin();
  Plant([](Checkpoint* at) { *at = {at->incarnation, 0, -1, 0, at->written}; });
  // What is deleted has later values.
  const int64_t low = ChangelogEnd();
  Append("b", "1");
  Append("a", "2");
  cluster_.DeleteRecords({kChangelog, 0}, low);
  RunToEnd();
  ExpectRebuilt("it stands at offset 0, and the changelog begins at " + std::to_string(low));
}

TEST_F(Restore, AStoreThatWasNotInUseForMoreThanSixDaysIsRebuilt) {
  Begin();
  Plant([&](Checkpoint* at) { at->written = clock_->WallMs() - 6 * kDay - 1; });
  RunToEnd();
  ExpectRebuilt("it was not in use for more than 6 days, and may have missed deletes");
}

TEST_F(Restore, SixDaysAreNotTooLong) {
  Begin();
  Plant([&](Checkpoint* at) { at->written = clock_->WallMs() - 6 * kDay + 1000; });
  RunToEnd();
  ExpectGoneOn();
}

// The store has nothing new to say all the while.
TEST_F(Restore, AStoreThatRanIdleForDaysIsStillInUse) {
  Begin();
  options_.exit_at_end = false;
  ASSERT_TRUE(RunSteps(std::vector<std::function<void()>>(20, [&] {
                clock_->Advance(milliseconds(kDay / 2));
              })).ok());
  options_.exit_at_end = true;
  clock_->Advance(milliseconds(5 * kDay));
  Plant();
  RunToEnd();
  ExpectGoneOn();
}

TEST_F(Restore, AnotherRecordAtItsOffsetIsAnotherChangelog) {
  Begin();
  const int64_t end = ChangelogEnd();
  Plant([](Checkpoint* at) { at->last_hash++; });
  RunToEnd();
  ExpectRebuilt("the record at offset " + std::to_string(end - 1) + " is another than it was");
}

TEST_F(Restore, AChangelogThatWasMadeAnewIsWhatCounts) {
  Begin();
  const int64_t end = ChangelogEnd();
  cluster_.DeleteTopic(kChangelog);
  cluster_.CreateTopic(kChangelog, 1, ChangelogSettings());
  for (int64_t i = 0; i < end; i++) Append("b", "1");
  Append("a", "2");
  Plant();
  RunToEnd();
  ExpectRebuilt("the record at offset " + std::to_string(end - 1) + " is another than it was");
}

TEST_F(Restore, AStoreThatIsLostIsRestored) {
  Begin();
  std::filesystem::remove_all(Directory());
  Count({"a"});
  RunToEnd();
  EXPECT_EQ(Kept(), (Rows{{"a", "3"}, {"b", "1"}}));
  EXPECT_THAT(said_, HasSubstr("restored store counts of task 0_0"));
}

TEST_F(Restore, AnOlderStoreIsGivenWhatItLacks) {
  Begin();
  const std::string copy = root_.path() + "/copy";
  std::filesystem::copy(Directory(), copy);
  Count({"a", "c"});
  RunToEnd();
  std::filesystem::remove_all(Directory());
  std::filesystem::rename(copy, Directory());
  Count({"c"});
  RunToEnd();
  EXPECT_EQ(Kept(), (Rows{{"a", "3"}, {"b", "1"}, {"c", "2"}}));
  EXPECT_THAT(said_, Not(HasSubstr("rebuilt")));
}

TEST_F(Restore, ADeletedBeginningAndGapsArePassed) {
  Begin();
  std::filesystem::remove_all(Directory());
  const int64_t low = ChangelogEnd();
  const auto aborted = cluster_.BeginTransaction();
  const auto committed = cluster_.BeginTransaction();
  Append("a", "700", aborted);
  Append("a", "2", committed);
  Append("b", "800", aborted);
  cluster_.EndTransaction(aborted, false);
  Append("b", "1", committed);
  cluster_.EndTransaction(committed, true);
  cluster_.DeleteRecords({kChangelog, 0}, low);
  RunToEnd();
  EXPECT_EQ(Kept(), (Rows{{"a", "2"}, {"b", "1"}}));
}

TEST_F(Restore, MarkersAndAnAbortedTailAreAnEndToo) {
  Begin();
  for (int round = 0; round < 2; round++) {
    const auto aborted = cluster_.BeginTransaction();
    Append("a", "700", aborted);
    Append("c", "1", aborted);
    cluster_.EndTransaction(aborted, false);
    RunToEnd();
    EXPECT_EQ(Kept(), (Rows{{"a", "2"}, {"b", "1"}}));
    std::filesystem::remove_all(Directory());  // the second time all is read
  }
}

// Its record is where compaction, or an abort, has left nothing.
TEST_F(Restore, ARecordThatIsNotThereAnyMoreIsNoOther) {
  Begin();
  const auto aborted = cluster_.BeginTransaction();
  Append("a", "700", aborted);
  cluster_.EndTransaction(aborted, false);
  Plant([&](Checkpoint* at) {
    at->last = ChangelogEnd() - 2;
    at->offset = at->last + 1;
  });
  Append("a", "2");
  RunToEnd();
  ExpectGoneOn();
}

TEST_F(Restore, AnOpenTransactionIsWaitedFor) {
  Begin();
  options_.exit_at_end = false;
  const auto open = cluster_.BeginTransaction();
  Append("a", "5", open);
  Append("b", "1");
  Count({"a"});
  const size_t before = Values("out").size();
  const auto waits = [&] { EXPECT_EQ(Values("out").size(), before); };
  ASSERT_TRUE(RunSteps({waits, waits, [&] { cluster_.EndTransaction(open, true); }, [] {},
                        [&] { EXPECT_EQ(Values("out").size(), before + 1); }})
                  .ok());
  EXPECT_EQ(Values("out").back(), "6");
  EXPECT_EQ(Kept(), (Rows{{"a", "6"}, {"b", "1"}}));
}

TEST_F(Restore, OtherTasksWorkMeanwhile) {
  cluster_.CreateTopic("in", 2);
  Count({"a"}, 0);
  Count({"b"}, 1);
  RunToEnd();
  std::filesystem::remove_all(Directory(0));
  std::filesystem::remove_all(Directory(1));
  options_.exit_at_end = false;
  const size_t before = Values("out").size();
  bool is_slow = true;
  cluster_.Hide([&](const TopicPartition& partition) {
    return is_slow && partition == TopicPartition{kChangelog, 0};
  });
  // Each client that finds nothing gives the test its turn, so some turns pass in between.
  std::vector<std::function<void()>> steps(15, [] {});
  steps[0] = [&] {
    Count({"a"}, 0);
    Count({"b"}, 1);
  };
  steps[4] = [&] { Count({"b"}, 1); };
  steps[9] = [&] {
    // Those of task 1 alone.
    EXPECT_EQ(Values("out").size(), before + 2);
    EXPECT_EQ(Values("out").back(), "3");
    is_slow = false;
  };
  steps[14] = [&] { EXPECT_EQ(Values("out").size(), before + 3); };
  ASSERT_TRUE(RunSteps(steps).ok());
  EXPECT_EQ(Kept(), (Rows{{"a", "2"}}));
}

TEST_F(Restore, ADamagedStoreIsNamedAndItsRemovalHelps) {
  Begin();
  std::ofstream(Directory() + "/CURRENT", std::ios::trunc) << "MANIFEST-";
  Count({"a"});
  const Status status = RunTopology(Build());
  EXPECT_EQ(status.code(), StatusCode::kState);
  EXPECT_THAT(Said(status), HasSubstr(Directory()));
  std::filesystem::remove_all(Directory());
  RunToEnd();
  EXPECT_EQ(Kept(), (Rows{{"a", "3"}, {"b", "1"}}));
}

}  // namespace
}  // namespace kstream::runtime
