// KeepTable: the latest value of each key of a changelog. A null payload deletes; the four bytes
// `null` are a value like any other; what is not of the serde, such as an empty payload, is bad and
// neither deletes nor sets. Tested by tests/unit/dsl/table_test.cc.
#include <memory>
#include <string>
#include <utility>

#include "dsl/describe.h"
#include "dsl/skips.h"
#include "dsl/suppliers.h"
#include "expr/inputs.h"
#include "kstream/store.h"

namespace kstream::dsl {
namespace {

class TableKeeper final : public Processor {
 public:
  TableKeeper(std::string store, const Serdes& serdes, std::shared_ptr<SkipTotals> skips)
      : store_name_(std::move(store)), inputs_(serdes), skips_(std::move(skips)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(StateStore* const store, context.Store(store_name_));
    store_ = dynamic_cast<KeyValueStore*>(store);
    if (store_) return Status::Ok();
    return Status::Usage("store '" + store_name_ + "' is no key-value store");
  }

  Status Process(const Record& record) override {
    if (!record.key) {
      skips_.NoKey();
      return Status::Ok();
    }
    if (record.value) {
      expr::Value value;
      KSTREAM_RETURN_IF_ERROR(inputs_.ReadValue(record, &value));
      KSTREAM_RETURN_IF_ERROR(store_->Put(*record.key, *record.value));
    } else {
      KSTREAM_RETURN_IF_ERROR(store_->Delete(*record.key));
    }
    return context_->Forward(record);
  }

  void Close() override { skips_.Tell(store_name_); }

 private:
  const std::string store_name_;
  expr::Inputs inputs_;
  Skips skips_;
  ProcessorContext* context_ = nullptr;
  KeyValueStore* store_ = nullptr;
};

}  // namespace

Result<ProcessorSupplier> KeepTable(const std::string& store, const SerdeNames& names) {
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(names.key, names.value));
  auto skips = std::make_shared<SkipTotals>();
  return ProcessorSupplier(
      [store, serdes, skips] { return std::make_unique<TableKeeper>(store, serdes, skips); },
      "table" + Describe(names));
}

}  // namespace kstream::dsl
