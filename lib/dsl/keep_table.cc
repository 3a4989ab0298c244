// KeepTable: the latest value of each key of a changelog. A null payload deletes; the four bytes
// `null` are a value like any other; what is not of the serde, such as an empty payload, is bad and
// neither deletes nor sets. Tested by tests/unit/dsl/table_test.cc.
#include <memory>
#include <string>
#include <utility>

#include "dsl/describe.h"
#include "dsl/row_store.h"
#include "dsl/skips.h"
#include "dsl/suppliers.h"

namespace kstream::dsl {
namespace {

class TableKeeper final : public Processor {
 public:
  TableKeeper(const std::string& store, const Serdes& serdes, std::shared_ptr<SkipTotals> skips)
      : rows_(store, serdes), skips_(std::move(skips)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    return rows_.Init(context);
  }

  Status Process(const Record& record) override {
    if (!record.key) {
      skips_.NoKey();
      return Status::Ok();
    }
    KSTREAM_RETURN_IF_ERROR(rows_.Check(record));
    KSTREAM_RETURN_IF_ERROR(rows_.Take(record));
    return context_->Forward(record);
  }

  void Close() override { skips_.Tell(rows_.name()); }

 private:
  RowStore rows_;
  Skips skips_;
  ProcessorContext* context_ = nullptr;
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
