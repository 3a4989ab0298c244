#include "expr/tree.h"

namespace kstream::expr {

std::optional<Name> FindName(std::string_view text) {
  for (size_t i = 0; i < kNameText.size(); ++i) {
    if (kNameText[i] == text) return static_cast<Name>(i);
  }
  return std::nullopt;
}

std::string PositionText(std::string_view expression, size_t at) {
  size_t line = 1;
  size_t column = 1;
  for (const char c : expression.substr(0, at)) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else if ((c & 0xC0) != 0x80) {  // not a continuation byte
      ++column;
    }
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace kstream::expr
