// Any text as a jq program: our parser alone, and, where the fast evaluator takes it, a run on a
// small document. What it prints must be JSON.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "expr/evaluation.h"
#include "expr/jq_parser.h"
#include "record/json_document.h"

namespace {

namespace expr = kstream::expr;
namespace json = kstream::json;

constexpr std::string_view kDocument =
    R"({"a":[1,2.50,-3e2,{"b":null}],"b":{"a":"x\u00e9y","c":true},"c":"1,2","a":[[],{},"z"],)"
    R"("n":12345678901234567890})";

void Require(bool condition) {
  if (!condition) std::abort();
}

void RunProgram(const expr::Tree& tree) {
  static json::Reader reader;
  static json::Reader check;
  json::Document document;
  Require(reader.Parse(kDocument, &document).ok());
  expr::Evaluation evaluation(tree);
  evaluation.set_step_limit(20'000);
  for (const expr::Value in : {expr::Value::Of(document, document.root()), expr::Value::Null()}) {
    evaluation.Reset();
    std::string out;
    evaluation.Each(*tree.root, in, [&](expr::Value v) {
      if (evaluation.arena()->full()) return false;
      out.clear();
      expr::AppendJson(v, &out);
      json::Document printed;
      // A program may nest deeper than texts may.
      const kstream::Status status = check.Parse(out, &printed);
      Require(status.ok() || out.size() > 2 * json::kMaxDepth);
      return true;
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expr::CompileOptions options;
  options.extra_names = {"out", "left", "right", "acc"};
  const auto program = expr::ParseJq(text, options);
  if (!program.ok()) {
    Require(!program.status().message().empty());
    return 0;
  }
  if (program->tree.fallback.empty()) RunProgram(program->tree);
  return 0;
}
