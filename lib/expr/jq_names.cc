// What the names of a jq program mean: keywords, functions, variables; and hints for those that
// mean nothing.
#include <algorithm>

#include "expr/jq_grammar.h"

namespace kstream::expr {
namespace {

bool IsStaticField(const Node& node) {
  return node.op == Op::kIdentity ||
         (node.op == Op::kField && !node.optional && IsStaticField(*node.a));
}

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

}  // namespace

bool IsSimplePath(const Node& node) {
  switch (node.op) {
    case Op::kIdentity:
    case Op::kEmpty:
      return true;
    case Op::kField:
    case Op::kIterate:
      return IsSimplePath(*node.a);
    case Op::kIndex:
      return node.b->single && IsSimplePath(*node.a);
    case Op::kSlice:
      return (node.b == nullptr || node.b->single) && (node.c == nullptr || node.c->single) &&
             IsSimplePath(*node.a);
    case Op::kPipe:
      return IsSimplePath(*node.a) && IsSimplePath(*node.b);
    case Op::kComma:
      // One after the other is the same as at once, for members that are told apart by name.
      return std::all_of(node.list.begin(), node.list.end(),
                         [](const Node* path) { return IsStaticField(*path); });
    case Op::kIf:
      return node.a->single && IsSimplePath(*node.b) && IsSimplePath(*node.c);
    case Op::kCall:
      return static_cast<Builtin>(node.detail) == Builtin::kSelect && node.list[0]->single;
    default:
      return false;
  }
}

Node* JqGrammar::VariableTerm() {
  const size_t at = lexer_.at();
  const std::string_view name = lexer_.text();
  lexer_.Advance();
  for (size_t i = variables_.size(); i-- > 0;) {
    if (variables_[i].name != name) continue;
    Node* node = Make(Op::kVariable, at, {});
    node->detail = variables_[i].slot;
    return node;
  }
  if (name == "__loc__") {
    NeedsLibjq("$__loc__", at);
    return Placeholder(at);
  }
  const std::optional<Name> known = FindName(name);
  if (!known || (*known >= Name::kOut && !ExtraName(name))) return UnknownVariable(name, at);
  Node* node = Make(Op::kName, at, {});
  node->detail = static_cast<uint16_t>(*known);
  program_.tree.names |= 1u << node->detail;
  return node;
}

bool JqGrammar::ExtraName(std::string_view name) const {
  return std::find(options_.extra_names.begin(), options_.extra_names.end(), name) !=
         options_.extra_names.end();
}

Node* JqGrammar::UnknownVariable(std::string_view name, size_t at) {
  if (name == "ENV") {
    return Fail(at, "$ENV is refused: a result must not depend on the environment");
  }
  if (FindName(name)) return Fail(at, "$" + std::string(name) + " has no meaning in this place");
  std::string_view nearest;
  int best = static_cast<int>(name.size() / 3) + 1;
  const auto consider = [&](std::string_view candidate) {
    if (const int distance = EditDistance(name, candidate); distance < best) {
      best = distance;
      nearest = candidate;
    }
  };
  for (const Variable& variable : variables_) consider(variable.name);
  for (size_t i = 0; i < kNameText.size(); ++i) {
    if (i < static_cast<size_t>(Name::kOut) || ExtraName(kNameText[i])) consider(kNameText[i]);
  }
  std::string message = "there is no $" + std::string(name);
  if (!nearest.empty()) message += "; did you mean $" + std::string(nearest) + "?";
  return Fail(at, message);
}

Node* JqGrammar::Word() {
  const size_t at = lexer_.at();
  const std::string_view word = lexer_.text();
  if (word == "if") return If();
  if (word == "try") return Try();
  if (word == "reduce") return Reduction(false);
  if (word == "foreach") return Reduction(true);
  if (word == "label") return Label();
  if (word == "def") {
    const Scope scope = Mark();
    Node* body = Definition() ? Pipe() : nullptr;
    Return(scope);
    return body;
  }
  if (IsJqKeyword(word)) return Unexpected();
  lexer_.Advance();
  if (word == "null" || word == "true" || word == "false") {
    Node* node = Make(Op::kLiteral, at, {});
    if (word != "null") node->value = Value::Bool(word == "true");
    return node;
  }
  if (word == "break" && lexer_.token() == Token::kVariable) {
    if (std::find(labels_.begin(), labels_.end(), lexer_.text()) == labels_.end()) {
      return Fail(lexer_.at(), "there is no label $" + std::string(lexer_.text()));
    }
    lexer_.Advance();
    return Placeholder(at);
  }
  std::vector<Node*> arguments;
  if (Accept("(")) {
    do {
      Node* argument = Pipe();
      if (argument == nullptr) return nullptr;
      arguments.push_back(argument);
    } while (Accept(";"));
    if (!Expect(")")) return nullptr;
  }
  return Call(word, arguments, at);
}

bool JqGrammar::Declared(std::string_view name, int arity) const {
  return std::any_of(functions_.begin(), functions_.end(),
                     [&](const Defined& f) { return f.name == name && f.arity == arity; });
}

Node* JqGrammar::Call(std::string_view name, const std::vector<Node*>& arguments, size_t at) {
  const int arity = static_cast<int>(arguments.size());
  if (Declared(name, arity)) return Placeholder(at);
  if (Node* node = Rewritten(name, arguments, at)) return node;
  const Function* function = FindFunction(name, arity);
  if (function == nullptr) {
    if (name.find("::") != name.npos) return Fail(at, "there are no modules here");
    for (int other = 0; other <= 6; ++other) {
      if (FindFunction(name, other) != nullptr) {
        return Fail(at, Quoted(name) + " takes " + std::to_string(other) + " argument" +
                            (other == 1 ? "" : "s") + ", not " + std::to_string(arity));
      }
    }
    const std::string_view nearest = NearestFunction(name);
    return Fail(at, "there is no function " + Quoted(name) +
                        (nearest.empty() ? "" : "; did you mean " + Quoted(nearest) + "?"));
  }
  switch (function->role) {
    case Role::kFast:
      return BuiltinCall(function->builtin, arguments, at);
    case Role::kRefused:
      return Fail(at, Quoted(name) + " is refused: " + std::string(function->why));
    case Role::kNonDeterministic:
      program_.tree.deterministic = false;
      break;
    case Role::kLibjq:
      break;
  }
  NeedsLibjq(name, at);
  return Placeholder(at);
}

// Functions that are other words for nodes; nullptr when `name` is none.
Node* JqGrammar::Rewritten(std::string_view name, const std::vector<Node*>& arguments, size_t at) {
  if (arguments.empty()) {
    if (name == "empty") return Make(Op::kEmpty, at, {});
    if (name == "recurse") return Make(Op::kRecurse, at, {});
    if (name == "first" || name == "last") {
      Node* index = Make(Op::kLiteral, at, {});
      index->value = Value::Literal(name == "first" ? "0" : "-1");
      return Make(Op::kIndex, at, {Placeholder(at), index});
    }
  }
  if (name == "with_entries" && arguments.size() == 1) {
    Node* map = BuiltinCall(Builtin::kMap, arguments, at);
    if (map == nullptr) return nullptr;
    Node* back = Make(Op::kPipe, at, {map, BuiltinCall(Builtin::kFromEntries, {}, at)});
    if (back == nullptr) return nullptr;
    return Make(Op::kPipe, at, {BuiltinCall(Builtin::kToEntries, {}, at), back});
  }
  return nullptr;
}

Node* JqGrammar::BuiltinCall(Builtin builtin, const std::vector<Node*>& arguments, size_t at) {
  Node* node = Make(Op::kCall, at, {}, arguments);
  if (node == nullptr) return nullptr;
  node->detail = static_cast<uint16_t>(builtin);
  const bool was_single = node->single;
  switch (builtin) {
    case Builtin::kSelect:
    case Builtin::kFirst:
    case Builtin::kValues:
    case Builtin::kNulls:
    case Builtin::kBooleans:
    case Builtin::kNumbers:
    case Builtin::kStrings:
    case Builtin::kArrays:
    case Builtin::kObjects:
    case Builtin::kIterables:
    case Builtin::kScalars:
      node->single = false;
      break;
    case Builtin::kAnyOf:
    case Builtin::kAllOf:
    case Builtin::kLast:
    case Builtin::kMap:
    case Builtin::kGroupBy:
    case Builtin::kSortBy:
    case Builtin::kUniqueBy:
      node->single = true;
      break;
    case Builtin::kMapValues:
      node->single = true;
      if (!was_single) NeedsLibjq("map_values of other than one value", at);
      break;
    case Builtin::kDelete:
      node->single = true;
      if (!IsSimplePath(*arguments[0])) NeedsLibjq("del of such a path", at);
      break;
    default:
      break;
  }
  if (was_single && !node->single) ++generators_;
  return node;
}

}  // namespace kstream::expr
