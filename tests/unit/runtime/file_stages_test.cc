// Several stages, stores and timers on files: the same bytes whatever the batching and the threads.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "kstream/runtime.h"
#include "runtime/file_run.h"
#include "unit/runtime/processors.h"
#include "unit/test_folder.h"

namespace kstream {
namespace {

using testing::HasSubstr;

class FileStages : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  Location File(const std::string& name) const { return {Location::Kind::kFile, "", Path(name)}; }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  // 2000 lines with keys that repeat, a third of them not in the order of time.
  static std::string Lines(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string text;
    for (int i = 0; i < 2000; i++) {
      const int time = i % 3 == 0 ? i * 10 - 15 : i * 10;
      text += "{\"k\":" + std::to_string(random() % 50) + ",\"t\":" + std::to_string(time + 100) +
              ",\"seed\":" + std::to_string(seed) + "}\n";
    }
    return text;
  }
  // Counts by key in the second stage, and tells the sum whenever stream time passes a second.
  Topology Counting(std::vector<Location> inputs) const {
    SourceSpec in;
    in.inputs = std::move(inputs);
    in.timestamp_expression = *Expression::Compile(".t");
    in.key = *Expression::Compile(".k");
    SourceSpec between;
    between.inputs = {Location::Repartition("by-key")};
    SinkSpec by_key;
    by_key.output = Location::Repartition("by-key");
    SinkSpec out;
    out.output = File("out");
    out.format = "raw";
    struct State {
      std::map<std::string, int> counts;
      int sum = 0;
    };
    const auto states = std::make_shared<std::map<std::string, State>>();
    const auto forward = [](ProcessorContext& context, const std::string& text) {
      Record record;
      record.value = text;
      return context.Forward(record);
    };
    const auto count = [=](ProcessorContext& context, const Record& record) {
      State& state = (*states)[std::string(context.task())];
      state.sum++;
      const std::string key(*record.key);
      return forward(context, std::string(context.task()) + " " + key + "=" +
                                  std::to_string(++state.counts[key]) + " " +
                                  std::string(*record.value));
    };
    const auto init = [](ProcessorContext& context) {
      static_cast<void>(*context.Schedule(std::chrono::seconds(1), PunctuationType::kStreamTime));
    };
    const auto tell = [=](ProcessorContext& context, const Punctuation& punctuation) {
      return forward(context, std::string(context.task()) + " at " +
                                  std::to_string(punctuation.time) + ": " +
                                  std::to_string((*states)[std::string(context.task())].sum));
    };
    TopologyBuilder builder;
    builder.AddSource("in", in)
        .AddSink("by-key", by_key, {"in"})
        .AddSource("between", between)
        .AddProcessor("count", Does(count, init, tell), {"between"})
        .AddSink("out", out, {"count"});
    return *builder.Build();
  }
  Status Run(const Topology& topology) {
    auto runtime = Runtime::Create(topology, options_);
    if (!runtime.ok()) return runtime.status();
    const Status status = (*runtime)->Run();
    counts_ = (*runtime)->counts();
    return status;
  }

  TestFolder folder_;
  RuntimeOptions options_;
  Counts counts_;
};

TEST_F(FileStages, TheSameBytesForEveryNumberOfThreads) {
  std::ofstream(Path("a")) << Lines(1);
  std::ofstream(Path("b")) << Lines(2);
  options_.partitions = 4;
  std::string expected;
  for (const int threads : {1, 2, 4}) {
    options_.threads = threads;
    ASSERT_EQ(Said(Run(Counting({File("a"), File("b")}))), "");
    if (expected.empty()) expected = Read("out");
    EXPECT_TRUE(Read("out") == expected) << threads << " threads";
  }
  EXPECT_THAT(expected, HasSubstr("1_3 "));
  EXPECT_THAT(expected, HasSubstr(" at "));
  EXPECT_EQ(counts_.read, 4000);
}

TEST_F(FileStages, TheSameBytesThroughAPipeInPiecesOfAnySize) {
  std::ofstream(Path("a")) << Lines(1);
  std::ofstream(Path("b")) << Lines(2);
  options_.partitions = 4;
  ASSERT_EQ(Said(Run(Counting({File("a"), File("b")}))), "");
  const std::string expected = Read("out");
  ASSERT_EQ(mkfifo(Path("p").c_str(), 0600), 0);
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::thread writer([&] {
      std::mt19937 random(seed);
      const std::string text = Lines(1);
      FILE* const pipe = fopen(Path("p").c_str(), "w");
      setbuf(pipe, nullptr);
      for (size_t at = 0; at < text.size();) {
        const size_t size = std::min<size_t>(1 + random() % (seed * 3000), text.size() - at);
        fwrite(text.data() + at, 1, size, pipe);
        at += size;
      }
      fclose(pipe);
    });
    // The name of an input is in no output, so a pipe gives what a file does.
    const Status status = Run(Counting({File("p"), File("b")}));
    writer.join();
    ASSERT_EQ(Said(status), "");
    EXPECT_TRUE(Read("out") == expected) << seed;
  }
}

// What one line leads to in the next stage is written before what the next line leads to.
TEST_F(FileStages, ALineIsDoneInAllStagesBeforeTheNext) {
  std::ofstream(Path("a")) << "1\n2\n3\n";
  std::string order;
  const auto first = Does([&](ProcessorContext& context, const Record& record) {
    order += " a" + std::string(*record.value);
    return context.Forward(record);
  });
  const auto second = Does([&](ProcessorContext& context, const Record& record) {
    order += " b" + std::string(*record.value);
    return context.Forward(record);
  });
  ASSERT_EQ(Said(Run(*TwoStages({File("a")}, File("out"), first, second).Build())), "");
  EXPECT_EQ(order, " a1 b1 a2 b2 a3 b3");
  EXPECT_EQ(Read("out"), "1\n2\n3\n");
}

TEST_F(FileStages, TheEndOfTheInputFiresNothing) {
  std::ofstream(Path("a")) << "{\"k\":1,\"t\":100}\n{\"k\":1,\"t\":1099}\n";
  ASSERT_EQ(Said(Run(Counting({File("a")}))), "");
  EXPECT_EQ(Read("out"), "1_0 1=1 {\"k\":1,\"t\":100}\n1_0 1=2 {\"k\":1,\"t\":1099}\n");
  std::ofstream(Path("a")) << "{\"k\":1,\"t\":100}\n{\"k\":1,\"t\":1100}\n";
  ASSERT_EQ(Said(Run(Counting({File("a")}))), "");
  EXPECT_THAT(Read("out"), testing::EndsWith("1_0 at 1100: 2\n")) << "what is due is fired";
}

TEST_F(FileStages, ALimitIsExact) {
  std::ofstream(Path("a")) << Lines(1);
  options_.limit = 17;
  ASSERT_EQ(Said(Run(Counting({File("a")}))), "");
  const std::string out = Read("out");
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 17);
  EXPECT_EQ(counts_.written, 17);
}

TEST_F(FileStages, ABadLineEndsTheRunAfterWhatCameBefore) {
  std::ofstream(Path("a")) << "{\"k\":1,\"t\":100}\n{\"k\":1,\"t\":\n{\"k\":1,\"t\":300}\n";
  const Status status = Run(Counting({File("a")}));
  EXPECT_EQ(status.code(), StatusCode::kData);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/a:2: "));
  EXPECT_EQ(Read("out"), "1_0 1=1 {\"k\":1,\"t\":100}\n");
}

TEST_F(FileStages, ByChunksRunsOnlyWhatKeepsNothing) {
  const auto by_chunks = [&](ProcessorSupplier supplier, SourceSpec source) {
    if (source.inputs.empty()) source.inputs = {File("a")};
    SinkSpec out;
    out.output = File("out");
    TopologyBuilder builder;
    builder.AddSource("in", source)
        .AddProcessor("p", std::move(supplier), {"in"})
        .AddSink("out", out, {"p"});
    return runtime::MayRunByChunks(runtime::RunState(*builder.Build(), {}));
  };
  EXPECT_TRUE(by_chunks(Passes().Stateless(), {}));
  EXPECT_FALSE(by_chunks(Passes(), {})) << "a function may keep anything";
  EXPECT_FALSE(by_chunks(Passes().Stateless(), {.inputs = {File("a"), File("b")}}));
  EXPECT_FALSE(by_chunks(Passes().Stateless(), {.format = "csv"}));
  EXPECT_FALSE(by_chunks(Passes().Stateless(), {.inputs = {Location::Topic("t")}}));
  SourceSpec extracted;
  extracted.extractor = [](const Record&, int64_t time) { return Result<int64_t>(time); };
  EXPECT_FALSE(by_chunks(Passes().Stateless(), extracted)) << "it sees the times before";
  EXPECT_FALSE(runtime::MayRunByChunks(runtime::RunState(
      *TwoStages({File("a")}, File("out"), Passes().Stateless(), Passes().Stateless()).Build(),
      {})));
}

TEST_F(FileStages, ByChunksAPartitionIsTheSameLabelForEveryNumberOfThreads) {
  std::string text;
  for (int i = 0; i < 200'000; i++) text += "{\"k\":" + std::to_string(i % 97) + "}\n";
  std::ofstream(Path("a")) << text;
  SourceSpec in;
  in.inputs = {File("a")};
  in.key = *Expression::Compile(".k");
  SinkSpec out;
  out.output = File("out");
  out.format = "format";
  out.format_text = "%p %k\n";
  options_.partitions = 3;
  std::string expected;
  for (const bool stateless : {true, false}) {
    TopologyBuilder builder;
    builder.AddSource("in", in)
        .AddProcessor("p", stateless ? Passes().Stateless() : Passes(), {"in"})
        .AddSink("out", out, {"p"});
    for (const int threads : {1, 3}) {
      options_.threads = threads;
      ASSERT_EQ(Said(Run(*builder.Build())), "");
      if (expected.empty()) expected = Read("out");
      EXPECT_TRUE(Read("out") == expected) << stateless << " " << threads;
    }
  }
}

}  // namespace
}  // namespace kstream
