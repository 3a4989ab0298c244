#include "task/task.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/task/task_testing.h"

namespace kstream::task {
namespace {

// Notes its life, and forwards.
Parts Noted(NotedHost* host, std::string name, Status on_init = {}) {
  return {.init =
              [=](auto&) {
                host->events.push_back("init " + name);
                return on_init;
              },
          .process =
              [=](auto& context, const Record& record) {
                host->events.push_back("process " + name);
                return context.Forward(record);
              },
          .punctuate = {},
          .close = [=](auto&) { host->events.push_back("close " + name); }};
}

class NotedStore : public StateStore {
 public:
  NotedStore(NotedHost* host, std::string name) : host_(host), name_(std::move(name)) {
    host_->events.push_back("open " + name_);
  }
  std::string_view name() const override { return name_; }
  void Close() override { host_->events.push_back("close " + name_); }

 private:
  NotedHost* host_;
  std::string name_;
};

StoreSupplier Store(NotedHost* host) {
  return
      [=](std::string_view name) { return std::make_unique<NotedStore>(host, std::string(name)); };
}

TEST(Task, OpensStoresThenParentsFirstClosesChildrenFirstThenStores) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Make(Noted(&host, "a")), {"in"})
      .AddProcessor("b", Make(Noted(&host, "b")), {"a"})
      .AddSink("out", ToFile("out"), {"a", "b"})
      .AddStore("s1", Store(&host), {"a"})
      .AddStore("s2", Store(&host), {"a", "b"});
  {
    Task task(*builder.Build(), 0, "0_0", &host);
    ASSERT_TRUE(task.Init().ok());
    ASSERT_TRUE(task.Process(0, Timeless("1")).ok());
    EXPECT_TRUE(task.Close().ok());
    EXPECT_TRUE(task.Close().ok());
  }
  EXPECT_EQ(host.events, (Events{"open s1", "open s2", "init a", "init b", "process a", "process b",
                                 "out 1", "out 1", "close b", "close a", "close s2", "close s1"}));
}

TEST(Task, RunsOneStageOfSeveral) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in1", FromFile("1"))
      .AddSink("out1", ToFile("o1"), {"in1"})
      .AddSource("in2", FromFile("2"))
      .AddProcessor("b", Make(Noted(&host, "b")), {"in2"})
      .AddSink("out2", ToFile("o2"), {"b"});
  Task task(*builder.Build(), 1, "1_0", &host);
  ASSERT_TRUE(task.Init().ok());
  ASSERT_TRUE(task.Process(0, Timeless("1")).ok());
  EXPECT_EQ(host.events, (Events{"init b", "process b", "out2 1"}));
}

TEST(Task, ClosesWhatWasInitialisedWhenAnInitFails) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Make(Noted(&host, "a")), {"in"})
      .AddProcessor("b", Make(Noted(&host, "b", Status::Usage("no table"))), {"a"})
      .AddProcessor("c", Make(Noted(&host, "c")), {"b"})
      .AddStore("s", Store(&host), {"c"});
  {
    Task task(*builder.Build(), 0, "0_0", &host);
    const Status status = task.Init();
    EXPECT_EQ(status.message(), "node 'b': no table");
    EXPECT_EQ(status.code(), StatusCode::kUsage);
  }
  EXPECT_EQ(host.events, (Events{"open s", "init a", "init b", "close b", "close a", "close s"}));
}

TEST(Task, NamesWhatASupplierDidNotGive) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", [] { return std::unique_ptr<Processor>(); }, {"in"});
  Task task(*builder.Build(), 0, "0_0", &host);
  EXPECT_EQ(task.Init().message(), "processor 'a': its supplier gave none");

  TopologyBuilder with_store;
  with_store.AddSource("in", FromFile())
      .AddProcessor("a", Make({}), {"in"})
      .AddStore("s", [](std::string_view) { return std::unique_ptr<StateStore>(); }, {"a"});
  Task storeless(*with_store.Build(), 0, "0_0", &host);
  EXPECT_EQ(storeless.Init().message(), "store 's': its supplier gave none");
}

TEST(Task, ForwardsToANamedChildAndNamesAChildThatIsNone) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("switch",
                    Make({.init = {},
                          .process =
                              [](auto& context, const Record& record) {
                                return context.Forward(record, *record.key);
                              },
                          .punctuate = {},
                          .close = {}}),
                    {"in"})
      .AddSink("left", ToFile("l"), {"switch"})
      .AddSink("right", ToFile("r"), {"switch"});
  Task task(*builder.Build(), 0, "0_0", &host);
  ASSERT_TRUE(task.Init().ok());
  Record record = Timeless("1");
  record.key = "right";
  EXPECT_TRUE(task.Process(0, record).ok());
  EXPECT_EQ(host.events, Events{"right 1"});
  record.key = "middle";
  EXPECT_EQ(task.Process(0, record).message(),
            "node 'switch' forwards to 'middle', which is not a child of it");
}

// a -> b -> c -> out, where c cannot take the value "bad".
class Chain {
 public:
  // What `a` and `b` do instead of forwarding, if anything.
  explicit Chain(Parts a = {}, Parts b = {}) {
    TopologyBuilder builder;
    builder.AddSource("in", FromFile())
        .AddProcessor("a", Make(std::move(a)), {"in"})
        .AddProcessor("b", Make(std::move(b)), {"a"})
        .AddProcessor("c",
                      Make({.init = {},
                            .process =
                                [](auto& context, const Record& record) {
                                  if (record.value == "bad") return Status::Data("no number");
                                  return context.Forward(record);
                                },
                            .punctuate = {},
                            .close = {}}),
                      {"b"})
        .AddSink("out", ToFile("out"), {"c"});
    task = std::make_unique<Task>(*builder.Build(), 0, "0_0", &host);
    EXPECT_TRUE(task->Init().ok());
  }

  NotedHost host;
  std::unique_ptr<Task> task;
};

TEST(Task, AFailureThatIsReturnedNamesTheInnermostNodeOnce) {
  Chain chain;
  for (int i = 0; i < 2; i++) {
    const Status status = chain.task->Process(0, At(1, "bad"));
    EXPECT_EQ(status.message(), "node 'c': no number");
    EXPECT_EQ(status.code(), StatusCode::kData);
    EXPECT_EQ(chain.task->failed_punctuation(), nullptr);
  }
}

TEST(Task, AFailureOfASinkNamesTheSinkAndNoProcessor) {
  Chain chain;
  EXPECT_EQ(chain.task->Process(0, At(1, "unwritable")).message(),
            "node 'out': out cannot take it");
}

// What a sink of such a topology says.
std::string SaidBySinkBelow(const std::vector<ProcessorSupplier>& processors) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile());
  std::string parent = "in";
  for (const ProcessorSupplier& processor : processors) {
    const std::string name = fmt::format("p{}", parent);
    builder.AddProcessor(name, processor, {parent});
    parent = name;
  }
  builder.AddSink("out", ToFile("out"), {parent});
  Task task(*builder.Build(), 0, "0_0", &host);
  EXPECT_TRUE(task.Init().ok());
  return std::string(task.Process(0, At(1, "unwritable")).message());
}

TEST(Task, ASinkGoesWithoutItsNameWhereEveryProcessorDoes) {
  const ProcessorSupplier named = Make({}), unnamed = Make({}).Unnamed();
  EXPECT_EQ(SaidBySinkBelow({unnamed}), "out cannot take it");
  EXPECT_EQ(SaidBySinkBelow({unnamed, unnamed}), "out cannot take it");
  EXPECT_EQ(SaidBySinkBelow({unnamed, named}), "node 'out': out cannot take it");
  EXPECT_EQ(SaidBySinkBelow({}), "node 'out': out cannot take it");
}

TEST(Task, WhoMakesAFailureOfItsOwnIsBlamedForIt) {
  const auto hides = [](auto& context, const Record& record) {
    return context.Forward(record).ok() ? Status::Ok() : Status::Usage("given up");
  };
  Chain hidden({.init = {}, .process = hides, .punctuate = {}, .close = {}});
  const Status status = hidden.task->Process(0, At(1, "bad"));
  EXPECT_EQ(status.message(), "node 'a': given up");
  EXPECT_EQ(status.code(), StatusCode::kUsage);

  const auto explains = [](auto& context, const Record& record) {
    return context.Forward(record).At("below");
  };
  Chain explained({.init = {}, .process = explains, .punctuate = {}, .close = {}});
  EXPECT_EQ(explained.task->Process(0, At(1, "bad")).message(),
            "node 'a': below: node 'c': no number");
}

TEST(Task, FailuresOfAllHooksNameTheirNode) {
  const auto hook = [](auto&) { return Status::Data("no more"); };
  OneNode one({.init =
                   [](auto& context) {
                     return context
                         .Schedule(std::chrono::milliseconds(1), PunctuationType::kWallClockTime)
                         .status();
                   },
               .process = {},
               .punctuate = [](auto&, auto&) { return Status::Data("no time"); },
               .close = {},
               .flush = hook,
               .end_input = hook});
  ASSERT_TRUE(one.task->Init().ok());
  EXPECT_EQ(one.task->Flush().message(), "node 'a': no more");
  EXPECT_EQ(one.task->EndInput().message(), "node 'a': no more");
  one.host.manual.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(one.task->Punctuate().message(), "node 'a': no time");
}

TEST(Task, WhatAPunctuationForwardsIsBlamedOnWhoFailsBelow) {
  Chain chain({.init =
                   [](auto& context) {
                     return context
                         .Schedule(std::chrono::milliseconds(1), PunctuationType::kWallClockTime)
                         .status();
                   },
               .process = {},
               .punctuate = [](auto& context, auto&) { return context.Forward(Timeless("bad")); },
               .close = {}});
  chain.host.manual.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(chain.task->Punctuate().message(), "node 'c': no number");
}

TEST(Task, AFailureIsOneLine) {
  OneNode one({.init = {},
               .process = [](auto&, auto&) { return Status::Data("line 1\r\nline 2\n"); },
               .punctuate = {},
               .close = {}});
  ASSERT_TRUE(one.task->Init().ok());
  EXPECT_EQ(one.task->Process(0, At(1)).message(), "node 'a': line 1 line 2");
}

TEST(Task, ASupplierMayAskForFailuresWithoutTheName) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a",
                    Make({.init = {},
                          .process = [](auto&, const Record& record) -> Status {
                            if (record.value == "throw") throw std::runtime_error("no luck");
                            return Status::Data("no number");
                          },
                          .punctuate = {},
                          .close = {}})
                        .Unnamed(),
                    {"in"});
  Task task(*builder.Build(), 0, "0_0", &host);
  ASSERT_TRUE(task.Init().ok());
  EXPECT_EQ(task.Process(0, At(1)).message(), "no number");
  EXPECT_EQ(task.Process(0, At(1, "throw")).message(), "node 'a' threw: no luck");
}

TEST(Task, AnExceptionIsAFailureThatNamesTheInnermostNode) {
  NotedHost host;
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Make({}), {"in"})
      .AddProcessor("b",
                    Make({.init = {},
                          .process = [](auto&, const Record& record) -> Status {
                            if (record.value == "std") throw std::runtime_error("out of\nluck");
                            throw 42;
                          },
                          .punctuate = {},
                          .close = {}}),
                    {"a"});
  Task task(*builder.Build(), 0, "0_0", &host);
  ASSERT_TRUE(task.Init().ok());
  Status status = task.Process(0, At(1, "std"));
  EXPECT_EQ(status.message(), "node 'b' threw: out of luck");
  EXPECT_EQ(status.code(), StatusCode::kData);
  status = task.Process(0, At(1, "int"));
  EXPECT_EQ(status.message(), "node 'b' threw: something that is no std::exception");
  EXPECT_EQ(task.stream_time(), std::nullopt);
}

TEST(Task, AnExceptionOfSupplierInitStoreOrCloseEndsTheTaskCleanly) {
  OneNode one({.init = [](auto&) -> Status { throw std::runtime_error("no luck"); },
               .process = {},
               .punctuate = {},
               .close = {}});
  EXPECT_EQ(one.task->Init().message(), "node 'a' threw: no luck");

  NotedHost host;
  TopologyBuilder supplier;
  supplier.AddSource("in", FromFile())
      .AddProcessor("a",
                    []() -> std::unique_ptr<Processor> { throw std::runtime_error("none left"); },
                    {"in"});
  Task a(*supplier.Build(), 0, "0_0", &host);
  EXPECT_EQ(a.Init().message(), "node 'a' threw: none left");

  TopologyBuilder store;
  store.AddSource("in", FromFile())
      .AddProcessor("a", Make({}), {"in"})
      .AddStore("s",
                [](std::string_view) -> std::unique_ptr<StateStore> {
                  throw std::runtime_error("disk full");
                },
                {"a"});
  Task b(*store.Build(), 0, "0_0", &host);
  EXPECT_EQ(b.Init().message(), "store 's' threw: disk full");
}

TEST(Task, AThrowingCloseDoesNotKeepTheOthersFromBeingClosed) {
  NotedHost host;
  const auto fail = [&host](auto& context) {
    host.events.push_back("close " + std::string(context.node()));
    throw std::runtime_error("stuck");
  };
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Make({.init = {}, .process = {}, .punctuate = {}, .close = fail}), {"in"})
      .AddProcessor("b", Make({.init = {}, .process = {}, .punctuate = {}, .close = fail}), {"a"})
      .AddStore("s", Store(&host), {"a"});
  Task task(*builder.Build(), 0, "0_0", &host);
  ASSERT_TRUE(task.Init().ok());
  const Status status = task.Close();
  EXPECT_EQ(status.message(), "node 'b' threw: stuck");
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_EQ(host.events, (Events{"open s", "close b", "close a", "close s"}));
  EXPECT_TRUE(task.Close().ok());
}

TEST(Task, RefusesToForwardInInit) {
  OneNode one({.init = [](auto& context) { return context.Forward(Timeless()); },
               .process = {},
               .punctuate = {},
               .close = {}});
  const Status status = one.task->Init();
  EXPECT_EQ(status.message(), "node 'a' cannot forward in Init: its children come later");
  EXPECT_EQ(status.code(), StatusCode::kUsage);
}

TEST(Task, RefusesWhatSendsOrSchedulesInCloseAndAfterIt) {
  ProcessorContext* kept = nullptr;
  std::vector<Status> refused;
  const auto all = [&refused](ProcessorContext& context) {
    refused.push_back(context.Forward(Timeless()));
    refused.push_back(context.Forward(Timeless(), "out"));
    refused.push_back(context.Send(Location::Topic("t"), Timeless()));
    refused.push_back(
        context.Schedule(std::chrono::seconds(1), PunctuationType::kStreamTime).status());
    refused.push_back(
        context.Schedule(std::chrono::seconds(1), PunctuationType::kWallClockTime).status());
    context.Commit();
  };
  OneNode one({.init =
                   [&](auto& context) {
                     kept = &context;
                     return Status::Ok();
                   },
               .process = {},
               .punctuate = {},
               .close = all});
  ASSERT_TRUE(one.task->Init().ok());
  ASSERT_TRUE(one.task->Close().ok());
  ASSERT_EQ(refused.size(), 5u);
  for (const Status& status : refused) EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(refused[0].message(), "node 'a' cannot forward: its task is being closed");
  EXPECT_EQ(refused[2].message(), "node 'a' cannot send: its task is being closed");
  EXPECT_EQ(refused[3].message(), "node 'a' cannot schedule: its task is being closed");
  refused.clear();
  all(*kept);
  ASSERT_EQ(refused.size(), 5u);
  for (const Status& status : refused) EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(refused[1].message(), "node 'a' cannot forward: its task is closed");
  EXPECT_EQ(kept->Store("s").status().message(), "node 'a' cannot use a store: its task is closed");
  EXPECT_EQ(one.host.events, Events{});
}

TEST(Task, GivesANodeTheStoresThatAreConnectedToItOnly) {
  NotedHost host;
  std::map<std::string, std::string> found;  // "a s": the store, or why not
  const auto look = [&found](ProcessorContext& context) {
    for (const char* name : {"s", "t", "u"}) {
      const Result<StateStore*> store = context.Store(name);
      found[std::string(context.node()) + " " + name] =
          store.ok() ? (*store)->name() : store.status().message();
    }
    return Status::Ok();
  };
  TopologyBuilder builder;
  builder.AddSource("in", FromFile())
      .AddProcessor("a", Make({.init = look, .process = {}, .punctuate = {}, .close = {}}), {"in"})
      .AddProcessor("b", Make({.init = look, .process = {}, .punctuate = {}, .close = {}}), {"a"})
      .AddStore("s", Store(&host), {"a", "b"})
      .AddStore("t", Store(&host), {"b"});
  Task task(*builder.Build(), 0, "0_0", &host);
  ASSERT_TRUE(task.Init().ok());
  const std::string end = ": name the node where the store is added";
  EXPECT_EQ(found,
            (std::map<std::string, std::string>{{"a s", "s"},
                                                {"a t", "node 'a' has no store 't'" + end},
                                                {"a u", "node 'a' has no store 'u'" + end},
                                                {"b s", "s"},
                                                {"b t", "t"},
                                                {"b u", "node 'b' has no store 'u'" + end}}));
  EXPECT_EQ(task.store("t")->name(), "t");
  EXPECT_EQ(task.store("u"), nullptr);
}

TEST(Task, ShowsTheRecordAsItWasReadAndTheTimes) {
  Events seen;
  OneNode one(
      {.init =
           [&](auto& context) {
             seen.push_back(context.source_record() ? "a record" : "none");
             return Status::Ok();
           },
       .process =
           [&](auto& context, const Record& record) {
             seen.push_back(fmt::format("{} {} {}", *record.value, *context.source_record()->value,
                                        context.stream_time() ? *context.stream_time() : -1));
             return Status::Ok();
           },
       .punctuate = {},
       .close =
           [&](auto& context) {
             seen.push_back(fmt::format("{} {} {} {}",
                                        context.source_record() ? "a record" : "none",
                                        context.wall_clock_time(), context.node(), context.task()));
           }});
  ASSERT_TRUE(one.task->Init().ok());
  ASSERT_TRUE(one.task->Process(0, At(5, "new"), At(4, "old")).ok());
  ASSERT_TRUE(one.task->Process(0, At(3, "n2"), At(3, "o2")).ok());
  one.host.manual.Advance(std::chrono::milliseconds(7));
  ASSERT_TRUE(one.task->Close().ok());
  EXPECT_EQ(seen, (Events{"none", "new old -1", "n2 o2 5", "none 1007 a 0_0"}));
}

TEST(Task, SendsToATopicAndAsksForCommits) {
  OneNode one({.init = {},
               .process =
                   [](auto& context, const Record& record) {
                     context.Commit();
                     if (record.value == "file") {
                       return context.Send({Location::Kind::kFile, "", "f"}, record);
                     }
                     if (record.value == "pattern") {
                       return context.Send(Location::Topic("^a"), record);
                     }
                     return context.Send(Location::Topic("t", "far"), record, 3);
                   },
               .punctuate = {},
               .close = {}});
  ASSERT_TRUE(one.task->Init().ok());
  ASSERT_TRUE(one.task->Process(0, At(1)).ok());
  EXPECT_EQ(one.host.events, (Events{"commit", "send topic:far:t v@1 3"}));
  Status status = one.task->Process(0, Timeless("file"));
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(status.message(), "node 'a' sends to file:f, which is not a topic");
  status = one.task->Process(0, Timeless("pattern"));
  EXPECT_EQ(status.message(), "node 'a' sends to topic:^a, which is not a topic");
}

TEST(Task, StreamTimeIsTheLargestTimestampOfGoodRecords) {
  OneNode one({.init = {},
               .process =
                   [](auto&, const Record& record) {
                     return record.value == "bad" ? Status::Data("bad") : Status::Ok();
                   },
               .punctuate = {},
               .close = {}});
  Task& task = *one.task;
  ASSERT_TRUE(task.Init().ok());
  EXPECT_EQ(task.stream_time(), std::nullopt);
  ASSERT_TRUE(task.Process(0, Timeless()).ok());
  EXPECT_EQ(task.stream_time(), std::nullopt);
  ASSERT_TRUE(task.Process(0, At(5)).ok());
  EXPECT_FALSE(task.Process(0, At(9, "bad")).ok());
  EXPECT_EQ(task.stream_time(), 5);
  ASSERT_TRUE(task.Process(0, At(4)).ok());
  EXPECT_EQ(task.stream_time(), 5);
  Record odd = At(8);
  odd.timestamp_type = TimestampType::kNone;
  ASSERT_TRUE(task.Process(0, odd).ok());
  EXPECT_EQ(task.stream_time(), 5);
  odd.timestamp_type = TimestampType::kLogAppendTime;
  ASSERT_TRUE(task.Process(0, odd).ok());
  EXPECT_EQ(task.stream_time(), 8);
  task.set_stream_time(3);
  EXPECT_EQ(task.stream_time(), 3);
  task.set_stream_time(std::nullopt);
  EXPECT_EQ(task.stream_time(), std::nullopt);
}

}  // namespace
}  // namespace kstream::task
