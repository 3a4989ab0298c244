// Rules of anything, on a small document: they compile or say why not, they end, and what they give
// is JSON.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "expr/evaluation.h"
#include "expr/jsonlogic.h"
#include "record/json_document.h"

namespace {

constexpr std::string_view kData =
    R"({"a":1,"b":"x\u00e9","c":[1,2.5,"3",null,[],{"a":0}],"d":{"e":{"f":true}},"g":"","n":-7})";

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kstream::expr;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool looks = LooksLikeJsonLogic(text);
  const kstream::Result<Tree> tree = ParseJsonLogic(text, {});
  if (!tree.ok()) {
    Require(!tree.status().message().empty());
    return 0;
  }
  kstream::json::Reader reader;
  kstream::json::Document document;
  Require(reader.Parse(kData, &document).ok());
  Evaluation evaluation(*tree);
  evaluation.set_step_limit(100'000);
  const Value result = evaluation.One(*tree->root, Value::Of(document, document.root()));
  Require(result.is_error() == evaluation.failed());
  Require(!looks || tree->root != nullptr);
  if (result.is_error() || evaluation.arena()->full()) return 0;
  JsonLogicTruthy(result);
  std::string out;
  AppendJson(result, &out);
  kstream::json::Reader again;
  Require(again.Parse(out, &document).ok());
  return 0;
}
