// jq's order of all values.
#include <algorithm>
#include <string_view>
#include <vector>

#include "expr/number.h"
#include "expr/value.h"

namespace kstream::expr {
namespace {

int CompareText(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int CompareArrays(const Array& a, const Array& b, Arena* arena) {
  const uint32_t n = std::min(a.size, b.size);
  for (uint32_t i = 0; i < n; ++i) {
    if (const int order = Compare(a.items[i], b.items[i], arena); order != 0) return order;
  }
  return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
}

std::vector<const Object::Member*> SortedMembers(const Object& object) {
  std::vector<const Object::Member*> members;
  members.reserve(object.size);
  for (const Object::Member& m : object) members.push_back(&m);
  std::sort(members.begin(), members.end(),
            [](const auto* x, const auto* y) { return x->name.raw() < y->name.raw(); });
  return members;
}

// jq: first the sorted names as arrays, then the values in that order.
int CompareObjects(const Object& x, const Object& y, Arena* arena) {
  const auto a = SortedMembers(x);
  const auto b = SortedMembers(y);
  const size_t n = std::min(a.size(), b.size());
  for (size_t i = 0; i < n; ++i) {
    if (const int order = CompareText(a[i]->name.raw(), b[i]->name.raw()); order != 0) return order;
  }
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < n; ++i) {
    if (const int order = Compare(a[i]->value, b[i]->value, arena); order != 0) return order;
  }
  return 0;
}

}  // namespace

int Compare(Value a, Value b, Arena* arena) {
  const Type type = a.type();
  if (const Type other = b.type(); type != other) return type < other ? -1 : 1;
  switch (type) {
    case Type::kNull:
    case Type::kFalse:
    case Type::kTrue:
      return 0;
    case Type::kNumber:
      return CompareNumbers(a, b);
    case Type::kString:
      return CompareText(TextOf(a, arena), TextOf(b, arena));
    case Type::kArray:
      return CompareArrays(ItemsOf(a, arena), ItemsOf(b, arena), arena);
    case Type::kObject:
      return CompareObjects(MembersOf(a, arena), MembersOf(b, arena), arena);
  }
  return 0;
}

bool Equal(Value a, Value b, Arena* arena) {
  if (a.is_string() && b.is_string() && !a.escaped() && !b.escaped()) return a.raw() == b.raw();
  return Compare(a, b, arena) == 0;
}

}  // namespace kstream::expr
