#include "runtime/configuration.h"

#include <gmock/gmock.h>

#include <functional>

#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Change = std::function<void(RuntimeOptions*)>;

const Location kStdin{.kind = Location::Kind::kFile, .cluster = {}, .name = "-"};

class ConfigurationTest : public testing::Test {
 protected:
  ConfigurationTest() { source_.inputs = {Location::Topic("in")}; }

  std::unique_ptr<RunState> State() const {
    SinkSpec sink;
    sink.output = output_;
    sink.format = sink_format_;
    TopologyBuilder builder;
    builder.AddSource("in", source_).AddSink("out", sink, {"in"});
    return std::make_unique<RunState>(*builder.Build(), options_);
  }
  Status Check() const { return CheckConfiguration(State().get()); }
  void ExpectUsage(const std::string& what) const {
    const Status status = Check();
    EXPECT_EQ(status.code(), StatusCode::kUsage) << what;
    EXPECT_THAT(Said(status), HasSubstr(what));
  }
  // The names of the clusters that a run connects to.
  std::vector<std::string> Clusters() const {
    const auto state = State();
    EXPECT_EQ(Said(MakeClusters(state.get())), "");
    std::vector<std::string> names;
    for (const auto& [name, cluster] : state->clusters) names.push_back(name);
    return names;
  }

  SourceSpec source_;
  Location output_ = Location::Topic("out");
  std::string sink_format_ = "json";
  RuntimeOptions options_;
};

TEST_F(ConfigurationTest, NumbersHaveBounds) {
  const std::vector<std::pair<std::string, Change>> wrong{
      {"--threads", [](auto* o) { o->threads = 0; }},
      {"--partitions", [](auto* o) { o->partitions = 0; }},
      {"--limit", [](auto* o) { o->limit = -1; }},
      {"--timeout", [](auto* o) { o->timeout = milliseconds(-1); }},
      {"--max-errors", [](auto* o) { o->max_errors = -1; }},
      {"--commit-interval", [](auto* o) { o->commit_interval = milliseconds(0); }},
      {"--memory", [](auto* o) { o->memory = 1; }},
      {"--standby", [](auto* o) { o->standby = -1; }},
      {"--max-idle", [](auto* o) { o->max_idle = milliseconds(-1); }},
      {"--max-skew", [](auto* o) { o->max_skew = milliseconds(-1); }},
      {"--create-output",
       [](auto* o) {
         o->create_output = {0, 1};
       }},
      {"--create-output",
       [](auto* o) {
         o->create_output = {1, 0};
       }},
  };
  for (const auto& [flag, change] : wrong) {
    options_ = {};
    change(&options_);
    ExpectUsage(flag);
  }
  options_ = {};
  options_.limit = options_.max_errors = 0;
  options_.timeout = options_.max_skew = milliseconds(0);
  options_.create_output = {1, 1};
  EXPECT_EQ(Said(Check()), "") << "what is least is allowed";
}

TEST_F(ConfigurationTest, NamesAreChecked) {
  options_.grouper = "single-file";
  ExpectUsage("--grouper: ");
  options_ = {};
  options_.from = "yesterday-ish";
  ExpectUsage("--from: ");
  options_ = {};
  options_.partitioner = "murmur3";
  ExpectUsage("--partitioner: 'murmur3' is none of murmur2, ");
  options_ = {};
  options_.serdes.value = "xml";
  ExpectUsage("xml");
  for (const std::string name : {"", "<files>"}) {
    options_ = {};
    options_.clusters[name];
    ExpectUsage("--cluster " + name + ": ");
  }
}

TEST_F(ConfigurationTest, FormatsOfBothEndsAreChecked) {
  source_.format = "yaml";
  ExpectUsage("yaml");
  source_.format = "json";
  sink_format_ = "yaml";
  ExpectUsage("yaml");
}

TEST_F(ConfigurationTest, AGroupCannotKeepPositionsInFiles) {
  source_.inputs.push_back(kStdin);
  EXPECT_EQ(Said(Check()), "");
  options_.app = "app";
  ExpectUsage("--app with files");
  source_.inputs = {kStdin};
  EXPECT_EQ(Said(Check()), "") << "with files alone there is no group";
}

TEST_F(ConfigurationTest, ExactlyOnceIsForTopicsAtHome) {
  options_.guarantee = Guarantee::kExactlyOnce;
  ExpectUsage("exactly-once needs a topic to read and --app");
  options_.app = "app";
  options_.state_dir = "state";
  options_.clusters["eu"];
  EXPECT_EQ(Said(Check()), "");
  for (const auto& [output, what] :
       {std::pair(kStdin, "stdout is no topic"),
        std::pair(Location{Location::Kind::kFile, "", "f"}, "f is a file"),
        std::pair(Location::Topic("t", "eu"), "t is a topic of cluster eu")}) {
    output_ = output;
    ExpectUsage(what);
  }
  output_ = Location::Topic("out");
  options_.dead_letter = Location::Topic("bad", "eu");
  options_.on_error = OnError::kDeadLetter;
  ExpectUsage("bad is a topic of cluster eu");
}

TEST_F(ConfigurationTest, ATransactionLastsLongerThanTheTimeBetweenCommits) {
  options_.guarantee = Guarantee::kExactlyOnce;
  options_.app = "app";
  options_.state_dir = "state";
  options_.commit_interval = std::chrono::milliseconds(5000);
  EXPECT_EQ(Said(Check()), "");
  options_.commit_interval = std::chrono::milliseconds(5001);
  ExpectUsage("--commit-interval 5001 ms under exactly-once: at most 5000 ms");
  options_.home.producer = {{"transaction.timeout.ms", "60000"}};
  EXPECT_EQ(Said(Check()), "");
  options_.home.producer = {{"transaction.timeout.ms", "1000"}};
  ExpectUsage("at most 500 ms");
}

TEST_F(ConfigurationTest, WhatIsKeptHasTheNameOfAFile) {
  options_.app = ".a";
  EXPECT_EQ(Said(Check()), "") << "nothing is kept";
  options_.instance_id = "auto";
  ExpectUsage("application \".a\"");
  options_.app = "app";
  EXPECT_EQ(Said(Check()), "");
}

TEST_F(ConfigurationTest, WhatBecomesATopicHasTheNameOfOne) {
  for (const std::string& app : {std::string("a/b"), std::string(".."), std::string(250, 'a')}) {
    options_.app = app;
    ExpectUsage("application '" + app.substr(0, 32));
  }
  options_.app = std::string(249, 'a');
  ExpectUsage("bytes, and 249 are the most");  // of its manifest's topic
  options_.app.clear();
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = Location::Topic("a b");
  ExpectUsage("topic 'a b' needs a name of letters");
}

TEST_F(ConfigurationTest, StdinIsReadOnce) {
  source_.inputs = {kStdin, kStdin};
  ExpectUsage("stdin");
}

TEST_F(ConfigurationTest, DeadLettersGoSomewhereElse) {
  options_.on_error = OnError::kDeadLetter;
  ExpectUsage("--dead-letter DST");
  options_.dead_letter = Location::Topic("in");
  ExpectUsage("it would read what it writes");
  source_.inputs = {Location::Topic("^i.*")};
  ExpectUsage("it would read what it writes");
  options_.dead_letter = Location::Topic("^b.*");
  ExpectUsage("--dead-letter ^b.*: a pattern can only be read");
  options_.dead_letter = Location::Topic("bad");
  EXPECT_EQ(Said(Check()), "");
}

TEST_F(ConfigurationTest, DeadLettersAreForTheirPolicyAlone) {
  options_.dead_letter = Location::Topic("bad");
  ExpectUsage("--dead-letter contradicts --on-error fail");
  options_.on_error = OnError::kSkip;
  ExpectUsage("--dead-letter contradicts --on-error skip");
}

TEST_F(ConfigurationTest, TheOrderOfFlagsDoesNotDecideAContradiction) {
  options_.home.brokers = "localhost:1";
  const std::pair<std::string, std::string> skip{"on-error", "skip"}, dead{"dead-letter", "bad"};
  for (const auto& flags : {std::vector{skip, dead}, std::vector{dead, skip}}) {
    options_.on_error = OnError::kFail;
    options_.dead_letter.reset();
    for (const auto& [name, value] : flags) ASSERT_EQ(Said(options_.Set(name, value)), "");
    ExpectUsage("--dead-letter contradicts --on-error skip");
  }
}

TEST_F(ConfigurationTest, FillsInWhatTheRunGoesBy) {
  options_.from = "17";
  options_.limit = 3;
  const auto state = State();
  ASSERT_EQ(Said(CheckConfiguration(state.get())), "");
  EXPECT_EQ(state->from.kind, FromSpec::Kind::kOffset);
  EXPECT_EQ(state->from.number, 17);
  EXPECT_EQ(state->budget, 3);
}

TEST_F(ConfigurationTest, ClustersAreThoseThatAreNamedOrCouldBeSentTo) {
  options_.home.brokers = "localhost:1";
  EXPECT_THAT(Clusters(), ElementsAre(""));
  source_.inputs = {kStdin};
  output_ = kStdin;
  EXPECT_THAT(Clusters(), ElementsAre(""));
  options_.home.producer = {{"no.such.property", "1"}};
  EXPECT_THAT(Clusters(), IsEmpty()) << "files do without";
  options_.clusters["east"].brokers = "localhost:1";
  EXPECT_THAT(Clusters(), ElementsAre("east"));
  options_ = {};
  options_.clusters["east"].brokers = "localhost:1";
  source_.inputs = {Location::Topic("in", "east")};
  EXPECT_THAT(Clusters(), ElementsAre("east"));
  options_.home.brokers = "localhost:1";
  options_.app = "app";
  EXPECT_THAT(Clusters(), ElementsAre("", "east")) << "the group is at home";
}

TEST_F(ConfigurationTest, ATopicBetweenStagesLiesInThisProcessWithoutAGroup) {
  options_.home.brokers = "localhost:1";
  const Topology two = *TwoStages({kStdin}, kStdin).Build();
  RunState state(two, options_);
  ASSERT_EQ(Said(MakeClusters(&state)), "");
  EXPECT_TRUE(state.clusters.contains(std::string(kInProcess)));
  EXPECT_TRUE(state.clusters.contains("")) << "where a processor may send";
  EXPECT_EQ(state.clusters.size(), 2u);
}

TEST_F(ConfigurationTest, AClusterThatNobodyDefinedIsNamed) {
  output_ = Location::Topic("out", "west");
  ExpectUsage("topic:west:out: no --cluster west is given");
  output_ = Location::Topic("out");
  source_.inputs = {Location::Topic("in", "<process>")};
  ExpectUsage("no --cluster <process> is given");
  source_.inputs = {Location::Topic("in")};
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = Location::Topic("bad", "west");
  ExpectUsage("topic:west:bad: no --cluster west is given");
  options_.clusters["west"];
  EXPECT_EQ(Said(Check()), "");
}

}  // namespace
}  // namespace kstream::runtime
