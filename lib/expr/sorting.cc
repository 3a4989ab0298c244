// Sorting, grouping, and the smallest and largest: jq's order of all values, stable.
#include <algorithm>

#include "expr/evaluation.h"

namespace kstream::expr {

// Comparing values that are still nodes would build them again each time.
Value Evaluation::Plain(Value v) {
  if (v.is_array()) {
    ArrayBuilder items(&arena_);
    for (const Value item : ItemsOf(v, &arena_)) items.Add(Plain(item));
    return items.Build();
  }
  if (v.is_object()) {
    ObjectBuilder members(&arena_);
    for (const Object::Member& m : MembersOf(v, &arena_)) members.Append(m.name, Plain(m.value));
    return members.Build();
  }
  return v.escaped() ? Value::String(TextOf(v, &arena_)) : v;
}

Value Evaluation::Sorted(Builtin builtin, Value in, const Node* by) {
  if (!in.is_array()) return Fail(Describe(in) + " cannot be sorted, as it is not an array");
  struct Entry {
    Value key;
    Value value;
  };
  std::vector<Entry> entries;
  for (const Value v : ItemsOf(in, &arena_)) {
    const Value key = by == nullptr ? v : Collect(by, v);
    if (key.is_error()) return key;
    entries.push_back({Plain(key), v});
    if (arena_.full()) return Fail("the result is too large");
  }
  std::stable_sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    return Compare(a.key, b.key, &arena_) < 0;
  });
  ArrayBuilder result(&arena_);
  const auto same = [&](size_t i) {
    return i > 0 && Compare(entries[i - 1].key, entries[i].key, &arena_) == 0;
  };
  switch (builtin) {
    case Builtin::kGroupBy:
      for (size_t i = 0; i < entries.size();) {
        ArrayBuilder group(&arena_);
        do {
          group.Add(entries[i++].value);
        } while (i < entries.size() && same(i));
        result.Add(group.Build());
      }
      break;
    case Builtin::kUnique:
    case Builtin::kUniqueBy:
      for (size_t i = 0; i < entries.size(); ++i) {
        if (!same(i)) result.Add(entries[i].value);
      }
      break;
    default:
      for (const Entry& entry : entries) result.Add(entry.value);
      break;
  }
  return result.Build();
}

Value Evaluation::Extreme(Value in, bool largest) {
  if (!in.is_array()) return Fail(Describe(in) + " cannot be iterated over");
  Value best;
  Value best_plain;
  bool any = false;
  for (const Value v : ItemsOf(in, &arena_)) {
    const Value plain = Plain(v);
    if (any) {
      // Of equal ones jq takes the first as the smallest, the last as the largest.
      const int order = Compare(plain, best_plain, &arena_);
      if (largest ? order < 0 : order >= 0) continue;
    }
    any = true;
    best = v;
    best_plain = plain;
  }
  return best;
}

}  // namespace kstream::expr
