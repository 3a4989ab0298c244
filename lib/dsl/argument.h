// Argument: the expression of an aggregate, and what it gave for the record at hand.
#ifndef KSTREAM_DSL_ARGUMENT_H_
#define KSTREAM_DSL_ARGUMENT_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "dsl/operator.h"
#include "expr/single_value.h"
#include "expr/value.h"
#include "kstream/operators.h"
#include "record/serde.h"

namespace kstream::dsl {

class Argument {
 public:
  // `what` names it in errors, as its flag does: "--sum total".
  Argument(std::string what, const Expression& expression, const Serdes& serdes)
      : what_(what), value_(std::move(what), expression, serdes) {}

  Status Read(const Record& record) { return value_.Eval(InputOf(record), &json_); }

  // Compact JSON; "null" when the expression gave nothing. Until the next Read.
  std::string_view json() const { return json_; }
  bool is_null() const { return json_ == "null"; }
  bool is_string() const { return json_[0] == '"'; }
  bool is_number() const { return json_[0] == '-' || (json_[0] >= '0' && json_[0] <= '9'); }
  // Of a number.
  expr::Value number() const { return expr::Value::Literal(json_); }

  // "--sum total: takes numbers, and got a string: "abc"".
  Status Refuse(std::string_view takes) const {
    return Bad(fmt::format("takes {}, and got {}: {}", takes, TypeName(), Shown()));
  }
  Status Bad(std::string_view why) const { return Status::Data(fmt::format("{}: {}", what_, why)); }
  // What of it fits on a line.
  std::string Shown() const { return Shown(json_); }
  static std::string Shown(std::string_view json) {
    return Printable(json.size() > 80 ? std::string(json.substr(0, 77)) + "..."
                                      : std::string(json));
  }

 private:
  std::string_view TypeName() const {
    switch (json_[0]) {
      case '"':
        return "a string";
      case '[':
        return "an array";
      case '{':
        return "an object";
      case 't':
      case 'f':
        return "a boolean";
      case 'n':
        return "null";
      default:
        return "a number";
    }
  }

  std::string what_;
  expr::SingleValue value_;
  std::string_view json_ = "null";
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ARGUMENT_H_
