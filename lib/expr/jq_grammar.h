// The parser behind jq_parser.h: recursive descent, with precedence climbing for operators. Private
// to jq_parser.cc (operators, definitions, bindings), jq_terms.cc (terms and steps) and jq_names.cc
// (what names mean).
//
// Functions that parse return nullptr after an error, which the first Fail() recorded.
#ifndef KSTREAM_EXPR_JQ_GRAMMAR_H_
#define KSTREAM_EXPR_JQ_GRAMMAR_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "expr/builtins.h"
#include "expr/jq_lexer.h"
#include "expr/jq_parser.h"

namespace kstream::expr {

class JqGrammar {
 public:
  JqGrammar(std::string_view text, const CompileOptions& options)
      : text_(text), options_(options), lexer_(text) {}
  Result<JqProgram> Parse();

 private:
  struct Scope {  // sizes to return to
    size_t variables, functions, labels;
  };
  struct Variable {
    std::string_view name;
    uint16_t slot;
  };
  struct Defined {
    std::string_view name;
    int arity;
  };

  // jq_parser.cc
  Node* Pipe();
  Node* Operators(int lowest);
  Node* Operator(std::string_view symbol, size_t at, Node* left, Node* right);
  Node* Assignment(std::string_view symbol, size_t at, Node* path, Node* value);

  // jq_statements.cc
  Node* Binding(Node* source);
  bool Patterns(uint16_t* slot);
  bool Pattern(int level, bool* simple);
  bool ObjectPattern(int level);
  bool Definition();
  Node* Reduction(bool foreach);
  Node* Label();
  Node* If();
  Node* IfTail(size_t at);
  Node* Try();

  // jq_terms.cc
  Node* Term(bool may_bind);
  Node* Primary();
  Node* Steps(Node* term, bool step);
  Node* DotStep(Node* target, size_t at);
  Node* Bracket(Node* target, size_t at);
  Node* FieldStep(Node* target, std::string_view name, size_t at);
  Node* Parenthesis();
  Node* ArrayTerm();
  Node* ObjectTerm();
  bool Member(std::vector<Node*>* parts);
  Node* ObjectValue();
  Node* String();
  Node* Format();
  Node* NumberTerm();
  Node* StringLiteral(std::string_view text, size_t at);

  // jq_names.cc
  Node* VariableTerm();
  Node* UnknownVariable(std::string_view name, size_t at);
  Node* Word();
  Node* Call(std::string_view name, const std::vector<Node*>& arguments, size_t at);
  Node* Rewritten(std::string_view name, const std::vector<Node*>& arguments, size_t at);
  Node* BuiltinCall(Builtin builtin, const std::vector<Node*>& arguments, size_t at);

  // Making nodes: depth and `single` follow from the children.
  Node* Make(Op op, size_t at, std::initializer_list<Node*> children,
             const std::vector<Node*>& list = {});
  Node* Placeholder(size_t at) { return Make(Op::kIdentity, at, {}); }
  // The program needs libjq, because of `construct`.
  void NeedsLibjq(std::string_view construct, size_t at);

  // Reports: the first error stays.
  std::nullptr_t Fail(size_t at, std::string message);
  std::nullptr_t Unexpected();
  bool Expect(std::string_view symbol);
  bool ExpectWord(std::string_view word);
  bool Accept(std::string_view symbol);
  Scope Mark() const { return {variables_.size(), functions_.size(), labels_.size()}; }
  void Return(const Scope& scope);
  bool Declared(std::string_view name, int arity) const;
  bool ExtraName(std::string_view name) const;

  std::string_view text_;
  const CompileOptions& options_;
  JqLexer lexer_;
  JqProgram program_;
  Status error_;
  int nesting_ = 0;
  int generators_ = 0;
  std::vector<Variable> variables_;
  std::vector<Defined> functions_;
  std::vector<std::string_view> labels_;
};

bool IsJqKeyword(std::string_view word);
// Whether assignments to the paths of `node` and their deletion are done by us (expr/paths.cc).
bool IsSimplePath(const Node& node);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_JQ_GRAMMAR_H_
