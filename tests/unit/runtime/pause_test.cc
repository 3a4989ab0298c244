// A run that is paused: by chunks of a file, on files in a loop, and as a member of a group.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "runtime/stream_thread.h"
#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PauseInGroup : public MemoryRun {
 protected:
  PauseInGroup() {
    Topics({"in", "out"});
    options_.app = "app";
  }
  // How many threads show the state.
  double Threads(std::string_view state) const {
    double threads = 0;
    const metrics::Snapshot now = state_->registry.Take(clock_->Steady());
    for (auto& sample : now.Of<metrics::Type::kState>("kstream_thread_state").samples) {
      if (sample.Get("state") == state) threads += sample.value;
    }
    return threads;
  }
};

TEST_F(PauseInGroup, ProcessesNothingAndStaysAMember) {
  Produce("in", {"1"});
  options_.commit_interval = std::chrono::hours(1);
  const auto nothing = [] {};
  const auto pause = [&] {
    EXPECT_THAT(Values("out"), ElementsAre("1"));
    state_->paused = true;
  };
  // In a turn that sees the pause.
  const auto produce = [&] { Produce("in", {"2", "3"}); };
  const auto check = [&] {
    EXPECT_EQ(Committed("in"), 1) << "what was done is committed at once";
    EXPECT_EQ(Threads("paused"), 1);
    EXPECT_EQ(Threads("running"), 0);
    EXPECT_THAT(Values("out"), ElementsAre("1"));
    EXPECT_THAT(cluster_.Members("app"), SizeIs(1));
  };
  const auto resume = [&] { state_->paused = false; };
  const auto end = [&] { EXPECT_THAT(Values("out"), ElementsAre("1", "2", "3")); };
  ASSERT_TRUE(RunSteps({pause, produce, check, check, resume, nothing, nothing, end}).ok());
}

TEST_F(PauseInGroup, DoesNotComeToItsEnd) {
  Produce("in", {"1", "2"});
  options_.exit_at_end = true;
  int turns = 0;
  cluster_.OnIdle([&] {
    clock_->Advance(milliseconds(50));
    if (++turns == 5) {
      EXPECT_THAT(Values("out"), IsEmpty());
      state_->paused = false;
    }
    if (turns > 1000) state_->stop = true;
  });
  const auto pause_once = [this, paused = false](int, bool ready, int) mutable {
    if (ready && !std::exchange(paused, true)) state_->paused = true;
  };
  EXPECT_TRUE(RunTopology(Build(), {.on_ready = pause_once}).ok());
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
  EXPECT_GE(turns, 5);
  EXPECT_LT(turns, 1000);
}

// A pipe that nobody closes, and a run on it.
class PauseOnFiles : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
    pipe_.open(folder_.path() + "/pipe", std::ios::in | std::ios::out);
    const ProcessorSupplier counts = Does([this](ProcessorContext& context, const Record& record) {
      done_++;
      return context.Forward(record);
    });
    TopologyBuilder builder;
    builder.AddSource("in", {.inputs = {{Location::Kind::kFile, "", folder_.path() + "/pipe"}}})
        .AddProcessor("p", GetParam() ? ProcessorSupplier(counts).Stateless() : counts, {"in"})
        .AddSink("out", {.output = {Location::Kind::kFile, "", folder_.path() + "/out"}}, {"p"});
    auto runtime = Runtime::Create(*builder.Build(), {});
    ASSERT_TRUE(runtime.ok()) << Said(runtime.status());
    runtime_ = *std::move(runtime);
    ASSERT_TRUE(runtime_->Start().ok());
  }
  void TearDown() override { runtime_.reset(); }

  void Line(const std::string& line) { pipe_ << line << std::endl; }
  // Waits for it; a test that waits in vain ends by ctest's limit.
  void AwaitDone(int count) const {
    while (done_ < count) std::this_thread::yield();
  }
  void AwaitThread(const std::string& state) const {
    const std::string shown = "kstream_thread_state{thread=\"0\",state=\"" + state + "\"} 1";
    while (runtime_->Metrics().find(shown) == std::string::npos) std::this_thread::yield();
  }

  TestFolder folder_;
  std::fstream pipe_;
  std::atomic<int> done_ = 0;
  std::unique_ptr<Runtime> runtime_;
};

TEST_P(PauseOnFiles, StopsAndGoesOn) {
  Line("1");
  AwaitDone(1);
  EXPECT_FALSE(runtime_->paused());
  runtime_->Pause();
  EXPECT_TRUE(runtime_->paused());
  if (!GetParam()) AwaitThread("paused");  // by chunks a thread waits for the first chunk first
  Line("2");
  AwaitThread("paused");
  EXPECT_EQ(done_, 1);
  EXPECT_THAT(runtime_->StatusJson(), HasSubstr("\"paused\":true"));
  EXPECT_EQ(runtime_->state(), RuntimeState::kRunning);
  runtime_->Resume();
  AwaitDone(2);
  AwaitThread("running");
}

TEST_P(PauseOnFiles, AStopEndsIt) {
  Line("1");
  AwaitDone(1);
  runtime_->Pause();
  if (!GetParam()) AwaitThread("paused");
  Line("2");
  AwaitThread("paused");
  EXPECT_TRUE(runtime_->Close(std::chrono::minutes(1)).ok());
  EXPECT_EQ(done_, 1) << "what came after the pause is not done";
}

INSTANTIATE_TEST_SUITE_P(Each, PauseOnFiles, testing::Values(true, false),
                         [](auto& info) { return info.param ? "ByChunks" : "InTheLoop"; });

}  // namespace
}  // namespace kstream::runtime
