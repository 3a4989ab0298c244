// The front end of JsonLogic: JSON text to tree.
//
// The text is parsed as any JSON is; then one walk makes nodes. Everything constant is settled
// here: paths, names of the record, arrays and objects that hold no rule, the number of arguments.
// Depth is limited, so that neither this walk nor the evaluation can run out of stack.
#include <algorithm>
#include <string>
#include <vector>

#include "expr/jsonlogic.h"
#include "expr/jsonlogic_operators.h"
#include "expr/number.h"
#include "fmt/format.h"
#include "record/json_document.h"

namespace kstream::expr {
namespace {

constexpr int kMaxNesting = 250;

// The one name of an object, or nothing when it has none or several. A repeated name is one.
std::optional<std::string> OnlyName(const json::Document& document, json::Node object) {
  std::optional<std::string> only;
  for (json::Node n = document.First(object); n != json::kNoNode;
       n = document.Next(document.ValueOf(n))) {
    std::string name;
    json::Unescape(document.StringContent(n), &name);
    if (only && *only != name) return std::nullopt;
    only = std::move(name);
  }
  return only;
}

class JsonLogicParser {
 public:
  JsonLogicParser(std::string_view text, const CompileOptions& options)
      : text_(text), options_(options) {
    tree_.reads_value = false;
  }

  Result<Tree> Parse() {
    json::Reader reader;
    if (Status status = reader.Parse(text_, &document_); !status.ok()) {
      return Status::Expression(std::string(status.message()));
    }
    tree_.root = Rule(document_.root());
    if (!error_.ok()) return error_;
    return std::move(tree_);
  }

 private:
  // Each of these returns null after Fail().
  const Node* Rule(json::Node n);
  const Node* List(json::Node array);
  const Node* Operation(const LogicOperator& op, json::Node argument, size_t at);
  const Node* Var(json::Node path, const Node* default_value, size_t at);
  const Node* MissingOf(std::span<const json::Node> keys, const Node* needed, size_t at);
  const Node* Path(std::string_view path, const Node* default_value, size_t at);

  bool Arguments(const LogicOperator& op, std::span<const json::Node> arguments,
                 std::vector<const Node*>* nodes);
  Value Constant(json::Node n);
  bool IsKey(json::Node n) const {
    return document_.type(n) == json::Type::kString || document_.type(n) == json::Type::kNumber;
  }
  std::string KeyText(json::Node n) const;
  std::vector<json::Node> Elements(json::Node array) const;
  Node* Make(LogicOp op, size_t at, const std::vector<const Node*>& list = {});
  size_t At(json::Node n) const {
    return static_cast<size_t>(document_.Raw(n).data() - text_.data());
  }
  std::nullptr_t Fail(size_t at, std::string_view message) {
    if (error_.ok()) {
      error_ = Status::Expression(fmt::format("{}: {}", PositionText(text_, at), message));
    }
    return nullptr;
  }

  const std::string_view text_;
  const CompileOptions& options_;
  json::Document document_;
  Tree tree_;
  Status error_;
  int nesting_ = 0;
  int scopes_ = 0;  // above 0 `var` reads an element of an array, not the record's value
};

Node* JsonLogicParser::Make(LogicOp op, size_t at, const std::vector<const Node*>& list) {
  Node* node = tree_.New(Op::kJsonLogic, at);
  node->detail = static_cast<uint16_t>(op);
  auto* copy = tree_.arena.AllocateArray<const Node*>(list.size());
  std::ranges::copy(list, copy);
  node->list = {copy, list.size()};
  return node;
}

std::vector<json::Node> JsonLogicParser::Elements(json::Node array) const {
  std::vector<json::Node> elements;
  for (json::Node n = document_.First(array); n != json::kNoNode; n = document_.Next(n)) {
    elements.push_back(n);
  }
  return elements;
}

std::string JsonLogicParser::KeyText(json::Node n) const {
  if (document_.type(n) == json::Type::kNumber) return std::string(document_.Raw(n));
  std::string text;
  json::Unescape(document_.StringContent(n), &text);
  return text;
}

// A value of the rule's own, copied out of the text.
Value JsonLogicParser::Constant(json::Node n) {
  Arena* const arena = &tree_.arena;
  switch (document_.type(n)) {
    case json::Type::kNumber:
      return NumberOfProgram(arena->Copy(document_.Raw(n)));
    case json::Type::kString:
      return Value::String(arena->Copy(KeyText(n)));
    case json::Type::kArray: {
      ArrayBuilder items(arena);
      for (json::Node element : Elements(n)) items.Add(Constant(element));
      return items.Build();
    }
    case json::Type::kObject: {
      ObjectBuilder members(arena);
      for (json::Node name = document_.First(n); name != json::kNoNode;) {
        const json::Node value = document_.ValueOf(name);
        members.Set(Value::String(arena->Copy(KeyText(name))), Constant(value));
        name = document_.Next(value);
      }
      return members.Build();
    }
    default:
      return Value::Of(document_, n);  // null and booleans point nowhere
  }
}

const Node* JsonLogicParser::Rule(json::Node n) {
  if (nesting_ == kMaxNesting) return Fail(At(n), "nested too deeply");
  ++nesting_;
  const Node* result = nullptr;
  const json::Type type = document_.type(n);
  if (type == json::Type::kArray) {
    result = List(n);
  } else if (const std::optional<std::string> name =
                 type == json::Type::kObject ? OnlyName(document_, n) : std::nullopt) {
    const json::Node argument = document_.Find(n, *name);
    if (const LogicOperator* op = FindLogicOperator(*name)) {
      result = Operation(*op, argument, At(n));
    } else {
      const std::string_view nearest = NearestLogicOperator(*name);
      result = Fail(At(n), nearest.empty()
                               ? fmt::format("there is no operator \"{}\"", *name)
                               : fmt::format("there is no operator \"{}\"; did you mean \"{}\"?",
                                             *name, nearest));
    }
  } else {
    Node* literal = tree_.New(Op::kLiteral, At(n));
    literal->value = Constant(n);
    result = literal;
  }
  --nesting_;
  return result;
}

const Node* JsonLogicParser::List(json::Node array) {
  std::vector<const Node*> nodes;
  bool constant = true;
  for (json::Node element : Elements(array)) {
    const Node* node = Rule(element);
    if (node == nullptr) return nullptr;
    constant = constant && node->op == Op::kLiteral;
    nodes.push_back(node);
  }
  if (!constant) return Make(LogicOp::kList, At(array), nodes);
  ArrayBuilder items(&tree_.arena);
  for (const Node* node : nodes) items.Add(node->value);
  Node* literal = tree_.New(Op::kLiteral, At(array));
  literal->value = items.Build();
  return literal;
}

const Node* JsonLogicParser::Operation(const LogicOperator& op, json::Node argument, size_t at) {
  const std::vector<json::Node> arguments = document_.type(argument) == json::Type::kArray
                                                ? Elements(argument)
                                                : std::vector<json::Node>{argument};
  if (arguments.size() < op.min_arguments ||
      (op.max_arguments != LogicOperator::kAnyNumber && arguments.size() > op.max_arguments)) {
    const std::string wanted = op.min_arguments == op.max_arguments
                                   ? fmt::format("{}", op.min_arguments)
                               : op.max_arguments == LogicOperator::kAnyNumber
                                   ? fmt::format("at least {}", op.min_arguments)
                                   : fmt::format("{} to {}", op.min_arguments, op.max_arguments);
    return Fail(at, fmt::format("\"{}\" takes {} argument{}, not {}", op.name, wanted,
                                wanted.ends_with('1') ? "" : "s", arguments.size()));
  }
  std::vector<const Node*> nodes;
  if (!Arguments(op, arguments, &nodes)) return nullptr;
  switch (op.op) {
    case LogicOp::kVar:
      if (arguments.empty()) return Path("", nullptr, at);
      if (nodes[0]->op == Op::kLiteral) {
        return Var(arguments[0], nodes.size() > 1 ? nodes[1] : nullptr, at);
      }
      tree_.reads_value |= scopes_ == 0;
      break;
    case LogicOp::kLog:
      return nodes[0];
    case LogicOp::kMissing: {
      const bool in_array =
          !arguments.empty() && document_.type(arguments[0]) == json::Type::kArray;
      const std::vector<json::Node> keys = in_array ? Elements(arguments[0]) : arguments;
      if (std::ranges::all_of(keys, [&](json::Node n) { return IsKey(n); })) {
        return MissingOf(keys, nullptr, at);
      }
      tree_.reads_value |= scopes_ == 0;
      break;
    }
    case LogicOp::kMissingSome:
      if (document_.type(arguments[1]) == json::Type::kArray) {
        const std::vector<json::Node> keys = Elements(arguments[1]);
        if (std::ranges::all_of(keys, [&](json::Node n) { return IsKey(n); })) {
          return MissingOf(keys, nodes[0], at);
        }
      }
      tree_.reads_value |= scopes_ == 0;
      break;
    default:
      break;
  }
  return Make(op.op, at, nodes);
}

// The second argument of the operators on arrays is a rule about an element.
bool JsonLogicParser::Arguments(const LogicOperator& op, std::span<const json::Node> arguments,
                                std::vector<const Node*>* nodes) {
  const bool scoped = op.op >= LogicOp::kFilter && op.op <= LogicOp::kSome;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool scope = scoped && i == 1;
    scopes_ += scope;
    const Node* node = Rule(arguments[i]);
    scopes_ -= scope;
    if (node == nullptr) return false;
    nodes->push_back(node);
  }
  return true;
}

const Node* JsonLogicParser::Var(json::Node path, const Node* default_value, size_t at) {
  if (document_.type(path) == json::Type::kNull) return Path("", nullptr, at);
  if (!IsKey(path)) return Fail(At(path), "\"var\" takes a path: a string or a number");
  return Path(KeyText(path), default_value, at);
}

const Node* JsonLogicParser::MissingOf(std::span<const json::Node> keys, const Node* needed,
                                       size_t at) {
  std::vector<const Node*> paths;
  for (json::Node key : keys) {
    Node* path = Make(LogicOp::kPath, At(key));
    const Node* found = Path(KeyText(key), nullptr, At(key));
    if (found == nullptr) return nullptr;
    path->a = found;
    path->value = Constant(key);
    paths.push_back(path);
  }
  Node* node = Make(LogicOp::kMissingOf, at, paths);
  node->a = needed;
  return node;
}

const Node* JsonLogicParser::Path(std::string_view path, const Node* default_value, size_t at) {
  if (path.empty()) {
    tree_.reads_value |= scopes_ == 0;
    return tree_.New(Op::kIdentity, at);
  }
  const Node* start = nullptr;
  if (path[0] == '$') {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string_view text = path.substr(1, dot - 1);
    const std::optional<Name> name = FindName(text);
    if (!name || (*name >= Name::kOut &&
                  std::ranges::find(options_.extra_names, text) == options_.extra_names.end())) {
      return Fail(at, fmt::format("${} has no meaning here", text));
    }
    tree_.names |= 1u << static_cast<unsigned>(*name);
    Node* node = tree_.New(Op::kName, at);
    node->detail = static_cast<uint16_t>(*name);
    start = node;
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (path.empty() && default_value == nullptr) return start;
  } else {
    tree_.reads_value |= scopes_ == 0;
  }
  Node* node = Make(LogicOp::kPath, at);
  node->text = tree_.arena.Copy(path);
  node->a = start;
  node->b = default_value;
  return node;
}

}  // namespace

Result<Tree> ParseJsonLogic(std::string_view text, const CompileOptions& options) {
  return JsonLogicParser(text, options).Parse();
}

bool LooksLikeJsonLogic(std::string_view text) {
  json::Reader reader;
  json::Document document;
  if (!reader.Parse(text, &document).ok()) return false;
  if (document.type(document.root()) != json::Type::kObject) return false;
  const std::optional<std::string> name = OnlyName(document, document.root());
  return name && FindLogicOperator(*name) != nullptr;
}

}  // namespace kstream::expr
