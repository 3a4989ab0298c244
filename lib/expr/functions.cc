// jq's built-in functions.
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

// A copy of a parsed value that outlives its Document. The text it was parsed from stays.
Value Built(const json::Document& document, json::Node n, Arena* arena) {
  const Value v = Value::Of(document, n);
  if (v.kind() != Value::Kind::kNode) return v;
  if (v.is_array()) {
    ArrayBuilder items(arena);
    for (json::Node i = document.First(n); i != json::kNoNode; i = document.Next(i)) {
      items.Add(Built(document, i, arena));
    }
    return items.Build();
  }
  ObjectBuilder members(arena);
  for (json::Node i = document.First(n); i != json::kNoNode;) {
    const json::Node value = document.ValueOf(i);
    members.Set(Value::Of(document, i), Built(document, value, arena));
    i = document.Next(value);
  }
  return members.Build();
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

// Strings and arrays are joined at once: adding them one by one would copy the sum each time.
Value Evaluation::Sum(Value in) {
  if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
  std::vector<Value> items;
  bool strings = true;
  bool arrays = true;
  EachItem(in, [&](Value v) {
    items.push_back(v);
    strings = strings && v.is_string();
    arrays = arrays && v.is_array();
    return true;
  });
  if (items.size() > 2 && strings) return Joined(items);
  if (items.size() > 2 && arrays) {
    ArrayBuilder sum(&arena_);
    for (const Value v : items) {
      EachItem(v, [&](Value item) {
        sum.Add(item);
        return !arena_.full();
      });
    }
    return sum.Build();
  }
  Value sum;
  for (const Value v : items) {
    sum = Add(sum, v);
    if (sum.is_error()) return sum;
    if (arena_.full()) return Fail("the result is too large");
  }
  return sum;
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

Value Evaluation::Keys(Value in, bool sorted) {
  if (in.type() < Type::kArray) return Fail(Describe(in) + " has no keys");
  ArrayBuilder keys(&arena_);
  if (in.is_array()) {
    for (uint32_t i = 0, n = LengthOf(in); i < n; ++i) keys.Add(Value::Int(i));
    return keys.Build();
  }
  for (const Object::Member& m : MembersOf(in, &arena_)) keys.Add(m.name);
  if (sorted) {
    std::sort(keys.items(), keys.items() + keys.size(),
              [](Value a, Value b) { return a.raw() < b.raw(); });
  }
  return keys.Build();
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

Value Evaluation::ToNumber(Value in) {
  if (in.is_number()) return in;
  if (!in.is_string()) return Fail(Describe(in) + " cannot be parsed as a number");
  std::string_view text = TextOf(in, &arena_);
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  text = first == text.npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  const std::string_view spelling = JsonSpelling(text, &arena_);
  if (spelling.empty()) return Fail(Describe(in) + " cannot be parsed as a number");
  return Value::Literal(spelling);
}

Value Evaluation::FromJson(Value in) {
  if (!in.is_string()) return Fail(Describe(in) + " cannot be parsed as JSON");
  if (reader_ == nullptr) reader_ = std::make_unique<json::Reader>();
  // The document points into the text, which must stay where it is.
  std::string_view text = TextOf(in, &arena_);
  json::Document document;
  const Status status = reader_->Parse(text, &document);
  if (!status.ok()) return Fail("fromjson: " + std::string(status.message()));
  return Built(document, document.root(), &arena_);
}

Value Evaluation::ToEntries(Value in) {
  if (in.type() < Type::kArray) return Fail(Describe(in) + " has no keys");
  ArrayBuilder entries(&arena_);
  int64_t i = 0;
  const auto add = [&](Value key, Value value) {
    ObjectBuilder entry(&arena_);
    entry.Reserve(2);
    entry.Append(Value::Spelled("key", false), key);
    entry.Append(Value::Spelled("value", false), value);
    entries.Add(entry.Build());
  };
  if (in.is_object()) {
    for (const Object::Member& m : MembersOf(in, &arena_)) add(m.name, m.value);
  } else {
    for (const Value v : ItemsOf(in, &arena_)) add(Value::Int(i++), v);
  }
  return entries.Build();
}

Value Evaluation::FromEntries(Value in) {
  if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
  ObjectBuilder object(&arena_);
  EachItem(in, [&](Value entry) {
    if (!entry.is_object() && entry.kind() != Value::Kind::kNull) {
      return !Fail("Cannot index " + std::string(TypeName(entry)) + " with \"key\"").is_error();
    }
    Value name;
    for (const std::string_view key : {"key", "k", "name", "Name", "K", "Key"}) {
      if (!name.truthy() && entry.is_object()) name = FieldOf(entry, key);
    }
    if (!name.is_string()) {
      return !Fail("Cannot use " + Describe(name.truthy() ? name : Value::Null()) +
                   " as object key")
                  .is_error();
    }
    bool has_value = false;
    const Value value = FieldOf(entry, "value", &has_value);
    object.Set(name, has_value ? value : FieldOf(entry, "Value"));
    return true;
  });
  return failed_ ? Value::Error() : object.Build();
}

Value Evaluation::Reverse(Value in) {
  if (Equal(in, Value::Null(), &arena_) || (in.is_string() && in.raw().empty())) {
    return ArrayBuilder(&arena_).Build();
  }
  if (in.is_object() && MembersOf(in, &arena_).size == 0) return ArrayBuilder(&arena_).Build();
  if (!in.is_array()) return Fail("Cannot index " + std::string(TypeName(in)) + " with number");
  ArrayBuilder reversed(&arena_);
  const Array& items = ItemsOf(in, &arena_);
  reversed.Reserve(items.size);
  for (uint32_t i = items.size; i-- > 0;) reversed.Add(items.items[i]);
  return reversed.Build();
}

Value Evaluation::Has(Value in, Value key) {
  if (in.is_object() && key.is_string()) {
    bool found = false;
    FieldOf(in, TextOf(key, &arena_), &found);
    return Value::Bool(found);
  }
  if (in.is_array() && key.is_number()) {
    const double i = ToDouble(key);
    return Value::Bool(i > -1 && i < LengthOf(in));
  }
  if (in.kind() == Value::Kind::kNull) return Value::Bool(false);
  return Fail("Cannot check whether " + std::string(TypeName(in)) + " has a " +
              std::string(TypeName(key)) + " key");
}

// Of Plain() values of one type.
Value Evaluation::Contains(Value a, Value b) {
  const auto contains = [this](Value x, Value y) {
    return x.type() == y.type() && Contains(x, y).truthy();
  };
  bool all = true;
  if (a.is_object()) {
    for (const Object::Member& m : b.object()) {
      bool found = false;
      const Value mine = FieldOf(a, m.name.raw(), &found);
      all = all && found && contains(mine, m.value);
    }
  } else if (a.is_array()) {
    for (const Value wanted : b.array()) {
      all = all && std::any_of(a.array().begin(), a.array().end(),
                               [&](Value item) { return contains(item, wanted); });
    }
  } else if (a.is_string()) {
    all = a.raw().find(b.raw()) != std::string_view::npos;
  } else {
    all = Equal(a, b, &arena_);
  }
  return Value::Bool(all);
}

Value Evaluation::Split(Value in, Value separator) {
  const std::string_view text = TextOf(in, &arena_);
  const std::string_view by = TextOf(separator, &arena_);
  ArrayBuilder parts(&arena_);
  if (text.empty()) return parts.Build();
  size_t from = 0;
  if (by.empty()) {
    for (size_t i = 1; i <= text.size(); ++i) {
      if (i < text.size() && (text[i] & 0xC0) == 0x80) continue;
      parts.Add(Value::String(text.substr(from, i - from)));
      from = i;
    }
    return parts.Build();
  }
  for (size_t at = text.find(by); at != text.npos; at = text.find(by, from)) {
    parts.Add(Value::String(text.substr(from, at - from)));
    from = at + by.size();
  }
  parts.Add(Value::String(text.substr(from)));
  return parts.Build();
}

Value Evaluation::Join(Value in, Value separator) {
  if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
  std::vector<Value> parts;
  EachItem(in, [&](Value v) {
    if (!parts.empty() && separator.kind() != Value::Kind::kNull) {
      if (!separator.is_string()) {
        CannotBe(parts.front(), separator, "added");
        return false;
      }
      parts.push_back(separator);
    }
    if (v.type() >= Type::kArray) {
      CannotBe(Value::String(""), v, "added");
      return false;
    }
    parts.push_back(v.kind() == Value::Kind::kNull ? Value::String("") : v);
    return true;
  });
  return failed_ ? Value::Error() : Joined(parts);
}

Value Evaluation::Case(Value in, bool upper) {
  if (!in.is_string()) {
    return Fail(upper ? "ascii_upcase input must be a string"
                      : "ascii_downcase input must be a string");
  }
  const std::string_view text = TextOf(in, &arena_);
  char* changed = static_cast<char*>(arena_.Allocate(text.size()));
  std::transform(text.begin(), text.end(), changed, [upper](char c) {
    if (upper) return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return Value::String({changed, text.size()});
}

}  // namespace kstream::expr
