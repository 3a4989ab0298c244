// Canonical: one text for all spellings of a JSON value, so that sets know what they have: 1, 1.0
// and 10e-1 are one value, as are strings however escaped and objects whatever the order of their
// members. Tested by tests/unit/dsl/canonical_test.cc.
#ifndef KSTREAM_DSL_CANONICAL_H_
#define KSTREAM_DSL_CANONICAL_H_

#include <string>
#include <string_view>

#include "expr/value.h"
#include "record/json_document.h"

namespace kstream::dsl {

// Belongs to one thread.
class Canonical {
 public:
  // `json` is a valid compact text. The result lives until the next call; it is no JSON.
  const std::string& Of(std::string_view json);

 private:
  void Append(expr::Value value);
  void AppendObject(expr::Value object);

  json::Reader reader_;
  expr::Arena arena_;
  std::string out_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_CANONICAL_H_
