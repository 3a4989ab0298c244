#include "expr/jq_parser.h"

#include <algorithm>
#include <array>

#include "expr/jq_grammar.h"
#include "expr/number.h"

namespace kstream::expr {
namespace {

// Generators call one another's continuations, so each of them can be on the stack at once.
constexpr int kMaxGenerators = 400;

enum class Associates : uint8_t { kLeft, kRight, kNot };

struct Precedence {
  std::string_view symbol;
  int level;
  Associates associates;
};

constexpr int kCommaLevel = 1;
constexpr int kAssignmentLevel = 3;
constexpr int kSignLevel = 8;  // unary minus takes what binds more tightly than + and -
constexpr Precedence kOperators[] = {
    {",", kCommaLevel, Associates::kLeft},
    {"//", 2, Associates::kRight},
    {"=", kAssignmentLevel, Associates::kNot},
    {"|=", kAssignmentLevel, Associates::kNot},
    {"+=", kAssignmentLevel, Associates::kNot},
    {"-=", kAssignmentLevel, Associates::kNot},
    {"*=", kAssignmentLevel, Associates::kNot},
    {"/=", kAssignmentLevel, Associates::kNot},
    {"%=", kAssignmentLevel, Associates::kNot},
    {"//=", kAssignmentLevel, Associates::kNot},
    {"or", 4, Associates::kLeft},
    {"and", 5, Associates::kLeft},
    {"==", 6, Associates::kNot},
    {"!=", 6, Associates::kNot},
    {"<", 6, Associates::kNot},
    {"<=", 6, Associates::kNot},
    {">", 6, Associates::kNot},
    {">=", 6, Associates::kNot},
    {"+", 7, Associates::kLeft},
    {"-", 7, Associates::kLeft},
    {"*", kSignLevel, Associates::kLeft},
    {"/", kSignLevel, Associates::kLeft},
    {"%", kSignLevel, Associates::kLeft},
};

const Precedence* FindOperator(const JqLexer& lexer) {
  if (lexer.token() != Token::kSymbol && lexer.token() != Token::kName) return nullptr;
  for (const Precedence& p : kOperators) {
    if (p.symbol == lexer.text()) return &p;
  }
  return nullptr;
}

Op OpOf(std::string_view symbol) {
  if (symbol == "+") return Op::kAdd;
  if (symbol == "-") return Op::kSubtract;
  if (symbol == "*") return Op::kMultiply;
  if (symbol == "/") return Op::kDivide;
  if (symbol == "%") return Op::kModulo;
  if (symbol == "==") return Op::kEqual;
  if (symbol == "!=") return Op::kNotEqual;
  if (symbol == "<") return Op::kLess;
  if (symbol == "<=") return Op::kLessEqual;
  if (symbol == ">") return Op::kGreater;
  if (symbol == ">=") return Op::kGreaterEqual;
  if (symbol == "and") return Op::kAnd;
  if (symbol == "or") return Op::kOr;
  return Op::kAlternative;
}

// Whether evaluating `node` looks at its input at all.
bool ReadsInput(const Node* node) {
  if (node == nullptr) return false;
  switch (node->op) {
    case Op::kIdentity:
    case Op::kRecurse:
    case Op::kAssign:
    case Op::kUpdate:
    case Op::kUpdateWith:
      return true;
    case Op::kPipe:
      return ReadsInput(node->a);
    case Op::kCall:
      // error(x), first(g) and the like do not need their input.
      switch (static_cast<Builtin>(node->detail)) {
        case Builtin::kFirst:
        case Builtin::kLast:
          return ReadsInput(node->list[0]);
        case Builtin::kError:
          return node->list.empty() || ReadsInput(node->list[0]);
        case Builtin::kAnyOf:
        case Builtin::kAllOf:
          return node->list.size() < 2 || ReadsInput(node->list[0]);
        default:
          return true;
      }
    default:
      return ReadsInput(node->a) || ReadsInput(node->b) || ReadsInput(node->c) ||
             std::any_of(node->list.begin(), node->list.end(), ReadsInput);
  }
}

}  // namespace

Result<JqProgram> ParseJq(std::string_view text, const CompileOptions& options) {
  return JqGrammar(text, options).Parse();
}

Result<JqProgram> JqGrammar::Parse() {
  if (!json::IsUtf8(text_)) return Status::Expression("the expression is not UTF-8");
  lexer_.Advance();
  for (const std::string_view word : {"module", "import", "include"}) {
    if (lexer_.IsWord(word)) Fail(lexer_.at(), "there are no modules here");
  }
  Node* root = nullptr;
  while (error_.ok() && lexer_.IsWord("def")) {
    if (!Definition()) return error_;
  }
  if (error_.ok() && lexer_.token() == Token::kEnd) {
    // An empty program is `.`
    program_.only_definitions = !functions_.empty();
    root = Placeholder(0);
  } else if (error_.ok()) {
    root = Pipe();
    if (root != nullptr && lexer_.token() != Token::kEnd) Unexpected();
  }
  if (!error_.ok()) return error_;
  if (generators_ > kMaxGenerators) NeedsLibjq("an expression of this size", 0);
  program_.tree.root = root;
  program_.tree.reads_value = !program_.tree.fallback.empty() || ReadsInput(root);
  return std::move(program_);
}

Node* JqGrammar::Pipe() {
  if (++nesting_ > kMaxNesting) return Fail(lexer_.at(), "nested too deeply");
  Node* result = nullptr;
  const size_t at = lexer_.at();
  if (lexer_.IsWord("def")) {
    const Scope scope = Mark();
    result = Definition() ? Pipe() : nullptr;
    Return(scope);
  } else {
    result = Operators(kCommaLevel);
    if (result != nullptr && Accept("|")) {
      Node* next = Pipe();
      result = next == nullptr ? nullptr : Make(Op::kPipe, at, {result, next});
    }
  }
  --nesting_;
  return result;
}

Node* JqGrammar::Operators(int lowest) {
  const size_t start = lexer_.at();
  Node* left = nullptr;
  if (++nesting_ > kMaxNesting) return Fail(start, "nested too deeply");
  if (Accept("-")) {
    Node* operand = Operators(kSignLevel);
    if (operand == nullptr) return nullptr;
    std::string spelling;
    if (operand->op == Op::kLiteral && operand->value.is_number()) {
      AppendJson(operand->value, &spelling);
    }
    if (!spelling.empty() && spelling[0] != '-') {
      spelling.insert(0, 1, '-');
      operand->value = NumberOfProgram(program_.tree.arena.Copy(spelling));
      left = operand;
    } else {
      left = Make(Op::kNegate, start, {operand});
    }
  } else {
    left = Term(true);
  }
  std::string_view previous;  // a comparison or assignment may not follow one of its level
  int previous_level = 0;
  std::vector<Node*> comma;
  while (left != nullptr) {
    const Precedence* p = FindOperator(lexer_);
    if (p == nullptr || p->level < lowest) break;
    if (p->associates == Associates::kNot && previous_level == p->level) {
      return Fail(lexer_.at(), "'" + std::string(p->symbol) + "' after '" + std::string(previous) +
                                   "': use parentheses");
    }
    const size_t at = lexer_.at();
    lexer_.Advance();
    Node* right = Operators(p->associates == Associates::kRight ? p->level : p->level + 1);
    if (right == nullptr) return nullptr;
    if (p->level == kCommaLevel) {
      if (comma.empty()) comma.push_back(left);
      comma.push_back(right);
    } else {
      left = p->level == kAssignmentLevel ? Assignment(p->symbol, at, left, right)
                                          : Operator(p->symbol, at, left, right);
    }
    previous = p->symbol;
    previous_level = p->level;
  }
  --nesting_;
  return comma.empty() || left == nullptr ? left : Make(Op::kComma, start, {}, comma);
}

Node* JqGrammar::Operator(std::string_view symbol, size_t at, Node* left, Node* right) {
  const Op op = OpOf(symbol);
  for (Node* side : {left, right}) {
    // A number that is only calculated or compared with need not keep its spelling.
    if (side->op != Op::kLiteral || !side->value.is_number()) continue;
    if (op == Op::kAnd || op == Op::kOr || op == Op::kAlternative) continue;
    if (const Number number = Decode(side->value); number.is_int)
      side->value = Value::Int(number.i);
  }
  return Make(op, at, {left, right});
}

Node* JqGrammar::Assignment(std::string_view symbol, size_t at, Node* path, Node* value) {
  if (!IsSimplePath(*path)) {
    NeedsLibjq("an assignment to such a path", path->at);
  } else if (!value->single) {
    NeedsLibjq("an assignment of other than one value", value->at);
  }
  const Op op = symbol == "=" ? Op::kAssign : symbol == "|=" ? Op::kUpdate : Op::kUpdateWith;
  Node* node = Make(op, at, {path, value});
  if (node == nullptr) return nullptr;
  node->single = true;  // the path may lead to several places, but the result is one
  if (op == Op::kUpdateWith) {
    node->detail = static_cast<uint16_t>(OpOf(symbol.substr(0, symbol.size() - 1)));
  }
  return node;
}

Node* JqGrammar::Make(Op op, size_t at, std::initializer_list<Node*> children,
                      const std::vector<Node*>& list) {
  Node* node = program_.tree.New(op, at);
  std::array<const Node**, 3> places = {&node->a, &node->b, &node->c};
  size_t place = 0;
  for (Node* child : children) {
    *places[place++] = child;
    if (child == nullptr) continue;
    node->single &= child->single;
    node->depth = std::max<uint16_t>(node->depth, child->depth + 1);
  }
  if (!list.empty()) {
    const Node** nodes = program_.tree.arena.AllocateArray<const Node*>(list.size());
    std::copy(list.begin(), list.end(), nodes);
    node->list = {nodes, list.size()};
  }
  for (const Node* child : list) {
    node->single &= child->single;
    node->depth = std::max<uint16_t>(node->depth, child->depth + 1);
  }
  switch (op) {
    case Op::kEmpty:
    case Op::kRecurse:
    case Op::kIterate:
    case Op::kTry:
    case Op::kComma:
      node->single = false;
      break;
    case Op::kArray:
      node->single = true;
      break;
    default:
      break;
  }
  if (!node->single && op != Op::kComma) ++generators_;
  if (node->depth > kMaxNesting) return Fail(at, "nested too deeply");
  return node;
}

void JqGrammar::NeedsLibjq(std::string_view construct, size_t at) {
  std::string& reason = program_.tree.fallback;
  if (reason.empty()) {
    reason.append(construct).append(" at ").append(PositionText(text_, at));
  }
}

std::nullptr_t JqGrammar::Fail(size_t at, std::string message) {
  if (error_.ok()) error_ = Status::Expression(PositionText(text_, at) + ": " + message);
  return nullptr;
}

std::nullptr_t JqGrammar::Unexpected() {
  if (lexer_.token() == Token::kEnd) {
    return Fail(lexer_.at(), "the expression ends too early");
  }
  std::string_view text = lexer_.text();
  switch (lexer_.token()) {
    case Token::kField:
    case Token::kVariable:
      text = text_.substr(lexer_.at(), text.size() + 1);
      break;
    case Token::kQuote:
      return Fail(lexer_.at(), "a string is not expected here");
    case Token::kBad:
      if (static_cast<unsigned char>(text[0]) < ' ' || static_cast<unsigned char>(text[0]) > '~') {
        return Fail(lexer_.at(), "this character is not expected here");
      }
      break;
    default:
      break;
  }
  return Fail(lexer_.at(), "'" + std::string(text) + "' is not expected here");
}

bool JqGrammar::Accept(std::string_view symbol) {
  if (!lexer_.Is(symbol)) return false;
  lexer_.Advance();
  return true;
}

bool JqGrammar::Expect(std::string_view symbol) {
  if (!error_.ok()) return false;
  if (Accept(symbol)) return true;
  if (lexer_.token() == Token::kEnd) {
    Fail(lexer_.at(), "the expression ends where '" + std::string(symbol) + "' is expected");
  } else {
    Unexpected();
  }
  return false;
}

bool JqGrammar::ExpectWord(std::string_view word) {
  if (!error_.ok()) return false;
  if (lexer_.IsWord(word)) {
    lexer_.Advance();
    return true;
  }
  if (lexer_.token() == Token::kEnd) {
    Fail(lexer_.at(), "the expression ends where '" + std::string(word) + "' is expected");
  } else {
    Unexpected();
  }
  return false;
}

void JqGrammar::Return(const Scope& scope) {
  variables_.resize(scope.variables);
  functions_.resize(scope.functions);
  labels_.resize(scope.labels);
}

}  // namespace kstream::expr
