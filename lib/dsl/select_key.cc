// SelectKey: another key, and nothing else changes; so unlike Map it neither prints the value again
// nor lets a null payload keep its old key. Tested by tests/unit/dsl/stream_test.cc.
#include <memory>

#include "dsl/describe.h"
#include "dsl/operator.h"
#include "dsl/suppliers.h"
#include "expr/single_value.h"

namespace kstream::dsl {
namespace {

class SelectKeyProcessor final : public Operator {
 public:
  SelectKeyProcessor(const Expression& key, const Serdes& serdes) : key_("the key", key, serdes) {}

  Status Process(const Record& record) override {
    Record keyed = record;
    keyed.partition_key.reset();
    KSTREAM_RETURN_IF_ERROR(key_.Key(InputOf(record), &keyed.key));
    return Forward(keyed);
  }

 private:
  expr::SingleValue key_;
};

}  // namespace

Result<ProcessorSupplier> SelectKey(const Expression& key, const SerdeNames& names) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(names.key, names.value));
  auto make = [key, serdes] { return std::make_unique<SelectKeyProcessor>(key, serdes); };
  return ProcessorSupplier(make, "select-key " + Quoted(key) + Describe(names)).Stateless();
}

}  // namespace kstream::dsl
