// The one tree that both expression languages compile to.
//
// Where the two languages mean the same (a literal, a name like $key, the input, a step into it),
// they use the same node. Where JavaScript's semantics differ from jq's (truth, equality, addition)
// JsonLogic has operators of its own, under Op::kJsonLogic:
//
//   Result<Tree> ParseJsonLogic(std::string_view text, const CompileOptions& options);
//   bool LooksLikeJsonLogic(std::string_view text);  // one key, and it names an operator
//   Value EvalJsonLogic(const Node& node, Value data, Evaluation* evaluation);
//
// live in expr/jsonlogic.h and expr/jsonlogic_*.cc. Such a node has its operator in Node::detail
// (an enum private to those files) and its arguments in Node::list; every other field is free for
// them. EvalJsonLogic is what Evaluation::One() calls for Op::kJsonLogic: it returns exactly one
// value, or evaluation->Fail("..."). It evaluates an argument, of whatever op, with
// evaluation->One(*arg, data), and makes values in evaluation->arena(). A tree from ParseJsonLogic
// sets reads_value and names, and every node in it is `single`.
//
// Nodes, literals and texts live in the tree's own Arena; a Tree is immutable once parsed and may
// be shared by threads.
#ifndef KSTREAM_EXPR_TREE_H_
#define KSTREAM_EXPR_TREE_H_

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "expr/value.h"

namespace kstream::expr {

// Values beside the input that an expression can name, as `$key`.
enum class Name : uint8_t {
  kKey,
  kTimestamp,
  kTopic,
  kPartition,
  kOffset,
  kCluster,
  kHeaders,      // object, last value of a name wins
  kHeadersList,  // [{"name":..,"value":..}, ..] in order
  kOut,          // from here on: only where CompileOptions::extra_names says so
  kLeft,
  kRight,
  kAcc,
};
inline constexpr int kNames = 12;
inline constexpr std::array<std::string_view, kNames> kNameText = {
    "key",     "timestamp",    "topic", "partition", "offset", "cluster",
    "headers", "headers_list", "out",   "left",      "right",  "acc"};
std::optional<Name> FindName(std::string_view text);  // without the dollar

enum class Op : uint8_t {
  // Leaves.
  kIdentity,  // .
  kLiteral,   // value
  kName,      // detail: a Name
  kVariable,  // detail: slot; bound by kBind
  kRecurse,   // ..
  kEmpty,
  // Steps into a value. a: what they step into.
  kField,    // value: the name, a string; text: its bytes
  kIndex,    // b: index, evaluated on the input of the whole step
  kSlice,    // b, c: bounds, each may be null
  kIterate,  // .[]
  // Control.
  kTry,    // a?
  kPipe,   // a | b
  kComma,  // list
  kAnd,
  kOr,
  kAlternative,  // a // b
  kIf,           // if a then b else c
  kBind,         // a as $detail | b
  // Calculation.
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Construction.
  kArray,          // a, or null for []
  kObject,         // list: name, value, name, value..
  kInterpolation,  // list: parts of a string; each output becomes text
  // A built-in function. detail: a Builtin (expr/builtins.h); list: arguments.
  kCall,
  // Assignment to the paths of a: b is the new value / applied to the old one. kUpdateWith: detail
  // is the Op (kAdd.. kModulo, kAlternative) that joins old value and b.
  kAssign,
  kUpdate,
  kUpdateWith,
  // An operator of JsonLogic; see the top of this file.
  kJsonLogic,
};

struct Node {
  Op op = Op::kIdentity;
  // Gives exactly one output (or fails): evaluated directly, without callbacks.
  bool single = true;
  bool optional = false;  // a step with `?`: gives nothing instead of failing
  uint16_t detail = 0;
  uint16_t depth = 1;  // of the tree below and with this node
  uint32_t at = 0;     // byte of the expression where it starts
  const Node* a = nullptr;
  const Node* b = nullptr;
  const Node* c = nullptr;
  std::span<const Node* const> list;
  Value value;
  std::string_view text;
};

class Tree {
 public:
  Node* New(Op op, size_t at) {
    Node* node = new (arena.Allocate(sizeof(Node))) Node;
    node->op = op;
    node->at = static_cast<uint32_t>(at);
    return node;
  }

  Arena arena;
  const Node* root = nullptr;
  bool reads_value = true;
  uint32_t names = 0;  // bit per Name
  uint16_t variables = 0;
  bool deterministic = true;
  // Why this tree cannot be evaluated by us and the text must go to libjq; empty: it can.
  std::string fallback;
};

// Line and column (both from 1, columns in code points) of a byte of an expression, as "L:C".
std::string PositionText(std::string_view expression, size_t at);

}  // namespace kstream::expr

#endif  // KSTREAM_EXPR_TREE_H_
