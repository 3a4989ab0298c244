// Whole test files: what a case may hold, and that it fails when it should.
#include "kstream/topology_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "unit/test_folder.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTopology = R"({"app": "t", "nodes": {
  "in":   {"source": "in", "key": "${KEY:-.k}"},
  "sums": {"from": "in", "aggregate": {"sum": {"n": ".n"}}},
  "out":  {"from": "sums", "sink": "out"}}})";

class TopologyTestTest : public testing::Test {
 protected:
  // A file with one case, as it ends: its lines.
  std::vector<std::string> Run(const std::string& members) {
    const Result<TopologyTest> test =
        Read(R"({"topology": "t.json", "cases": [{"name": "c", )" + members + "}]}");
    if (!test.ok()) return {std::string(test.status().message())};
    EXPECT_EQ(test->cases().size(), 1U);
    const TopologyTestResult result = test->Run(0);
    EXPECT_EQ(result.passed, result.lines.empty());
    return result.lines;
  }

  Result<TopologyTest> Read(const std::string& text) {
    std::ofstream(folder_.path() + "/t.json") << kTopology;
    std::ofstream(folder_.path() + "/t.test.json") << text;
    return TopologyTest::Read(folder_.path() + "/t.test.json");
  }

  TestFolder folder_;
};

#define EXPECT_PASSED(members) EXPECT_THAT(Run(members), testing::IsEmpty())
#define EXPECT_FAILED(members, text) EXPECT_THAT(Run(members), testing::Contains(HasSubstr(text)))

constexpr const char* kOne = R"("input": {"in": [{"value": {"k": "a", "n": 1}}]})";

TEST_F(TopologyTestTest, ChecksSeeWhatIsCommitted) {
  EXPECT_PASSED(std::string(kOne) + R"(, "expect": {"out": [{"key": "a", "value_has": {"n": 1}}]},
    "stores": {"sums": [{"key": "a", "value": {"n": {"sum": 1}}}]}, "commits": {"in": 1})");
  EXPECT_FAILED(std::string(kOne) + R"(, "expect": {"out": [{"value_has": {"n": 2}}]})",
                "value.n: expected 2, came 1");
  EXPECT_FAILED(std::string(kOne) + R"(, "stores": {"sums": []})", "sums: no row is expected");
  EXPECT_FAILED(std::string(kOne) + R"(, "commits": {"in": 2})", "committed offsets");
}

TEST_F(TopologyTestTest, ATopicThatIsLookedAtIsLookedAtToTheEnd) {
  const std::string late = R"("steps": [{"expect": {"out": []}}, {)" + std::string(kOne) + "}]";
  EXPECT_FAILED(late, "out: a record came after the last look at it");
  EXPECT_PASSED(late + R"(, "expect": {"out": [{"key": "a"}]})");
}

TEST_F(TopologyTestTest, StateOutlivesRestartsCrashesAndRebalances) {
  for (const char* guarantee : {"at-least-once", "exactly-once"}) {
    for (const char* event : {R"("restart")", R"("crash")", R"("rebalance")", R"({"crash": 1})",
                              R"({"rebalance": "leave"})", R"({"rebalance": "evict"})"}) {
      EXPECT_PASSED(std::string(R"("threads": 2, "partitions": 2, "guarantee": ")") + guarantee +
                    R"(", "steps": [{)" + kOne + R"(, "expect": {"out": [{"value_has": {"n": 1}}]}},
        )" + event + ", {" +
                    kOne + R"(, "expect": {"out": [{"value_has": {"n": 2}}]}}])")
          << guarantee << ' ' << event;
    }
  }
}

TEST_F(TopologyTestTest, WhatIsNotCommittedIsReadAgainAfterACrash) {
  EXPECT_PASSED(R"("guarantee": "exactly-once", "steps": [{)" + std::string(kOne) +
                R"(}, "crash"], "expect": {"out": [{"value_has": {"n": 1}}]})");
}

TEST_F(TopologyTestTest, TheClockIsTheTests) {
  EXPECT_PASSED(R"("now": "2021-01-01T00:00:00Z", "commit-interval": "10s",
    "steps": [{)" +
                std::string(kOne) +
                R"(}, {"advance-wall-clock": "10s"}], "expect": {"out": [{"ts": 1609459200000}]})");
}

TEST_F(TopologyTestTest, AnEndIsAsExpectedOrAFailure) {
  const std::string bad = R"("input": {"in": [{"payload": "{"}]}, "expect": {"out": []})";
  EXPECT_FAILED(bad, "the application ended with exit code 5: in[0]@0");
  EXPECT_PASSED(bad + R"(, "exit": 5, "error": "in[0]@0")");
  EXPECT_FAILED(bad + R"(, "exit": 5, "error": "in[0]@1")", "the message of the end");
  EXPECT_FAILED(bad + R"(, "exit": 4)", "the exit code is not as expected");
  EXPECT_FAILED(std::string(kOne) + R"(, "exit": 5)", "the exit code is not as expected");
  EXPECT_PASSED(bad + R"(, "on-error": "skip")");
}

TEST_F(TopologyTestTest, AThreadThatThereIsNotIsAMistakeOfTheCase) {
  for (const char* step :
       {R"({"crash": 7})", R"({"rebalance": "leave"}, {"rebalance": "leave"})"}) {
    const std::string steps = R"("exit": 2, "steps": [)" + std::string(step) + "]";
    EXPECT_THAT(Run(steps), ElementsAre(HasSubstr("there is no thread"))) << step;
  }
}

TEST_F(TopologyTestTest, VariablesOfACaseAreThoseOfTheTopology) {
  EXPECT_PASSED(std::string(kOne) +
                R"(, "set": {"KEY": ".k + \"b\""}, "expect": {"out": [{"key": "ab"}]})");
  EXPECT_THAT(Run(std::string(kOne) + R"(, "set": {"KYE": ".k"}, "expect": {"out": []})"),
              ElementsAre(HasSubstr("1:106: KYE is set")));
}

TEST_F(TopologyTestTest, AMistakeIsToldBeforeAnythingRuns) {
  const auto wrong = [&](const std::string& members, const char* text) {
    EXPECT_THAT(Run(members), ElementsAre(HasSubstr(text)));
  };
  wrong(R"("steps": [{"expct": {}}])", "t.test.json:1:59: a step has no field 'expct'");
  wrong(R"("steps": ["restrt"])", "'restrt' is no step that stands for itself: did you mean");
  wrong(R"("steps": ["expect"])", "'expect' does not stand for itself: give {\"expect\": ..}");
  wrong(R"("expect": {"out": []}, "now": "2300-01-01T00:00:00Z")", "as far as 2255");
  wrong(R"("steps": [{"rebalance": "evct"}])",
        "'evct' is none of join, leave, evict: did you mean");
  wrong(R"("steps": [{"advance-wall-clock": "10"}])", "1:81: ");
  wrong(R"("input": {})", "the case expects nothing");
  wrong(R"("expect": {}, "stores": {}, "commits": {})", "the case expects nothing");
  wrong(R"("commits": {"in": []})", "there is no offset");
  wrong(R"("expect": {"out": 1})", "takes an array of records");
  wrong(R"("expect": {"out": {"any-ordr": []}})", "lacks 'any-order'");
  wrong(R"("stores": {"sum": []})", "the topology has no store 'sum': did you mean 'sums'?");
  wrong(R"("commits": {"inn": 1})", "the topology has no topic 'inn'");
  wrong(R"("expect": {"out": []}, "threads": 0)", "threads");
  wrong(R"("expect": {"out": []}, "partitions": 0)", "at least 1 partition");
  wrong(R"("expect": {"out": []}, "error": "x")", "give 'exit', too");
  wrong(R"("expect": {"out": []}, "guarantee": "once")", "1:");
  EXPECT_EQ(Read("{\"cases\": []}").status().code(), StatusCode::kExpression);
  EXPECT_EQ(Read("{").status().code(), StatusCode::kExpression);
  EXPECT_EQ(Read("").status().code(), StatusCode::kExpression);
  EXPECT_THAT(
      Read(R"({"topology": "none.json", "cases": [{"name": "c", "exit": 1}]})").status().message(),
      HasSubstr("t.test.json:1:14: "));
  EXPECT_EQ(TopologyTest::Read(folder_.path() + "/none").status().code(), StatusCode::kUsage);
}

TEST_F(TopologyTestTest, CasesRunInSeveralThreads) {
  std::string cases;
  for (int i = 0; i < 40; ++i) {
    cases += (i > 0 ? ", " : "") + ("{\"name\": \"" + std::to_string(i) + "\", ") + kOne +
             R"(, "expect": {"out": [{"value_has": {"n": )" + (i == 7 ? "2" : "1") + "}}]}}";
  }
  const auto test = Read(R"({"topology": "t.json", "cases": [)" + cases + "]}");
  ASSERT_TRUE(test.ok()) << test.status().message();
  std::vector<TopologyTestResult> results(40);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t; i < results.size(); i += 4) results[i] = test->Run(i);
      });
    }
  }
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].passed, i != 7) << i;
  EXPECT_TRUE(results[7].edits_help);
  EXPECT_THAT(test->Edited(results), testing::Not(HasSubstr(R"("n": 2)")));
}

}  // namespace
}  // namespace kstream
