#include "record/format.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "base/time.h"
#include "record/json_document.h"

namespace kstream {
namespace {

std::optional<Format::Token> TokenOf(char letter) {
  switch (letter) {
    case 's':
      return Format::Token::kValue;
    case 'k':
      return Format::Token::kKey;
    case 'S':
      return Format::Token::kValueLength;
    case 'K':
      return Format::Token::kKeyLength;
    case 'R':
      return Format::Token::kValueLengthBinary;
    case 't':
      return Format::Token::kTopic;
    case 'p':
      return Format::Token::kPartition;
    case 'o':
      return Format::Token::kOffset;
    case 'T':
      return Format::Token::kTimestamp;
    case 'd':
      return Format::Token::kTime;
    case 'h':
      return Format::Token::kHeaders;
    default:
      return std::nullopt;
  }
}

// Index one past the bracket that closes what is open at `at`, or npos. Brackets nest, and those in
// strings do not count, save in jq's interpolation \(...). An explicit stack: patterns are hostile.
size_t SkipToClose(std::string_view text, size_t at, char close) {
  std::string open(1, close);  // closing characters that are awaited; '"' means within a string
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (open.back() == '"') {
      if (c == '\\') {
        ++at;
        if (at < text.size() && text[at] == '(') open.push_back(')');
      } else if (c == '"') {
        open.pop_back();
      }
      continue;
    }
    if (c == open.back()) {
      open.pop_back();
      if (open.empty()) return at + 1;
    } else if (c == '"') {
      open.push_back('"');
    } else if (c == '{' || c == '(' || c == '[') {
      open.push_back(c == '{' ? '}' : c == '(' ? ')' : ']');
    }
  }
  return std::string_view::npos;
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Result<std::vector<Format::Piece>> Parse() {
    while (at_ < pattern_.size()) {
      char c = pattern_[at_];
      if (c == '%') {
        KSTREAM_RETURN_IF_ERROR(ParseToken());
      } else if (c == '\\' && at_ + 1 < pattern_.size()) {
        KSTREAM_RETURN_IF_ERROR(ParseEscape());
      } else {
        text_.push_back(c);
        ++at_;
      }
    }
    FlushText();
    return std::move(pieces_);
  }

 private:
  Status Wrong(std::string_view why) const {
    return Status::Usage(fmt::format("format '{}': {} at byte {}", pattern_, why, at_ + 1));
  }

  void FlushText() {
    if (!text_.empty()) pieces_.push_back({Format::Token::kText, std::exchange(text_, {})});
  }

  Status ParseToken() {
    if (at_ + 1 == pattern_.size()) return Wrong("nothing follows the %");
    char letter = pattern_[at_ + 1];
    if (letter == '%') {
      text_.push_back('%');
    } else if (letter == '{') {
      return ParseExpression();
    } else if (std::optional<Format::Token> token = TokenOf(letter)) {
      FlushText();
      pieces_.push_back({*token, {}});
    } else {
      return Wrong(fmt::format("unknown token %{}", letter));
    }
    at_ += 2;
    return Status::Ok();
  }

  Status ParseExpression() {
    size_t start = at_ + 2;
    size_t after = SkipToClose(pattern_, start, '}');
    if (after == std::string_view::npos) return Wrong("no } closes the %{");
    std::string_view expression = pattern_.substr(start, after - 1 - start);
    if (expression.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      return Wrong("an empty expression");
    }
    FlushText();
    pieces_.push_back({Format::Token::kExpression, std::string(expression)});
    at_ = after;
    return Status::Ok();
  }

  Status ParseEscape() {
    char c = pattern_[at_ + 1];
    if (c == 'x') return ParseByte(at_ + 2, 16, 2);
    if (c == '0') return ParseByte(at_ + 1, 8, 4);
    if (c >= '1' && c <= '9') return ParseByte(at_ + 1, 10, 3);
    text_.push_back(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
    at_ += 2;
    return Status::Ok();
  }

  Status ParseByte(size_t from, int base, size_t most) {
    size_t end = from;
    int value = 0;
    for (; end < pattern_.size() && end - from < most && DigitValue(pattern_[end]) < base; ++end) {
      value = value * base + DigitValue(pattern_[end]);
    }
    if (end == from) return Wrong("no hex digit follows \\x");
    if (value > 255) return Wrong("an escape beyond one byte");
    text_.push_back(static_cast<char>(value));
    at_ = end;
    return Status::Ok();
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::string text_;
  std::vector<Format::Piece> pieces_;
};

int64_t Length(const Bytes& bytes) { return bytes ? static_cast<int64_t>(bytes->size()) : -1; }

void AppendBigEndian32(int64_t length, std::string* out) {
  auto bits = static_cast<uint32_t>(length);
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(bits >> shift));
}

void AppendHeaderPairs(std::span<const Header> headers, std::string* out) {
  for (const Header& header : headers) {
    if (&header != headers.data()) out->push_back(',');
    *out += header.name;
    out->push_back('=');
    *out += header.value.value_or("NULL");
  }
}

// Bytes of a textual serde are printed as they are; of a binary one, as the text of its JSON.
Status AppendBytes(const Bytes& bytes, const Serde& serde, std::string* out) {
  if (!bytes) return Status::Ok();
  if (serde.kind() == Serde::Kind::kJson || serde.kind() == Serde::Kind::kString) {
    *out += *bytes;
    return Status::Ok();
  }
  std::string json;
  KSTREAM_RETURN_IF_ERROR(serde.ToJson(*bytes, &json));
  return Serde(Serde::Kind::kString).FromJson(json, out);
}

}  // namespace

Result<Format> Format::Parse(std::string_view pattern, Serdes serdes) {
  KSTREAM_ASSIGN_OR_RETURN(std::vector<Piece> pieces, Parser(pattern).Parse());
  return Format(std::move(pieces), std::move(serdes));
}

std::vector<std::string_view> Format::expressions() const {
  std::vector<std::string_view> texts;
  for (const Piece& piece : pieces_) {
    if (piece.token == Token::kExpression) texts.push_back(piece.text);
  }
  return texts;
}

Status Format::Append(const Record& record, const Evaluate& evaluate, std::string* out) const {
  const size_t start = out->size();
  Status status = AppendPieces(record, evaluate, out);
  if (!status.ok()) out->resize(start);
  return status;
}

Status Format::AppendPieces(const Record& record, const Evaluate& evaluate,
                            std::string* out) const {
  const bool timed = record.timestamp_type != TimestampType::kNone;
  size_t expression = 0;
  auto number = [out](int64_t n) { fmt::format_to(std::back_inserter(*out), "{}", n); };
  for (const Piece& piece : pieces_) {
    switch (piece.token) {
      case Token::kText:
        *out += piece.text;
        break;
      case Token::kValue:
        KSTREAM_RETURN_IF_ERROR(AppendBytes(record.value, serdes_.value, out).At("value"));
        break;
      case Token::kKey:
        KSTREAM_RETURN_IF_ERROR(AppendBytes(record.key, serdes_.key, out).At("key"));
        break;
      case Token::kValueLength:
        number(Length(record.value));
        break;
      case Token::kKeyLength:
        number(Length(record.key));
        break;
      case Token::kValueLengthBinary:
        AppendBigEndian32(Length(record.value), out);
        break;
      case Token::kTopic:
        *out += record.topic;
        break;
      case Token::kPartition:
        number(record.partition);
        break;
      case Token::kOffset:
        number(record.offset);
        break;
      case Token::kTimestamp:
        number(timed ? record.timestamp : -1);
        break;
      case Token::kTime:
        if (timed) *out += FormatRfc3339(record.timestamp);
        break;
      case Token::kHeaders:
        AppendHeaderPairs(record.headers, out);
        break;
      case Token::kExpression:
        KSTREAM_RETURN_IF_ERROR(evaluate(expression++, out).At("%{" + piece.text + "}"));
        break;
    }
  }
  return Status::Ok();
}

}  // namespace kstream
