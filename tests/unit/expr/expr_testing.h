// Helpers of this room's tests: run an expression on one JSON value, compare JSON values.
#ifndef KSTREAM_TESTS_UNIT_EXPR_EXPR_TESTING_H_
#define KSTREAM_TESTS_UNIT_EXPR_EXPR_TESTING_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "expr/value.h"
#include "kstream/record.h"
#include "record/json_document.h"

namespace kstream::expr {

// What a program gave: outputs as compact JSON, then perhaps an error.
struct Outcome {
  Status status;
  std::vector<std::string> outputs;
};

inline Outcome RunOn(const std::shared_ptr<const Program>& program, const Record& record) {
  Evaluator evaluator(program);
  Outcome outcome;
  Input input;
  input.record = &record;
  outcome.status = evaluator.ForEach(input, [&](std::string_view json) {
    outcome.outputs.emplace_back(json);
    return Status::Ok();
  });
  return outcome;
}

inline Outcome RunText(std::string_view text, std::string_view json,
                       const CompileOptions& options = {}) {
  auto program = Program::Compile(text, options);
  if (!program.ok()) return {program.status(), {}};
  Record record;
  record.value = json;
  return RunOn(*program, record);
}

// Outputs separated by spaces, and "error: ..." last when it failed.
inline std::string Show(const Outcome& outcome) {
  std::string text;
  for (const std::string& output : outcome.outputs) {
    if (!text.empty()) text += ' ';
    text += output;
  }
  if (!outcome.status.ok()) {
    if (!text.empty()) text += ' ';
    text += "error: " + std::string(outcome.status.message());
  }
  return text;
}

inline std::string Jq(std::string_view text, std::string_view json) {
  return Show(RunText(text, json));
}

// Whether two JSON texts are the same value: numbers by value, members in any order.
inline bool SameJson(std::string_view a, std::string_view b) {
  json::Reader reader_a;
  json::Reader reader_b;
  json::Document x;
  json::Document y;
  if (!reader_a.Parse(a, &x).ok() || !reader_b.Parse(b, &y).ok()) return false;
  Arena arena;
  return Equal(Value::Of(x, x.root()), Value::Of(y, y.root()), &arena);
}

inline bool SameOutputs(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameJson(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace kstream::expr

#endif  // KSTREAM_TESTS_UNIT_EXPR_EXPR_TESTING_H_
