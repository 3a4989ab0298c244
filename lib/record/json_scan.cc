#include "record/json_scan.h"

#include <cstdint>
#include <cstring>

namespace kstream::json {
namespace {

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The code unit of "\uXXXX" at the start of `text`, or -1.
int UnicodeEscape(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return -1;
  int unit = 0;
  for (size_t i = 2; i < 6; ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// Bytes of the well-formed UTF-8 sequence at the start of `text` (not empty), or 0.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

Flaw FindBadEscape(std::string_view text, size_t from) {
  for (size_t i = from; (i = text.find('\\', i)) != std::string_view::npos;) {
    if (i + 1 == text.size()) return {"bad escape", i};
    if (text[i + 1] != 'u') {
      if (std::strchr("\"\\/bfnrt", text[i + 1]) == nullptr || text[i + 1] == '\0') {
        return {"bad escape", i};
      }
      i += 2;
      continue;
    }
    const int unit = UnicodeEscape(text.substr(i));
    if (unit < 0) return {"bad \\u escape", i};
    if (unit < 0xD800 || unit > 0xDFFF) {
      i += 6;
      continue;
    }
    const int low = unit < 0xDC00 ? UnicodeEscape(text.substr(i + 6)) : -1;
    if (low < 0xDC00 || low > 0xDFFF) return {"lone surrogate", i};
    i += 12;
  }
  return {};
}

Flaw ExplainRefusal(std::string_view text) {
  bool in_string = false;
  size_t opened = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = SequenceLength(text.substr(i));
    if (length == 0) return {"invalid UTF-8", i};
    const char c = text[i];
    if (in_string && static_cast<unsigned char>(c) < 0x20)
      return {"control character in a string", i};
    if (c == '"') {
      in_string = !in_string;
      opened = i;
    }
    // What follows a backslash is looked at unless it is the quote that it takes the meaning of.
    const bool escaped_pair =
        c == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    i += escaped_pair ? 2 : length;
  }
  if (in_string) return {"string without end", opened};
  return {"malformed text", 0};
}

}  // namespace kstream::json
