// Evaluator: reads what a program needs from a record, and runs it on the engine that takes it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "expr/evaluation.h"
#include "expr/inputs.h"
#include "expr/jsonlogic.h"
#include "expr/libjq.h"
#include "expr/program_rep.h"

namespace kstream::expr {
namespace {

bool NodeFits(const json::Document& document, json::Node n, int levels) {
  // A shorter text has no room for more brackets and their partners.
  if (document.Raw(n).size() < size_t{2} * (levels + 1)) return true;
  const json::Type type = document.type(n);
  if (type != json::Type::kArray && type != json::Type::kObject) return true;
  if (levels == 0) return false;
  for (json::Node i = document.First(n); i != json::kNoNode;) {
    const json::Node value = type == json::Type::kObject ? document.ValueOf(i) : i;
    if (!NodeFits(document, value, levels - 1)) return false;
    i = document.Next(value);
  }
  return true;
}

// Whether arrays and objects nest at most `levels` deep in `v`. Nothing else may be printed: nobody
// would read it again.
bool Fits(Value v, int levels) {
  const auto inner_fits = [levels](Value inner) { return Fits(inner, levels - 1); };
  switch (v.kind()) {
    case Value::Kind::kNode:
      return levels == json::kMaxDepth || NodeFits(v.document(), v.node(), levels);
    case Value::Kind::kArray:
      return levels > 0 && std::ranges::all_of(v.array(), inner_fits);
    case Value::Kind::kObject:
      return levels > 0 && std::ranges::all_of(v.object(), inner_fits, &Object::Member::value);
    default:
      return true;
  }
}

}  // namespace

struct Evaluator::Rep {
  Rep(std::shared_ptr<const Program> p, const Serdes& serdes)
      : program(std::move(p)), tree(program->rep().tree), inputs(serdes), evaluation(tree) {}

  Status Load(const Input& input, Value* value) {
    evaluation.Reset();
    if (tree.names != 0) KSTREAM_RETURN_IF_ERROR(LoadNames(input));
    *value = Value::Null();
    return tree.reads_value ? inputs.ReadValue(*input.record, value) : Status::Ok();
  }

  Status LoadNames(const Input& input) {
    names.clear();
    for (int i = 0; i < kNames; ++i) {
      if ((tree.names >> i & 1) == 0) continue;
      const auto name = static_cast<Name>(i);
      Value value;
      KSTREAM_RETURN_IF_ERROR(inputs.ReadName(name, input, evaluation.arena(), &value));
      evaluation.SetName(name, value);
      names.push_back(value);
    }
    return Status::Ok();
  }

  Status RunLibjq(Value value, const std::function<Status(std::string_view json)>& each) {
    if (libjq == nullptr || !libjq->usable()) {
      libjq = program->rep().TakeSpare();
      if (libjq == nullptr) {
        KSTREAM_ASSIGN_OR_RETURN(libjq, Libjq::Compile(program->rep().libjq_text, tree.names));
      }
    }
    return libjq->Run(value, names, evaluation.arena(), each);
  }

  Status Error() const { return Status::Data(evaluation.error()); }

  std::shared_ptr<const Program> program;
  const Tree& tree;
  Inputs inputs;
  Evaluation evaluation;
  std::vector<Value> names;  // those the program uses, in order
  std::unique_ptr<Libjq> libjq;
  std::string out;
};

Evaluator::Evaluator(std::shared_ptr<const Program> program, const Serdes& serdes)
    : rep_(std::make_unique<Rep>(std::move(program), serdes)) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;

Status Evaluator::Test(const Input& input, bool* keep) {
  *keep = false;
  Value value;
  KSTREAM_RETURN_IF_ERROR(rep_->Load(input, &value));
  if (rep_->program->engine() == Engine::kLibjq) {
    // The first true output decides; Found stops the run and is no failure.
    const Status stopped = rep_->RunLibjq(value, [keep](std::string_view json) {
      *keep = json != "false" && json != "null";
      return *keep ? Status::Refused("found") : Status::Ok();
    });
    return *keep ? Status::Ok() : stopped;
  }
  Evaluation& evaluation = rep_->evaluation;
  const Node& root = *rep_->tree.root;
  if (root.single) {
    const Value result = evaluation.One(root, value);
    if (result.is_error()) return rep_->Error();
    *keep = rep_->program->rep().json_logic ? JsonLogicTruthy(result) : result.truthy();
    return Status::Ok();
  }
  evaluation.Each(root, value, [keep](Value v) {
    *keep = v.truthy();
    return !*keep;
  });
  return evaluation.failed() ? rep_->Error() : Status::Ok();
}

Status Evaluator::ForEach(const Input& input,
                          const std::function<Status(std::string_view json)>& each) {
  Value value;
  KSTREAM_RETURN_IF_ERROR(rep_->Load(input, &value));
  if (rep_->program->engine() == Engine::kLibjq) return rep_->RunLibjq(value, each);
  Evaluation& evaluation = rep_->evaluation;
  Status stopped;
  evaluation.Each(*rep_->tree.root, value, [&](Value v) {
    if (evaluation.arena()->full()) return !evaluation.Fail("the result is too large").is_error();
    rep_->out.clear();
    AppendJson(v, &rep_->out);
    // As above: most texts are too short to be too deep.
    if (rep_->out.size() > size_t{2} * json::kMaxDepth && !Fits(v, json::kMaxDepth)) {
      return !evaluation.Fail("the result is nested too deep").is_error();
    }
    stopped = each(rep_->out);
    return stopped.ok();
  });
  return evaluation.failed() ? rep_->Error() : stopped;
}

}  // namespace kstream::expr
