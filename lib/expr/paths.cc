// Assignment and deletion: a path says where, a Changer what becomes of what is there.
//
// jq collects all paths first and then sets them one by one, copying what contains them each time.
// For the paths we take (IsSimplePath) the same result comes from one walk: each step changes what
// it holds and puts the result back, so an array of n items is copied once, not n times.
#include <algorithm>
#include <cmath>

#include "expr/evaluation.h"
#include "expr/number.h"

namespace kstream::expr {

class Evaluation::Changer {
 public:
  template <typename F>
  explicit Changer(const F& f)
      : object_(&f),
        call_([](const void* object, Value v) { return (*static_cast<const F*>(object))(v); }) {}
  Change operator()(Value v) const { return call_(object_, v); }

 private:
  const void* object_;
  Change (*call_)(const void*, Value);
};

Evaluation::Change Evaluation::Failed(std::string message) {
  Fail(std::move(message));
  return {Change::What::kFailed, Value::Error()};
}

Value Evaluation::Assign(const Node& node, Value in) {
  const auto set = [](Value v) {
    return Change{v.is_error() ? Change::What::kFailed : Change::What::kSet, v};
  };
  Value right;  // an update evaluates its right side on what is there, the others on the input
  if (node.op != Op::kUpdate) {
    right = One(*node.b, in);
    if (right.is_error()) return right;
  }
  const auto change = [&](Value old) {
    switch (node.op) {
      case Op::kAssign:
        return set(right);
      case Op::kUpdate:
        return set(One(*node.b, old));
      default:
        return set(Binary(static_cast<Op>(node.detail), old, right));
    }
  };
  const Change changed = Update(*node.a, in, Changer(change));
  return changed.what == Change::What::kSame ? in : changed.value;
}

Value Evaluation::Delete(const Node& path, Value in) {
  const auto remove = [](Value) { return Change{Change::What::kRemove, Value::Null()}; };
  const Change changed = Update(path, in, Changer(remove));
  return changed.what == Change::What::kSame ? in : changed.value;
}

Value Evaluation::MapValues(const Node& f, Value in) {
  if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
  const auto change = [&](Value v) {
    const Value made = One(f, v);
    return Change{made.is_error() ? Change::What::kFailed : Change::What::kSet, made};
  };
  const Change changed = UpdateItems(in, Changer(change));
  return changed.what == Change::What::kSame ? in : changed.value;
}

Evaluation::Change Evaluation::Update(const Node& path, Value in, const Changer& change) {
  switch (path.op) {
    case Op::kIdentity:
      return change(in);
    case Op::kPipe: {
      const auto rest = [&](Value v) { return Update(*path.b, v, change); };
      return Update(*path.a, in, Changer(rest));
    }
    case Op::kComma: {
      Value v = in;
      for (const Node* part : path.list) {
        const Change changed = Update(*part, v, change);
        if (changed.what == Change::What::kFailed) return changed;
        if (changed.what != Change::What::kSame) v = changed.value;
      }
      return {Change::What::kSet, v};
    }
    case Op::kIf: {
      const Value condition = One(*path.a, in);
      if (condition.is_error()) return {Change::What::kFailed, condition};
      return Update(condition.truthy() ? *path.b : *path.c, in, change);
    }
    case Op::kCall: {  // select
      const Value condition = One(*path.list[0], in);
      if (condition.is_error()) return {Change::What::kFailed, condition};
      return condition.truthy() ? change(in) : Change{Change::What::kSame, in};
    }
    case Op::kField:
    case Op::kIndex:
    case Op::kSlice:
    case Op::kIterate: {
      const auto step = [&](Value v) { return UpdateStep(path, in, v, change); };
      return Update(*path.a, in, Changer(step));
    }
    default:
      return {Change::What::kSame, in};
  }
}

// One step from `v`; its index is evaluated on `in`, the input of the whole path.
Evaluation::Change Evaluation::UpdateStep(const Node& path, Value in, Value v,
                                          const Changer& change) {
  const auto give_up = [&]() -> Change {
    if (!path.optional) return {Change::What::kFailed, Value::Error()};
    failed_ = false;
    return {Change::What::kSame, v};
  };
  if (arena_.full()) return Failed("the result is too large");
  if (path.op == Op::kIterate) {
    if (v.type() >= Type::kArray) return UpdateItems(v, change);
    Fail("Cannot iterate over " + Describe(v));
    return give_up();
  }
  Value key = path.value;
  Value to;
  if (path.op != Op::kField) {
    key = path.b == nullptr ? Value::Null() : One(*path.b, in);
    to = path.c == nullptr ? Value::Null() : One(*path.c, in);
    if (failed_) return {Change::What::kFailed, Value::Error()};
  }
  const Value old = Step(path, v, key, to);
  if (old.is_error()) return give_up();
  const Change changed = change(old);
  if (changed.what == Change::What::kFailed || changed.what == Change::What::kSame) return changed;
  return path.op == Op::kSlice ? PutSlice(v, key, to, changed) : Put(v, key, changed);
}

Evaluation::Change Evaluation::UpdateItems(Value v, const Changer& change) {
  bool failed = false;
  const auto apply = [&](Value old, Value* value) {
    const Change changed = change(old);
    failed = failed || changed.what == Change::What::kFailed || arena_.full();
    *value = changed.what == Change::What::kSame ? old : changed.value;
    return changed.what != Change::What::kRemove;
  };
  Value result;
  Value value;
  if (v.is_array()) {
    ArrayBuilder items(&arena_);
    for (const Value item : ItemsOf(v, &arena_)) {
      if (!failed && apply(item, &value)) items.Add(value);
    }
    result = items.Build();
  } else {
    ObjectBuilder members(&arena_);
    for (const Object::Member& m : MembersOf(v, &arena_)) {
      if (!failed && apply(m.value, &value)) members.Append(m.name, value);
    }
    result = members.Build();
  }
  if (failed) return Failed("the result is too large");
  return {Change::What::kSet, result};
}

Evaluation::Change Evaluation::Put(Value container, Value key, const Change& change) {
  const bool nothing = container.kind() == Value::Kind::kNull;
  if (nothing && change.what == Change::What::kRemove) return {Change::What::kSame, container};
  if (key.is_string() && (nothing || container.is_object())) {
    return PutMember(container, key, change);
  }
  if (key.is_number() && (nothing || container.is_array())) return PutItem(container, key, change);
  if (key.is_object() && (nothing || container.is_array())) {
    Value from;
    Value to;
    if (!SliceIndex(key, &from, &to)) return {Change::What::kFailed, Value::Error()};
    return PutSlice(container, from, to, change);
  }
  return Failed("Cannot update field at " + std::string(TypeName(key)) + " index of " +
                std::string(TypeName(container)));
}

Evaluation::Change Evaluation::PutMember(Value object, Value name, const Change& change) {
  ObjectBuilder members(&arena_);
  const std::string_view text = TextOf(name, &arena_);
  if (object.kind() != Value::Kind::kNull) {
    for (const Object::Member& m : MembersOf(object, &arena_)) {
      const bool gone = change.what == Change::What::kRemove && m.name.raw() == text;
      if (!gone) members.Append(m.name, m.value);
    }
  }
  if (change.what == Change::What::kSet) members.Set(name, change.value);
  return {Change::What::kSet, members.Build()};
}

Evaluation::Change Evaluation::PutItem(Value array, Value index, const Change& change) {
  constexpr int64_t kMaxItems = 1 << 24;
  const Array none = {0, 0, nullptr};
  const Array& items = array.kind() == Value::Kind::kNull ? none : ItemsOf(array, &arena_);
  const double wanted = ToDouble(index);
  if (!(wanted < kMaxItems)) return Failed("the result is too large");
  auto i = static_cast<int64_t>(std::max(wanted, -1e9));
  const bool remove = change.what == Change::What::kRemove;
  if (i < 0) i += items.size;
  if (i < 0 || (remove && i >= items.size)) {
    if (remove) return {Change::What::kSame, array};
    return Failed("Out of bounds negative array index");
  }
  ArrayBuilder result(&arena_);
  result.Reserve(std::max<size_t>(items.size, static_cast<size_t>(i) + 1));
  for (const Value item : items) result.Add(item);
  while (result.size() <= i) result.Add(Value::Null());
  result.items()[i] = change.value;
  if (!remove) return {Change::What::kSet, result.Build()};
  ArrayBuilder rest(&arena_);
  for (int64_t k = 0; k < result.size(); ++k) {
    if (k != i) rest.Add(result.items()[k]);
  }
  return {Change::What::kSet, rest.Build()};
}

Evaluation::Change Evaluation::PutSlice(Value array, Value from, Value to, const Change& change) {
  if (array.kind() != Value::Kind::kNull && !array.is_array()) {
    return Failed("Cannot update field at object index of " + std::string(TypeName(array)));
  }
  const bool remove = change.what == Change::What::kRemove;
  if (remove && !array.is_array()) return {Change::What::kSame, array};
  if (!remove && !change.value.is_array()) {
    return Failed("A slice of an array can only be assigned another array");
  }
  const Array none = {0, 0, nullptr};
  const Array& items = array.is_array() ? ItemsOf(array, &arena_) : none;
  int64_t begin = 0;
  int64_t end = 0;
  if (!Bounds(from, to, items.size, &begin, &end)) return {Change::What::kFailed, Value::Error()};
  ArrayBuilder result(&arena_);
  for (int64_t i = 0; i < begin; ++i) result.Add(items.items[i]);
  if (!remove) {
    for (const Value v : ItemsOf(change.value, &arena_)) result.Add(v);
  }
  for (int64_t i = end; i < items.size; ++i) result.Add(items.items[i]);
  return {Change::What::kSet, result.Build()};
}

}  // namespace kstream::expr
