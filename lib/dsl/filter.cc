// Filter: keep or drop, never touch. Tested by tests/unit/dsl/operators_test.cc.
#include "dsl/route.h"
#include "expr/program.h"
#include "kstream/operators.h"

namespace kstream {
namespace {

class FilterProcessor final : public Processor {
 public:
  FilterProcessor(const FilterSpec& spec, const Serdes& serdes)
      : keep_(spec.keep.program(), serdes),
        negate_(spec.negate),
        kept_(spec.kept),
        rest_(spec.rest),
        route_(spec.route, serdes) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    const expr::Input input{.record = &record, .out = {}, .left = {}, .right = {}, .acc = {}};
    bool keep = false;
    KSTREAM_RETURN_IF_ERROR(keep_.Test(input, &keep));
    const bool kept = keep != negate_;
    if (!kept && rest_.empty()) return Status::Ok();
    if (route_.trivial()) return Forward(record, kept);
    Record routed = record;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(input, &routed));
    return Forward(routed, kept);
  }

 private:
  Status Forward(const Record& record, bool kept) {
    const std::string& child = kept ? kept_ : rest_;
    return child.empty() ? context_->Forward(record) : context_->Forward(record, child);
  }

  ProcessorContext* context_ = nullptr;
  expr::Evaluator keep_;
  const bool negate_;
  const std::string kept_, rest_;
  dsl::Route route_;
};

}  // namespace

Result<ProcessorSupplier> Filter(FilterSpec spec) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  return ProcessorSupplier(
      [spec = std::move(spec), serdes] { return std::make_unique<FilterProcessor>(spec, serdes); });
}

}  // namespace kstream
