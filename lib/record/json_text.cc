// Text helpers over validated JSON: escapes one way and the other, and printing without white
// space. Tested by tests/unit/record/json_text_test.cc.
#include <simdjson.h>

#include "record/json_document.h"

namespace kstream::json {
namespace {

unsigned ValueOf(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

// The code unit of the four digits at `digits`.
unsigned CodeUnit(const char* digits) {
  return ValueOf(digits[0]) << 12 | ValueOf(digits[1]) << 8 | ValueOf(digits[2]) << 4 |
         ValueOf(digits[3]);
}

void AppendUtf8(unsigned code, std::string* out) {
  const auto put = [&](unsigned byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// Appends what the escape at `p`, a backslash, stands for; returns the first byte after it.
const char* AppendEscape(const char* p, std::string* out) {
  switch (p[1]) {
    case 'b':
      out->push_back('\b');
      return p + 2;
    case 'f':
      out->push_back('\f');
      return p + 2;
    case 'n':
      out->push_back('\n');
      return p + 2;
    case 'r':
      out->push_back('\r');
      return p + 2;
    case 't':
      out->push_back('\t');
      return p + 2;
    case 'u':
      break;
    default:
      out->push_back(p[1]);
      return p + 2;
  }
  const unsigned unit = CodeUnit(p + 2);
  if (unit < 0xD800 || unit > 0xDFFF) {
    AppendUtf8(unit, out);
    return p + 6;
  }
  AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (CodeUnit(p + 8) - 0xDC00), out);
  return p + 12;
}

}  // namespace

bool Document::EscapedNameIs(Node n, std::string_view name) const {
  const std::string_view content = StringContent(n);
  if (content.find('\\') == std::string_view::npos) return content == name;
  std::string text;
  Unescape(content, &text);
  return text == name;
}

void Unescape(std::string_view content, std::string* out) {
  const char* p = content.data();
  const char* const end = p + content.size();
  while (p < end) {
    const void* hit = std::memchr(p, '\\', static_cast<size_t>(end - p));
    const char* const plain_end = hit == nullptr ? end : static_cast<const char*>(hit);
    out->append(p, plain_end);
    p = hit == nullptr ? end : AppendEscape(plain_end, out);
  }
}

void AppendQuoted(std::string_view text, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr char kShort[] = "btn\0fr";  // for 0x08 to 0x0D
  out->push_back('"');
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text, plain, i - plain);
    plain = i + 1;
    out->push_back('\\');
    if (c >= 0x20) {
      out->push_back(static_cast<char>(c));
    } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
      out->push_back(kShort[c - 0x08u]);
    } else {
      out->append({'u', '0', '0', kHex[c >> 4], kHex[c & 0xF]});
    }
  }
  out->append(text, plain);
  out->push_back('"');
}

void AppendCompact(const Document& document, Node n, std::string* out) {
  const Node after = document.After(n);
  // Copies runs of tokens that touch.
  for (Node first = n; first < after;) {
    Node last = first;
    std::string_view span = document.Span(first, last);
    while (last + 1 < after &&
           span.data() + span.size() == document.base_ + document.token_[last + 1]) {
      ++last;
      span = document.Span(first, last);
    }
    out->append(span);
    first = last + 1;
  }
}

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace kstream::json
