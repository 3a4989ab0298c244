// jq's operators on values: steps, arithmetic of all types, comparison.
#include <algorithm>
#include <cmath>

#include "expr/evaluation.h"
#include "expr/number.h"

namespace kstream::expr {
namespace {

constexpr const char* kBoundsNotNumbers = "Start and end indices of an array slice must be numbers";

// Byte where code point `i` of UTF-8 text starts; the end when there are fewer.
size_t ByteOf(std::string_view text, int64_t i) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xC0) != 0x80 && i-- == 0) break;
  }
  return at;
}

int64_t CodePoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

// As in jq's messages: the type, and the beginning of the value.
std::string Evaluation::Describe(Value v) {
  constexpr size_t kShown = 11;
  std::string text;
  if (v.is_number() || v.type() < Type::kNumber) {
    AppendJson(v, &text);
  } else if (v.is_string()) {
    json::AppendQuoted(TextOf(v, &arena_).substr(0, 4 * kShown), &text);
  } else if (v.kind() == Value::Kind::kNode) {
    text = v.document().Raw(v.node()).substr(0, 4 * kShown);
  } else {
    AppendJson(v, &text);
  }
  if (CodePoints(text) > static_cast<int64_t>(kShown)) {
    text.resize(ByteOf(text, kShown - 1));
    text += "...";
  }
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return std::string(TypeName(v)) + " (" + text + ")";
}

Value Evaluation::CannotBe(Value a, Value b, std::string_view done) {
  return Fail(Describe(a) + " and " + Describe(b) + " cannot be " + std::string(done));
}

Value Evaluation::Field(Value v, Value name) {
  if (v.kind() == Value::Kind::kNull) return v;
  if (!v.is_object()) {
    return Fail("Cannot index " + std::string(TypeName(v)) + " with \"" +
                std::string(TextOf(name, &arena_)) + "\"");
  }
  return FieldOf(v, TextOf(name, &arena_));
}

Value Evaluation::Index(Value v, Value index) {
  const Type type = v.type();
  if (index.is_string() && (type == Type::kObject || type == Type::kNull)) return Field(v, index);
  if (type == Type::kNull && (index.is_number() || index.is_object())) return v;
  if (index.is_number() && type == Type::kArray) {
    const Number number = Decode(index);
    return number.is_int ? ItemOf(v, number.i) : Value::Null();
  }
  if (index.is_array() && type == Type::kArray) return Indices(v, index);
  if (index.is_object() && (type == Type::kArray || type == Type::kString)) {
    Value from;
    Value to;
    return SliceIndex(index, &from, &to) ? Slice(v, from, to) : Value::Error();
  }
  if (index.is_string()) return Field(v, index);
  return Fail("Cannot index " + std::string(TypeName(v)) + " with " + std::string(TypeName(index)));
}

// The bounds in {start: 1, end: null}; both must be there.
bool Evaluation::SliceIndex(Value index, Value* from, Value* to) {
  bool has_start = false;
  bool has_end = false;
  *from = FieldOf(index, "start", &has_start);
  *to = FieldOf(index, "end", &has_end);
  if (!has_start || !has_end) Fail(kBoundsNotNumbers);
  return has_start && has_end;
}

bool Evaluation::Bounds(Value from, Value to, int64_t length, int64_t* begin, int64_t* end) {
  const auto usable = [](Value v) { return v.kind() == Value::Kind::kNull || v.is_number(); };
  if (!usable(from) || !usable(to)) {
    Fail(kBoundsNotNumbers);
    return false;
  }
  const auto size = static_cast<double>(length);
  const auto clamp = [size](double d) {
    if (d < 0) d += size;
    return std::isnan(d) ? 0 : std::clamp(d, 0.0, size);
  };
  const double first = from.is_number() ? clamp(ToDouble(from)) : 0;
  const double last = to.is_number() ? clamp(ToDouble(to)) : size;
  *begin = static_cast<int64_t>(first);
  *end = std::max(*begin, static_cast<int64_t>(std::ceil(std::max(first, last))));
  return true;
}

Value Evaluation::Slice(Value v, Value from, Value to) {
  if (v.kind() == Value::Kind::kNull) return v;
  int64_t begin = 0;
  int64_t end = 0;
  if (v.is_string()) {
    const std::string_view text = TextOf(v, &arena_);
    if (!Bounds(from, to, CodePoints(text), &begin, &end)) return Value::Error();
    const size_t first = ByteOf(text, begin);
    return Value::String(text.substr(first, ByteOf(text.substr(first), end - begin)));
  }
  if (!v.is_array()) {
    return Fail("Cannot index " + std::string(TypeName(v)) + " with object");
  }
  const Array& items = ItemsOf(v, &arena_);
  if (!Bounds(from, to, items.size, &begin, &end)) return Value::Error();
  ArrayBuilder slice(&arena_);
  slice.Reserve(static_cast<size_t>(end - begin));
  for (int64_t i = begin; i < end; ++i) slice.Add(items.items[i]);
  return slice.Build();
}

bool Evaluation::EachItem(Value v, Sink sink) {
  if (v.kind() == Value::Kind::kNode && v.is_array()) {
    const json::Document& document = v.document();
    for (json::Node n = document.First(v.node()); n != json::kNoNode; n = document.Next(n)) {
      if (!sink(Value::Of(document, n))) return false;
    }
    return true;
  }
  if (v.is_array()) {
    for (const Value item : v.array()) {
      if (!sink(item)) return false;
    }
    return true;
  }
  for (const Object::Member& member : MembersOf(v, &arena_)) {
    if (!sink(member.value)) return false;
  }
  return true;
}

Value Evaluation::Indices(Value v, Value what) {
  ArrayBuilder found(&arena_);
  if (v.is_string() && what.is_string()) {
    // Positions are bytes, as in jq 1.6, which does not return for an empty part.
    const std::string_view text = TextOf(v, &arena_);
    const std::string_view part = TextOf(what, &arena_);
    if (part.empty()) return Value::Null();
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
      found.Add(Value::Int(static_cast<int64_t>(at)));
    }
    return found.Build();
  }
  if (!v.is_array()) return Index(v, what);  // as jq 1.6 defines it
  const Array& items = Plain(v).array();
  Value wanted = Plain(what);
  if (!what.is_array())
    wanted = Value::Of(new (arena_.Allocate(sizeof(Array)))
                           Array{1, 0, new (arena_.Allocate(sizeof(Value))) Value(wanted)});
  const Array& part = wanted.array();
  for (uint32_t i = 0; part.size > 0 && i + part.size <= items.size; ++i) {
    uint32_t same = 0;
    while (same < part.size && Equal(items.items[i + same], part.items[same], &arena_)) ++same;
    if (same == part.size) found.Add(Value::Int(i));
  }
  return found.Build();
}

Value Evaluation::AsString(Value v) { return v.is_string() ? v : Joined({v}); }

Value Evaluation::Negate(Value v) {
  if (!v.is_number()) return Fail(Describe(v) + " cannot be negated");
  const char* error = nullptr;
  const Value result = Calculate(Arithmetic::kMultiply, Value::Int(-1), v, &error);
  return result.is_error() ? Fail(Describe(v) + " cannot be negated exactly") : result;
}

Value Evaluation::Binary(Op op, Value a, Value b) {
  switch (op) {
    case Op::kAdd:
      return Add(a, b);
    case Op::kSubtract:
      return Subtract(a, b);
    case Op::kMultiply:
      return Multiply(a, b);
    case Op::kDivide:
      return Divide(a, b);
    case Op::kModulo: {
      if (!a.is_number() || !b.is_number()) return CannotBe(a, b, "divided (remainder)");
      const char* error = nullptr;
      const Value v = Calculate(Arithmetic::kModulo, a, b, &error);
      return v.is_error() ? Fail(Describe(a) + " and " + Describe(b) + " " + error) : v;
    }
    case Op::kEqual:
      return Value::Bool(Equal(a, b, &arena_));
    case Op::kNotEqual:
      return Value::Bool(!Equal(a, b, &arena_));
    case Op::kLess:
      return Value::Bool(Compare(a, b, &arena_) < 0);
    case Op::kLessEqual:
      return Value::Bool(Compare(a, b, &arena_) <= 0);
    case Op::kGreater:
      return Value::Bool(Compare(a, b, &arena_) > 0);
    case Op::kGreaterEqual:
      return Value::Bool(Compare(a, b, &arena_) >= 0);
    default:
      return a.truthy() ? a : b;
  }
}

Value Evaluation::Add(Value a, Value b) {
  if (a.kind() == Value::Kind::kNull) return b;
  if (b.kind() == Value::Kind::kNull) return a;
  if (a.is_number() && b.is_number()) {
    const char* error = nullptr;
    const Value v = Calculate(Arithmetic::kAdd, a, b, &error);
    return v.is_error()
               ? Fail("the sum of " + Describe(a) + " and " + Describe(b) + ": these " + error)
               : v;
  }
  if (a.is_string() && b.is_string()) return Joined({a, b});
  if (a.is_array() && b.is_array()) {
    const Array& x = ItemsOf(a, &arena_);
    const Array& y = ItemsOf(b, &arena_);
    if (!arena_.Fits((size_t{x.size} + y.size) * sizeof(Value))) {
      return Fail("the result is too large");
    }
    ArrayBuilder sum(&arena_);
    sum.Reserve(size_t{x.size} + y.size);
    for (const Value v : x) sum.Add(v);
    for (const Value v : y) sum.Add(v);
    return sum.Build();
  }
  if (a.is_object() && b.is_object()) {
    ObjectBuilder sum(&arena_);
    for (const Object::Member& m : MembersOf(a, &arena_)) sum.Append(m.name, m.value);
    for (const Object::Member& m : MembersOf(b, &arena_)) sum.Set(m.name, m.value);
    return sum.Build();
  }
  return CannotBe(a, b, "added");
}

Value Evaluation::Subtract(Value a, Value b) {
  if (a.is_number() && b.is_number()) {
    const char* error = nullptr;
    const Value v = Calculate(Arithmetic::kSubtract, a, b, &error);
    return v.is_error() ? Fail("the difference of " + Describe(a) + " and " + Describe(b) +
                               ": these " + error)
                        : v;
  }
  if (!a.is_array() || !b.is_array()) return CannotBe(a, b, "subtracted");
  const Array& items = ItemsOf(a, &arena_);
  const Array& plain = Plain(a).array();
  const Array& without = Plain(b).array();
  ArrayBuilder rest(&arena_);
  for (uint32_t i = 0; i < items.size; ++i) {
    const bool gone = std::any_of(without.begin(), without.end(),
                                  [&](Value v) { return Equal(plain.items[i], v, &arena_); });
    if (!gone) rest.Add(items.items[i]);
  }
  return rest.Build();
}

Value Evaluation::Repeat(Value string, double times) {
  if (!(times > 0)) return Value::Null();
  const std::string_view text = TextOf(string, &arena_);
  const auto n = static_cast<uint64_t>(std::clamp(times, 1.0, 1e15));
  if (!text.empty() && (n > Arena::kLimit || !arena_.Fits(n * text.size()))) {
    return Fail("the result is too large");
  }
  if (n == 1 || text.empty()) return string;
  char* repeated = static_cast<char*>(arena_.Allocate(n * text.size()));
  for (uint64_t i = 0; i < n; ++i) std::copy(text.begin(), text.end(), repeated + i * text.size());
  return Value::String({repeated, n * text.size()});
}

Value Evaluation::Multiply(Value a, Value b) {
  if (a.is_number() && b.is_number()) {
    const char* error = nullptr;
    const Value v = Calculate(Arithmetic::kMultiply, a, b, &error);
    return v.is_error()
               ? Fail("the product of " + Describe(a) + " and " + Describe(b) + ": these " + error)
               : v;
  }
  if (a.is_string() && b.is_number()) return Repeat(a, ToDouble(b));
  if (a.is_number() && b.is_string()) return Repeat(b, ToDouble(a));
  if (a.is_object() && b.is_object()) return Merge(a, b);
  return CannotBe(a, b, "multiplied");
}

Value Evaluation::Merge(Value a, Value b) {
  const Value left = Value::Of(&MembersOf(a, &arena_));
  ObjectBuilder merged(&arena_);
  for (const Object::Member& m : left.object()) merged.Append(m.name, m.value);
  for (const Object::Member& m : MembersOf(b, &arena_)) {
    const Value old = FieldOf(left, m.name.raw());
    merged.Set(m.name, old.is_object() && m.value.is_object() ? Merge(old, m.value) : m.value);
  }
  return merged.Build();
}

Value Evaluation::Divide(Value a, Value b) {
  if (a.is_number() && b.is_number()) {
    const char* error = nullptr;
    const Value v = Calculate(Arithmetic::kDivide, a, b, &error);
    return v.is_error() ? Fail(Describe(a) + " and " + Describe(b) + " " + error) : v;
  }
  if (a.is_string() && b.is_string()) return Split(a, b);
  return CannotBe(a, b, "divided");
}

}  // namespace kstream::expr
