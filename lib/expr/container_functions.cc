// jq's built-in functions on arrays and objects.
#include <algorithm>
#include <vector>

#include "expr/evaluation.h"
#include "expr/number.h"

namespace kstream::expr {

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

}  // namespace kstream::expr
