// Branch: each record to the first child whose condition holds. Conditions are asked in order, and
// one that fails ends the matter: the record is bad, wherever it would have gone. Tested by
// tests/unit/dsl/stream_test.cc.
#include <algorithm>
#include <memory>
#include <utility>

#include "dsl/describe.h"
#include "dsl/operator.h"
#include "dsl/suppliers.h"

namespace kstream::dsl {
namespace {

class Condition {
 public:
  Condition(const std::variant<Expression, Predicate>& when, const Serdes& serdes)
      : when_(Prepare(when, serdes)) {}

  Status Test(const Record& record, bool* holds) {
    if (auto* expression = std::get_if<expr::Evaluator>(&when_)) {
      return expression->Test(InputOf(record), holds);
    }
    const Result<bool> answer = std::get<Predicate>(when_)(record);
    if (!answer.ok()) return WhyNone(answer);
    *holds = *answer;
    return Status::Ok();
  }

 private:
  using Prepared = std::variant<expr::Evaluator, Predicate>;
  static Prepared Prepare(const std::variant<Expression, Predicate>& when, const Serdes& serdes) {
    if (const auto* function = std::get_if<Predicate>(&when)) return *function;
    return expr::Evaluator(std::get<Expression>(when).program(), serdes);
  }

  Prepared when_;
};

class BranchProcessor final : public Operator {
 public:
  BranchProcessor(const std::vector<BranchCase>& cases, std::string otherwise, const Serdes& serdes)
      : otherwise_(std::move(otherwise)) {
    for (const BranchCase& c : cases) branches_.emplace_back(c.child, Condition(c.when, serdes));
  }

  Status Process(const Record& record) override {
    for (auto& [child, condition] : branches_) {
      bool holds = false;
      KSTREAM_RETURN_IF_ERROR(condition.Test(record, &holds));
      if (holds) return Forward(record, child);
    }
    return otherwise_.empty() ? Status::Ok() : Forward(record, otherwise_);
  }

 private:
  std::vector<std::pair<std::string, Condition>> branches_;
  const std::string otherwise_;
};

std::string Description(const std::vector<BranchCase>& cases, const std::string& otherwise,
                        const SerdeNames& serdes) {
  std::string out = "branch";
  for (const auto& [child, when] : cases) {
    const auto* expression = std::get_if<Expression>(&when);
    out += " " + Quoted(child) + "=" + (expression ? Quoted(*expression) : "(function)");
  }
  if (!otherwise.empty()) out += " otherwise " + Quoted(otherwise);
  return out + Describe(serdes);
}

}  // namespace

Result<ProcessorSupplier> Branch(std::vector<BranchCase> cases, std::string otherwise,
                                 const SerdeNames& names) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(names.key, names.value));
  std::string description = Description(cases, otherwise, names);
  const bool functions = std::ranges::any_of(
      cases, [](const BranchCase& c) { return std::holds_alternative<Predicate>(c.when); });
  ProcessorSupplier supplier(
      [cases = std::move(cases), otherwise = std::move(otherwise), serdes] {
        return std::make_unique<BranchProcessor>(cases, otherwise, serdes);
      },
      std::move(description));
  return functions ? supplier : std::move(supplier).Stateless();
}

}  // namespace kstream::dsl
