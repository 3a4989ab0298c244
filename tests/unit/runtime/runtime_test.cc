// The public Runtime: its life, its errors, and what ends it.
#include "kstream/runtime.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream {
namespace {

using enum RuntimeState;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RuntimeTest : public testing::Test {
 protected:
  Location File(const std::string& name) const {
    return {Location::Kind::kFile, "", folder_.path() + "/" + name};
  }
  Topology Build(ProcessorSupplier supplier, const std::string& input = "in") const {
    SourceSpec in;
    in.inputs = {File(input)};
    SinkSpec out;
    out.output = File("out");
    TopologyBuilder builder;
    builder.AddSource("in", in).AddProcessor("p", std::move(supplier), {"in"});
    builder.AddSink("out", out, {"p"});
    return *builder.Build();
  }
  void Input(const std::string& text) const { std::ofstream(folder_.path() + "/in") << text; }
  std::unique_ptr<Runtime> Make(const Topology& topology) {
    auto runtime = Runtime::Create(topology, options_);
    EXPECT_TRUE(runtime.ok()) << runtime.status().message();
    states_.clear();
    (*runtime)->SetStateListener([this](RuntimeState now, RuntimeState before) {
      EXPECT_EQ(before, states_.empty() ? kCreated : states_.back());
      states_.push_back(now);
    });
    return *std::move(runtime);
  }
  // A pipe that nobody closes: a run that does not end by itself.
  std::ofstream OpenPipe() const {
    EXPECT_EQ(mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
    return std::ofstream(folder_.path() + "/pipe", std::ios::in | std::ios::out);
  }

  TestFolder folder_;
  RuntimeOptions options_;
  std::vector<RuntimeState> states_;
};

TEST_F(RuntimeTest, TellsEveryState) {
  Input("1\n");
  for (const bool by_chunks : {true, false}) {
    const auto runtime = Make(Build(by_chunks ? Passes().Stateless() : Passes()));
    EXPECT_EQ(runtime->state(), kCreated);
    EXPECT_EQ(Said(runtime->Run()), "");
    EXPECT_EQ(runtime->state(), kNotRunning);
    EXPECT_THAT(states_, ElementsAre(kRebalancing, kRunning, kPendingShutdown, kNotRunning));
  }
}

TEST_F(RuntimeTest, StartsOnce) {
  Input("1\n");
  const auto runtime = Make(Build(Passes()));
  ASSERT_TRUE(runtime->Start().ok());
  EXPECT_EQ(runtime->Start().code(), StatusCode::kUsage);
  EXPECT_TRUE(runtime->Wait().ok());
  EXPECT_TRUE(runtime->Wait().ok()) << "again says the same";
  EXPECT_EQ(runtime->Start().code(), StatusCode::kUsage);
}

TEST_F(RuntimeTest, WithoutStartThereIsNothingToWaitForOrClose) {
  Input("1\n");
  const auto runtime = Make(Build(Passes()));
  EXPECT_EQ(runtime->Wait().code(), StatusCode::kUsage);
  EXPECT_TRUE(runtime->Close(milliseconds(0)).ok());
  EXPECT_TRUE(runtime->Close(milliseconds::max()).ok());
  EXPECT_THAT(states_, IsEmpty());
}

TEST_F(RuntimeTest, CloseEndsARunThatWouldNotEnd) {
  const auto pipe = OpenPipe();
  for (const bool by_chunks : {true, false}) {
    const auto runtime = Make(Build(by_chunks ? Passes().Stateless() : Passes(), "pipe"));
    ASSERT_TRUE(runtime->Start().ok());
    EXPECT_TRUE(runtime->Close(milliseconds::max()).ok());
    EXPECT_TRUE(runtime->Close(milliseconds(0)).ok()) << "again says the same";
    EXPECT_EQ(runtime->state(), kNotRunning);
  }
}

TEST_F(RuntimeTest, CloseSaysThatItsLimitWasTooShort) {
  Input("1\n");
  std::atomic<bool> entered = false, go = false;
  const auto waits = Does([&](ProcessorContext& context, const Record& record) {
    entered = true;
    entered.notify_all();
    go.wait(false);
    return context.Forward(record);
  });
  const auto runtime = Make(Build(waits));
  ASSERT_TRUE(runtime->Start().ok());
  entered.wait(false);
  EXPECT_EQ(runtime->Close(milliseconds(1)).code(), StatusCode::kTimeLimit);
  EXPECT_EQ(runtime->state(), RuntimeState::kPendingShutdown);
  go = true;
  go.notify_all();
  EXPECT_TRUE(runtime->Close(milliseconds::max()).ok());
  EXPECT_EQ(runtime->state(), RuntimeState::kNotRunning);
}

TEST_F(RuntimeTest, AFailureAfterCloseIsAnEndToo) {
  Input("1\n");
  std::atomic<bool> entered = false, go = false;
  const auto fails = Does([&](ProcessorContext&, const Record&) {
    entered = true;
    entered.notify_all();
    go.wait(false);
    return Status::Data("too late");
  });
  const auto runtime = Make(Build(fails));
  ASSERT_TRUE(runtime->Start().ok());
  entered.wait(false);
  EXPECT_EQ(runtime->Close(milliseconds(1)).code(), StatusCode::kTimeLimit);
  go = true;
  go.notify_all();
  EXPECT_EQ(runtime->Close(milliseconds::max()).code(), StatusCode::kData);
  EXPECT_EQ(runtime->state(), RuntimeState::kError);
}

TEST_F(RuntimeTest, TheDestructorEndsTheRun) {
  const auto pipe = OpenPipe();
  ASSERT_TRUE(Make(Build(Passes(), "pipe"))->Start().ok());
  EXPECT_EQ(states_.back(), kNotRunning);
}

// Where the runtime calls the user, Wait and Close would wait for what waits for them.
class RefusalTest : public RuntimeTest {
 protected:
  // To be called where both must be refused.
  void Ask(const std::string& where) {
    const bool refused = runtime_->Wait().code() == StatusCode::kUsage &&
                         runtime_->Close(milliseconds::max()).code() == StatusCode::kUsage;
    if (refused) refused_.push_back(where);
  }
  void MakeAsking(const Topology& topology) {
    refused_.clear();
    runtime_ = Make(topology);
    runtime_->SetStateListener(
        [this](RuntimeState now, RuntimeState) { Ask(std::string(ToString(now))); });
    runtime_->SetErrorHandler([this](const Status&, int) {
      Ask("handler");
      return ErrorResponse::kShutdown;
    });
  }

  std::unique_ptr<Runtime> runtime_;
  std::vector<std::string> refused_;  // one at a time: only one record is processed
};

TEST_F(RefusalTest, WaitAndCloseFailInProcessorsListenerAndHandler) {
  Input("1\n");
  options_.threads = 2;
  const auto fails = Does([this](ProcessorContext&, const Record&) {
    Ask("processor");
    return Status(StatusCode::kState, "a disk is away");
  });
  for (const bool by_chunks : {true, false}) {
    MakeAsking(Build(by_chunks ? ProcessorSupplier(fails).Stateless() : fails));
    EXPECT_EQ(runtime_->Run().code(), StatusCode::kState);
    EXPECT_THAT(refused_, ElementsAre("REBALANCING", "RUNNING", "processor", "handler",
                                      "PENDING_ERROR", "ERROR"));
  }
}

TEST_F(RefusalTest, WaitAndCloseFailInAListenerThatCloseTells) {
  const auto pipe = OpenPipe();
  for (const bool by_chunks : {true, false}) {
    MakeAsking(Build(by_chunks ? Passes().Stateless() : Passes(), "pipe"));
    ASSERT_TRUE(runtime_->Start().ok());
    EXPECT_EQ(Said(runtime_->Close(milliseconds::max())), "");
    EXPECT_EQ(refused_.front(), "REBALANCING");
    EXPECT_EQ(refused_.back(), "NOT_RUNNING");
    EXPECT_EQ(std::count(refused_.begin(), refused_.end(), "PENDING_SHUTDOWN"), 1);
  }
}

TEST_F(RuntimeTest, StopMayComeFromAnyThread) {
  const auto pipe = OpenPipe();
  const auto runtime = Make(Build(Passes(), "pipe"));
  ASSERT_TRUE(runtime->Start().ok());
  std::thread other([&] { runtime->Stop(); });
  EXPECT_TRUE(runtime->Wait().ok());
  other.join();
  EXPECT_EQ(runtime->state(), kNotRunning);
}

// A port of this host that is connected to, and never says anything.
class SilentBroker {
 public:
  SilentBroker() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    socklen_t size = sizeof place;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(place.sin_port));
  }
  ~SilentBroker() {
    for (const int asked : asked_) close(asked);
    close(listener_);
  }
  const std::string& address() const { return address_; }
  // Waits until a client has asked something.
  void AwaitQuestion() {
    asked_.push_back(accept(listener_, nullptr, nullptr));
    char byte;
    EXPECT_EQ(recv(asked_.back(), &byte, 1, 0), 1);
  }

 private:
  const int listener_;
  std::string address_;
  std::vector<int> asked_;
};

TEST_F(RuntimeTest, AStopBeforeABrokerHasAnsweredIsANormalEnd) {
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}}).AddProcessor("p", Passes(), {"in"});
  for (const std::string app : {"", "app"}) {
    SilentBroker broker;
    options_.app = app;
    options_.home.brokers = broker.address();
    const auto runtime = Make(*builder.Build());
    ASSERT_TRUE(runtime->Start().ok());
    broker.AwaitQuestion();
    runtime->Stop();
    EXPECT_EQ(Said(runtime->Wait()), "") << app;
    EXPECT_THAT(states_, ElementsAre(kRebalancing, kPendingShutdown, kNotRunning));
  }
}

TEST_F(RuntimeTest, ATimeLimitThatEndsBeforeABrokerHasAnsweredIsATimeLimit) {
  const SilentBroker broker;
  TopologyBuilder builder;
  builder.AddSource("in", {.inputs = {Location::Topic("in")}}).AddProcessor("p", Passes(), {"in"});
  options_.home.brokers = broker.address();
  options_.timeout = milliseconds(20);
  const auto runtime = Make(*builder.Build());
  EXPECT_EQ(runtime->Run().code(), StatusCode::kTimeLimit);
  EXPECT_EQ(runtime->state(), kNotRunning);
}

TEST_F(RuntimeTest, ATimeLimitIsNoError) {
  const auto pipe = OpenPipe();
  options_.timeout = milliseconds(20);
  const auto runtime = Make(Build(Passes(), "pipe"));
  EXPECT_EQ(runtime->Run().code(), StatusCode::kTimeLimit);
  EXPECT_EQ(runtime->state(), kNotRunning);
}

TEST_F(RuntimeTest, ARunThatCannotBeginEndsInError) {
  const auto runtime = Make(Build(Passes(), "missing"));
  EXPECT_FALSE(runtime->Run().ok());
  EXPECT_EQ(runtime->state(), kError);
  EXPECT_THAT(states_, ElementsAre(kRebalancing, kPendingError, kError));
}

TEST_F(RuntimeTest, AFailureEndsInErrorAndAsksTheHandlerOnce) {
  Input("1\n2\n");
  const auto fails = Does([](ProcessorContext&, const Record&) {
    return Status(StatusCode::kState, "a disk is away");
  });
  for (const bool by_chunks : {true, false}) {
    auto supplier = by_chunks ? ProcessorSupplier(fails).Stateless() : fails;
    const auto runtime = Make(Build(supplier));
    int asked = 0;
    runtime->SetErrorHandler([&](const Status& error, int thread) {
      asked++;
      EXPECT_EQ(error.code(), StatusCode::kState);
      EXPECT_EQ(thread, 0);
      return ErrorResponse::kReplaceThread;
    });
    const Status status = runtime->Run();
    EXPECT_EQ(status.code(), StatusCode::kState);
    EXPECT_EQ(asked, 1) << by_chunks;
    EXPECT_THAT(states_, ElementsAre(kRebalancing, kRunning, kPendingError, kError));
  }
}

TEST_F(RuntimeTest, AnErrorHandlerThatThrowsShutsDownAndIsQuoted) {
  Input("1\n");
  const auto fails = Does([](ProcessorContext&, const Record&) {
    return Status(StatusCode::kState, "a disk is away");
  });
  const auto runtime = Make(Build(fails));
  runtime->SetErrorHandler(
      [](const Status&, int) -> ErrorResponse { throw std::runtime_error("no handle on it"); });
  testing::internal::CaptureStderr();
  EXPECT_EQ(runtime->Run().code(), StatusCode::kState);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("the error handler threw: no handle on it: shutting down"));
}

TEST_F(RuntimeTest, AnExceptionIsABadRecordUnderEachPolicy) {
  Input("1\n2\n3\n");
  const auto throws = Does([](ProcessorContext& context, const Record& record) {
    if (record.value == "2") throw std::runtime_error("not two");
    return context.Forward(record);
  });
  const auto run = [&] {
    const auto runtime = Make(Build(throws));
    const Status status = runtime->Run();
    std::stringstream text;
    text << std::ifstream(folder_.path() + "/out").rdbuf();
    return std::tuple(status.code(), text.str(), std::string(status.message()),
                      runtime->counts().skipped + runtime->counts().dead_letters);
  };
  auto [code, out, message, bad] = run();
  EXPECT_EQ(code, StatusCode::kData);
  EXPECT_EQ(out, "1\n");
  EXPECT_THAT(message, HasSubstr("node 'p' threw: not two"));
  EXPECT_THAT(message, HasSubstr("/in:2: "));

  options_.on_error = OnError::kSkip;
  std::tie(code, out, message, bad) = run();
  EXPECT_EQ(code, StatusCode::kOk);
  EXPECT_EQ(out, "1\n3\n");
  EXPECT_EQ(bad, 1);

  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = File("dead");
  std::tie(code, out, message, bad) = run();
  EXPECT_EQ(code, StatusCode::kOk);
  EXPECT_EQ(out, "1\n3\n");
  EXPECT_EQ(bad, 1);
}

TEST_F(RuntimeTest, CreateChecksBeforeAnythingIsTouched) {
  Input("1\n");
  std::ofstream(folder_.path() + "/out") << "old";
  const auto refused = [&](const std::function<void(RuntimeOptions*)>& change) {
    RuntimeOptions options;
    change(&options);
    const auto runtime = Runtime::Create(Build(Passes()), options);
    EXPECT_FALSE(runtime.ok());
    EXPECT_EQ(runtime.status().code(), StatusCode::kUsage);
    return std::string(runtime.status().message());
  };
  EXPECT_THAT(refused([](auto* o) { o->threads = 0; }), HasSubstr("--threads"));
  EXPECT_THAT(refused([](auto* o) { o->partitions = 0; }), HasSubstr("--partitions"));
  EXPECT_THAT(refused([](auto* o) { o->limit = -1; }), HasSubstr("--limit"));
  EXPECT_THAT(refused([](auto* o) { o->timeout = milliseconds(-1); }), HasSubstr("--timeout"));
  EXPECT_THAT(refused([](auto* o) { o->max_errors = -1; }), HasSubstr("--max-errors"));
  EXPECT_THAT(refused([](auto* o) { o->commit_interval = milliseconds(0); }),
              HasSubstr("--commit-interval"));
  EXPECT_THAT(refused([](auto* o) { o->max_idle = milliseconds(-1); }), HasSubstr("--max-idle"));
  EXPECT_THAT(refused([](auto* o) { o->max_skew = milliseconds(-1); }), HasSubstr("--max-skew"));
  EXPECT_THAT(refused([](auto* o) { o->create_output = {0, 1}; }), HasSubstr("--create-output"));
  EXPECT_THAT(refused([](auto* o) { o->grouper = "round"; }), HasSubstr("--grouper"));
  EXPECT_THAT(refused([](auto* o) { o->from = "yesterday"; }), HasSubstr("--from"));
  EXPECT_THAT(refused([](auto* o) { o->on_error = OnError::kDeadLetter; }),
              HasSubstr("--dead-letter"));
  EXPECT_THAT(refused([](auto* o) { o->clusters["<files>"] = {}; }), HasSubstr("--cluster"));
  EXPECT_THAT(refused([](auto* o) { o->clusters[""] = {}; }), HasSubstr("--cluster"));
  std::stringstream text;
  text << std::ifstream(folder_.path() + "/out").rdbuf();
  EXPECT_EQ(text.str(), "old");
}

TEST_F(RuntimeTest, AClusterThatIsNotGivenIsNamed) {
  SourceSpec in;
  in.inputs = {Location::Topic("t", "east")};
  TopologyBuilder builder;
  builder.AddSource("in", in).AddProcessor("p", Passes(), {"in"});
  options_.home.brokers = "localhost:1";
  const auto runtime = Runtime::Create(*builder.Build(), options_);
  ASSERT_FALSE(runtime.ok());
  EXPECT_EQ(runtime.status().message(), "topic:east:t: no --cluster east is given");
}

TEST_F(RuntimeTest, StdinIsOneInput) {
  SourceSpec in;
  in.inputs = {{Location::Kind::kFile, "", "-"}, {Location::Kind::kFile, "", "-"}};
  TopologyBuilder builder;
  builder.AddSource("in", in).AddProcessor("p", Passes(), {"in"});
  const auto runtime = Runtime::Create(*builder.Build(), options_);
  ASSERT_FALSE(runtime.ok());
  EXPECT_EQ(runtime.status().message(), "stdin is given as input twice");
}

}  // namespace
}  // namespace kstream
