// Evaluator: reads what a program needs from a record, and runs it on the engine that takes it.
#include <string>
#include <utility>
#include <vector>

#include "expr/evaluation.h"
#include "expr/inputs.h"
#include "expr/jsonlogic.h"
#include "expr/libjq.h"
#include "expr/program_rep.h"

namespace kstream::expr {

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
    stopped = each(rep_->out);
    return stopped.ok();
  });
  return evaluation.failed() ? rep_->Error() : stopped;
}

}  // namespace kstream::expr
