#include "expr/evaluation.h"

#include <utility>

#include "expr/jsonlogic.h"
#include "expr/text.h"

namespace kstream::expr {

Value Evaluation::Fail(std::string message) {
  if (!failed_) error_ = std::move(message);
  failed_ = true;
  return Value::Error();
}

Value Evaluation::One(const Node& node, Value in) {
  switch (node.op) {
    case Op::kIdentity:
      return in;
    case Op::kLiteral:
      return node.value;
    case Op::kName:
      return names_[node.detail];
    case Op::kVariable:
      return variables_[node.detail];
    case Op::kField: {
      const Value target = One(*node.a, in);
      return target.is_error() ? target : Field(target, node.value);
    }
    case Op::kIndex:
    case Op::kSlice: {
      const Value b = node.b == nullptr ? Value::Null() : One(*node.b, in);
      if (b.is_error()) return b;
      const Value c = node.c == nullptr ? Value::Null() : One(*node.c, in);
      if (c.is_error()) return c;
      const Value target = One(*node.a, in);
      return target.is_error() ? target : Step(node, target, b, c);
    }
    case Op::kPipe: {
      const Value a = One(*node.a, in);
      return a.is_error() ? a : One(*node.b, a);
    }
    case Op::kAnd:
    case Op::kOr: {
      const Value a = One(*node.a, in);
      if (a.is_error()) return a;
      if (a.truthy() == (node.op == Op::kOr)) return Value::Bool(a.truthy());
      const Value b = One(*node.b, in);
      return b.is_error() ? b : Value::Bool(b.truthy());
    }
    case Op::kAlternative: {
      const Value a = One(*node.a, in);
      return a.is_error() || a.truthy() ? a : One(*node.b, in);
    }
    case Op::kIf: {
      const Value a = One(*node.a, in);
      if (a.is_error()) return a;
      return One(a.truthy() ? *node.b : *node.c, in);
    }
    case Op::kBind: {
      const Value a = One(*node.a, in);
      if (a.is_error()) return a;
      variables_[node.detail] = a;
      return One(*node.b, in);
    }
    case Op::kNegate: {
      const Value a = One(*node.a, in);
      return a.is_error() ? a : Negate(a);
    }
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual: {
      const Value b = One(*node.b, in);
      if (b.is_error()) return b;
      const Value a = One(*node.a, in);
      return a.is_error() ? a : Binary(node.op, a, b);
    }
    case Op::kArray:
      return Collect(node.a, in);
    case Op::kObject:
      return OneObject(node, in);
    case Op::kInterpolation:
      return OneInterpolation(node, in);
    case Op::kCall:
      return OneCall(node, in);
    case Op::kAssign:
    case Op::kUpdate:
    case Op::kUpdateWith:
      return Assign(node, in);
    case Op::kRecurse:
    case Op::kEmpty:
    case Op::kIterate:
    case Op::kTry:
    case Op::kComma:
      break;
    case Op::kJsonLogic:
      return EvalJsonLogic(node, in, this);
  }
  return Fail("not an expression of one output");
}

bool Evaluation::Step() {
  if (++steps_ <= step_limit_ && !arena_.full()) return true;
  Fail("the result is too large");
  return false;
}

bool Evaluation::Each(const Node& node, Value in, Sink sink) {
  if (!Step()) return false;
  if (node.single) {
    const Value v = One(node, in);
    return !v.is_error() && sink(v);
  }
  switch (node.op) {
    case Op::kEmpty:
      return true;
    case Op::kRecurse:
      return EachRecursive(in, sink);
    case Op::kField:
    case Op::kIndex:
    case Op::kSlice:
    case Op::kIterate:
      return EachStep(node, in, sink);
    case Op::kTry:
      return EachTry(node, in, sink);
    case Op::kPipe:
      return Each(*node.a, in, [&](Value a) { return Each(*node.b, a, sink); });
    case Op::kComma:
      for (const Node* part : node.list) {
        if (!Each(*part, in, sink)) return false;
      }
      return true;
    case Op::kAnd:
    case Op::kOr:
      return EachLogic(node, in, sink);
    case Op::kAlternative:
      return EachAlternative(node, in, sink);
    case Op::kIf:
      return Each(*node.a, in,
                  [&](Value a) { return Each(a.truthy() ? *node.b : *node.c, in, sink); });
    case Op::kBind:
      return Each(*node.a, in, [&](Value a) {
        variables_[node.detail] = a;
        return Each(*node.b, in, sink);
      });
    case Op::kNegate:
      return Each(*node.a, in, [&](Value a) {
        const Value v = Negate(a);
        return !v.is_error() && sink(v);
      });
    case Op::kObject: {
      std::vector<Value> parts;
      return EachMember(node, in, 0, &parts, sink);
    }
    case Op::kInterpolation: {
      std::vector<Value> parts(node.list.size());
      return EachPart(node, in, parts.size(), &parts, sink);
    }
    case Op::kCall:
      return EachCall(node, in, sink);
    default:
      return EachBinary(node, in, sink);
  }
}

Value Evaluation::Collect(const Node* node, Value in) {
  ArrayBuilder items(&arena_);
  if (node != nullptr) {
    Each(*node, in, [&](Value v) {
      items.Add(v);
      return true;
    });
    if (failed_) return Value::Error();
  }
  return items.Build();
}

Value Evaluation::OneObject(const Node& node, Value in) {
  ObjectBuilder members(&arena_);
  members.Reserve(node.list.size() / 2);
  for (size_t i = 0; i < node.list.size(); i += 2) {
    const Value name = One(*node.list[i], in);
    if (name.is_error()) return name;
    if (!name.is_string()) return Fail("Cannot use " + Describe(name) + " as object key");
    const Value value = One(*node.list[i + 1], in);
    if (value.is_error()) return value;
    members.Set(name, value);
  }
  return members.Build();
}

bool Evaluation::EachMember(const Node& node, Value in, size_t member, std::vector<Value>* parts,
                            Sink sink) {
  if (member == node.list.size()) {
    ObjectBuilder members(&arena_);
    for (size_t i = 0; i < parts->size(); i += 2) members.Set((*parts)[i], (*parts)[i + 1]);
    return sink(members.Build());
  }
  return Each(*node.list[member], in, [&](Value name) {
    if (!name.is_string()) {
      Fail("Cannot use " + Describe(name) + " as object key");
      return false;
    }
    return Each(*node.list[member + 1], in, [&](Value value) {
      parts->resize(member);
      parts->push_back(name);
      parts->push_back(value);
      return EachMember(node, in, member + 2, parts, sink);
    });
  });
}

Value Evaluation::Joined(const std::vector<Value>& parts) {
  scratch_.clear();
  for (const Value part : parts) {
    if (!part.is_string()) {
      AppendJqText(part, &scratch_, &arena_);
    } else if (part.escaped()) {
      json::Unescape(part.raw(), &scratch_);
    } else {
      scratch_ += part.raw();
    }
    if (!arena_.Fits(scratch_.size())) return Fail("the result is too large");
  }
  return Value::String(arena_.Copy(scratch_));
}

Value Evaluation::OneInterpolation(const Node& node, Value in) {
  std::vector<Value> parts;
  parts.reserve(node.list.size());
  for (const Node* part : node.list) {
    const Value v = One(*part, in);
    if (v.is_error()) return v;
    parts.push_back(v);
  }
  return Joined(parts);
}

// The last part varies slowest, as everywhere in jq where values are joined by an operator.
bool Evaluation::EachPart(const Node& node, Value in, size_t left, std::vector<Value>* parts,
                          Sink sink) {
  if (left == 0) {
    const Value v = Joined(*parts);
    return !v.is_error() && sink(v);
  }
  return Each(*node.list[left - 1], in, [&](Value part) {
    (*parts)[left - 1] = part;
    return EachPart(node, in, left - 1, parts, sink);
  });
}

Value Evaluation::Step(const Node& node, Value target, Value b, Value c) {
  switch (node.op) {
    case Op::kField:
      return Field(target, node.value);
    case Op::kIndex:
      return Index(target, b);
    default:
      return Slice(target, b, c);
  }
}

// A step whose parts or self can give several outputs or none: bounds outside, target inside.
bool Evaluation::EachStep(const Node& node, Value in, Sink sink) {
  const auto step = [&](Value b, Value c) {
    return Each(*node.a, in, [&](Value target) {
      if (node.op == Op::kIterate) {
        if (target.type() >= Type::kArray) return EachItem(target, sink);
        if (node.optional) return true;
        Fail("Cannot iterate over " + Describe(target));
        return false;
      }
      const Value v = Step(node, target, b, c);
      if (!v.is_error()) return sink(v);
      if (!node.optional) return false;
      failed_ = false;
      return true;
    });
  };
  const auto from = [&](Value b) {
    if (node.c == nullptr) return step(b, Value::Null());
    return Each(*node.c, in, [&](Value c) { return step(b, c); });
  };
  if (node.b == nullptr) return from(Value::Null());
  return Each(*node.b, in, from);
}

bool Evaluation::EachBinary(const Node& node, Value in, Sink sink) {
  return Each(*node.b, in, [&](Value b) {
    return Each(*node.a, in, [&](Value a) {
      const Value v = Binary(node.op, a, b);
      return !v.is_error() && sink(v);
    });
  });
}

bool Evaluation::EachLogic(const Node& node, Value in, Sink sink) {
  return Each(*node.a, in, [&](Value a) {
    if (a.truthy() == (node.op == Op::kOr)) return sink(Value::Bool(a.truthy()));
    return Each(*node.b, in, [&](Value b) { return sink(Value::Bool(b.truthy())); });
  });
}

bool Evaluation::EachAlternative(const Node& node, Value in, Sink sink) {
  bool any = false;
  const bool go_on = Each(*node.a, in, [&](Value a) {
    if (!a.truthy()) return true;
    any = true;
    return sink(a);
  });
  return go_on && (any || Each(*node.b, in, sink));
}

// Only errors of the body itself are caught, not those of what follows it.
bool Evaluation::EachTry(const Node& node, Value in, Sink sink) {
  bool stopped = false;
  const bool go_on = Each(*node.a, in, [&](Value v) {
    stopped = !sink(v);
    return !stopped;
  });
  if (go_on || stopped || arena_.full() || steps_ > step_limit_) return go_on;
  failed_ = false;
  return true;
}

bool Evaluation::EachRecursive(Value v, Sink sink) {
  if (!sink(v)) return false;
  if (v.type() < Type::kArray) return true;
  return EachItem(v, [&](Value item) { return EachRecursive(item, sink); });
}

}  // namespace kstream::expr
