// What a run does with its state directory before it reads a record.
#include "runtime/run_shared.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

namespace fs = std::filesystem;

class RunSharedTest : public MemoryRun {
 protected:
  RunSharedTest() {
    options_.state_dir = root_.path();
    options_.app = "app";
    std::ofstream(root_.path() + "/input") << "1\n";
    Topics({"in"});
    fs::create_directories(root_.path() + "/app/cnt/0/of-the-last-run");
  }

  Topology Keeps(const Location& input) const {
    StoreSpec store;
    store.name = "cnt";
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {input}})
        .AddProcessor("count", Passes(), {"in"})
        .AddStore(store, {"count"});
    return *builder.Build();
  }
  // Opens a run, calls `look` while it is, and says whether what the last one left is there still.
  bool Stays(const Location& input, const std::function<void(RunShared*)>& look) {
    RunState state(Keeps(input), options_);
    Prepare(&state);
    OutputFiles files;
    RunShared shared(&state, &files);
    EXPECT_EQ(Said(shared.Open()), "");
    look(&shared);
    return fs::exists(root_.path() + "/app/cnt/0/of-the-last-run");
  }
  Location File() const {
    return {.kind = Location::Kind::kFile, .cluster = {}, .name = root_.path() + "/input"};
  }

  TestFolder root_;
};

TEST_F(RunSharedTest, OnTopicsStateStaysAndIsLocked) {
  EXPECT_TRUE(Stays(TopicNamed("in"), [&](RunShared* shared) {
    ASSERT_NE(shared->directory, nullptr);
    EXPECT_EQ(shared->directory->path(), root_.path() + "/app");
    EXPECT_EQ(shared->instance_id(), "") << "it was not asked for";
    const std::atomic<bool> stop{false};
    const auto again =
        StateDirectory::Open(root_.path(), "app", stop, std::chrono::milliseconds(0));
    EXPECT_EQ(again.status().code(), StatusCode::kState);
  }));
}

TEST_F(RunSharedTest, OnFilesEachRunBeginsWithNothing) {
  EXPECT_FALSE(Stays(File(), [](RunShared* shared) { EXPECT_NE(shared->directory, nullptr); }));
}

TEST_F(RunSharedTest, WithoutAnAppOrWithoutWritingNothingIsTouched) {
  const auto none = [](RunShared* shared) { EXPECT_EQ(shared->directory, nullptr); };
  options_.app.clear();
  EXPECT_TRUE(Stays(File(), none));
  EXPECT_TRUE(Stays(TopicNamed("in"), none));
  options_.app = "app";
  options_.dry_run = true;
  EXPECT_TRUE(Stays(File(), none));
}

TEST_F(RunSharedTest, TheIdentityThatIsKeptIsTheMembers) {
  options_.instance_id = "auto";
  std::string first;
  Stays(TopicNamed("in"), [&](RunShared* shared) { first = shared->instance_id(); });
  EXPECT_EQ(first.size(), 16u);
  Stays(TopicNamed("in"), [&](RunShared* shared) { EXPECT_EQ(shared->instance_id(), first); });
  options_.instance_id = "mine";
  Stays(TopicNamed("in"), [&](RunShared* shared) { EXPECT_EQ(shared->instance_id(), "mine"); });
}

TEST_F(RunSharedTest, WhatKeepsAStoreIsAsItSaysAndElseAsTheRunDoes) {
  using Engine = StoreSpec::Engine;
  const auto of = [&](Engine own, Engine flag, const std::string& app) {
    options_.store_type = flag;
    options_.app = app;
    StoreSpec store;
    store.engine = own;
    return RunState(Keeps(TopicNamed("in")), options_).EngineOf(store);
  };
  EXPECT_EQ(of(Engine::kDefault, Engine::kDefault, "app"), Engine::kRocksDb);
  EXPECT_EQ(of(Engine::kDefault, Engine::kDefault, ""), Engine::kMemory) << "nothing outlives it";
  EXPECT_EQ(of(Engine::kDefault, Engine::kRocksDb, ""), Engine::kRocksDb);
  EXPECT_EQ(of(Engine::kDefault, Engine::kMemory, "app"), Engine::kMemory);
  EXPECT_EQ(of(Engine::kMemory, Engine::kRocksDb, "app"), Engine::kMemory);
}

}  // namespace
}  // namespace kstream::runtime
