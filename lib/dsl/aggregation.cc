#include "dsl/aggregation.h"

#include <memory>
#include <utility>

#include "dsl/session_aggregation.h"
#include "dsl/sliding_aggregation.h"
#include "dsl/window_aggregation.h"

namespace kstream::dsl {

Status Aggregation::Init(ProcessorContext& context) {
  KSTREAM_RETURN_IF_ERROR(RowProcessor::Init(context));
  return store() && emit() == Emit::kEvery ? RestoreDue(&table_) : Status::Ok();
}

Status Aggregation::Process(const Record& record) {
  if (of_table_) return ProcessChange(record);
  Bytes key;
  KSTREAM_ASSIGN_OR_RETURN(const bool grouped, GroupOf(record, &key));
  if (!grouped) return Status::Ok();
  KSTREAM_RETURN_IF_ERROR(Read(record));
  bool fresh = false;
  KSTREAM_ASSIGN_OR_RETURN(Entry* const entry, Find(&table_, *key, BytesHash::Of(*key), &fresh));
  if (Status status = Prepare(record, entry->value); !status.ok()) {
    if (fresh) Forget(&table_, entry);
    return status;
  }
  KSTREAM_RETURN_IF_ERROR(Apply(&table_, record, entry));
  return full() ? Spill() : Status::Ok();
}

Status Aggregation::ProcessChange(const Record& change) {
  if (!change.key) return Status::Ok();  // GroupBy forwards none
  bool fresh = false;
  KSTREAM_ASSIGN_OR_RETURN(Entry* const entry,
                           Find(&table_, *change.key, BytesHash::Of(*change.key), &fresh));
  bool changed = false;
  const Status status = ApplyChange(&table_, change, entry, &changed);
  if (fresh && !changed) Forget(&table_, entry);
  KSTREAM_RETURN_IF_ERROR(status);
  return full() ? Spill() : Status::Ok();
}

Status Aggregation::Punctuate(const Punctuation&) { return ForwardDue(&table_); }

Status Aggregation::Flush() {
  if (emit() == Emit::kUpdate) KSTREAM_RETURN_IF_ERROR(ForwardDue(&table_));
  return Store(&table_);
}

// There is no other end of what is forwarded by the clock; update rows come with the last Flush.
Status Aggregation::EndInput() {
  if (emit() == Emit::kFinal) return ForwardAll(&table_);
  return emit() == Emit::kEvery ? ForwardDue(&table_) : Status::Ok();
}

// Rows that are due come early: they could not be told from others any more.
Status Aggregation::Spill() {
  KSTREAM_RETURN_IF_ERROR(ForwardDue(&table_));
  KSTREAM_RETURN_IF_ERROR(Store(&table_));
  Clear(&table_);
  return Status::Ok();
}

void Aggregation::Close() {
  RowProcessor::Close();
  Clear(&table_);
}

ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description) {
  auto make = [plan = std::move(plan)]() -> std::unique_ptr<Processor> {
    if (!plan.window) return std::make_unique<Aggregation>(plan);
    switch (plan.window->kind) {
      case WindowSpec::Kind::kSession:
        return std::make_unique<SessionAggregation>(plan);
      case WindowSpec::Kind::kSliding:
        return std::make_unique<SlidingAggregation>(plan);
      case WindowSpec::Kind::kTumbling:
      case WindowSpec::Kind::kHopping:
        return std::make_unique<WindowAggregation>(plan);
    }
    return nullptr;
  };
  return ProcessorSupplier(std::move(make), std::move(description));
}

}  // namespace kstream::dsl
