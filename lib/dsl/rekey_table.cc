// RekeyTable: the rows of a table under another key, by which they can be joined.
//
// What deletes a row has no value that a key could be made of, and what changes one may change its
// key. So the key that each row has now is kept, by the one that its records have, and the row is
// deleted under it before it comes under another. Tested by
// tests/unit/testdriver/table_join_test.cc.
#include <memory>
#include <string>
#include <utility>

#include "dsl/describe.h"
#include "dsl/operator.h"
#include "dsl/row_store.h"
#include "dsl/skips.h"
#include "expr/single_value.h"
#include "kstream/joins.h"

namespace kstream {
namespace {

class TableRekeyer final : public Processor {
 public:
  TableRekeyer(const RekeySpec& spec, const Serdes& serdes, std::shared_ptr<dsl::SkipTotals> skips)
      : store_name_(spec.store), key_("the key", spec.key, serdes), skips_(std::move(skips)) {}

  Status Init(ProcessorContext& context) override {
    context_ = &context;
    KSTREAM_ASSIGN_OR_RETURN(keys_, dsl::FindKeyValueStore(context, store_name_));
    return Status::Ok();
  }

  Status Process(const Record& record) override {
    Record row = record;
    row.partition_key.reset();
    row.key.reset();
    if (record.value) KSTREAM_RETURN_IF_ERROR(key_.Key(dsl::InputOf(record), &row.key));
    if (record.key) KSTREAM_RETURN_IF_ERROR(Move(record, row));
    if (row.key) return context_->Forward(row);
    if (record.value || !record.key) skips_.NoKey();
    return Status::Ok();
  }

  void Close() override { skips_.Tell(context_ ? context_->node() : "rekey"); }

 private:
  // Takes the row from the key that it had.
  Status Move(const Record& record, const Record& row) {
    KSTREAM_ASSIGN_OR_RETURN(const bool had, keys_->Find(*record.key, &old_));
    if (had && row.key == old_.value) return Status::Ok();
    if (row.key) {
      KSTREAM_RETURN_IF_ERROR(keys_->Put(*record.key, *row.key, dsl::RowTime(record)));
    } else if (had) {
      KSTREAM_RETURN_IF_ERROR(keys_->Delete(*record.key));
    }
    if (!had) return Status::Ok();
    Record ceased = row;
    ceased.key = old_.value;
    ceased.value.reset();
    ceased.cache = nullptr;
    return context_->Forward(ceased);
  }

  const std::string store_name_;
  expr::SingleValue key_;
  dsl::Skips skips_;
  ProcessorContext* context_ = nullptr;
  KeyValueStore* keys_ = nullptr;
  StoredRow old_;
};

}  // namespace

Result<ProcessorSupplier> RekeyTable(RekeySpec spec) {
  if (spec.store.empty())
    return Status::Usage("a table with another key needs the name of a store");
  KSTREAM_ASSIGN_OR_RETURN(const Serdes serdes, Serdes::Parse(spec.serdes.key, spec.serdes.value));
  std::string description = "rekey-table " + dsl::Quoted(spec.key) + dsl::Describe(spec.serdes);
  auto skips = std::make_shared<dsl::SkipTotals>();
  return ProcessorSupplier([spec = std::move(spec), serdes,
                            skips] { return std::make_unique<TableRekeyer>(spec, serdes, skips); },
                           std::move(description));
}

}  // namespace kstream
