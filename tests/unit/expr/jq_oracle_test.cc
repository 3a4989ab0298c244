// jq's own tests, through Program and Evaluator.
//
// They come from a later jq than the installed libjq, which is the authority where they differ:
// such cases stand in jq_oracle_skips.h with their reason, and the reason is checked: a skip that
// does not hold any more fails.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "expr/libjq.h"
#include "expr_testing.h"
#include "jq_oracle_skips.h"

namespace kstream::expr {
namespace {

struct Case {
  std::string where;  // file:line
  std::string program;
  std::string input;
  std::vector<std::string> outputs;
  bool must_fail = false;
};

bool IsSkippable(const std::string& line) {
  return line.find_first_not_of(" \t\r") == line.npos || line[0] == '#';
}

std::vector<Case> ReadCases(const std::string& name) {
  std::ifstream file(std::string(KSTREAM_ORACLES) + "/jq/" + name);
  EXPECT_TRUE(file) << name;
  std::vector<Case> cases;
  std::string line;
  int number = 0;
  while (std::getline(file, line)) {
    ++number;
    if (IsSkippable(line)) continue;
    Case c;
    c.where = name + ":" + std::to_string(number);
    c.must_fail = line.starts_with("%%FAIL");
    const auto next = [&](std::string* to) {
      ++number;
      return static_cast<bool>(std::getline(file, *to));
    };
    if (c.must_fail) next(&line);
    c.program = line;
    if (!c.must_fail) next(&c.input);
    while (next(&line) && !IsSkippable(line)) c.outputs.push_back(line);
    cases.push_back(std::move(c));
  }
  return cases;
}

// libjq alone, without our parser in front.
Outcome RunRaw(const Case& c) {
  auto libjq = Libjq::Compile(c.program, 0);
  if (!libjq.ok()) return {libjq.status(), {}};
  json::Reader reader;
  json::Document document;
  if (Status status = reader.Parse(c.input, &document); !status.ok()) return {status, {}};
  Outcome outcome;
  Arena arena;
  outcome.status =
      (*libjq)->Run(Value::Of(document, document.root()), {}, &arena, [&](std::string_view json) {
        outcome.outputs.emplace_back(json);
        return Status::Ok();
      });
  return outcome;
}

bool Passes(const Case& c, const Outcome& outcome) {
  if (c.must_fail) return outcome.status.code() == StatusCode::kExpression;
  return outcome.status.ok() && SameOutputs(outcome.outputs, c.outputs);
}

// Why a case that does not pass may be skipped, if it may.
std::optional<Skip> ReasonFor(const Case& c, const Outcome& ours) {
  const std::string message(ours.status.message());
  if (ours.status.code() == StatusCode::kExpression) {
    if (message.find("is refused") != message.npos || message.find("no modules") != message.npos ||
        message.find("no function '_") != message.npos) {
      return Skip::kRefused;
    }
    const bool no_format = message.find("there is no format") != message.npos;
    if (no_format || !Libjq::Compile(c.program, 0).ok()) return Skip::kNewer;
    return std::nullopt;
  }
  json::Reader reader;
  json::Document document;
  if (!c.must_fail && !reader.Parse(c.input, &document).ok()) return Skip::kInput;
  if (message.find("does not survive") != message.npos ||
      message.find("beyond 2^53") != message.npos ||
      message.find("nested deeper") != message.npos ||
      message.find("more digits") != message.npos) {
    return Skip::kExact;
  }
  const Outcome raw = RunRaw(c);
  if (raw.status.message().find("does not survive") != std::string_view::npos) return Skip::kExact;
  if (c.must_fail)
    return raw.status.code() == StatusCode::kExpression ? std::optional<Skip>() : Skip::kDiffers;
  const bool agree = SameOutputs(raw.outputs, ours.outputs) && raw.status.ok() == ours.status.ok();
  if (agree && !Passes(c, raw)) return Skip::kDiffers;
  return std::nullopt;
}

std::string_view ReasonText(Skip skip) {
  switch (skip) {
    case Skip::kNewer:
      return "syntax or functions that the installed jq does not have";
    case Skip::kDiffers:
      return "the installed jq gives another result, and so do we";
    case Skip::kRefused:
      return "refused: modules, other input, the environment, functions internal to jq";
    case Skip::kExact:
      return "jq would round a number; we keep it, or report it";
    case Skip::kInput:
      return "the input is not JSON by RFC 8259";
    case Skip::kHangs:
      return "the installed jq does not come back";
  }
  return "";
}

void CheckFile(const std::string& name) {
  std::map<std::pair<std::string, std::string>, Skip> skips;
  for (const SkippedCase& s : kSkippedCases) skips[{s.program, s.input}] = s.reason;
  int passed = 0;
  std::map<Skip, std::vector<std::string>> skipped;
  for (const Case& c : ReadCases(name)) {
    const auto listed = skips.find({c.program, c.input});
    if (listed != skips.end() && listed->second == Skip::kHangs) {
      skipped[Skip::kHangs].push_back(c.program);  // not run: it would end or hang this test too
      continue;
    }
    const Outcome ours = RunText(c.program, c.must_fail ? "null" : c.input);
    if (Passes(c, ours)) {
      ++passed;
      EXPECT_TRUE(listed == skips.end()) << c.where << " passes and is listed: " << c.program;
      continue;
    }
    const std::optional<Skip> reason = ReasonFor(c, ours);
    if (reason && listed != skips.end() && listed->second == *reason) {
      skipped[*reason].push_back(c.program);
      continue;
    }
    if (reason && std::getenv("KSTREAM_LIST_SKIPS") != nullptr) {
      std::cout << "SKIP\t" << static_cast<int>(*reason) << "\t" << c.program << "\t" << c.input
                << "\n";
      continue;
    }
    ADD_FAILURE() << c.where << ": " << c.program << "\n  input    " << c.input << "\n  ours     "
                  << Show(ours) << "\n  expected " << Show({Status::Ok(), c.outputs})
                  << "\n  jq says  " << Show(RunRaw(c)) << "\n  reason   "
                  << (reason ? ReasonText(*reason) : "none");
  }
  std::cout << name << ": " << passed << " pass\n";
  for (const auto& [reason, programs] : skipped) {
    std::cout << "  skipped, " << ReasonText(reason) << ": " << programs.size() << "\n";
    for (const std::string& program : programs) std::cout << "    " << program << "\n";
  }
  EXPECT_GT(passed, 0);
}

TEST(JqOracle, Language) { CheckFile("jq.test"); }
TEST(JqOracle, Manual) { CheckFile("man.test"); }
TEST(JqOracle, Regex) { CheckFile("onig.test"); }

}  // namespace
}  // namespace kstream::expr
