#include "dsl/group_table.h"

#include <utility>

#include "dsl/operator.h"
#include "dsl/row_store.h"

namespace kstream::dsl {
namespace {

class GroupTable final : public Processor {
 public:
  GroupTable(const std::string& store, const Serdes& serdes,
             const std::function<GroupOfRow()>& group_of, std::shared_ptr<SkipTotals> skips)
      : rows_(store, serdes), now_in_(group_of()), was_in_(group_of()), skips_(std::move(skips)) {}

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
    Record row = RowOf(record.key, record.value, RowTime(record));
    row.cache = record.cache;
    Bytes group;
    if (row.value) KSTREAM_RETURN_IF_ERROR(now_in_(row, &group));
    if (row.value && !group) skips_.NoKey();
    Bytes old_group;
    KSTREAM_RETURN_IF_ERROR(FindOld(*record.key, &old_group));
    KSTREAM_RETURN_IF_ERROR(rows_.Take(record));
    return Tell(row, group, old_group);
  }

  void Close() override { skips_.Tell(context_ ? context_->node() : "group-by"); }

 private:
  // Sets old_, and its group if it is of one.
  Status FindOld(std::string_view key, Bytes* group) {
    KSTREAM_ASSIGN_OR_RETURN(const bool found, rows_.Find(key, &old_));
    if (!found) return Status::Ok();
    Record row = RowOf(key, old_.value, old_.timestamp);
    row.cache = cache_.Next(false);
    const Status status = was_in_(row, group);
    // A row whose group cannot be told was bad when it came, and never in one.
    if (status.code() != StatusCode::kData) return status;
    group->reset();
    return Status::Ok();
  }

  Status Tell(const Record& row, Bytes group, Bytes old_group) {
    Record change = row;
    if (old_group && old_group != group) {
      change.key = old_group;
      change.value.reset();
      change.cache = nullptr;
      change.headers = headers_.Of(old_);
      KSTREAM_RETURN_IF_ERROR(context_->Forward(change));
    }
    if (!group) return Status::Ok();
    change = row;
    change.key = group;
    if (old_group == group) change.headers = headers_.Of(old_);
    return context_->Forward(change);
  }

  RowStore rows_;
  const GroupOfRow now_in_, was_in_;
  Skips skips_;
  ProcessorContext* context_ = nullptr;
  StoredRow old_;
  OldHeaders headers_;
  FreshCache cache_;
};

}  // namespace

std::unique_ptr<Processor> NewGroupTable(const std::string& store, const Serdes& serdes,
                                         const std::function<GroupOfRow()>& group_of,
                                         std::shared_ptr<SkipTotals> skips) {
  return std::make_unique<GroupTable>(store, serdes, group_of, std::move(skips));
}

}  // namespace kstream::dsl
