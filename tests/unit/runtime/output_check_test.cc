// Loops through two names of one cluster, before a run and in it.
#include "runtime/output_check.h"

#include "unit/runtime/memory_run.h"
#include "unit/runtime/processors.h"

namespace kstream::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Home is "" and "x", "y" and "z" are another one.
class OutputCheckTest : public MemoryRun {
 protected:
  OutputCheckTest() {
    Topics({"in", "out"});
    far_.CreateTopic("in", 1);
    far_.CreateTopic("out", 1);
    others_.emplace("x", cluster_);
    others_.emplace("y", far_);
    others_.emplace("z", far_);
    Produce("in", {"1"});
    options_.exit_at_end = true;
  }

  // A source and a sink for each pair.
  static Topology Stages(const std::vector<std::pair<Location, Location>>& stages) {
    TopologyBuilder builder;
    for (size_t i = 0; i < stages.size(); i++) {
      const std::string n = std::to_string(i);
      builder.AddSource("in" + n, {.inputs = {stages[i].first}})
          .AddSink("out" + n, {.output = stages[i].second}, {"in" + n});
    }
    return *builder.Build();
  }
  Status Check(const Topology& topology) {
    RunState state(topology, options_);
    Prepare(&state);
    return CheckOutputs(state);
  }
  Status Check(const Location& input, const Location& output) {
    return Check(Stages({{input, output}}));
  }
  // Runs a processor that does `process`.
  Status RunProcess(ProcessFunction process) {
    TopologyBuilder builder;
    builder.AddSource("in", source_).AddProcessor("send", Does(std::move(process)), {"in"});
    return RunTopology(*builder.Build());
  }

  transport::memory::MemoryCluster far_;
};

const Location kIn = Location::Topic("in");

TEST_F(OutputCheckTest, AnInputIsNoOutputByAnotherNameOfItsCluster) {
  Status status = Check(kIn, Location::Topic("in", "x"));
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_EQ(status.message(),
            "output x:in is matched by input in: it would read what it writes (cluster x is the "
            "home cluster)");
  EXPECT_EQ(Said(Check(Location::Topic("in", "x"), kIn)),
            "output in is matched by input x:in: it would read what it writes (cluster x is the "
            "home cluster)");
  EXPECT_EQ(Said(Check(Location::Topic("in", "y"), Location::Topic("in", "z"))),
            "output z:in is matched by input y:in: it would read what it writes (clusters z and y "
            "are one)");
  EXPECT_EQ(Said(Check(Location::Topic("^i.*", "x"), kIn)).substr(0, 38),
            "output in is matched by input x:^i.*: ");
  EXPECT_EQ(Said(Check(kIn, Location::Topic("out", "x"))), "");
  EXPECT_EQ(Said(Check(kIn, Location::Topic("in", "y"))), "");
}

TEST_F(OutputCheckTest, ALoopMayGoThroughSeveralStages) {
  const Location out = Location::Topic("out"), out_x = Location::Topic("out", "x");
  const Location in_x = Location::Topic("in", "x");
  EXPECT_THAT(Said(Check(Stages({{kIn, out_x}, {out, in_x}}))), HasSubstr("would read what it"));
  EXPECT_THAT(Said(Check(Stages({{kIn, out}, {out, in_x}}))), HasSubstr("would read what it"));
  // One stage after the other is none.
  EXPECT_EQ(Said(Check(Stages({{kIn, out_x}, {out, Location::Topic("in", "y")}}))), "");
}

TEST_F(OutputCheckTest, DeadLettersAreOutputs) {
  options_.on_error = OnError::kDeadLetter;
  options_.dead_letter = Location::Topic("in", "x");
  EXPECT_EQ(Said(Check(kIn, Location::Topic("out"))),
            "output x:in is matched by input in: it would read what it writes (cluster x is the "
            "home cluster)");
  options_.dead_letter = Location::Topic("in", "y");
  EXPECT_EQ(Said(Check(kIn, Location::Topic("out"))), "");
}

TEST_F(OutputCheckTest, InternalTopicsAreAtHomeByEachOfItsNames) {
  options_.app = "app";
  for (const std::string name : {"", "x"}) {
    EXPECT_THAT(Said(Check(kIn, Location::Topic("app.kstream", name))),
                HasSubstr("is an internal topic of application app"));
  }
  EXPECT_EQ(Said(Check(kIn, Location::Topic("app.kstream", "y"))), "");
}

TEST_F(OutputCheckTest, ARunWithALoopDoesNotBegin) {
  sink_.output = Location::Topic("in", "x");
  EXPECT_EQ(Run().code(), StatusCode::kUsage);
  EXPECT_THAT(Values("in"), ElementsAre("1"));
}

TEST_F(OutputCheckTest, TopicsThatRecordsNameAreCheckedAsTheyCome) {
  const Status sent = RunProcess([](ProcessorContext& context, const Record& record) {
    return context.Send(Location::Topic("in", "x"), record);
  });
  EXPECT_EQ(sent.code(), StatusCode::kRefused);
  EXPECT_THAT(Said(sent), HasSubstr("node 'send': a record goes to x:in, which is an input"));

  source_.inputs = {Location::Topic("in", "x")};
  TopologyBuilder builder;
  builder.AddSource("in", source_)
      .AddProcessor("name", Does([](ProcessorContext& context, const Record& record) {
                      Record named = record;
                      named.topic = "in";
                      return context.Forward(named);
                    }),
                    {"in"})
      .AddSink("out", {.topic_of_record = true}, {"name"});
  const Status named = RunTopology(*builder.Build());
  EXPECT_EQ(named.code(), StatusCode::kRefused);
  EXPECT_THAT(Said(named), HasSubstr("node 'out': a record goes to in, which is an input"));
  EXPECT_THAT(Values("in"), ElementsAre("1"));
}

TEST_F(OutputCheckTest, AnotherClusterMayHaveATopicOfTheSameName) {
  EXPECT_EQ(Said(RunProcess([](ProcessorContext& context, const Record& record) {
              return context.Send(Location::Topic("in", "y"), record);
            })),
            "");
  EXPECT_EQ(far_.Read("in").size(), 1u);
}

TEST_F(OutputCheckTest, APatternOfAnotherNameOfHomeMatchesNoInternalTopicEither) {
  options_.app = "app";
  source_.inputs = {Location::Topic("^(in|app.*)$", "x")};
  EXPECT_EQ(Said(Run()), "");  // makes app.kstream and app.tasks, which the next run finds
  Produce("in", {"2"});
  EXPECT_EQ(Said(Run()), "");
  EXPECT_THAT(Values("out"), ElementsAre("1", "2"));
}

}  // namespace
}  // namespace kstream::runtime
