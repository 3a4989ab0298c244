// The parts of jq's grammar that begin with a word, and the patterns after `as`.
#include "expr/jq_grammar.h"

namespace kstream::expr {

// After a term: `as $x | body`, `as [$x, {a: $y}] ?// .. | body`.
Node* JqGrammar::Binding(Node* source) {
  const size_t at = lexer_.at();
  lexer_.Advance();
  const Scope scope = Mark();
  uint16_t slot = 0;
  if (!Patterns(&slot) || !Expect("|")) return nullptr;
  Node* body = Pipe();
  Return(scope);
  if (body == nullptr) return nullptr;
  Node* node = Make(Op::kBind, at, {source, body});
  if (node != nullptr) node->detail = slot;
  return node;
}

bool JqGrammar::Patterns(uint16_t* slot) {
  const size_t at = lexer_.at();
  bool simple = true;
  const size_t first = variables_.size();
  if (!Pattern(0, &simple)) return false;
  while (Accept("?")) {
    simple = false;
    if (!Expect("//") || !Pattern(0, &simple)) return false;
  }
  if (simple) {
    *slot = variables_[first].slot;
  } else {
    NeedsLibjq("a destructuring pattern", at);
  }
  return true;
}

bool JqGrammar::Pattern(int level, bool* simple) {
  if (level > 100) return Fail(lexer_.at(), "nested too deeply"), false;
  if (lexer_.token() == Token::kVariable) {
    variables_.push_back({lexer_.text(), program_.tree.variables++});
    lexer_.Advance();
    return true;
  }
  *simple = false;
  if (Accept("[")) {
    do {
      if (!Pattern(level + 1, simple)) return false;
    } while (Accept(","));
    return Expect("]");
  }
  if (!Expect("{")) return false;
  do {
    if (!ObjectPattern(level)) return false;
  } while (Accept(","));
  return Expect("}");
}

bool JqGrammar::ObjectPattern(int level) {
  bool simple = false;
  if (lexer_.token() == Token::kVariable) {
    if (!Pattern(level + 1, &simple)) return false;
    return !Accept(":") || Pattern(level + 1, &simple);
  }
  if (lexer_.token() == Token::kName) {
    lexer_.Advance();
  } else if (lexer_.token() == Token::kQuote) {
    if (String() == nullptr) return false;
  } else if (!Expect("(") || Pipe() == nullptr || !Expect(")")) {
    return false;
  }
  return Expect(":") && Pattern(level + 1, &simple);
}

// def name: body;   def name(f; $x): body;
bool JqGrammar::Definition() {
  NeedsLibjq("def", lexer_.at());
  lexer_.Advance();
  if (lexer_.token() != Token::kName || IsJqKeyword(lexer_.text())) return Unexpected(), false;
  Defined self{lexer_.text(), 0};
  lexer_.Advance();
  std::vector<std::string_view> parameters;
  const size_t variables = variables_.size();
  if (Accept("(")) {
    do {
      if (lexer_.token() == Token::kVariable) {
        variables_.push_back({lexer_.text(), 0});
      } else if (lexer_.token() != Token::kName || IsJqKeyword(lexer_.text())) {
        return Unexpected(), false;
      }
      parameters.push_back(lexer_.text());
      lexer_.Advance();
    } while (Accept(";"));
    if (!Expect(")")) return false;
  }
  self.arity = static_cast<int>(parameters.size());
  functions_.push_back(self);
  const size_t functions = functions_.size();
  for (const std::string_view parameter : parameters) functions_.push_back({parameter, 0});
  if (!Expect(":") || Pipe() == nullptr || !Expect(";")) return false;
  functions_.resize(functions);
  variables_.resize(variables);
  return true;
}

// reduce TERM as PATTERN (init; update)   foreach .. (init; update[; extract])
Node* JqGrammar::Reduction(bool foreach) {
  const size_t at = lexer_.at();
  NeedsLibjq(foreach ? "foreach" : "reduce", at);
  lexer_.Advance();
  uint16_t slot = 0;
  const Scope scope = Mark();
  if (Term(false) == nullptr || !ExpectWord("as") || !Patterns(&slot) || !Expect("(")) {
    return nullptr;
  }
  if (Pipe() == nullptr || !Expect(";") || Pipe() == nullptr) return nullptr;
  if (foreach && Accept(";") && Pipe() == nullptr) return nullptr;
  if (!Expect(")")) return nullptr;
  Return(scope);
  return Placeholder(at);
}

Node* JqGrammar::Label() {
  const size_t at = lexer_.at();
  NeedsLibjq("label", at);
  lexer_.Advance();
  if (lexer_.token() != Token::kVariable) return Unexpected();
  const Scope scope = Mark();
  labels_.push_back(lexer_.text());
  lexer_.Advance();
  Node* body = Expect("|") ? Pipe() : nullptr;
  Return(scope);
  return body;
}

Node* JqGrammar::If() {
  const size_t at = lexer_.at();
  lexer_.Advance();
  return IfTail(at);
}

Node* JqGrammar::IfTail(size_t at) {
  if (++nesting_ > kMaxNesting) return Fail(at, "nested too deeply");
  Node* condition = Pipe();
  if (condition == nullptr || !ExpectWord("then")) return nullptr;
  Node* yes = Pipe();
  if (yes == nullptr) return nullptr;
  Node* no = nullptr;
  const size_t next = lexer_.at();
  if (lexer_.IsWord("elif")) {
    lexer_.Advance();
    no = IfTail(next);
  } else if (lexer_.IsWord("else")) {
    lexer_.Advance();
    no = Pipe();
    if (no != nullptr && !ExpectWord("end")) return nullptr;
  } else {
    no = Placeholder(next);
    if (!ExpectWord("end")) return nullptr;
  }
  --nesting_;
  return no == nullptr ? nullptr : Make(Op::kIf, at, {condition, yes, no});
}

Node* JqGrammar::Try() {
  const size_t at = lexer_.at();
  lexer_.Advance();
  const size_t start = lexer_.at();
  const bool negated = Accept("-");
  Node* body = Term(false);
  if (body != nullptr && negated) body = Make(Op::kNegate, start, {body});
  if (body == nullptr) return nullptr;
  if (lexer_.IsWord("catch")) {
    NeedsLibjq("catch", lexer_.at());
    lexer_.Advance();
    if (Term(false) == nullptr) return nullptr;
  }
  return Make(Op::kTry, at, {body});
}

}  // namespace kstream::expr
