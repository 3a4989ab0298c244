#include "expr/jsonlogic_convert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "expr/jsonlogic.h"
#include "expr/number.h"
#include "expr/text.h"

namespace kstream::expr {
namespace {

constexpr int kMaxDepth = 2000;  // of arrays that become text

Value Nan() { return Value::Double(std::numeric_limits<double>::quiet_NaN()); }

bool IsContainer(Value v) { return v.is_array() || v.is_object(); }

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

Value NumberOf(std::string_view text, Arena* arena) {
  const std::string_view spelling = JsonSpelling(text, arena);
  return spelling.empty() ? Nan() : Value::Literal(spelling);
}

// "0x1F", "0o17", "0b11".
Value NumberWithBase(std::string_view text) {
  const int base = text[1] == 'x' || text[1] == 'X'   ? 16
                   : text[1] == 'o' || text[1] == 'O' ? 8
                   : text[1] == 'b' || text[1] == 'B' ? 2
                                                      : 0;
  int64_t number = 0;
  if (base == 0 || text[2] == '-') return Nan();
  const auto [end, error] =
      std::from_chars(text.data() + 2, text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() ? Value::Int(number) : Nan();
}

Value NumberOfString(std::string_view text, Arena* arena) {
  text = Trim(text);
  if (text.empty()) return Value::Int(0);
  const Value number = NumberOf(text, arena);
  return IsNan(number) && text.size() > 2 && text[0] == '0' ? NumberWithBase(text) : number;
}

// How much of `text` reads as a decimal number.
std::string_view NumberPrefix(std::string_view text) {
  const auto digits = [&](size_t i) {
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i;
  };
  const auto sign = [&](size_t i) { return i < text.size() && (text[i] == '-' || text[i] == '+'); };
  size_t end = digits(sign(0) ? 1 : 0);
  if (end < text.size() && text[end] == '.') end = digits(end + 1);
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const size_t exponent = sign(end + 1) ? end + 2 : end + 1;
    if (digits(exponent) > exponent) end = digits(exponent);
  }
  return text.substr(0, end);
}

// False: there is an object in it, or it is too long or too deep.
bool AppendText(Value v, std::string* out, Arena* arena, int depth) {
  switch (v.type()) {
    case Type::kNull:
      out->append("null");
      return true;
    case Type::kString:
      if (!arena->Fits(out->size() + v.raw().size())) return false;
      out->append(TextOf(v, arena));
      return true;
    case Type::kObject:
      return false;
    case Type::kArray:
      break;
    case Type::kNumber:
      AppendJavaScriptText(v, out);
      return true;
    default:
      AppendJson(v, out);
      return true;
  }
  if (depth == kMaxDepth) return false;
  bool first = true;
  for (Value item : ItemsOf(v, arena)) {
    if (!arena->Fits(out->size())) return false;
    if (!first) out->push_back(',');
    first = false;
    if (item.type() != Type::kNull && !AppendText(item, out, arena, depth + 1)) return false;
  }
  return true;
}

// What is the same thing, not only alike.
bool Identical(Value a, Value b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kNode:
      return &a.document() == &b.document() && a.node() == b.node();
    case Value::Kind::kArray:
      return &a.array() == &b.array();
    default:
      return &a.object() == &b.object();
  }
}

bool NumbersEqual(Value a, Value b) { return !IsNan(a) && !IsNan(b) && CompareNumbers(a, b) == 0; }

}  // namespace

bool IsNan(Value number) {
  return number.kind() == Value::Kind::kDouble && std::isnan(number.as_double());
}

bool JsonLogicTruthy(Value v) {
  switch (v.type()) {
    case Type::kNull:
    case Type::kFalse:
      return false;
    case Type::kNumber:
      return CompareNumbers(v, Value::Int(0)) != 0;
    case Type::kString:
      return !v.raw().empty();
    case Type::kArray:
      return LengthOf(v) != 0;
    default:
      return true;
  }
}

Value ToNumber(Value v, Arena* arena) {
  switch (v.type()) {
    case Type::kNull:
    case Type::kFalse:
      return Value::Int(0);
    case Type::kTrue:
      return Value::Int(1);
    case Type::kNumber:
      return v;
    case Type::kString:
      return NumberOfString(TextOf(v, arena), arena);
    default: {
      const std::optional<std::string_view> text = ToText(v, arena);
      return text ? NumberOfString(*text, arena) : Nan();
    }
  }
}

Value ParseFloat(Value v, Arena* arena) {
  if (v.is_number()) return v;
  const std::optional<std::string_view> text = ToText(v, arena);
  return text ? NumberOf(NumberPrefix(Trim(*text)), arena) : Nan();
}

std::optional<std::string_view> ToText(Value v, Arena* arena) {
  if (v.is_string()) return TextOf(v, arena);
  std::string text;
  if (!AppendText(v, &text, arena, 0)) return std::nullopt;
  return arena->Copy(text);
}

bool StrictEqual(Value a, Value b, Arena* arena) {
  if (a.type() != b.type()) return false;
  switch (a.type()) {
    case Type::kNumber:
      return NumbersEqual(a, b);
    case Type::kString:
      return TextOf(a, arena) == TextOf(b, arena);
    case Type::kArray:
    case Type::kObject:
      return Identical(a, b);
    default:
      return true;
  }
}

bool LooseEqual(Value a, Value b, Arena* arena) {
  if (a.type() == b.type()) return StrictEqual(a, b, arena);
  if (a.type() == Type::kNull || b.type() == Type::kNull) return false;
  if (IsContainer(a) && IsContainer(b)) return false;
  if (IsContainer(b)) std::swap(a, b);
  if (IsContainer(a)) {
    const std::optional<std::string_view> text = ToText(a, arena);
    if (!text) return false;
    a = Value::String(*text);
    if (b.is_string()) return StrictEqual(a, b, arena);
  }
  return NumbersEqual(ToNumber(a, arena), ToNumber(b, arena));
}

std::partial_ordering LooseOrder(Value a, Value b, Arena* arena) {
  for (Value* v : {&a, &b}) {
    if (!IsContainer(*v)) continue;
    const std::optional<std::string_view> text = ToText(*v, arena);
    if (!text) return std::partial_ordering::unordered;
    *v = Value::String(*text);
  }
  if (a.is_string() && b.is_string()) return TextOf(a, arena) <=> TextOf(b, arena);
  a = ToNumber(a, arena);
  b = ToNumber(b, arena);
  if (IsNan(a) || IsNan(b)) return std::partial_ordering::unordered;
  return CompareNumbers(a, b) <=> 0;
}

}  // namespace kstream::expr
