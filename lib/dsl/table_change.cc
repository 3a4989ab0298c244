#include "dsl/table_change.h"

#include <charconv>

namespace kstream::dsl {

std::optional<Record> OldRowOf(const Record& change) {
  Bytes value;
  int64_t time = -1;
  for (const auto& [name, text] : change.headers) {
    if (name == kOldValue) value = text;
    if (name == kOldTime && text) std::from_chars(text->data(), text->data() + text->size(), time);
  }
  if (!value) return std::nullopt;
  return RowOf(change.key, value, time);
}

}  // namespace kstream::dsl
