// What an expression looks at: the record's value and the names beside it, as Values.
//
// Only what the program reads is made: a program over $key never parses the value. The value is
// parsed through the record's cache when there is one, so that several expressions on one record
// share the work. Tested by tests/unit/expr/evaluator_test.cc.
#ifndef KSTREAM_EXPR_INPUTS_H_
#define KSTREAM_EXPR_INPUTS_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "expr/program.h"
#include "expr/tree.h"
#include "expr/value.h"
#include "kstream/status.h"
#include "record/json_document.h"

namespace kstream::expr {

// Belongs to one thread. Values it gave live until the next call, or the end of the record.
class Inputs {
 public:
  explicit Inputs(const Serdes& serdes) : serdes_(serdes) {}

  // `.`: null for a null payload. kData: the bytes are not of the serde, or not JSON.
  Status ReadValue(const Record& record, Value* value);
  // One name; null where the record has no such thing.
  Status ReadName(Name name, const Input& input, Arena* arena, Value* value);

 private:
  // JSON text that is parsed for this record.
  struct Parsed {
    std::string text;
    json::Reader reader;
    json::Document document;
  };
  Status Parse(std::string_view text, std::unique_ptr<Parsed>* parsed, Value* value);
  Status ReadBytes(const Bytes& bytes, const Serde& serde, std::unique_ptr<Parsed>* parsed,
                   Value* value);
  static Value HeaderValue(const Bytes& bytes, Arena* arena);
  static Value Headers(const Record& record, Arena* arena);
  static Value HeadersList(const Record& record, Arena* arena);

  Serdes serdes_;
  std::unique_ptr<Parsed> value_;
  std::array<std::unique_ptr<Parsed>, kNames> names_;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_INPUTS_H_
