#include "dsl/kept_value.h"

namespace kstream::dsl {
namespace {

constexpr std::string_view kMatched = "{\"matched\":true,";

}  // namespace

bool KeptValue::IsMatched(std::string_view text) { return text.starts_with(kMatched); }

std::string_view KeptValue::Write(const KeptRecord& record) {
  Record row;
  row.value = record.value;
  row.headers = record.headers;
  text_.clear();
  AppendEnvelope(row, judge_, &text_);
  if (record.matched) text_.replace(0, 1, kMatched);
  return text_;
}

Status KeptValue::Read(std::string_view text, KeptRecord* record) {
  reader_.Clear();
  Record row;
  KSTREAM_RETURN_IF_ERROR(reader_.Parse(text, &row));
  if (!row.value) return Status::Data("it has no value");
  record->value = *row.value;
  record->headers = row.headers;
  record->matched = IsMatched(text);
  return Status::Ok();
}

}  // namespace kstream::dsl
