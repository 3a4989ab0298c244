// Operators without state: each field becomes the argument of the operator that has its name.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "dsl/operator.h"
#include "expr/single_value.h"
#include "kstream/log.h"
#include "record/serde.h"
#include "topology_file/node.h"

namespace kstream::topology_file {
namespace {

// Names that go with the value made.
const std::vector<std::string> kOut = {"out"};

std::optional<StreamExpression> Wrap(std::optional<Expression> expression) {
  if (!expression) return std::nullopt;
  return StreamExpression(*std::move(expression));
}

Status TakeHeaders(Node* node, MapExpressions* made) {
  const std::optional<FileValue> value = node->fields().Take("header");
  if (!value) return Status::Ok();
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items,
                           value->Items("an array of {\"name\": .., \"value\": EXPR}"));
  for (const FileValue& item : items) {
    KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(item, "a header"));
    KSTREAM_ASSIGN_OR_RETURN(const FileValue name, fields.Need("name"));
    KSTREAM_ASSIGN_OR_RETURN(std::string text, name.Text());
    KSTREAM_ASSIGN_OR_RETURN(const FileValue expression, fields.Need("value"));
    KSTREAM_ASSIGN_OR_RETURN(Expression compiled,
                             node->Compile("header " + text, expression, kOut));
    KSTREAM_RETURN_IF_ERROR(fields.Finish());
    made->headers.emplace_back(std::move(text), std::move(compiled));
  }
  return Status::Ok();
}

// Says on stderr what an expression makes of each record. A copy has an evaluator of its own, as
// each task wants one.
class Show {
 public:
  Show(std::string node, Expression expression, Serdes serdes)
      : node_(std::move(node)), expression_(std::move(expression)), serdes_(std::move(serdes)) {}
  Show(const Show& other) : Show(other.node_, other.expression_, other.serdes_) {}

  Status operator()(const Record& record) {
    std::string_view json;
    KSTREAM_RETURN_IF_ERROR(value_.Eval(dsl::InputOf(record), &json));
    Log(LogLevel::kInfo, fmt::format("{}: {}", node_, Printable(json)));
    return Status::Ok();
  }

 private:
  std::string node_;
  Expression expression_;
  Serdes serdes_;
  expr::SingleValue value_{"peek", expression_, serdes_};
};

// A branch: its name, and its condition unless it is the last, which gets the rest.
struct Branch {
  NameInFile name;
  std::optional<FileValue> when;
};

Result<std::vector<Branch>> BranchesOf(const Node& node) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items,
                           node.value().Items("an array of {\"name\": .., \"when\": EXPR}"));
  if (items.empty()) return node.value().Error("there is no branch in it: name at least one");
  std::vector<Branch> branches;
  for (const FileValue& item : items) {
    if (!branches.empty() && !branches.back().when) {
      return item.Error(fmt::format("branch '{}' before it has no 'when', so it takes all the rest",
                                    branches.back().name.name));
    }
    KSTREAM_ASSIGN_OR_RETURN(Fields fields, Fields::Of(item, "a branch"));
    KSTREAM_ASSIGN_OR_RETURN(const FileValue name, fields.Need("name"));
    KSTREAM_ASSIGN_OR_RETURN(std::string text, name.Text());
    std::optional<FileValue> when = fields.Take("when");
    KSTREAM_RETURN_IF_ERROR(fields.Finish());
    branches.push_back({{std::move(text), name}, when});
  }
  return branches;
}

}  // namespace

Status MakeFilter(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Expression keep, node->CompileCondition(node->kind(), node->value()));
  KSTREAM_ASSIGN_OR_RETURN(const bool table, TakeTable(&node->fields(), "rows"));
  const auto& [stream, scattered] = node->parent();
  const bool negate = node->kind() != "filter";
  node->Give(table    ? stream.FilterRows(std::move(keep), negate, node->name())
             : negate ? stream.FilterNot(std::move(keep), node->name())
                      : stream.Filter(std::move(keep), node->name()),
             scattered);
  return Status::Ok();
}

Status MakeMap(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Expression value, node->CompileValue());
  MapExpressions made{.value = std::move(value)};
  if (const std::optional<FileValue> tombstone = node->fields().Take("tombstone")) {
    KSTREAM_ASSIGN_OR_RETURN(made.tombstone, node->CompileCondition("tombstone", *tombstone, kOut));
  }
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Expression> key, node->TakeExpression("set-key", kOut));
  made.key = Wrap(std::move(key));
  KSTREAM_RETURN_IF_ERROR(TakeHeaders(node, &made));
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Expression> to, node->TakeExpression("to", kOut));
  made.to = Wrap(std::move(to));
  KSTREAM_ASSIGN_OR_RETURN(std::optional<Expression> partition,
                           node->TakeExpression("partition", kOut));
  made.partition = Wrap(std::move(partition));
  const auto& [stream, scattered] = node->parent();
  node->Give(
      node->kind() == "map" ? stream.Map(made, node->name()) : stream.FlatMap(made, node->name()),
      scattered);
  return Status::Ok();
}

Status MakeMapValues(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Expression value, node->CompileValue());
  const auto& [stream, scattered] = node->parent();
  node->Give(node->kind() == "map-values" ? stream.MapValues(std::move(value), node->name())
                                          : stream.FlatMapValues(std::move(value), node->name()),
             scattered);
  return Status::Ok();
}

Status MakeSelectKey(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(Expression key, node->CompileValue());
  const auto& [stream, scattered] = node->parent();
  node->Give(stream.SelectKey(std::move(key), node->name()), scattered);
  return Status::Ok();
}

Result<std::vector<NameInFile>> BranchOutputs(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<Branch> branches, BranchesOf(*node));
  std::vector<NameInFile> names;
  for (const Branch& branch : branches) names.push_back(branch.name);
  return names;
}

Status MakeBranch(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<Branch> branches, BranchesOf(*node));
  std::vector<BranchSpec> specs;
  std::string otherwise;
  for (const Branch& branch : branches) {
    if (!branch.when) {
      otherwise = branch.name.name;
      continue;
    }
    KSTREAM_ASSIGN_OR_RETURN(Expression when,
                             node->CompileCondition("when " + branch.name.name, *branch.when));
    specs.push_back({branch.name.name, StreamExpression(std::move(when))});
  }
  if (specs.empty()) return node->value().Error("no branch has a 'when': what should it decide?");
  const auto& [stream, scattered] = node->parent();
  const std::vector<Stream> streams = stream.Branch(std::move(specs), otherwise, node->name());
  for (size_t i = 0; i < branches.size(); ++i) {
    node->GiveAs(branches[i].name.name, streams[i], scattered);
  }
  return Status::Ok();
}

Result<std::vector<NameInFile>> MergedParents(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items,
                           node->value().Items("an array of nodes"));
  if (items.size() < 2) return node->value().Error("a merge is of at least two nodes");
  std::vector<NameInFile> parents;
  for (const FileValue& item : items) {
    KSTREAM_ASSIGN_OR_RETURN(std::string name, item.Text());
    if (std::ranges::find(parents, name, &NameInFile::name) != parents.end()) {
      return item.Error(
          fmt::format("'{}' is merged with itself: each of its records would come twice", name));
    }
    parents.push_back({std::move(name), item});
  }
  return parents;
}

Status MakeMerge(Node* node) {
  auto [merged, scattered] = node->parent(0);
  for (size_t i = 1; i < node->parents(); ++i) {
    const bool last = i + 1 == node->parents();
    merged = merged.Merge(node->parent(i).stream,
                          last ? node->name() : fmt::format("{}-{}", node->name(), i));
    scattered |= node->parent(i).scattered;
  }
  node->Give(std::move(merged), scattered);
  return Status::Ok();
}

Status MakePeek(Node* node) {
  KSTREAM_ASSIGN_OR_RETURN(const Expression shown, node->CompileValue());
  const auto& [stream, scattered] = node->parent();
  KSTREAM_ASSIGN_OR_RETURN(Serdes serdes,
                           Serdes::Parse(stream.serdes().key, stream.serdes().value));
  node->Give(stream.Peek(Show(node->name(), shown, std::move(serdes)), node->name()), scattered);
  return Status::Ok();
}

Status MakeProcess(Node* node) {
  const Plugins& plugins = node->assembly().defaults.plugins;
  KSTREAM_ASSIGN_OR_RETURN(const std::string name, node->value().Text());
  const ProcessorFactory* const factory = plugins.processor(name);
  if (factory == nullptr) {
    const std::string near = DidYouMean(name, plugins.processors());
    return node->value().Error(
        fmt::format("no plugin has a processor '{}'{}", name,
                    near.empty() ? ": load the one that has it with --plugin" : near));
  }
  std::string options = "{}";
  if (const std::optional<FileValue> value = node->fields().Take("options")) {
    KSTREAM_ASSIGN_OR_RETURN(options, value->ObjectText());
  }
  std::vector<std::string> stores;
  if (const std::optional<FileValue> value = node->fields().Take("stores")) {
    KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items,
                             value->Items("an array of names of stores"));
    for (const FileValue& item : items) {
      KSTREAM_ASSIGN_OR_RETURN(std::string store, item.Text());
      // One that another node has, an aggregate's too, is shared.
      if (node->assembly().stores.emplace(store, node->name()).second) {
        node->assembly().builder.AddStore(StoreSpec{.name = store});
      }
      stores.push_back(std::move(store));
    }
  }
  Result<ProcessorSupplier> supplier = (*factory)(options);
  if (!supplier.ok()) return node->value().Error(supplier.status().message());
  // Members of one application must agree in what it was told.
  supplier->description = fmt::format("process {} {}: {}", name, options, supplier->description);
  const auto& [stream, scattered] = node->parent();
  node->Give(stream.Process(*std::move(supplier), node->name(), std::move(stores)), scattered);
  return Status::Ok();
}

}  // namespace kstream::topology_file
