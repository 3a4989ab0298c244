// Standbys between instances of one application, whose threads take their turns in one: what is
// followed, what a thread that adopts a task finds, and that nobody is in anybody's way.
#include "runtime/standbys.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "metrics/snapshot.h"
#include "runtime/stream_thread.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Rows = std::map<std::string, std::string>;

constexpr const char* kChangelog = "app-counts-changelog";
constexpr TaskId kFirst{0, 0}, kSecond{0, 1};

// A process of the application: one thread, and its standbys.
class Instance {
 public:
  Instance(Topology topology, const RuntimeOptions& options) : state(topology, options) {}
  ~Instance() {
    const Status finished = thread ? thread->Finish(Status::Ok()) : Status::Ok();
    EXPECT_TRUE(finished.ok()) << finished.message();
    if (shared.standbys) shared.standbys->Stop();
  }

  Status Open() {
    KSTREAM_RETURN_IF_ERROR(shared.Open());
    thread = std::make_unique<StreamThread>(&shared, 0);
    return thread->Open();
  }
  void Turn() {
    if (thread) {
      const auto more = thread->Turn();
      EXPECT_TRUE(more.ok()) << more.status().message();
    }
    if (shared.standbys) shared.standbys->Turn(milliseconds(0));
  }

  std::set<TaskId> warm() const { return shared.standbys->tasks(); }
  std::set<TaskId> tasks() const {
    std::set<TaskId> ids;
    for (const auto& [id, task] : thread->tasks()) ids.insert(id);
    return ids;
  }

  RunState state;
  OutputFiles files;
  RunShared shared{&state, &files};
  std::unique_ptr<StreamThread> thread;
};

class StandbysTest : public MemoryRun {
 protected:
  StandbysTest() {
    options_.app = "app";
    options_.standby = 1;
    cluster_.OnIdle([] {});
    cluster_.CreateTopic("in", 2);
    Topics({"out"});
  }

  Topology Build(const std::string& = "") const override {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("count", CountsByKey(), {"in"})
        .AddStore(StoreSpec{.name = "counts"}, {"count"})
        .AddSink("out", sink_, {"count"});
    return *builder.Build();
  }

  // Number `i` keeps its state in a directory of its own.
  Instance* Begin(int i) {
    options_.state_dir = Root(i);
    auto& instance = instances_[i];
    instance = std::make_unique<Instance>(Build(), options_);
    Prepare(&instance->state);
    const Status opened = instance->Open();
    EXPECT_TRUE(opened.ok()) << opened.message();
    return instance.get();
  }
  // As a process that is killed: its member is put out, and what it has begun is nowhere.
  void Kill(int i) {
    MemberTag tag = instances_.at(i)->shared.tag;
    cluster_.Crash("app", tag.ToClientId());
    instances_.at(i)->thread.reset();
    instances_.erase(i);
  }

  // Lets all take turns for so long.
  void Pass(milliseconds time = seconds(12)) {
    for (milliseconds passed{0}; passed < time; passed += milliseconds(50)) {
      clock_->Advance(milliseconds(50));
      for (auto& [i, instance] : instances_) instance->Turn();
    }
  }
  void Count(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
      for (int32_t p = 0; p < 2; p++) cluster_.Produce("in", p, {.key = key, .value = "1"});
    }
  }

  std::string Root(int i) const { return fmt::format("{}/{}", root_.path(), i); }
  std::string Directory(int i, TaskId id) const {
    return fmt::format("{}/app/counts/{}", Root(i), id.number);
  }
  // What is in the directory of a task, as its user last wrote it.
  Rows Kept(int i, TaskId id) const {
    Rows rows;
    auto engine = store::rocksdb::OpenForReading(Directory(i, id));
    EXPECT_TRUE(engine.ok()) << Said(engine.status());
    if (!engine.ok()) return rows;
    for (auto at = (*engine)->NewIterator("", std::nullopt); at->Valid(); at->Next()) {
      rows.emplace(at->key(), at->value());
    }
    return rows;
  }
  // What a running task sees.
  Rows Seen(int i, TaskId id) {
    Rows rows;
    for (const StoreInstance& store : instances_.at(i)->state.stores.Of("counts")) {
      if (store.task != id.number) continue;
      const auto read = store.rows->RangeRows("", std::nullopt, [&](auto key, auto value, auto...) {
        rows.emplace(key, value);
        return true;
      });
      EXPECT_TRUE(read.ok()) << read.message();
    }
    return rows;
  }
  double Metric(int i, const std::string& name, const std::string& labels) {
    const std::string text =
        metrics::RenderPrometheus(instances_.at(i)->state.registry.Take(clock_->Steady()));
    const std::string series = name + "{app=\"app\"," + labels + "} ";
    const size_t at = text.find(series);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
  }

  TestFolder root_;
  std::map<int, std::unique_ptr<Instance>> instances_;
};

TEST_F(StandbysTest, AnInstanceFollowsWhatAnotherRuns) {
  Begin(0);
  Count({"a", "b", "a"});
  Pass();
  Begin(1);
  Pass();
  EXPECT_THAT(instances_[0]->tasks(), ElementsAre(kFirst));
  EXPECT_THAT(instances_[1]->tasks(), ElementsAre(kSecond));
  EXPECT_THAT(instances_[0]->warm(), ElementsAre(kSecond));
  EXPECT_THAT(instances_[1]->warm(), ElementsAre(kFirst));
  Count({"a", "c"});
  Pass(seconds(2));
  EXPECT_EQ(Metric(1, "kstream_standby_records_total", R"(task="0_0",store="counts")"), 4);
  EXPECT_EQ(Metric(1, "kstream_standby_lag_records", R"(task="0_0",store="counts")"), 0);
  EXPECT_EQ(Metric(1, "kstream_task_state", R"(task="0_0",state="standby")"), 1);
  instances_.clear();
  EXPECT_EQ(Kept(1, kFirst), (Rows{{"a", "3"}, {"b", "1"}, {"c", "1"}}));
  EXPECT_TRUE((*ListStores(Root(1), "app"))[0].standby);
  EXPECT_FALSE((*ListStores(Root(1), "app"))[1].standby);
}

// What it lacks is what came since it last read: the log says where the restore began.
TEST_F(StandbysTest, AThreadTakesOverTheOpenStoresAndRestoresTheTail) {
  Begin(0);
  Begin(1);
  Count({"a", "b", "c", "d"});
  Pass();
  // Not read by the standby any more.
  for (int i = 0; i < 40; i++) {
    if (i == 0) Count({"a", "b"});
    clock_->Advance(milliseconds(50));
    instances_[0]->Turn();
  }
  testing::internal::CaptureStderr();
  Kill(0);
  for (int i = 0; i < 10; i++) {
    clock_->Advance(milliseconds(50));
    EXPECT_TRUE(instances_[1]->thread->Turn().ok());
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("restoring store counts of task 0_0 from app-counts-changelog[0]: "
                              "offsets 3 to 6"));
  EXPECT_THAT(instances_[1]->tasks(), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(instances_[1]->warm(), IsEmpty());
  EXPECT_EQ(Seen(1, kFirst), (Rows{{"a", "2"}, {"b", "2"}, {"c", "1"}, {"d", "1"}}));
  Count({"a"});
  Pass(seconds(2));
  EXPECT_EQ(Seen(1, kFirst), (Rows{{"a", "3"}, {"b", "2"}, {"c", "1"}, {"d", "1"}}));
  EXPECT_EQ(Metric(1, "kstream_task_state", R"(task="0_0",state="standby")"), -1);
}

TEST_F(StandbysTest, StoresInMemoryAreKeptWarmAsWell) {
  options_.store_type = StoreSpec::Engine::kMemory;
  Begin(0);
  Begin(1);
  Count({"a", "b", "c"});
  Pass();
  testing::internal::CaptureStderr();
  Kill(0);
  Count({"a"});
  Pass(seconds(2));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("restoring store")));
  EXPECT_EQ(Seen(1, kFirst), (Rows{{"a", "2"}, {"b", "1"}, {"c", "1"}}));
}

TEST_F(StandbysTest, ATaskThatLeavesIsFollowedAgain) {
  Begin(0);
  Count({"a"});
  Pass();
  EXPECT_THAT(instances_[0]->tasks(), SizeIs(2));
  EXPECT_THAT(instances_[0]->warm(), IsEmpty());
  Begin(1);
  Pass();
  EXPECT_THAT(instances_[0]->warm(), ElementsAre(kSecond));
  instances_.erase(1);
  Pass();
  EXPECT_THAT(instances_[0]->tasks(), SizeIs(2));
  EXPECT_THAT(instances_[0]->warm(), IsEmpty());
  Begin(1);
  Count({"b"});
  Pass();
  EXPECT_THAT(instances_[0]->warm(), ElementsAre(kSecond));
  instances_.clear();
  EXPECT_EQ(Kept(0, kSecond), (Rows{{"a", "1"}, {"b", "1"}}));
}

TEST_F(StandbysTest, WithAllEveryOtherInstanceFollows) {
  options_.standby = RuntimeOptions::kAllStandbys;
  for (int i = 0; i < 4; i++) Begin(i);
  Pass();
  for (auto& [i, instance] : instances_) {
    EXPECT_EQ(instance->warm().size() + instance->tasks().size(), 2) << i;
  }
}

TEST_F(StandbysTest, AStoreOfAnotherIncarnationIsMadeAnew) {
  {
    auto engine = store::rocksdb::Open(Directory(1, kFirst), store::rocksdb::Memory::New(8 << 20));
    ASSERT_TRUE(engine.ok()) << Said(engine.status());
    const store::Change planted[] = {{"planted", "9", 0}};
    ASSERT_TRUE((*engine)->Write(planted, {.incarnation = "other", .offset = 1}).ok());
    ASSERT_TRUE((*engine)->Close().ok());
  }
  Begin(0);
  Begin(1);
  Count({"a"});
  testing::internal::CaptureStderr();
  Pass();
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("store counts of task 0_0 is rebuilt from app-counts-changelog[0]: it is of "
                "another incarnation of the application"));
  instances_.clear();
  EXPECT_EQ(Kept(1, kFirst), (Rows{{"a", "1"}}));
}

// The record that the store stands at is another: it is found while it is followed.
TEST_F(StandbysTest, AStoreOfAnotherLogIsMadeAnew) {
  Begin(0);
  Begin(1);
  Count({"a", "b"});
  Pass();
  const std::string incarnation = instances_[0]->shared.planner.plan()->incarnation;
  instances_.erase(1);
  {
    auto engine = store::rocksdb::Open(Directory(1, kFirst), store::rocksdb::Memory::New(8 << 20));
    ASSERT_TRUE(engine.ok()) << Said(engine.status());
    store::Checkpoint at = (*engine)->checkpoint();
    ASSERT_EQ(at.incarnation, incarnation);
    at.last_hash++;
    const store::Change planted[] = {{"planted", "9", 0}};
    ASSERT_TRUE((*engine)->Write(planted, at).ok());
    ASSERT_TRUE((*engine)->Close().ok());
  }
  Begin(1);
  testing::internal::CaptureStderr();
  Pass();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("is another than it was"));
  instances_.clear();
  EXPECT_EQ(Kept(1, kFirst), (Rows{{"a", "1"}, {"b", "1"}}));
}

// Whoever runs the task asks for its stores while the standby is still at the beginning of the log.
TEST_F(StandbysTest, StoresAreHandedOverInTheMiddleOfReading) {
  Begin(0);
  std::vector<std::string> keys;
  Rows expected;
  for (int i = 0; i < 300; i++) {
    keys.push_back(fmt::format("k{}", i));
    expected.emplace(keys.back(), "1");
  }
  Count(keys);
  Pass();
  cluster_.LimitPolls(7);
  Begin(1);
  while (instances_[1]->warm().empty()) Pass(milliseconds(50));
  Pass(milliseconds(200));
  Kill(0);
  Pass();
  EXPECT_EQ(Seen(1, kFirst), expected);
  EXPECT_EQ(Seen(1, kSecond), expected);
}

TEST_F(StandbysTest, WhatCannotBeOpenedIsTriedAgainAndEndsNobody) {
  std::filesystem::create_directories(Root(1) + "/app/counts");
  std::ofstream(Directory(1, kFirst)) << "in the way";
  Begin(0);
  Begin(1);
  Count({"a"});
  testing::internal::CaptureStderr();
  Pass();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("task 0_0 is not kept warm: "));
  EXPECT_THAT(instances_[1]->warm(), IsEmpty());
  EXPECT_THAT(instances_[1]->tasks(), ElementsAre(kSecond));
  std::filesystem::remove(Directory(1, kFirst));
  Pass(seconds(60));
  EXPECT_THAT(instances_[1]->warm(), ElementsAre(kFirst));
}

TEST_F(StandbysTest, AChangelogThatIsGoneEndsNobody) {
  Begin(0);
  Begin(1);
  Count({"a"});
  Pass();
  cluster_.DeleteTopic(kChangelog);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 400; i++) {
    clock_->Advance(milliseconds(50));
    for (auto& [n, instance] : instances_) instance->shared.standbys->Turn(milliseconds(0));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("kept warm"));
  EXPECT_THAT(instances_[1]->warm(), IsEmpty());
}

// A changelog that says nothing for days must not make its standby look abandoned.
TEST_F(StandbysTest, AFollowedStoreStaysYoung) {
  Begin(0);
  Begin(1);
  Count({"a"});
  Pass();
  clock_->Advance(std::chrono::hours(24 * 7));
  Pass();
  instances_.erase(1);
  auto engine = store::rocksdb::OpenForReading(Directory(1, kFirst));
  ASSERT_TRUE(engine.ok()) << Said(engine.status());
  EXPECT_GE((*engine)->checkpoint().written, clock_->WallMs() - 60'000);
  EXPECT_EQ((*engine)->checkpoint().offset, 1);
}

// Taken, followed, given back, in two threads: whoever has the store has it alone, or the database
// would refuse the second.
TEST_F(StandbysTest, OneUserOfADirectoryAtATime) {
  Begin(0);
  Instance* const instance = Begin(1);
  Count({"a"});
  Pass();
  Standbys* const standbys = instance->shared.standbys.get();
  std::atomic<bool> is_over = false;
  std::thread follows([&] {
    while (!is_over) {
      standbys->Rebalanced();
      clock_->Advance(seconds(1));
      standbys->Turn(milliseconds(0));
    }
  });
  testing::internal::CaptureStderr();
  for (int i = 0; i < 50; i++) {
    auto stores = standbys->Take(kFirst);
    ASSERT_TRUE(stores.ok()) << Said(stores.status());
    ASSERT_NE(*stores, nullptr);
    EXPECT_THAT(standbys->tasks(), Not(testing::Contains(kFirst)));
    ASSERT_TRUE((*stores)->Close().ok());
    stores->reset();
    while (i % 5 == 0 && standbys->tasks().empty()) std::this_thread::yield();
  }
  is_over = true;
  follows.join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("not kept warm")));
}

}  // namespace
}  // namespace kstream::runtime
