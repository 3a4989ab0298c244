// jq's tokens. Strings are not tokens: they hold programs (`"\(.a) b"`), so the parser asks for
// their parts one by one.
//
// Tested by tests/unit/expr/jq_parser_test.cc and tests/fuzz/jq_fuzz.cc.
#ifndef KSTREAM_EXPR_JQ_LEXER_H_
#define KSTREAM_EXPR_JQ_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream::expr {

enum class Token : uint8_t {
  kEnd,
  kField,     // .name; text: name
  kName,      // a word, perhaps with :: in it; text
  kVariable,  // $name; text: name
  kFormat,    // @name; text
  kNumber,    // text
  kQuote,     // an opening quote; read on with Lexer::StringPart
  kSymbol,    // punctuation; text
  kBad,       // no token of jq starts here
};

class JqLexer {
 public:
  // `text` outlives the lexer.
  explicit JqLexer(std::string_view text) : text_(text) {}

  // Moves to the next token.
  void Advance();
  Token token() const { return token_; }
  std::string_view text() const { return token_text_; }
  size_t at() const { return at_; }  // byte where the token starts
  bool Is(std::string_view symbol) const { return token_ == Token::kSymbol && text() == symbol; }
  bool IsWord(std::string_view word) const { return token_ == Token::kName && text() == word; }

  enum class PartEnd : uint8_t { kQuote, kInterpolation, kError };
  // With kQuote, or the ")" of an interpolation, as the current token: appends the text up to the
  // closing quote or the next "\(". The current token is stale afterwards: Advance(). On kError,
  // error() and error_at() say what is wrong.
  PartEnd StringPart(std::string* out);
  std::string_view error() const { return error_; }
  size_t error_at() const { return error_at_; }

 private:
  void SkipSpace();
  bool Escape(std::string* out);
  bool Unicode(uint32_t* unit);
  PartEnd StringError(std::string_view what, size_t at);
  size_t WordEnd(size_t from, bool modules) const;
  size_t NumberEnd() const;
  void Set(Token token, size_t end, size_t skip);

  std::string_view text_;
  size_t next_ = 0;
  size_t at_ = 0;
  Token token_ = Token::kEnd;
  std::string_view token_text_;
  std::string_view error_;
  size_t error_at_ = 0;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JQ_LEXER_H_
