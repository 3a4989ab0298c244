// JsonLogic's operators on numbers, arrays and text.
//
// Rules cannot loop for ever, but `reduce` can make a value deeper with every element; its
// accumulator is therefore looked at, so that whoever walks a value finds it shallow enough. Size
// is bounded by the arena, time by Evaluation's steps.
#include "expr/jsonlogic_functions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "expr/evaluation.h"
#include "expr/jsonlogic.h"
#include "expr/jsonlogic_convert.h"
#include "expr/number.h"
#include "fmt/format.h"

namespace kstream::expr {
namespace {

constexpr int kMaxMade = 500;  // levels of arrays and objects that a rule may make

Value NotANumber(const Node& node, Value v, Evaluation* evaluation) {
  return LogicFail(node, "finds no number in " + Shown(v), evaluation);
}

// Unlike jq's, of fractions too.
Value Remainder(Value a, Value b, const char** error) {
  const Number x = Decode(a);
  const Number y = Decode(b);
  if (x.is_int && y.is_int) return Value::Int(y.i == -1 ? 0 : x.i % y.i);
  // A division refuses what a double does not hold exactly; so must its remainder.
  if (Calculate(Arithmetic::kDivide, a, b, error).is_error()) return Value::Error();
  return Value::Double(std::fmod(x.d, y.d));
}

Value Calculated(const Node& node, Arithmetic op, Value a, Value b, Evaluation* evaluation) {
  if (op == Arithmetic::kDivide || op == Arithmetic::kModulo) {
    if (CompareNumbers(b, Value::Int(0)) == 0) {
      return LogicFail(node, fmt::format("divides {} by zero", Shown(a)), evaluation);
    }
  }
  const char* error = nullptr;
  const Value result =
      op == Arithmetic::kModulo ? Remainder(a, b, &error) : Calculate(op, a, b, &error);
  if (result.is_error()) {
    return LogicFail(node, fmt::format("fails: {} and {} {}", Shown(a), Shown(b), error),
                     evaluation);
  }
  if (result.kind() == Value::Kind::kDouble && !std::isfinite(result.as_double())) {
    return LogicFail(node, fmt::format("of {} and {} is too large", Shown(a), Shown(b)),
                     evaluation);
  }
  const bool negative_zero = result.kind() == Value::Kind::kDouble && result.as_double() == 0;
  return negative_zero ? Value::Int(0) : result;  // no text of JavaScript shows that sign
}

// Calls `each(element, result of the rule on it)` until it returns false. False when that failed.
template <typename F>
bool EachResult(const Node& node, Value array, Evaluation* evaluation, F each) {
  evaluation->EachItem(array, [&](Value element) {
    if (!evaluation->Step()) return false;
    const Value result = evaluation->One(*node.list[1], element);
    return !result.is_error() && each(element, result);
  });
  return !evaluation->failed();
}

Value MapOrFilter(const Node& node, Value array, Evaluation* evaluation) {
  ArrayBuilder items(evaluation->arena());
  if (!array.is_array()) return items.Build();
  const bool map = OpOf(node) == LogicOp::kMap;
  const bool ok = EachResult(node, array, evaluation, [&](Value element, Value result) {
    if (map) items.Add(result);
    if (!map && JsonLogicTruthy(result)) items.Add(element);
    return true;
  });
  return ok ? items.Build() : Value::Error();
}

// Of an empty array, and of what is none, `none` alone is true.
Value Quantifier(const Node& node, Value array, Evaluation* evaluation) {
  const LogicOp op = OpOf(node);
  if (!array.is_array() || LengthOf(array) == 0) return Value::Bool(op == LogicOp::kNone);
  const bool looked_for = op != LogicOp::kAll;
  bool found = false;
  const bool ok = EachResult(node, array, evaluation, [&](Value, Value result) {
    found = JsonLogicTruthy(result) == looked_for;
    return !found;
  });
  return ok ? Value::Bool(found == (op == LogicOp::kSome)) : Value::Error();
}

bool IsShallow(Value v, int levels, Evaluation* evaluation) {
  const auto is_shallow = [&](Value inner) { return IsShallow(inner, levels - 1, evaluation); };
  if (v.kind() == Value::Kind::kArray) {
    return levels > 0 && evaluation->Step() && std::ranges::all_of(v.array(), is_shallow);
  }
  if (v.kind() != Value::Kind::kObject) return true;
  return levels > 0 && evaluation->Step() &&
         std::ranges::all_of(v.object(), is_shallow, &Object::Member::value);
}

Value Reduce(const Node& node, Value data, Value array, Evaluation* evaluation) {
  Value accumulator = node.list.size() > 2 ? evaluation->One(*node.list[2], data) : Value::Null();
  if (accumulator.is_error() || !array.is_array()) return accumulator;
  evaluation->EachItem(array, [&](Value element) {
    ObjectBuilder scope(evaluation->arena());
    scope.Append(Value::String("current"), element);
    scope.Append(Value::String("accumulator"), accumulator);
    accumulator = evaluation->One(*node.list[1], scope.Build());
    if (accumulator.is_error() || !evaluation->Step()) return false;
    if (IsShallow(accumulator, kMaxMade, evaluation)) return true;
    if (!evaluation->failed())
      LogicFail(node, "makes a value that is nested too deeply", evaluation);
    return false;
  });
  return evaluation->failed() ? Value::Error() : accumulator;
}

Value NoText(const Node& node, Value v, Evaluation* evaluation) {
  return LogicFail(node, "finds no text in " + Shown(v), evaluation);
}

// Number of code points, cut off at what no text has.
std::optional<int64_t> Count(Value v, Arena* arena) {
  const Value number = ToNumber(v, arena);
  if (IsNan(number)) return std::nullopt;
  constexpr double kMost = 1e12;
  return static_cast<int64_t>(std::clamp(ToDouble(number), -kMost, kMost));
}

// The byte at which code point `n` of `text` starts.
size_t ByteOf(std::string_view text, int64_t n) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xC0) != 0x80 && n-- == 0) break;
  }
  return at;
}

}  // namespace

// JavaScript's + and * of JsonLogic read numbers as parseFloat() does, the others as Number().
Value LogicArithmetic(const Node& node, Arithmetic op, Value data, Evaluation* evaluation) {
  const bool parse = op == Arithmetic::kAdd || op == Arithmetic::kMultiply;
  Value result = Value::Int(0);
  bool first = true;
  for (const Node* argument : node.list) {
    const Value v = evaluation->One(*argument, data);
    if (v.is_error()) return v;
    const Value number =
        parse ? ParseFloat(v, evaluation->arena()) : ToNumber(v, evaluation->arena());
    if (IsNan(number)) return NotANumber(node, v, evaluation);
    result = first ? number : Calculated(node, op, result, number, evaluation);
    if (result.is_error()) return result;
    first = false;
  }
  if (op == Arithmetic::kSubtract && node.list.size() == 1) {
    return Calculated(node, op, Value::Int(0), result, evaluation);
  }
  return result;
}

Value LogicExtreme(const Node& node, bool largest, Value data, Evaluation* evaluation) {
  Value best;
  for (const Node* argument : node.list) {
    const Value v = evaluation->One(*argument, data);
    if (v.is_error()) return v;
    const Value number = ToNumber(v, evaluation->arena());
    if (IsNan(number)) return NotANumber(node, v, evaluation);
    const int order = best.is_number() ? CompareNumbers(number, best) : 0;
    if (!best.is_number() || (largest ? order > 0 : order < 0)) best = number;
  }
  return best;
}

Value LogicList(const Node& node, Value data, Evaluation* evaluation) {
  ArrayBuilder items(evaluation->arena());
  for (const Node* argument : node.list) {
    const Value v = evaluation->One(*argument, data);
    if (v.is_error()) return v;
    items.Add(v);
  }
  return items.Build();
}

Value LogicOfArray(const Node& node, Value data, Evaluation* evaluation) {
  const Value array = evaluation->One(*node.list[0], data);
  if (array.is_error()) return array;
  switch (OpOf(node)) {
    case LogicOp::kFilter:
    case LogicOp::kMap:
      return MapOrFilter(node, array, evaluation);
    case LogicOp::kReduce:
      return Reduce(node, data, array, evaluation);
    default:
      return Quantifier(node, array, evaluation);
  }
}

Value LogicMerge(const Node& node, Value data, Evaluation* evaluation) {
  ArrayBuilder items(evaluation->arena());
  for (const Node* argument : node.list) {
    const Value v = evaluation->One(*argument, data);
    if (v.is_error()) return v;
    if (!v.is_array()) {
      items.Add(v);
      continue;
    }
    const bool all = evaluation->EachItem(v, [&](Value item) {
      items.Add(item);
      return true;
    });
    if (!all) return Value::Error();
  }
  return items.Build();
}

Value LogicIn(const Node& node, Value data, Evaluation* evaluation) {
  Arena* const arena = evaluation->arena();
  const Value what = evaluation->One(*node.list[0], data);
  if (what.is_error()) return what;
  const Value where = evaluation->One(*node.list[1], data);
  if (where.is_error()) return where;
  if (where.is_string()) {
    // In "" is nothing, as in all that is not true.
    const auto text = ToText(what, arena);
    return Value::Bool(text && !where.raw().empty() &&
                       TextOf(where, arena).find(*text) != std::string_view::npos);
  }
  bool found = false;
  if (where.is_array()) {
    evaluation->EachItem(where, [&](Value item) {
      found = StrictEqual(what, item, arena);
      return !found;
    });
  }
  return evaluation->failed() ? Value::Error() : Value::Bool(found);
}

Value LogicCat(const Node& node, Value data, Evaluation* evaluation) {
  Arena* const arena = evaluation->arena();
  std::string text;
  for (const Node* argument : node.list) {
    const Value v = evaluation->One(*argument, data);
    if (v.is_error()) return v;
    if (v.type() == Type::kNull) continue;
    const auto part = ToText(v, arena);
    if (!part) return NoText(node, v, evaluation);
    if (!arena->Fits(text.size() + part->size())) return LogicFail(node, "is too long", evaluation);
    text += *part;
  }
  return Value::String(arena->Copy(text));
}

// A negative start counts from the end, a negative length leaves out that many at the end.
Value LogicSubstr(const Node& node, Value data, Evaluation* evaluation) {
  Arena* const arena = evaluation->arena();
  Value arguments[3];
  for (size_t i = 0; i < node.list.size(); ++i) {
    arguments[i] = evaluation->One(*node.list[i], data);
    if (arguments[i].is_error()) return arguments[i];
  }
  const auto text = ToText(arguments[0], arena);
  if (!text) return NoText(node, arguments[0], evaluation);
  const auto size =
      static_cast<int64_t>(std::ranges::count_if(*text, [](char c) { return (c & 0xC0) != 0x80; }));
  const auto start = Count(arguments[1], arena);
  if (!start) return NotANumber(node, arguments[1], evaluation);
  const int64_t begin = *start < 0 ? std::max<int64_t>(size + *start, 0) : std::min(*start, size);
  int64_t end = size;
  if (node.list.size() > 2) {
    const auto length = Count(arguments[2], arena);
    if (!length) return NotANumber(node, arguments[2], evaluation);
    end = *length < 0 ? std::max(size + *length, begin) : std::min(begin + *length, size);
  }
  const size_t from = ByteOf(*text, begin);
  return Value::String(text->substr(from, ByteOf(*text, end) - from));
}

}  // namespace kstream::expr
