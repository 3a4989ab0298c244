#include "expr/jq_lexer.h"

#include <array>

#include "record/json_document.h"

namespace kstream::expr {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordChar(char c) { return IsWordStart(c) || IsDigit(c); }

constexpr std::array<std::string_view, 32> kSymbols = {
    "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "..", "//", ".", "?", "=",
    ";",   ",",  ":",  "|",  "+",  "-",  "*",  "/",  "%",  "$",  "<",  ">",  "(",  ")", "[", "]"};

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
    return;
  }
  if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | c >> 6));
  } else {
    if (c < 0x10000) {
      out->push_back(static_cast<char>(0xE0 | c >> 12));
    } else {
      out->push_back(static_cast<char>(0xF0 | c >> 18));
      out->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    }
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
  }
  out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
}

}  // namespace

void JqLexer::SkipSpace() {
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if (c == '#') {
      const size_t end = text_.find('\n', next_);
      next_ = end == text_.npos ? text_.size() : end;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++next_;
    } else {
      return;
    }
  }
}

size_t JqLexer::WordEnd(size_t from, bool modules) const {
  size_t i = from;
  while (i < text_.size()) {
    if (IsWordChar(text_[i])) {
      ++i;
    } else if (modules && text_.substr(i, 2) == "::" && i + 2 < text_.size() &&
               IsWordStart(text_[i + 2])) {
      i += 2;
    } else {
      break;
    }
  }
  return i;
}

size_t JqLexer::NumberEnd() const {
  size_t i = next_;
  const auto digits = [&] {
    while (i < text_.size() && IsDigit(text_[i])) ++i;
  };
  digits();
  if (i < text_.size() && text_[i] == '.') {
    ++i;
    digits();
  }
  if (i < text_.size() && (text_[i] == 'e' || text_[i] == 'E')) {
    size_t e = i + 1;
    if (e < text_.size() && (text_[e] == '+' || text_[e] == '-')) ++e;
    if (e < text_.size() && IsDigit(text_[e])) {
      i = e;
      digits();
    }
  }
  return i;
}

void JqLexer::Set(Token token, size_t end, size_t skip) {
  token_ = token;
  token_text_ = text_.substr(next_ + skip, end - next_ - skip);
  next_ = end;
}

void JqLexer::Advance() {
  SkipSpace();
  at_ = next_;
  if (next_ >= text_.size()) return Set(Token::kEnd, next_, 0);
  const char c = text_[next_];
  const char after = next_ + 1 < text_.size() ? text_[next_ + 1] : '\0';
  if (c == '"') return Set(Token::kQuote, next_ + 1, 0);
  if (c == '.' && IsWordStart(after)) return Set(Token::kField, WordEnd(next_ + 1, false), 1);
  if (c == '$' && IsWordStart(after)) return Set(Token::kVariable, WordEnd(next_ + 1, true), 1);
  if (c == '@' && IsWordChar(after)) return Set(Token::kFormat, WordEnd(next_ + 1, false), 0);
  if (IsDigit(c) || (c == '.' && IsDigit(after))) return Set(Token::kNumber, NumberEnd(), 0);
  if (IsWordStart(c)) return Set(Token::kName, WordEnd(next_, true), 0);
  if (c == '{' || c == '}') return Set(Token::kSymbol, next_ + 1, 0);
  for (const std::string_view symbol : kSymbols) {
    if (text_.substr(next_, symbol.size()) == symbol) {
      return Set(Token::kSymbol, next_ + symbol.size(), 0);
    }
  }
  Set(Token::kBad, next_ + 1, 0);
}

JqLexer::PartEnd JqLexer::StringError(std::string_view what, size_t at) {
  error_ = what;
  error_at_ = at;
  return PartEnd::kError;
}

bool JqLexer::Unicode(uint32_t* unit) {
  if (next_ + 4 > text_.size()) return false;
  *unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = text_[next_++];
    const int digit = IsDigit(c)             ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    *unit = *unit << 4 | static_cast<uint32_t>(digit);
  }
  return true;
}

// next_ is after the backslash. A lone surrogate becomes U+FFFD, as in jq.
bool JqLexer::Escape(std::string* out) {
  if (next_ >= text_.size()) return false;
  static constexpr std::string_view kLetters = "bfnrt\"\\/";
  static constexpr std::string_view kMeanings = "\b\f\n\r\t\"\\/";
  const char c = text_[next_++];
  if (const size_t i = kLetters.find(c); i != kLetters.npos) {
    out->push_back(kMeanings[i]);
    return true;
  }
  uint32_t unit = 0;
  if (c != 'u' || !Unicode(&unit)) return false;
  if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(next_, 2) == "\\u") {
    const size_t back = next_;
    next_ += 2;
    uint32_t low = 0;
    if (!Unicode(&low)) return false;
    if (low >= 0xDC00 && low < 0xE000) {
      AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
      return true;
    }
    next_ = back;
  }
  AppendUtf8(unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit, out);
  return true;
}

JqLexer::PartEnd JqLexer::StringPart(std::string* out) {
  const size_t start = at_;
  while (next_ < text_.size()) {
    const size_t at = next_;
    const char c = text_[next_++];
    if (c == '"') return PartEnd::kQuote;
    if (c != '\\') {
      out->push_back(c);
    } else if (next_ < text_.size() && text_[next_] == '(') {
      ++next_;
      return PartEnd::kInterpolation;
    } else if (!Escape(out)) {
      return StringError("this is no escape of a string", at);
    }
  }
  return StringError("the string that starts here has no end", start);
}

}  // namespace kstream::expr
