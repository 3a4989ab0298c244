// Evaluates the operators of JsonLogic: dispatch, paths, control and comparison. See jsonlogic.h
// for what they mean where JavaScript and JSON part.
#include <algorithm>
#include <string>

#include "expr/evaluation.h"
#include "expr/jsonlogic.h"
#include "expr/jsonlogic_convert.h"
#include "expr/jsonlogic_functions.h"
#include "expr/jsonlogic_operators.h"
#include "fmt/format.h"

namespace kstream::expr {

Value LogicFail(const Node& node, std::string_view message, Evaluation* evaluation) {
  return evaluation->Fail(fmt::format("\"{}\" {}", LogicOperatorName(OpOf(node)), message));
}

std::string Shown(Value v) {
  if (v.is_array()) return "an array";
  if (v.is_object()) return "an object";
  std::string text;
  AppendJson(v, &text);
  constexpr size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while ((text[end] & 0xC0) == 0x80) --end;  // between characters
  return text.substr(0, end) + "...";
}

namespace {

// --- paths ---

// One step of a path: a member, an element, the length of an array or a string. Nothing when there
// is no such thing.
std::optional<Value> Step(Value v, std::string_view name, Arena* arena) {
  if (v.is_object()) {
    bool found = false;
    const Value member = FieldOf(v, name, &found);
    return found ? std::optional(member) : std::nullopt;
  }
  if (name == "length") {
    if (v.is_array()) return Value::Int(LengthOf(v));
    if (v.is_string()) {
      const std::string_view text = TextOf(v, arena);
      return Value::Int(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
    }
  }
  if (!v.is_array() || name.empty() || name.size() > 9 || (name.size() > 1 && name[0] == '0')) {
    return std::nullopt;
  }
  int64_t index = 0;
  for (char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + (c - '0');
  }
  if (index >= LengthOf(v)) return std::nullopt;
  return ItemOf(v, index);
}

std::optional<Value> Follow(Value v, std::string_view path, Arena* arena) {
  for (;;) {
    const size_t dot = path.find('.');
    const std::optional<Value> next = Step(v, path.substr(0, dot), arena);
    if (!next || dot == std::string_view::npos) return next;
    v = *next;
    path.remove_prefix(dot + 1);
  }
}

Value Path(const Node& node, Value data, Evaluation* evaluation) {
  Value start = data;
  if (node.a != nullptr) {
    start = evaluation->One(*node.a, data);
    if (start.is_error()) return start;
    // A name that is absent reads as null, and takes the default too.
    if (node.text.empty() && start.type() != Type::kNull) return start;
  }
  if (!node.text.empty()) {
    if (const auto found = Follow(start, node.text, evaluation->arena())) return *found;
  }
  return node.b == nullptr ? Value::Null() : evaluation->One(*node.b, data);
}

// `path` was calculated. Names of the record are settled when a rule is compiled, so here they
// would silently be absent.
std::optional<Value> FollowValue(const Node& node, Value data, Value path, Evaluation* evaluation) {
  if (path.type() == Type::kNull) return data;
  const auto text = ToText(path, evaluation->arena());
  if (!text) return LogicFail(node, "takes a path, not " + Shown(path), evaluation);
  if (text->empty()) return data;
  if (text->front() == '$') {
    return LogicFail(node, fmt::format("takes {} only as a constant", *text), evaluation);
  }
  return Follow(data, *text, evaluation->arena());
}

Value Var(const Node& node, Value data, Evaluation* evaluation) {
  const Value path = evaluation->One(*node.list[0], data);
  if (path.is_error()) return path;
  if (const auto found = FollowValue(node, data, path, evaluation)) return *found;
  return node.list.size() < 2 ? Value::Null() : evaluation->One(*node.list[1], data);
}

// --- missing ---

bool IsMissing(Value v) { return v.type() == Type::kNull || (v.is_string() && v.raw().empty()); }

// Nothing is missing if at least `needed`, when there is such a number, of `all` keys are there.
Value Missing(const Node& node, ArrayBuilder* missing, size_t all, Value needed,
              Evaluation* evaluation) {
  if (needed.is_error()) return needed;
  if (needed.type() != Type::kNull) {
    const Value number = ToNumber(needed, evaluation->arena());
    if (IsNan(number)) return LogicFail(node, "needs a number of keys", evaluation);
    const auto there = static_cast<int64_t>(all - missing->size());
    if (CompareNumbers(Value::Int(there), number) >= 0)
      return ArrayBuilder(evaluation->arena()).Build();
  }
  return missing->Build();
}

Value MissingOf(const Node& node, Value data, Evaluation* evaluation) {
  ArrayBuilder missing(evaluation->arena());
  for (const Node* key : node.list) {
    const Value v = evaluation->One(*key, data);
    if (v.is_error()) return v;
    if (IsMissing(v)) missing.Add(key->value);
  }
  const Value needed = node.a == nullptr ? Value::Null() : evaluation->One(*node.a, data);
  return Missing(node, &missing, node.list.size(), needed, evaluation);
}

// Keys that are calculated: the arguments, or the elements of the first when that is an array.
Value MissingOfValues(const Node& node, Value data, std::span<const Node* const> arguments,
                      Value needed, Evaluation* evaluation) {
  ArrayBuilder keys(evaluation->arena());
  for (const Node* argument : arguments) {
    const Value key = evaluation->One(*argument, data);
    if (key.is_error()) return key;
    keys.Add(key);
  }
  Value all = keys.Build();
  if (keys.size() > 0 && keys.items()[0].is_array()) all = keys.items()[0];
  ArrayBuilder missing(evaluation->arena());
  Value error;
  evaluation->EachItem(all, [&](Value key) {
    if (!evaluation->Step()) return false;
    const std::optional<Value> found = FollowValue(node, data, key, evaluation);
    if (found && found->is_error()) {
      error = *found;
      return false;
    }
    if (!found || IsMissing(*found)) missing.Add(key);
    return true;
  });
  if (evaluation->failed()) return Value::Error();
  return Missing(node, &missing, LengthOf(all), needed, evaluation);
}

// --- control ---

Value If(const Node& node, Value data, Evaluation* evaluation) {
  size_t i = 0;
  for (; i + 1 < node.list.size(); i += 2) {
    const Value condition = evaluation->One(*node.list[i], data);
    if (condition.is_error()) return condition;
    if (JsonLogicTruthy(condition)) return evaluation->One(*node.list[i + 1], data);
  }
  return i < node.list.size() ? evaluation->One(*node.list[i], data) : Value::Null();
}

// The first value that decides, or the last.
Value AndOr(const Node& node, Value data, bool deciding, Evaluation* evaluation) {
  Value v;
  for (const Node* argument : node.list) {
    v = evaluation->One(*argument, data);
    if (v.is_error() || JsonLogicTruthy(v) == deciding) return v;
  }
  return v;
}

// --- comparison ---

bool Holds(LogicOp op, Value a, Value b, Arena* arena) {
  switch (op) {
    case LogicOp::kEqual:
      return LooseEqual(a, b, arena);
    case LogicOp::kUnequal:
      return !LooseEqual(a, b, arena);
    case LogicOp::kStrictEqual:
      return StrictEqual(a, b, arena);
    case LogicOp::kStrictUnequal:
      return !StrictEqual(a, b, arena);
    case LogicOp::kLess:
      return LooseOrder(a, b, arena) < 0;
    case LogicOp::kLessEqual:
      return LooseOrder(a, b, arena) <= 0;
    case LogicOp::kGreater:
      return LooseOrder(a, b, arena) > 0;
    default:
      return LooseOrder(a, b, arena) >= 0;
  }
}

// Each neighbouring pair must hold: {"<": [1, x, 3]}.
Value Comparison(const Node& node, Value data, Evaluation* evaluation) {
  Value left = evaluation->One(*node.list[0], data);
  if (left.is_error()) return left;
  bool holds = true;
  for (const Node* argument : node.list.subspan(1)) {
    const Value right = evaluation->One(*argument, data);
    if (right.is_error()) return right;
    holds = holds && Holds(OpOf(node), left, right, evaluation->arena());
    left = right;
  }
  return Value::Bool(holds);
}

}  // namespace

Value EvalJsonLogic(const Node& node, Value data, Evaluation* evaluation) {
  const auto argument = [&] { return evaluation->One(*node.list[0], data); };
  switch (OpOf(node)) {
    case LogicOp::kVar:
      return Var(node, data, evaluation);
    case LogicOp::kPath:
      return Path(node, data, evaluation);
    case LogicOp::kMissing:
      return MissingOfValues(node, data, node.list, Value::Null(), evaluation);
    case LogicOp::kMissingSome: {
      const Value needed = argument();
      if (needed.is_error()) return needed;
      return MissingOfValues(node, data, node.list.subspan(1), needed, evaluation);
    }
    case LogicOp::kMissingOf:
      return MissingOf(node, data, evaluation);
    case LogicOp::kIf:
      return If(node, data, evaluation);
    case LogicOp::kAnd:
      return AndOr(node, data, false, evaluation);
    case LogicOp::kOr:
      return AndOr(node, data, true, evaluation);
    case LogicOp::kNot:
    case LogicOp::kTruth: {
      const Value v = argument();
      if (v.is_error()) return v;
      return Value::Bool(JsonLogicTruthy(v) == (OpOf(node) == LogicOp::kTruth));
    }
    case LogicOp::kEqual:
    case LogicOp::kUnequal:
    case LogicOp::kStrictEqual:
    case LogicOp::kStrictUnequal:
    case LogicOp::kLess:
    case LogicOp::kLessEqual:
    case LogicOp::kGreater:
    case LogicOp::kGreaterEqual:
      return Comparison(node, data, evaluation);
    case LogicOp::kMax:
      return LogicExtreme(node, true, data, evaluation);
    case LogicOp::kMin:
      return LogicExtreme(node, false, data, evaluation);
    case LogicOp::kAdd:
      return LogicArithmetic(node, Arithmetic::kAdd, data, evaluation);
    case LogicOp::kSubtract:
      return LogicArithmetic(node, Arithmetic::kSubtract, data, evaluation);
    case LogicOp::kMultiply:
      return LogicArithmetic(node, Arithmetic::kMultiply, data, evaluation);
    case LogicOp::kDivide:
      return LogicArithmetic(node, Arithmetic::kDivide, data, evaluation);
    case LogicOp::kModulo:
      return LogicArithmetic(node, Arithmetic::kModulo, data, evaluation);
    case LogicOp::kFilter:
    case LogicOp::kMap:
    case LogicOp::kReduce:
    case LogicOp::kAll:
    case LogicOp::kNone:
    case LogicOp::kSome:
      return LogicOfArray(node, data, evaluation);
    case LogicOp::kMerge:
      return LogicMerge(node, data, evaluation);
    case LogicOp::kIn:
      return LogicIn(node, data, evaluation);
    case LogicOp::kCat:
      return LogicCat(node, data, evaluation);
    case LogicOp::kSubstr:
      return LogicSubstr(node, data, evaluation);
    case LogicOp::kList:
      return LogicList(node, data, evaluation);
    case LogicOp::kLog:
      return argument();
  }
  return Value::Error();
}

}  // namespace kstream::expr
