// SingleValue: an expression of which one value is wanted: a key, a topic, a partition, a
// timestamp. Tested by tests/unit/expr/single_value_test.cc.
#ifndef KSTREAM_EXPR_SINGLE_VALUE_H_
#define KSTREAM_EXPR_SINGLE_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "expr/program.h"
#include "kstream/expression.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "record/json_document.h"

namespace kstream::expr {

// Belongs to one thread. Views it returns live until its next evaluation.
class SingleValue {
 public:
  // `what` names the expression in errors, as its flag does: "--key".
  SingleValue(std::string what, const Expression& expression, const Serdes& serdes);

  // *json = the value as compact JSON; `null` when there is none. kData when there are several.
  Status Eval(const Input& input, std::string_view* json);
  // The value as a key's bytes; nullopt for null.
  Status Key(const Input& input, Bytes* key);
  // The value as text: a string's own, the JSON of anything else; nullopt for null.
  Status Text(const Input& input, Bytes* text);
  // The value as the name of a topic: a string that is not empty.
  Status Topic(const Input& input, std::string_view* topic);
  // The value as an integer from 0 to 2^31-1.
  Status Partition(const Input& input, int32_t* partition);
  // Any output is true: neither false nor null.
  Status Test(const Input& input, bool* result) { return evaluator_.Test(input, result); }

 private:
  Status Convert(const Input& input, const Serde& serde, Bytes* bytes);

  std::string what_;
  Serde key_serde_;
  Evaluator evaluator_;
  std::string json_, bytes_;
  int outputs_ = 0;
};

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_SINGLE_VALUE_H_
