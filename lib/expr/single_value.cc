#include "expr/single_value.h"

#include <fmt/format.h>

#include <charconv>

namespace kstream::expr {

SingleValue::SingleValue(std::string what, const Expression& expression, const Serdes& serdes)
    : what_(std::move(what)), key_serde_(serdes.key), evaluator_(expression.program(), serdes) {}

Status SingleValue::Eval(const Input& input, std::string_view* json) {
  outputs_ = 0;
  Status status = evaluator_.ForEach(input, [this](std::string_view output) {
    if (outputs_++ > 0) return Status::Data("gives more than one value");
    json_ = output;
    return Status::Ok();
  });
  if (!status.ok()) return status.At(what_);
  *json = outputs_ == 0 ? "null" : std::string_view(json_);
  return Status::Ok();
}

Status SingleValue::Key(const Input& input, Bytes* key) { return Convert(input, key_serde_, key); }

Status SingleValue::Text(const Input& input, Bytes* text) {
  return Convert(input, Serde(Serde::Kind::kString), text);
}

Status SingleValue::Convert(const Input& input, const Serde& serde, Bytes* bytes) {
  std::string_view json;
  KSTREAM_RETURN_IF_ERROR(Eval(input, &json));
  bytes->reset();
  if (json == "null") return Status::Ok();
  bytes_.clear();
  if (Status status = serde.FromJson(json, &bytes_); !status.ok()) return status.At(what_);
  *bytes = bytes_;
  return Status::Ok();
}

Status SingleValue::Topic(const Input& input, std::string_view* topic) {
  Bytes text;
  KSTREAM_RETURN_IF_ERROR(Text(input, &text));
  if (json_.empty() || json_[0] != '"' || !text || text->empty()) {
    return Status::Data(fmt::format("{} must give the name of a topic, and gave {:.80}", what_,
                                    outputs_ == 0 ? "nothing" : json_));
  }
  *topic = *text;
  return Status::Ok();
}

Status SingleValue::Partition(const Input& input, int32_t* partition) {
  std::string_view json;
  KSTREAM_RETURN_IF_ERROR(Eval(input, &json));
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), *partition);
  if (error != std::errc() || end != json.data() + json.size() || *partition < 0) {
    return Status::Data(
        fmt::format("{} must give a partition number, and gave {:.80}", what_, json));
  }
  return Status::Ok();
}

}  // namespace kstream::expr
