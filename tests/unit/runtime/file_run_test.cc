// The public Runtime on real files.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "kstream/operators.h"
#include "kstream/runtime.h"
#include "unit/test_folder.h"

namespace kstream {
namespace {

class FileRun : public testing::Test {
 protected:
  void SetUp() override { sink_.output = {Location::Kind::kFile, "", folder_.path() + "/out"}; }
  void Input(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name) << text;
    source_.inputs.push_back({Location::Kind::kFile, "", folder_.path() + "/" + name});
  }
  std::string Read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_.path() + "/" + name).rdbuf();
    return text.str();
  }
  Status Run(const std::string& keep) {
    TopologyBuilder builder;
    builder.AddSource("in", source_)
        .AddProcessor("filter",
                      *Filter({.keep = *Expression::Compile(keep),
                               .kept = {},
                               .rest = {},
                               .route = {},
                               .serdes = {}}),
                      {"in"})
        .AddSink("out", sink_, {"filter"});
    auto runtime = Runtime::Create(*builder.Build(), options_);
    if (!runtime.ok()) return runtime.status();
    const Status status = (*runtime)->Run();
    counts_ = (*runtime)->counts();
    metrics_ = (*runtime)->Metrics();
    metrics_text_ = (*runtime)->MetricsText();
    return status;
  }
  TestFolder folder_;
  SourceSpec source_;
  SinkSpec sink_;
  RuntimeOptions options_;
  Counts counts_;
  std::string metrics_, metrics_text_;
};

TEST_F(FileRun, KeepsLinesAndCounts) {
  Input("in", "{\"n\":1}\n\n{\"n\":2}\r\n{\"n\":3}");
  EXPECT_TRUE(Run(".n > 1").ok());
  EXPECT_EQ(Read("out"), "{\"n\":2}\n{\"n\":3}\n");
  EXPECT_EQ(counts_.read, 3);
  EXPECT_EQ(counts_.written, 2);
}

TEST_F(FileRun, GivesTheSameBytesForEveryNumberOfThreads) {
  std::string text, expected;
  for (int i = 0; i < 400'000; i++) {
    const std::string line = "{\"n\":" + std::to_string(i) + "}\n";
    text += line;
    if (i % 3 == 0) expected += line;
  }
  Input("in", text);
  for (const int threads : {1, 2, 5}) {
    options_.threads = threads;
    EXPECT_TRUE(Run(".n % 3 == 0").ok());
    EXPECT_TRUE(Read("out") == expected) << threads;
  }
}

TEST_F(FileRun, WritesEverythingBeforeABadLineAndNothingBehindIt) {
  std::string text;
  for (int i = 0; i < 300'000; i++) text += i == 200'000 ? "{\n" : std::to_string(i) + "\n";
  Input("in", text);
  for (const int threads : {1, 3}) {
    options_.threads = threads;
    const Status status = Run(". >= 199999");
    EXPECT_EQ(status.code(), StatusCode::kData);
    EXPECT_EQ(std::string(status.message()).find(folder_.path() + "/in:200001: "), 0u)
        << status.message();
    EXPECT_EQ(Read("out"), "199999\n");
  }
}

TEST_F(FileRun, SkipsBadLinesAndCountsThem) {
  Input("in", "1\n{\n1 2\n3\n");
  options_.on_error = OnError::kSkip;
  EXPECT_TRUE(Run("true").ok());
  EXPECT_EQ(Read("out"), "1\n3\n");
  EXPECT_EQ(counts_.skipped, 2);
}

TEST_F(FileRun, SaysWhatPassedAndHowItEnded) {
  Input("in", "1\n2\n3\n");
  options_.threads = 2;
  ASSERT_TRUE(Run(". > 1").ok());
  for (const char* line : {"\nkstream_runtime_state{state=\"not_running\"} 1\n",
                           "\nkstream_runtime_state{state=\"running\"} 0\n",
                           "\nkstream_thread_state{thread=\"0\",state=\"stopped\"} 1\n",
                           "\nkstream_thread_state{thread=\"1\",state=\"stopped\"} 1\n",
                           "\nkstream_records_skipped_total{thread=\"1\"} 0\n"}) {
    EXPECT_NE(metrics_.find(line), std::string::npos) << line << metrics_;
  }
  EXPECT_EQ(counts_.read, 3);
  EXPECT_EQ(counts_.written, 2);
  EXPECT_NE(metrics_text_.find("not_running"), std::string::npos) << metrics_text_;
  EXPECT_FALSE(Run("error").ok());
  EXPECT_NE(metrics_.find("kstream_runtime_state{state=\"error\"} 1\n"), std::string::npos);
}

TEST_F(FileRun, ADeadLetterOfALineKeepsItsBytes) {
  Input("in", "{\"n\":\n{\"n\":2}\n");
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = Location{Location::Kind::kFile, "", folder_.path() + "/dead"};
  EXPECT_TRUE(Run(".n > 0").ok());
  EXPECT_EQ(Read("out"), "{\"n\":2}\n");
  EXPECT_NE(Read("dead").find("\"payload\":\"{\\\"n\\\":\""), std::string::npos) << Read("dead");
  EXPECT_EQ(counts_.dead_letters, 1);
}

TEST_F(FileRun, MergesInputsByTimestampAndTiesInTheOrderGiven) {
  source_.timestamp_expression = *Expression::Compile(".t");
  Input("a", "{\"t\":1,\"f\":\"a\"}\n{\"t\":5,\"f\":\"a\"}\n");
  Input("b", "{\"t\":1,\"f\":\"b\"}\n{\"t\":3,\"f\":\"b\"}\n");
  sink_.format = "format";
  sink_.format_text = "%T%{.f} ";
  EXPECT_TRUE(Run("true").ok());
  EXPECT_EQ(Read("out"), "1a 1b 3b 5a ");
}

TEST_F(FileRun, StopsAfterTheLimit) {
  Input("in", "1\n2\n3\n4\n");
  options_.limit = 2;
  options_.threads = 4;
  EXPECT_TRUE(Run(". > 1").ok());
  EXPECT_EQ(Read("out"), "2\n3\n");
  EXPECT_EQ(counts_.written, 2);
}

TEST_F(FileRun, ReadsColumns) {
  source_.format = "csv";
  Input("in", "user,amount\nu1,5\n\"u,2\",7\n");
  sink_.format = "tsv";
  EXPECT_TRUE(Run("(.amount | tonumber) > 5").ok());
  EXPECT_EQ(Read("out"), "user\tamount\nu,2\t7\n");
}

TEST_F(FileRun, SpreadsKeysOverPartitionsAsATopicWould) {
  source_.key = *Expression::Compile(".k");
  options_.partitions = 3;
  Input("in", "{\"k\":\"alice\"}\n{\"k\":\"TT0124\"}\n");
  sink_.format = "format";
  sink_.format_text = "%k=%p ";
  EXPECT_TRUE(Run("true").ok());
  EXPECT_EQ(Read("out").find("alice=0 "), 0u) << Read("out");
}

TEST_F(FileRun, RefusesToWriteOverItsInput) {
  Input("in", "1\n");
  sink_.output.name = source_.inputs[0].name;
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_EQ(Read("in"), "1\n");
}

TEST_F(FileRun, LeavesTheOutputAloneWhenAnInputCannotBeRead) {
  std::ofstream(folder_.path() + "/out") << "precious\n";
  source_.inputs.push_back({Location::Kind::kFile, "", folder_.path() + "/none"});
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_EQ(Read("out"), "precious\n");
  Input("in", "1\n");
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_EQ(Read("out"), "precious\n");
}

TEST_F(FileRun, ADeadLetterOfAnEnvelopeWithoutAPlaceSaysWhereItsLineStands) {
  source_.format = "envelope";
  Input("in", "{\"value\":1,\"key\":\"k\"}\n{\"value\":\"x\",\"key\":\"k\"}\n");
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = Location{Location::Kind::kFile, "", folder_.path() + "/dead"};
  EXPECT_TRUE(Run(". + 1 > 0").ok());
  EXPECT_NE(Read("dead").find("\"kstream.error.offset\",\"1\""), std::string::npos) << Read("dead");
  EXPECT_NE(Read("dead").find("\"value\":\"x\""), std::string::npos) << Read("dead");
}

TEST_F(FileRun, RefusesOneFileAsTwoOutputsByWhateverName) {
  Input("in", "1\n");
  options_.on_error = OnError::kDeadLetter;
  ASSERT_EQ(symlink((folder_.path() + "/out").c_str(), (folder_.path() + "/link").c_str()), 0);
  for (const char* name : {"/out", "/link", "/./out"}) {
    options_.dead_letter = Location{Location::Kind::kFile, "", folder_.path() + name};
    EXPECT_EQ(Run("true").code(), StatusCode::kUsage) << name;
  }
  std::ofstream(folder_.path() + "/out") << "precious\n";
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_EQ(Read("out"), "precious\n");
}

TEST_F(FileRun, RefusesToWriteOverItsInputByAnotherName) {
  Input("in", "1\n");
  ASSERT_EQ(link((folder_.path() + "/in").c_str(), (folder_.path() + "/hard").c_str()), 0);
  sink_.output.name = folder_.path() + "/hard";
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_EQ(Read("in"), "1\n");
}

TEST_F(FileRun, WritesNothingInADryRun) {
  Input("in", "1\n");
  options_.dry_run = true;
  EXPECT_TRUE(Run("true").ok());
  EXPECT_FALSE(std::ifstream(folder_.path() + "/out").good());
  EXPECT_EQ(counts_.written, 1);
}

TEST_F(FileRun, RefusesMistakesBeforeItTouchesAnything) {
  Input("in", "1\n");
  options_.threads = 0;
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  options_.threads = 1;
  sink_.format = "xml";
  EXPECT_EQ(Run("true").code(), StatusCode::kUsage);
  EXPECT_FALSE(std::ifstream(folder_.path() + "/out").good());
}

}  // namespace
}  // namespace kstream
