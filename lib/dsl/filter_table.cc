// FilterTable: the rows of a table that fit. A row that does not fit is a tombstone, so that
// whoever keeps the result has no row that has ceased to fit; and it is one each time, whether or
// not it fitted before, as in Kafka Streams: to know that would take the whole table. What deletes
// a row deletes it here too. Records without a key are no rows. Tested by
// tests/unit/dsl/operators_test.cc and tests/system/filter.bats.
#include "dsl/filter_table.h"

#include <utility>

#include "dsl/operator.h"
#include "dsl/route.h"
#include "expr/program.h"

namespace kstream::dsl {
namespace {

class FilterTable final : public Operator {
 public:
  FilterTable(const FilterSpec& spec, const Serdes& serdes, std::shared_ptr<SkipTotals> skips)
      : keep_(spec.keep.program(), serdes),
        negate_(spec.negate),
        kept_(spec.kept),
        rest_(spec.rest),
        route_(spec.route, serdes),
        skips_(std::move(skips)) {}

  Status Process(const Record& record) override {
    if (!record.key) {
      skips_.NoKey();
      return Status::Ok();
    }
    const expr::Input input = InputOf(record);
    bool fits = false;
    if (record.value) {
      KSTREAM_RETURN_IF_ERROR(keep_.Test(input, &fits));
      fits = fits != negate_;
    }
    Record row = record;
    KSTREAM_RETURN_IF_ERROR(route_.Apply(input, &row));
    Record tombstone = row;
    tombstone.value.reset();
    tombstone.cache = nullptr;
    KSTREAM_RETURN_IF_ERROR(Forward(fits ? row : tombstone, kept_));
    return rest_.empty() ? Status::Ok() : Forward(fits ? tombstone : row, rest_);
  }

  void Close() override { skips_.Tell("filter"); }

 private:
  expr::Evaluator keep_;
  const bool negate_;
  const std::string kept_, rest_;
  Route route_;
  Skips skips_;
};

}  // namespace

std::unique_ptr<Processor> NewFilterTable(const FilterSpec& spec, const Serdes& serdes,
                                          std::shared_ptr<SkipTotals> skips) {
  return std::make_unique<FilterTable>(spec, serdes, std::move(skips));
}

}  // namespace kstream::dsl
