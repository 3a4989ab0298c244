// The rules of JSON that are about bytes, not tokens: numbers, literals, escapes, and the words for
// what simdjson's first stage refuses. Private to the scanner of json_document.cc.
#ifndef KSTREAM_RECORD_JSON_SCAN_H_
#define KSTREAM_RECORD_JSON_SCAN_H_

#include <cstddef>
#include <string_view>

namespace kstream::json {

inline bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

// What is wrong (null: nothing), at which byte of the text or region.
struct Flaw {
  const char* what = nullptr;
  size_t at = 0;
};

struct Scanned {
  const char* end;   // one past what was read, or the byte that is wrong
  const char* flaw;  // null when well formed
};

inline const char* SkipDigits(const char* p) {
  while (IsDigit(*p)) ++p;
  return p;
}

// Reads a number. Some byte after `p` that no number holds must be readable.
inline Scanned ScanNumber(const char* p) {
  const char* const begin = p;
  if (*p == '-') ++p;
  if (!IsDigit(*p)) return {p, p == begin ? "expected a value" : "expected a digit"};
  p = *p == '0' ? p + 1 : SkipDigits(p + 1);
  if (*p == '.') {
    if (!IsDigit(*++p)) return {p, "expected a digit"};
    p = SkipDigits(p + 1);
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) return {p, "expected a digit"};
    p = SkipDigits(p + 1);
  }
  return {p, nullptr};
}

// Reads a number or a literal, on the same condition.
inline Scanned ScanScalar(const char* p) {
  switch (*p) {
    case 't':
      if (p[1] == 'r' && p[2] == 'u' && p[3] == 'e') return {p + 4, nullptr};
      break;
    case 'f':
      if (p[1] == 'a' && p[2] == 'l' && p[3] == 's' && p[4] == 'e') return {p + 5, nullptr};
      break;
    case 'n':
      if (p[1] == 'u' && p[2] == 'l' && p[3] == 'l') return {p + 4, nullptr};
      break;
    default:
      return ScanNumber(p);
  }
  return {p, "expected a value"};
}

// The first escape of `text` that JSON does not have, or whose surrogate has no partner.
// Backslashes before `from` are not looked at.
Flaw FindBadEscape(std::string_view text, size_t from);

// Says what simdjson's first stage refused in `text`: the first byte that is not UTF-8, a control
// character inside a string, or a string without end.
Flaw ExplainRefusal(std::string_view text);

}  // namespace kstream::json

#endif  // KSTREAM_RECORD_JSON_SCAN_H_
