// Counts and sums. Sums go by the expressions' own arithmetic (expr/number.h): integers exactly
// within 64 bits, everything else as doubles, and never silently another number: a sum that does
// not fit, or an argument of more digits than can be calculated with, makes the record bad. An
// average is a sum and a count until it is printed. (Of tables: exact_sum_column.h.)
#include "dsl/number_columns.h"

#include <cmath>
#include <limits>
#include <utility>

#include "expr/number.h"

namespace kstream::dsl {
namespace {

using expr::Value;

// An integer of a state, spelled as AppendInt does.
bool ReadInt(const json::Document& document, json::Node node, int64_t* value) {
  if (node == json::kNoNode || document.type(node) != json::Type::kNumber) return false;
  const expr::Number number = expr::Decode(Value::Literal(document.Raw(node)));
  *value = number.i;
  return number.is_int;
}

// A sum of a state: shortest digits give back the same double.
bool ReadSum(const json::Document& document, json::Node node, Value* sum) {
  if (node == json::kNoNode || document.type(node) != json::Type::kNumber) return false;
  const expr::Number number = expr::Decode(Value::Literal(document.Raw(node)));
  *sum = number.is_int ? Value::Int(number.i) : Value::Double(number.d);
  return number.is_int || std::isfinite(number.d);
}

class Count final : public Column {
 public:
  Count(std::string name, std::optional<Argument> argument)
      : Column(std::move(name)), argument_(std::move(argument)) {}

  Status Read(const Record& record) override {
    if (!argument_) return Status::Ok();
    KSTREAM_RETURN_IF_ERROR(argument_->Read(record));
    counts_ = !argument_->is_null();
    return Status::Ok();
  }
  Status Prepare(const Record&, const Accumulator&) override { return Status::Ok(); }
  size_t Apply(Accumulator* now) override {
    now->count += counts_ ? 1 : 0;
    return 0;
  }
  kstream::Result<bool> PrepareOut(const Record&, const Accumulator&) override { return true; }
  // Under at-least-once a row may be taken out twice, but no count is below 0.
  void ApplyOut(Accumulator* now) override { now->count -= counts_ && now->count > 0 ? 1 : 0; }
  Status Merge(const Accumulator& later, Accumulator* now) override {
    now->count += later.count;
    return Status::Ok();
  }

  void AppendResult(const Accumulator& now, std::string* json) const override {
    expr::AppendInt(now.count, json);
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    AppendResult(now, json);
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    return ReadInt(document, state, &now->count) && now->count >= 0;
  }

 private:
  std::optional<Argument> argument_;
  bool counts_ = true;
};

// What sum and avg share.
class Summing : public Column {
 public:
  Summing(std::string name, Argument argument)
      : Column(std::move(name)), argument_(std::move(argument)) {}

  Status Read(const Record& record) final {
    KSTREAM_RETURN_IF_ERROR(argument_.Read(record));
    ignored_ = argument_.is_null();
    return ignored_ || argument_.is_number() ? Status::Ok() : argument_.Refuse("numbers");
  }
  Status Prepare(const Record&, const Accumulator& now) final {
    if (ignored_) return Status::Ok();
    return Add(now.sum, argument_.number());
  }
  size_t Apply(Accumulator* now) final {
    if (ignored_) return 0;
    now->sum = sum_;
    now->count++;
    return 0;
  }
  Status Merge(const Accumulator& later, Accumulator* now) final {
    KSTREAM_RETURN_IF_ERROR(Add(now->sum, later.sum));
    now->sum = sum_;
    now->count += later.count;
    return Status::Ok();
  }

 private:
  // Into sum_.
  Status Add(Value so_far, Value more) {
    const char* error = nullptr;
    sum_ = expr::Calculate(expr::Arithmetic::kAdd, so_far, more, &error);
    if (sum_.is_error()) return CannotAdd(so_far, more, error);
    if (sum_.kind() == Value::Kind::kDouble && !std::isfinite(sum_.as_double())) {
      return CannotAdd(so_far, more, "are together larger than any double");
    }
    return Status::Ok();
  }
  Status CannotAdd(Value so_far, Value more, const char* why) const {
    std::string sum, added;
    expr::AppendJson(so_far, &sum);
    expr::AppendJson(more, &added);
    return argument_.Bad(
        fmt::format("the sum so far, {}, and {} {}", sum, Argument::Shown(added), why));
  }

  Argument argument_;
  Value sum_;
  bool ignored_ = false;
};

class Sum final : public Summing {
 public:
  using Summing::Summing;

  void AppendResult(const Accumulator& now, std::string* json) const override {
    expr::AppendJson(now.sum, json);
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    json->append("{\"sum\":");
    expr::AppendJson(now.sum, json);
    json->push_back('}');
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    return document.type(state) == json::Type::kObject &&
           document.Find(state, "count") == json::kNoNode &&
           ReadSum(document, document.Find(state, "sum"), &now->sum);
  }
};

class Avg final : public Summing {
 public:
  using Summing::Summing;

  void AppendResult(const Accumulator& now, std::string* json) const override {
    if (now.count == 0) {
      json->append("null");
      return;
    }
    const char* error = nullptr;
    const Value quotient =
        expr::Calculate(expr::Arithmetic::kDivide, now.sum, Value::Int(now.count), &error);
    // An integer sum over an integer count is never refused; a double sum is a double already.
    expr::AppendJson(quotient.is_error()
                         ? Value::Double(expr::ToDouble(now.sum) / static_cast<double>(now.count))
                         : quotient,
                     json);
  }
  void AppendState(const Accumulator& now, std::string* json) const override {
    json->append("{\"sum\":");
    expr::AppendJson(now.sum, json);
    json->append(",\"count\":");
    expr::AppendInt(now.count, json);
    json->push_back('}');
  }
  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    return document.type(state) == json::Type::kObject &&
           ReadSum(document, document.Find(state, "sum"), &now->sum) &&
           ReadInt(document, document.Find(state, "count"), &now->count) && now->count >= 0;
  }
};

}  // namespace

std::unique_ptr<Column> NewCount(std::string name, std::optional<Argument> argument) {
  return std::make_unique<Count>(std::move(name), std::move(argument));
}

std::unique_ptr<Column> NewSum(std::string name, Argument argument) {
  return std::make_unique<Sum>(std::move(name), std::move(argument));
}

std::unique_ptr<Column> NewAvg(std::string name, Argument argument) {
  return std::make_unique<Avg>(std::move(name), std::move(argument));
}

}  // namespace kstream::dsl
