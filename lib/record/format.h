// Format: the pattern of -f, kcat's language for printing a record, and two tokens more.
//
//   %s %k value and key     %S %K their length, -1 for null     %R value length, 4 bytes big endian
//   %t topic  %p partition  %o offset  %T timestamp in ms       %d the same as RFC 3339
//   %h headers as name=value,name=value                         %% a percent sign
//   %{EXPR}   the result of an expression
//   \n \r \t \\ \xHH \NNN   a line end, tab, backslash, or any byte (in hex, octal \0NN, decimal)
//
// As in kcat, nothing is added (a line end is written \n), an absent key or value is empty, an
// absent header value is NULL, an absent partition, offset or timestamp is -1, and -s turns a
// binary key or value into text. A record without a timestamp has an empty %d. Where kcat would cut
// the pattern short (\0) or print some other byte (\999), this one prints the byte or refuses.
// Tested by tests/unit/record/format_test.cc.
#ifndef KSTREAM_RECORD_FORMAT_H_
#define KSTREAM_RECORD_FORMAT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "record/serde.h"

namespace kstream {

// Immutable once parsed. Threads: may be shared.
class Format {
 public:
  enum class Token : uint8_t {
    kText,
    kValue,
    kKey,
    kValueLength,
    kKeyLength,
    kValueLengthBinary,
    kTopic,
    kPartition,
    kOffset,
    kTimestamp,
    kTime,
    kHeaders,
    kExpression,
  };
  struct Piece {
    Token token;
    std::string text;  // of kText with its escapes resolved, of kExpression as written
  };
  // Appends the result of an expression of the pattern, counted from 0 in their order.
  using Evaluate = std::function<Status(size_t expression, std::string* out)>;

  // kUsage names what is wrong and at which byte.
  static Result<Format> Parse(std::string_view pattern, Serdes serdes = {});

  const std::vector<Piece>& pieces() const { return pieces_; }
  // The texts of the %{EXPR}, in order.
  std::vector<std::string_view> expressions() const;

  // Appends the record. Nothing is appended when an expression or a serde fails.
  Status Append(const Record& record, const Evaluate& evaluate, std::string* out) const;

 private:
  Format(std::vector<Piece> pieces, Serdes serdes)
      : pieces_(std::move(pieces)), serdes_(std::move(serdes)) {}

  Status AppendPieces(const Record& record, const Evaluate& evaluate, std::string* out) const;

  std::vector<Piece> pieces_;
  Serdes serdes_;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_FORMAT_H_
