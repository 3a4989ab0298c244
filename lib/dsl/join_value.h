// JoinValue: what is kept of a record until others meet it, and what is made of those that met.
//
// For expressions that is JSON, one line of it, which is checked once, when the record comes; for a
// function of C++ the bytes as they came. Tested by tests/unit/dsl/stream_join_test.cc.
#ifndef KSTREAM_DSL_JOIN_VALUE_H_
#define KSTREAM_DSL_JOIN_VALUE_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/join_rows.h"
#include "expr/inputs.h"
#include "expr/program.h"
#include "kstream/joins.h"
#include "record/json_document.h"
#include "record/serde.h"

namespace kstream::dsl {

// Belongs to one task.
class JoinValue {
 public:
  // At most one of expression and function; neither: {"left":..,"right":..}.
  JoinValue(const std::optional<Expression>& value, ValueJoiner joiner, const Serdes& left,
            const Serdes& right);

  // What is to be kept of a record's value, which is not null; lives until the next call, or as
  // long as the record. kData: it is not of its serde.
  Status Read(JoinSide side, const Record& record, std::string_view* kept);

  // What left and right make, one of which may be null: the value of `result`, whose other members
  // are those of the result. *made false: nothing. kData: the expression or function failed.
  Status Make(const Record& result, const KeptRecord* left, const KeptRecord* right,
              std::optional<std::string>* value, bool* made);
  // Whether what it makes is one line of JSON.
  bool is_json() const { return !joiner_; }

 private:
  Status MakeByFunction(const Record& result, const KeptRecord* left, const KeptRecord* right,
                        std::optional<std::string>* value);

  const ValueJoiner joiner_;
  std::optional<expr::Evaluator> evaluator_;
  const std::array<Serde, kJoinSides> serdes_;
  json::Reader reader_;
  std::string text_, compact_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_JOIN_VALUE_H_
