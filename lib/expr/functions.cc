// jq's built-in functions: which is which, and those on any value.
#include <algorithm>
#include <cmath>

#include "expr/evaluation.h"
#include "expr/number.h"
#include "expr/text.h"

namespace kstream::expr {
namespace {

Builtin BuiltinOf(const Node& node) { return static_cast<Builtin>(node.detail); }

bool HasType(Builtin selector, Value v) {
  const Type type = v.type();
  switch (selector) {
    case Builtin::kValues:
      return type != Type::kNull;
    case Builtin::kNulls:
      return type == Type::kNull;
    case Builtin::kBooleans:
      return type == Type::kTrue || type == Type::kFalse;
    case Builtin::kNumbers:
      return type == Type::kNumber;
    case Builtin::kStrings:
      return type == Type::kString;
    case Builtin::kArrays:
      return type == Type::kArray;
    case Builtin::kObjects:
      return type == Type::kObject;
    case Builtin::kIterables:
      return type >= Type::kArray;
    default:
      return type < Type::kArray;
  }
}

}  // namespace

Value Evaluation::OneCall(const Node& node, Value in) {
  const Builtin builtin = BuiltinOf(node);
  switch (builtin) {
    case Builtin::kAnyOf:
    case Builtin::kAllOf:
      return AnyOrAll(node, in, builtin == Builtin::kAnyOf);
    case Builtin::kMap: {
      if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
      ArrayBuilder items(&arena_);
      EachItem(in, [&](Value item) {
        return Each(*node.list[0], item, [&](Value v) {
          items.Add(v);
          return true;
        });
      });
      return failed_ ? Value::Error() : items.Build();
    }
    case Builtin::kLast: {
      Value last;  // null when there is none
      Each(*node.list[0], in, [&](Value v) {
        last = v;
        return true;
      });
      return failed_ ? Value::Error() : last;
    }
    case Builtin::kMapValues:
      return MapValues(*node.list[0], in);
    case Builtin::kDelete:
      return Delete(*node.list[0], in);
    case Builtin::kGroupBy:
    case Builtin::kSortBy:
    case Builtin::kUniqueBy:
      return Sorted(builtin, in, node.list[0]);
    default:
      break;
  }
  if (node.list.empty()) return OfInput(builtin, in);
  const Value argument = One(*node.list[0], in);
  return argument.is_error() ? argument : WithArgument(builtin, in, argument);
}

bool Evaluation::EachCall(const Node& node, Value in, Sink sink) {
  const Builtin builtin = BuiltinOf(node);
  switch (builtin) {
    case Builtin::kSelect:
      return Each(*node.list[0], in, [&](Value v) { return !v.truthy() || sink(in); });
    case Builtin::kFirst: {
      bool go_on = true;
      Each(*node.list[0], in, [&](Value v) {
        go_on = sink(v);
        return false;
      });
      return go_on && !failed_;
    }
    default:
      break;
  }
  if (node.list.empty()) return !HasType(builtin, in) || sink(in);
  return Each(*node.list[0], in, [&](Value argument) {
    const Value v = WithArgument(builtin, in, argument);
    return !v.is_error() && sink(v);
  });
}

// any(f): of the items; any(g; f): of what g gives. Stops at the first that decides.
Value Evaluation::AnyOrAll(const Node& node, Value in, bool any) {
  bool decided = false;
  const Node& condition = *node.list.back();
  const auto test = [&](Value item) {
    return Each(condition, item, [&](Value v) {
      decided = v.truthy() == any;
      return !decided;
    });
  };
  if (node.list.size() == 2) {
    Each(*node.list[0], in, test);
  } else if (in.type() >= Type::kArray) {
    EachItem(in, test);
  } else {
    Fail("Cannot iterate over " + Describe(in));
  }
  return failed_ ? Value::Error() : Value::Bool(decided == any);
}

Value Evaluation::OfInput(Builtin builtin, Value in) {
  switch (builtin) {
    case Builtin::kAdd:
      return Sum(in);
    case Builtin::kAll:
    case Builtin::kAny: {
      if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
      const bool any = builtin == Builtin::kAny;
      return Value::Bool(EachItem(in, [&](Value v) { return v.truthy() != any; }) != any);
    }
    case Builtin::kAsciiDowncase:
    case Builtin::kAsciiUpcase:
      return Case(in, builtin == Builtin::kAsciiUpcase);
    case Builtin::kCeil:
    case Builtin::kFloor:
    case Builtin::kSqrt:
      return Rounded(builtin, in);
    case Builtin::kFromEntries:
      return FromEntries(in);
    case Builtin::kFromJson:
      return FromJson(in);
    case Builtin::kKeys:
    case Builtin::kKeysUnsorted:
      return Keys(in, builtin == Builtin::kKeys);
    case Builtin::kLength:
      return Length(in);
    case Builtin::kMax:
    case Builtin::kMin:
      return Extreme(in, builtin == Builtin::kMax);
    case Builtin::kNot:
      return Value::Bool(!in.truthy());
    case Builtin::kReverse:
      return Reverse(in);
    case Builtin::kSort:
    case Builtin::kUnique:
      return Sorted(builtin, in, nullptr);
    case Builtin::kToEntries:
      return ToEntries(in);
    case Builtin::kToJson: {
      scratch_.clear();
      AppendJqText(in, &scratch_, &arena_);
      return Value::String(arena_.Copy(scratch_));
    }
    case Builtin::kToNumber:
      return ToNumber(in);
    case Builtin::kToString:
      return AsString(in);
    case Builtin::kType:
      return Value::Spelled(TypeName(in), false);
    case Builtin::kUtf8ByteLength:
      if (!in.is_string()) return Fail(Describe(in) + " only strings have UTF-8 byte length");
      return Value::Int(static_cast<int64_t>(TextOf(in, &arena_).size()));
    default:  // error: the input is the message
      if (in.is_string()) return Fail(std::string(TextOf(in, &arena_)));
      return Fail("(not a string): " + Describe(in));
  }
}

Value Evaluation::WithArgument(Builtin builtin, Value in, Value argument) {
  const bool strings = in.is_string() && argument.is_string();
  switch (builtin) {
    case Builtin::kContains:
    case Builtin::kInside: {
      const Value whole = builtin == Builtin::kContains ? in : argument;
      const Value part = builtin == Builtin::kContains ? argument : in;
      if (whole.type() == part.type()) return Contains(Plain(whole), Plain(part));
      return CannotBe(whole, part, "checked for containment");
    }
    case Builtin::kStartsWith:
    case Builtin::kEndsWith: {
      const bool start = builtin == Builtin::kStartsWith;
      if (!strings)
        return Fail(start ? "startswith() requires string inputs"
                          : "endswith() requires string inputs");
      const std::string_view text = TextOf(in, &arena_);
      const std::string_view part = TextOf(argument, &arena_);
      return Value::Bool(start ? text.starts_with(part) : text.ends_with(part));
    }
    case Builtin::kLtrimstr:
    case Builtin::kRtrimstr: {
      if (!strings) return in;
      const std::string_view text = TextOf(in, &arena_);
      const std::string_view part = TextOf(argument, &arena_);
      if (builtin == Builtin::kLtrimstr) {
        return text.starts_with(part) ? Value::String(text.substr(part.size())) : in;
      }
      return text.ends_with(part) ? Value::String(text.substr(0, text.size() - part.size())) : in;
    }
    case Builtin::kHas:
      return Has(in, argument);
    case Builtin::kIndex: {
      const Value all = Indices(in, argument);
      return all.is_error() ? all : Index(all, Value::Int(0));
    }
    case Builtin::kIndices:
      return Indices(in, argument);
    case Builtin::kJoin:
      return Join(in, argument);
    case Builtin::kSplit:
      if (!strings) return Fail("split input and separator must be strings");
      return Split(in, argument);
    default:
      return OfInput(builtin, argument);  // error(message)
  }
}

Value Evaluation::Length(Value in) {
  switch (in.type()) {
    case Type::kNull:
      return Value::Int(0);
    case Type::kFalse:
    case Type::kTrue:
      return Fail(Describe(in) + " has no length");
    case Type::kNumber:
      if (const int sign = CompareNumbers(in, Value::Int(0)); sign <= 0) {
        return sign < 0 ? Negate(in) : Value::Int(0);
      }
      return in;
    case Type::kString: {
      const std::string_view text = TextOf(in, &arena_);
      return Value::Int(
          std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    }
    case Type::kArray:
      return Value::Int(LengthOf(in));
    case Type::kObject:
      break;
  }
  return Value::Int(MembersOf(in, &arena_).size);
}

Value Evaluation::Rounded(Builtin builtin, Value in) {
  if (!in.is_number()) return Fail(Describe(in) + " number required");
  const Number number = Decode(in);
  if (builtin == Builtin::kSqrt) return Value::Double(std::sqrt(number.d));
  if (number.is_int) return number.i == 0 ? Value::Double(number.d) : Value::Int(number.i);
  if (!number.spelling.empty() && std::abs(number.d) > 0x1p53) {
    return SurvivesDouble(number.spelling)
               ? in
               : Fail(Describe(in) + " has more digits than can be rounded exactly");
  }
  return Value::Double(builtin == Builtin::kFloor ? std::floor(number.d) : std::ceil(number.d));
}

}  // namespace kstream::expr
