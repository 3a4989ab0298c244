// Terms of jq: literals, strings, constructions, and the steps that follow them.
#include <algorithm>

#include "expr/jq_grammar.h"
#include "expr/number.h"

namespace kstream::expr {

bool IsJqKeyword(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "__loc__", "and",    "as",      "catch", "def",    "elif", "else",   "end",  "foreach",
      "if",      "import", "include", "label", "module", "or",   "reduce", "then", "try"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// A term with its steps. `may_bind`: it may be followed by `as`.
Node* JqGrammar::Term(bool may_bind) {
  if (++nesting_ > kMaxNesting) return Fail(lexer_.at(), "nested too deeply");
  const size_t at = lexer_.at();
  bool step = false;  // so that `?` belongs to the last step only
  Node* term = nullptr;
  if (lexer_.token() == Token::kField) {
    term = FieldStep(Placeholder(at), lexer_.text(), at);
    lexer_.Advance();
    step = true;
  } else if (Accept(".")) {
    term = Placeholder(at);
    if (lexer_.token() == Token::kQuote) {
      term = DotStep(term, at);
      step = true;
    }
  } else {
    term = Primary();
  }
  if (term != nullptr) term = Steps(term, step);
  --nesting_;
  if (term != nullptr && may_bind && lexer_.IsWord("as")) return Binding(term);
  return term;
}

Node* JqGrammar::Steps(Node* term, bool step) {
  while (term != nullptr) {
    const size_t at = lexer_.at();
    if (lexer_.token() == Token::kField) {
      term = FieldStep(term, lexer_.text(), at);
      lexer_.Advance();
      step = true;
    } else if (Accept(".")) {
      term = DotStep(term, at);
      step = true;
    } else if (Accept("[")) {
      term = Bracket(term, at);
      step = true;
    } else if (Accept("?")) {
      if (step && !term->optional) {
        if (term->single) ++generators_;
        term->optional = true;
        term->single = false;
      } else {
        term = Make(Op::kTry, at, {term});
      }
      step = false;
    } else {
      break;
    }
  }
  return term;
}

// After a dot: "name" or [..]
Node* JqGrammar::DotStep(Node* target, size_t at) {
  if (Accept("[")) return Bracket(target, at);
  if (lexer_.token() != Token::kQuote) return Unexpected();
  Node* name = String();
  if (name == nullptr) return nullptr;
  if (name->op == Op::kLiteral) return FieldStep(target, name->value.raw(), at);
  return Make(Op::kIndex, at, {target, name});
}

// After the bracket: ]   e]   e:]   :e]   e:e]
Node* JqGrammar::Bracket(Node* target, size_t at) {
  if (Accept("]")) return Make(Op::kIterate, at, {target});
  Node* from = nullptr;
  if (!lexer_.Is(":")) {
    from = Pipe();
    if (from == nullptr) return nullptr;
    if (Accept("]")) {
      if (from->op == Op::kLiteral && from->value.is_string()) {
        return FieldStep(target, from->value.raw(), at);
      }
      return Make(Op::kIndex, at, {target, from});
    }
  }
  if (!Expect(":")) return nullptr;
  Node* to = nullptr;
  if (from == nullptr || !lexer_.Is("]")) {
    to = Pipe();
    if (to == nullptr) return nullptr;
  }
  return Expect("]") ? Make(Op::kSlice, at, {target, from, to}) : nullptr;
}

Node* JqGrammar::FieldStep(Node* target, std::string_view name, size_t at) {
  Node* node = Make(Op::kField, at, {target});
  if (node != nullptr) {
    node->text = program_.tree.arena.Copy(name);
    node->value = Value::String(node->text);
  }
  return node;
}

Node* JqGrammar::Primary() {
  const size_t at = lexer_.at();
  switch (lexer_.token()) {
    case Token::kNumber:
      return NumberTerm();
    case Token::kQuote:
      return String();
    case Token::kFormat:
      return Format();
    case Token::kVariable:
      return VariableTerm();
    case Token::kName:
      return Word();
    case Token::kSymbol:
      if (Accept("(")) return Parenthesis();
      if (Accept("[")) return ArrayTerm();
      if (Accept("{")) return ObjectTerm();
      if (Accept("..")) return Make(Op::kRecurse, at, {});
      break;
    default:
      break;
  }
  return Unexpected();
}

Node* JqGrammar::Parenthesis() {
  Node* inner = Pipe();
  return inner != nullptr && Expect(")") ? inner : nullptr;
}

Node* JqGrammar::NumberTerm() {
  Node* node = Make(Op::kLiteral, lexer_.at(), {});
  node->value =
      NumberOfProgram(program_.tree.arena.Copy(JsonSpelling(lexer_.text(), &program_.tree.arena)));
  lexer_.Advance();
  return node;
}

Node* JqGrammar::StringLiteral(std::string_view text, size_t at) {
  Node* node = Make(Op::kLiteral, at, {});
  // Spelled as JSON already, unless that takes escapes.
  std::string quoted;
  json::AppendQuoted(text, &quoted);
  const std::string_view kept = program_.tree.arena.Copy(text);
  node->value =
      quoted.size() == text.size() + 2 ? Value::Spelled(kept, false) : Value::String(kept);
  return node;
}

Node* JqGrammar::String() {
  const size_t at = lexer_.at();
  std::vector<Node*> parts;
  while (true) {
    std::string text;
    const JqLexer::PartEnd end = lexer_.StringPart(&text);
    if (end == JqLexer::PartEnd::kError) {
      return Fail(lexer_.error_at(), std::string(lexer_.error()));
    }
    if (!text.empty() || (parts.empty() && end == JqLexer::PartEnd::kQuote)) {
      parts.push_back(StringLiteral(text, at));
    }
    lexer_.Advance();
    if (end == JqLexer::PartEnd::kQuote) break;
    Node* inner = Pipe();
    if (inner == nullptr) return nullptr;
    if (!lexer_.Is(")")) return Unexpected();
    parts.push_back(inner);
  }
  if (parts.size() == 1 && parts[0]->op == Op::kLiteral && parts[0]->value.is_string()) {
    return parts[0];
  }
  return Make(Op::kInterpolation, at, {}, parts);
}

// @base64, or @base64 "..\(e)..": always libjq's.
Node* JqGrammar::Format() {
  static constexpr std::string_view kFormats[] = {"@text", "@json", "@csv",    "@tsv",    "@html",
                                                  "@uri",  "@sh",   "@base64", "@base64d"};
  const size_t at = lexer_.at();
  if (std::find(std::begin(kFormats), std::end(kFormats), lexer_.text()) == std::end(kFormats)) {
    return Fail(at, "there is no format " + std::string(lexer_.text()));
  }
  NeedsLibjq(lexer_.text(), at);
  lexer_.Advance();
  return lexer_.token() == Token::kQuote ? String() : Placeholder(at);
}

Node* JqGrammar::ArrayTerm() {
  const size_t at = lexer_.at();
  if (Accept("]")) return Make(Op::kArray, at, {nullptr});
  Node* items = Pipe();
  return items != nullptr && Expect("]") ? Make(Op::kArray, at, {items}) : nullptr;
}

Node* JqGrammar::ObjectTerm() {
  const size_t at = lexer_.at();
  std::vector<Node*> parts;
  if (!Accept("}")) {
    do {
      if (!Member(&parts)) return nullptr;
    } while (Accept(","));
    if (!Expect("}")) return nullptr;
  }
  return Make(Op::kObject, at, {}, parts);
}

// name   name: value   "name"   "name": value   $name   $name: value   (expression): value
bool JqGrammar::Member(std::vector<Node*>* parts) {
  const size_t at = lexer_.at();
  Node* name = nullptr;
  Node* value = nullptr;  // when none follows
  if (lexer_.token() == Token::kVariable) {
    const std::string_view word = lexer_.text();
    value = VariableTerm();
    name = value == nullptr ? nullptr : lexer_.Is(":") ? value : StringLiteral(word, at);
  } else if (lexer_.token() == Token::kName) {
    name = StringLiteral(lexer_.text(), at);
    value = FieldStep(Placeholder(at), lexer_.text(), at);
    lexer_.Advance();
  } else if (lexer_.token() == Token::kQuote || lexer_.token() == Token::kFormat) {
    name = lexer_.token() == Token::kQuote ? String() : Format();
    if (name == nullptr) return false;
    value = name->op == Op::kLiteral ? FieldStep(Placeholder(at), name->value.raw(), at)
                                     : Make(Op::kIndex, at, {Placeholder(at), name});
  } else if (Accept("(")) {
    name = Parenthesis();
    if (name != nullptr && !lexer_.Is(":")) return Expect(":");
  } else {
    return Unexpected(), false;
  }
  if (name == nullptr) return false;
  if (name->op == Op::kLiteral && !name->value.is_string()) {
    return Fail(at, "a name of an object must be a string"), false;
  }
  if (Accept(":")) value = ObjectValue();
  if (value == nullptr) return false;
  parts->push_back(name);
  parts->push_back(value);
  return true;
}

// Without parentheses, a member's value is a term, its negation, or a pipe of such.
Node* JqGrammar::ObjectValue() {
  if (++nesting_ > kMaxNesting) return Fail(lexer_.at(), "nested too deeply");
  const size_t at = lexer_.at();
  Node* value = Accept("-") ? ObjectValue() : nullptr;
  if (value != nullptr) {
    value = Make(Op::kNegate, at, {value});
  } else if (error_.ok()) {
    value = Term(false);
  }
  if (value != nullptr && Accept("|")) {
    Node* next = ObjectValue();
    value = next == nullptr ? nullptr : Make(Op::kPipe, at, {value, next});
  }
  --nesting_;
  return value;
}

}  // namespace kstream::expr
