// From words to a plan: what each flag does to the options of the library, and what contradicts
// what.
#include "common/stage_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/parse.h"
#include "common/spec.h"
#include "kstream-filter/filter_tool.h"
#include "kstream-map/map_tool.h"

namespace kstream::tools {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class StagePlanTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("KSTREAM_BROKERS");
    unsetenv("KSTREAM_CONFIG");
    setenv("HOME", testing::TempDir().c_str(), 1);
  }

  template <typename Tool>
  static Result<StagePlan> PlanOf(const std::vector<std::string>& words) {
    Tool tool;
    CommandLine line;
    tool.Setup(&line);
    bool has_positional = false;
    KSTREAM_RETURN_IF_ERROR(Parse(line, words, &has_positional));
    return tool.Plan();
  }

  static Result<StagePlan> Filter(const std::vector<std::string>& words) {
    return PlanOf<FilterTool>(words);
  }
  static Result<StagePlan> Map(const std::vector<std::string>& words) {
    return PlanOf<MapTool>(words);
  }

  static std::string Refusal(const Result<StagePlan>& plan) {
    EXPECT_FALSE(plan.ok());
    EXPECT_EQ(plan.status().code(), StatusCode::kUsage);
    return std::string(plan.status().message());
  }
};

TEST_F(StagePlanTest, DefaultsAreStdinToStdout) {
  auto plan = Filter({".x"});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_EQ(plan->nodes.size(), 3u);
  const auto& source = std::get<SourceSpec>(plan->nodes[0].spec);
  EXPECT_EQ(source.inputs, std::vector<Location>{(Location{Location::Kind::kFile, "", "-"})});
  EXPECT_EQ(std::get<SinkSpec>(plan->nodes[2].spec).output.ToString(), "-");
  const RuntimeOptions defaults;
  EXPECT_EQ(plan->runtime.from, defaults.from);
  EXPECT_EQ(plan->runtime.commit_interval, defaults.commit_interval);
  EXPECT_EQ(plan->runtime.on_error, OnError::kFail);
}

TEST_F(StagePlanTest, EveryRuntimeFlagReachesTheRuntime) {
  auto plan = Filter({"-b",
                      "k:1",
                      "-i",
                      "a",
                      "-o",
                      "b",
                      "-G",
                      "g",
                      "--from",
                      "-5",
                      "-e",
                      "-c",
                      "7",
                      "--timeout",
                      "2m",
                      "-j",
                      "3",
                      "--commit-interval",
                      "5s",
                      "--instance-id",
                      "one",
                      "-n",
                      "--dead-letter",
                      "d",
                      "--max-errors",
                      "4",
                      "--partitioner",
                      "crc32",
                      "--create-output",
                      "6:3",
                      "-s",
                      "key=hex",
                      "-s",
                      "value=string",
                      "--partitions",
                      "8",
                      ".x"});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const RuntimeOptions& runtime = plan->runtime;
  EXPECT_EQ(runtime.home.brokers, "k:1");
  EXPECT_EQ(runtime.app, "g");
  EXPECT_EQ(runtime.from, "-5");
  EXPECT_TRUE(runtime.from_given);
  EXPECT_TRUE(runtime.exit_at_end);
  EXPECT_EQ(runtime.limit, 7);
  EXPECT_EQ(runtime.timeout, milliseconds(120'000));
  EXPECT_EQ(runtime.threads, 3);
  EXPECT_EQ(runtime.commit_interval, milliseconds(5000));
  EXPECT_EQ(runtime.instance_id, "one");
  EXPECT_TRUE(runtime.dry_run);
  EXPECT_EQ(runtime.on_error, OnError::kDeadLetter);
  EXPECT_EQ(runtime.dead_letter->ToString(), "topic:d");
  EXPECT_EQ(runtime.max_errors, 4);
  EXPECT_EQ(runtime.partitioner, "crc32");
  EXPECT_EQ(runtime.create_output, std::pair(6, 3));
  EXPECT_EQ(runtime.serdes.key, "hex");
  EXPECT_EQ(runtime.serdes.value, "string");
  EXPECT_EQ(runtime.partitions, 8);
}

TEST_F(StagePlanTest, FlagsOfInputAndOutputReachSourceAndSinks) {
  auto plan = Filter({"--in", "csv", "-J", "-k", ".k", "--timestamp", ".t", "--timestamp-unit", "s",
                      "--else", "rest", "--partition", "$partition", ".x"});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto& source = std::get<SourceSpec>(plan->nodes[0].spec);
  EXPECT_EQ(source.format, "csv");
  EXPECT_EQ(source.key->text(), ".k");
  EXPECT_EQ(source.timestamp_expression->text(), ".t");
  EXPECT_EQ(source.timestamp_unit, "s");
  const auto& filter = std::get<FilterSpec>(plan->nodes[1].spec);
  EXPECT_EQ(filter.kept, "out");
  EXPECT_EQ(filter.rest, "else");
  ASSERT_EQ(plan->nodes.size(), 4u);
  for (size_t i : {2, 3}) {
    const auto& sink = std::get<SinkSpec>(plan->nodes[i].spec);
    EXPECT_EQ(sink.format, "envelope");
    EXPECT_TRUE(sink.partition_of_record);
  }
  EXPECT_EQ(std::get<SinkSpec>(plan->nodes[3].spec).output.ToString(), "file:rest");
}

TEST_F(StagePlanTest, FormatsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Refusal(Filter({"-J", "--out", "raw", ".x"})), HasSubstr("--out: contradicts -J:"));
  EXPECT_THAT(Refusal(Filter({"--out", "raw", "-J", ".x"})),
              HasSubstr("-J: contradicts --out raw:"));
  EXPECT_THAT(Refusal(Filter({"-J", "-f", "%s", ".x"})), HasSubstr("--format: contradicts -J:"));
  EXPECT_THAT(Refusal(Filter({"-f", "%s", "-J", ".x"})), HasSubstr("-J: contradicts --format:"));
  EXPECT_THAT(Refusal(Filter({"--out", "json", "-f", "%s", ".x"})),
              HasSubstr("--format: contradicts --out json:"));
  EXPECT_THAT(Refusal(Filter({"-f", "%s", "--out", "json", ".x"})),
              HasSubstr("--out: contradicts --format:"));
}

TEST_F(StagePlanTest, FormatsThatAgreeAreTaken) {
  auto sink = [](const Result<StagePlan>& plan) {
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return std::get<SinkSpec>(plan->nodes.back().spec);
  };
  EXPECT_EQ(sink(Filter({"-J", "--out", "envelope", ".x"})).format, "envelope");
  EXPECT_EQ(sink(Filter({"--out", "envelope", "-J", "-J", ".x"})).format, "envelope");
  EXPECT_EQ(sink(Filter({"--out", "csv", "--out", "tsv", ".x"})).format, "tsv");
  EXPECT_EQ(sink(Filter({"-f", "%k", "-f", "%s", ".x"})).format_text, "%s");
}

TEST_F(StagePlanTest, OneOutput) {
  for (const char* second : {"a", "b", "-"}) {
    EXPECT_THAT(Refusal(Filter({"-o", "a", "--output", second, ".x"})),
                StartsWith("--output is given twice"));
    EXPECT_THAT(Refusal(Map({"-o", "a", "-o", second, ".x"})),
                StartsWith("--output is given twice"));
  }
}

TEST_F(StagePlanTest, AFileIsReadFromItsBeginning) {
  for (const char* from : {"end", "5", "-5", "@-1h"}) {
    EXPECT_THAT(Refusal(Filter({"--from", from, ".x"})), StartsWith("--from needs brokers"));
    EXPECT_THAT(Refusal(Filter({"-b", "k:1", "-i", "file:a", "--from", from, ".x"})),
                StartsWith("--from needs brokers"));
    EXPECT_TRUE(Filter({"-b", "k:1", "-i", "a", "--from", from, ".x"}).ok());
  }
  EXPECT_TRUE(Filter({"--from", "beginning", ".x"}).ok());
}

TEST_F(StagePlanTest, WhatMakesSenseOnTopicsOnlyIsTakenOnFilesWhereItDoesNoHarm) {
  auto plan = Filter({"-e", "--commit-interval", "5s", "--create-output", "3", "--partitioner",
                      "crc32", "--instance-id", "one", "-G", "g", "--partition", "5", ".x"});
  EXPECT_TRUE(plan.ok()) << plan.status().message();
}

TEST_F(StagePlanTest, AnExpressionIsNotBlank) {
  for (const char* blank : {"", " ", "\n\t \r"}) {
    EXPECT_EQ(Filter({blank}).status().code(), StatusCode::kExpression);
    EXPECT_THAT(std::string(Map({blank}).status().message()),
                StartsWith("EXPR: the expression is empty"));
    for (const char* flag :
         {"--key", "--timestamp", "--partition", "--set-key", "--tombstone", "--to"}) {
      auto plan = Map({flag, blank, "."});
      EXPECT_EQ(plan.status().code(), StatusCode::kExpression);
      EXPECT_THAT(std::string(plan.status().message()),
                  StartsWith(std::string(flag) + ": the expression is empty"));
    }
    EXPECT_THAT(std::string(Map({"--header", std::string("a=") + blank, "."}).status().message()),
                StartsWith("--header: the expression is empty"));
  }
}

TEST_F(StagePlanTest, MapFlags) {
  auto plan = Map({"-b", "k:1", "--set-key", "$out.k", "--tombstone", ".gone", "--header", "a=.x",
                   "--header", "b=\"=\"", "--to", ".t", "--partition", "$out.p", "."});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto& map = std::get<MapSpec>(plan->nodes[1].spec);
  EXPECT_EQ(map.key->text(), "$out.k");
  EXPECT_EQ(map.tombstone->text(), ".gone");
  ASSERT_EQ(map.headers.size(), 2u);
  EXPECT_EQ(map.headers[1].first, "b");
  EXPECT_EQ(map.headers[1].second.text(), "\"=\"");
  EXPECT_EQ(map.route.to->text(), ".t");
  EXPECT_EQ(map.route.partition->text(), "$out.p");
  EXPECT_TRUE(std::get<SinkSpec>(plan->nodes[2].spec).topic_of_record);
}

TEST_F(StagePlanTest, OutIsNotANameOfAFilter) {
  EXPECT_EQ(Filter({"--partition", "$out.p", ".x"}).status().code(), StatusCode::kExpression);
}

TEST_F(StagePlanTest, BrokersOfAnyLayerMakeNamesTopics) {
  auto input = [](const Result<StagePlan>& plan) {
    return std::get<SourceSpec>(plan->nodes[0].spec).inputs[0].ToString();
  };
  EXPECT_EQ(input(Filter({"-i", "a", ".x"})), "file:a");
  EXPECT_EQ(input(Filter({"-i", "a", "-b", "k:1", ".x"})), "topic:a");
  EXPECT_EQ(input(Filter({"-i", "a", "-X", "bootstrap.servers=k:1", ".x"})), "topic:a");
  EXPECT_EQ(input(Filter({"-i", "eu:a", "--cluster", "eu=k:1", ".x"})), "topic:eu:a");
  setenv("KSTREAM_BROKERS", "e:1", 1);
  auto plan = Filter({"-i", "a", ".x"});
  EXPECT_EQ(input(plan), "topic:a");
  EXPECT_EQ(plan->runtime.home.brokers, "e:1");
  EXPECT_EQ(Filter({"-i", "a", "-X", "bootstrap.servers=k:1", ".x"})->runtime.home.brokers, "k:1");
}

TEST_F(StagePlanTest, ConditionsMustDependOnTheRecord) {
  for (const char* text : {"5", "1 == 1", "\"x\""}) {
    EXPECT_EQ(Filter({text}).status().code(), StatusCode::kExpression) << text;
    EXPECT_EQ(Map({"--tombstone", text, "."}).status().code(), StatusCode::kExpression) << text;
    EXPECT_TRUE(Map({text}).ok()) << text;
  }
  for (const char* text : {"true", "false", ".x", "$key == null"})
    EXPECT_TRUE(Filter({text}).ok()) << text;
}

TEST_F(StagePlanTest, SpecIsMadeOfTheSamePlan) {
  auto plan = Map({"-i", "a", "-i", "b", "-f", "%s\\n", "--header", "h=.x", "{\"var\":\"a\"}"});
  ASSERT_TRUE(plan.ok());
  auto spec = ToSpec(*plan);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(*spec, R"({
  "nodes": {
    "in": {
      "source": [
        "file:a",
        "file:b"
      ]
    },
    "map": {
      "from": "in",
      "flat-map": {"var":"a"},
      "header": [
        {
          "name": "h",
          "value": ".x"
        }
      ]
    },
    "out": {
      "from": "map",
      "sink": "-",
      "format": "%s\\n"
    }
  }
}
)");
}

TEST_F(StagePlanTest, ASpecCannotHoldWhatIsNotUtf8) {
  auto plan = Filter({"-i", "\xff", ".x"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(ToSpec(*plan).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::tools
