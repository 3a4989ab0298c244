// The rules of JSON that are about bytes, not tokens: numbers, literals, escapes, and the words for
// what simdjson's first stage refuses. Private to the scanner of json_document.cc.
#ifndef KSTREAM_RECORD_JSON_SCAN_H_
#define KSTREAM_RECORD_JSON_SCAN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Skips digits, eight at a time: numbers of random length would otherwise
// cost a wrongly predicted branch each. `end` is where what can be read ends; some
// byte after `p` that no number holds must be readable.
inline const char* SkipDigits(const char* p, const char* end) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - p >= 8) {
      uint64_t bytes;
      std::memcpy(&bytes, p, 8);
      bytes ^= 0x3030303030303030;  // digits become 0 to 9, and nothing else does
      const uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
      if (others != 0) return p + std::countr_zero(others) / 8;
      p += 8;
    }
  }
  while (IsDigit(*p)) ++p;
  return p;
}

// Reads a number; the conditions are those of SkipDigits.
inline Scanned ScanNumber(const char* p, const char* end) {
  constexpr const char* kNoDigit = "expected a digit";
  const char* const begin = p;
  if (*p == '-') ++p;
  if (!IsDigit(*p)) return {p, p == begin ? "expected a value" : kNoDigit};
  p = *p == '0' ? p + 1 : SkipDigits(p + 1, end);
  if (*p == '.') {
    if (!IsDigit(*++p)) return {p, kNoDigit};
    p = SkipDigits(p + 1, end);
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) return {p, kNoDigit};
    p = SkipDigits(p + 1, end);
  }
  return {p, nullptr};
}

// Reads a number or a literal, on the same conditions.
inline Scanned ScanScalar(const char* p, const char* end) {
  if (*p <= '9') return ScanNumber(p, end);
  if (*p == 't' && p[1] == 'r' && p[2] == 'u' && p[3] == 'e') return {p + 4, nullptr};
  if (*p == 'n' && p[1] == 'u' && p[2] == 'l' && p[3] == 'l') return {p + 4, nullptr};
  if (*p == 'f' && p[1] == 'a' && p[2] == 'l' && p[3] == 's' && p[4] == 'e') {
    return {p + 5, nullptr};
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
