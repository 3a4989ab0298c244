#include "dsl/exact_sum_column.h"

#include <cmath>
#include <utility>

#include "expr/number.h"

namespace kstream::dsl {
namespace {

using expr::Value;
using Kind = AggregateFunction::Kind;
using Parts = std::vector<double>;

// Adds x to a sum of parts, smallest first, none of which overlap. Each step is an addition and its
// exact rounding error.
void AddTo(Parts* parts, double x) {
  size_t kept = 0;
  for (double y : *parts) {
    if (std::abs(x) < std::abs(y)) std::swap(x, y);
    const double sum = x + y;
    const double error = y - (sum - x);
    if (error != 0) (*parts)[kept++] = error;
    x = sum;
  }
  parts->resize(kept);
  if (x != 0) parts->push_back(x);
}

// The double nearest to the sum; of two the even one.
double Round(const Parts& parts) {
  double sum = 0, error = 0;
  size_t left = parts.size();
  while (left > 0 && error == 0) {
    const double x = sum, y = parts[--left];
    sum = x + y;
    error = y - (sum - x);
  }
  // Half of the last digit is no longer half of it when what follows has the same sign.
  if (left > 0 && (error < 0) == (parts[left - 1] < 0)) {
    const double twice = error * 2, rounded = sum + twice;
    if (twice == rounded - sum) sum = rounded;
  }
  return sum;
}

class ExactSum final : public Column {
 public:
  ExactSum(std::string name, Argument argument, Kind kind)
      : Column(std::move(name)), argument_(std::move(argument)), kind_(kind) {}

  Status Read(const Record& record) override {
    KSTREAM_RETURN_IF_ERROR(argument_.Read(record));
    ignored_ = argument_.is_null();
    if (ignored_) return Status::Ok();
    if (!argument_.is_number()) return argument_.Refuse("numbers");
    const char* error = nullptr;
    value_ = expr::Calculate(expr::Arithmetic::kAdd, Value::Int(0), argument_.number(), &error);
    return value_.is_error() ? argument_.Bad(fmt::format("{} {}", argument_.Shown(), error))
                             : Status::Ok();
  }

  Status Prepare(const Record&, const Accumulator& now) override { return Compute(now, false); }
  size_t Apply(Accumulator* now) override {
    Take(now, 1);
    return is_integer() ? 0 : sizeof(double);
  }
  kstream::Result<bool> PrepareOut(const Record&, const Accumulator& now) override {
    KSTREAM_RETURN_IF_ERROR(Compute(now, true));
    return true;
  }
  void ApplyOut(Accumulator* now) override { Take(now, -1); }
  Status Merge(const Accumulator&, Accumulator*) override {
    return Status::Usage("a table has no windows that could be merged");
  }

  void AppendResult(const Accumulator& now, std::string* json) const override {
    const Value sum = SumOf(now);
    if (kind_ == Kind::kSum) return expr::AppendJson(sum, json);
    if (now.count <= 0) {
      json->append("null");
      return;
    }
    const char* error = nullptr;
    const Value quotient =
        expr::Calculate(expr::Arithmetic::kDivide, sum, Value::Int(now.count), &error);
    expr::AppendJson(quotient.is_error()
                         ? Value::Double(expr::ToDouble(sum) / static_cast<double>(now.count))
                         : quotient,
                     json);
  }

  void AppendState(const Accumulator& now, std::string* json) const override {
    expr::AppendInt(now.sum.as_int(), &json->append("{\"exact\":["));
    expr::AppendInt(now.count, &json->append(","));
    for (const double part : PartsOf(now)) {
      expr::AppendJson(Value::Double(part), &json->append(","));
    }
    json->append("]}");
  }

  bool Restore(const json::Document& document, json::Node state, Accumulator* now) override {
    if (document.type(state) != json::Type::kObject) return false;
    const json::Node exact = document.Find(state, "exact");
    if (exact == json::kNoNode || document.type(exact) != json::Type::kArray) return false;
    size_t at = 0;
    for (json::Node n = document.First(exact); n != json::kNoNode; n = document.Next(n), at++) {
      if (document.type(n) != json::Type::kNumber) return false;
      const Value spelled = Value::Literal(document.Raw(n));
      const expr::Number number = expr::Decode(spelled);
      if (at < 2 && !number.is_int) return false;
      if (at == 0) {
        now->sum = Value::Int(number.i);
      } else if (at == 1) {
        now->count = number.i;
      } else {
        if (!now->texts) now->texts = std::make_unique<Accumulator::Texts>();
        now->texts->parts.push_back(expr::ToDouble(spelled));
      }
    }
    return at >= 2;
  }

 private:
  static const Parts& PartsOf(const Accumulator& now) {
    static const Parts kNone;
    return now.texts ? now.texts->parts : kNone;
  }
  bool is_integer() const { return value_.kind() == Value::Kind::kInt; }

  // Into integers_ or parts_: what the sum would be.
  Status Compute(const Accumulator& now, bool out) {
    if (ignored_) return Status::Ok();
    if (is_integer()) {
      const bool over = out ? __builtin_sub_overflow(now.sum.as_int(), value_.as_int(), &integers_)
                            : __builtin_add_overflow(now.sum.as_int(), value_.as_int(), &integers_);
      return over ? TooLarge(now, "do not fit a 64-bit integer") : Status::Ok();
    }
    parts_ = PartsOf(now);
    AddTo(&parts_, out ? -value_.as_double() : value_.as_double());
    const bool finite = parts_.empty() || std::isfinite(parts_.back());
    return finite ? Status::Ok() : TooLarge(now, "are together larger than any double");
  }

  Status TooLarge(const Accumulator& now, std::string_view why) const {
    std::string sum;
    expr::AppendJson(SumOf(now), &sum);
    return argument_.Bad(fmt::format("the sum so far, {}, and {} {}", sum, argument_.Shown(), why));
  }

  void Take(Accumulator* now, int64_t rows) {
    if (ignored_) return;
    now->count += rows;
    if (is_integer()) {
      now->sum = Value::Int(integers_);
      return;
    }
    if (!now->texts) now->texts = std::make_unique<Accumulator::Texts>();
    now->texts->parts.swap(parts_);
  }

  static Value SumOf(const Accumulator& now) {
    Parts parts = PartsOf(now);
    if (parts.empty()) return now.sum;
    // An integer of 64 bits is two doubles.
    const int64_t integers = now.sum.as_int();
    const int64_t low = integers % (int64_t{1} << 32);
    AddTo(&parts, static_cast<double>(integers - low));
    AddTo(&parts, static_cast<double>(low));
    return Value::Double(Round(parts));
  }

  Argument argument_;
  const Kind kind_;
  bool ignored_ = false;
  Value value_;  // of the argument: kInt or kDouble
  int64_t integers_ = 0;
  Parts parts_;
};

}  // namespace

std::unique_ptr<Column> NewExactSum(std::string name, Argument argument, Kind kind) {
  return std::make_unique<ExactSum>(std::move(name), std::move(argument), kind);
}

}  // namespace kstream::dsl
