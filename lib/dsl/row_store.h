// RowStore: the rows of a table in a key-value store, as operators over tables keep them: the value
// as it came, with the time of its record. Tested by tests/unit/dsl/table_aggregate_test.cc.
#ifndef KSTREAM_DSL_ROW_STORE_H_
#define KSTREAM_DSL_ROW_STORE_H_

#include <string>
#include <string_view>
#include <utility>

#include "dsl/table_change.h"
#include "expr/inputs.h"
#include "kstream/processor.h"
#include "kstream/store.h"
#include "record/serde.h"

namespace kstream::dsl {

// The key-value store of that name. kUsage: it is none, or not the node's.
Result<KeyValueStore*> FindKeyValueStore(ProcessorContext& context, const std::string& name);

// Belongs to one task.
class RowStore {
 public:
  RowStore(std::string name, const Serdes& serdes) : name_(std::move(name)), inputs_(serdes) {}

  const std::string& name() const { return name_; }
  Status Init(ProcessorContext& context) {
    KSTREAM_ASSIGN_OR_RETURN(store_, FindKeyValueStore(context, name_));
    return Status::Ok();
  }

  // kData: the value is not of the serde. A null one is a delete, and good.
  Status Check(const Record& record) {
    expr::Value value;
    return record.value ? inputs_.ReadValue(record, &value) : Status::Ok();
  }
  // Fills in *row, whose memory is used again. False: there is no such row.
  Result<bool> Find(std::string_view key, StoredRow* row) const { return store_->Find(key, row); }
  // The row of the record's key is what the record says, from now on.
  Status Take(const Record& record) {
    if (!record.value) return store_->Delete(*record.key);
    return store_->Put(*record.key, *record.value, RowTime(record));
  }

 private:
  const std::string name_;
  expr::Inputs inputs_;
  KeyValueStore* store_ = nullptr;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ROW_STORE_H_
