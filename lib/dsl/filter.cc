// Filter: keep or drop, never touch. Tested by tests/unit/dsl/operators_test.cc.
#include <fmt/format.h>

#include "dsl/describe.h"
#include "dsl/filter_table.h"
#include "dsl/operator.h"
#include "dsl/route.h"
#include "expr/program.h"
#include "kstream/operators.h"

namespace kstream {
namespace {

class FilterProcessor final : public dsl::Operator {
 public:
  FilterProcessor(const FilterSpec& spec, const Serdes& serdes)
      : keep_(spec.keep.program(), serdes),
        negate_(spec.negate),
        kept_(spec.kept),
        rest_(spec.rest),
        route_(spec.route, serdes) {}

  Status Process(const Record& record) override {
    const expr::Input input = dsl::InputOf(record);
    bool keep = false;
    KSTREAM_RETURN_IF_ERROR(keep_.Test(input, &keep));
    const bool kept = keep != negate_;
    if (!kept && rest_.empty()) return Status::Ok();
    const std::string& child = kept ? kept_ : rest_;
    if (route_.trivial()) return Forward(record, child);
    Record routed = record;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(input, &routed));
    return Forward(routed, child);
  }

 private:
  expr::Evaluator keep_;
  const bool negate_;
  const std::string kept_, rest_;
  dsl::Route route_;
};

}  // namespace

Result<ProcessorSupplier> Filter(FilterSpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  std::string description = dsl::Describe(spec);
  const auto skips = std::make_shared<dsl::SkipTotals>();
  auto make = [spec = std::move(spec), serdes, skips]() -> std::unique_ptr<Processor> {
    if (spec.table) return dsl::NewFilterTable(spec, serdes, skips);
    return std::make_unique<FilterProcessor>(spec, serdes);
  };
  return ProcessorSupplier(std::move(make), std::move(description)).Stateless();
}

Status CheckCondition(const Expression& condition) {
  const std::string_view text = condition.text();
  if (condition.depends_on_record() || text == "true" || text == "false") return Status::Ok();
  return Status::Expression(fmt::format(
      "'{}' is the same for every record: a field is read with a dot, as in '.amount > 100' "
      "(true and false alone are taken)",
      text));
}

}  // namespace kstream
