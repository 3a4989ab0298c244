// Aggregation: the processor behind aggregates without windows: one table of rows, by group.
// Records are a stream, or changes of a table's rows (table_change.h), which are taken out and in.
//
// A table that has grown too large is written early and emptied.
//
// With a time to live a row has expired when stream time is that far past its own: it counts as not
// there from the record on that moved stream time, in whatever order the rest happens. Then its
// tombstone is forwarded, in the order of times and keys, at most so many at each record and commit
// point. From the store a row goes when the stream time that ended it has been committed, not
// before: a crash in between reads again what came before its end. A row that another process found
// so has its tombstone forwarded again.
//
// Tested by tests/unit/dsl/aggregate_test.cc, aggregate_state_test.cc and expiry_test.cc.
#ifndef KSTREAM_DSL_AGGREGATION_H_
#define KSTREAM_DSL_AGGREGATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/expiry_queue.h"
#include "dsl/row_processor.h"

namespace kstream::dsl {

class Aggregation final : public RowProcessor {
 public:
  explicit Aggregation(const AggregationPlan& plan)
      : RowProcessor(plan),
        of_table_(plan.table),
        ttl_(plan.ttl.count()),
        queue_bytes_(4 * plan.most_bytes) {}

  Status Init(ProcessorContext& context) override;
  Status Process(const Record& record) override;
  Status Punctuate(const Punctuation& punctuation) override;
  Status Flush() override;
  Status EndInput() override;
  void Close() override;

 private:
  static constexpr int64_t kNoTime = INT64_MIN / 2;

  Status ProcessChange(const Record& change);
  // False: the record is late.
  Result<bool> Take(const Record& record, std::string_view key, int64_t now);
  Status Spill();

  bool expires() const { return ttl_ > 0; }
  int64_t StreamTime() const { return context().stream_time().value_or(kNoTime); }
  // The time at which, and before which, rows have expired.
  int64_t EndsAt(int64_t stream_time) const { return stream_time - ttl_; }
  // Lets at most so many rows go. True: there are more.
  Result<bool> Expire(int64_t until, size_t most);
  Status ExpireRow(const ExpiryQueue::Row& row);
  // The time of a row, wherever it is; nullopt: there is none.
  Result<std::optional<int64_t>> TimeOf(std::string_view key);
  // A part of a walk over all rows.
  Status WalkOn();
  Status DeleteExpired(int64_t stream_time);

  const bool of_table_;
  const int64_t ttl_;         // ms; 0: rows stay
  const size_t queue_bytes_;  // of the keys of the rows that expire next
  RowTable table_;
  std::optional<ExpiryQueue> queue_;
  std::string walked_;                  // the first key of the store that the walk has not seen
  std::deque<ExpiryQueue::Row> ended_;  // that the store may still have, by time
};

// A supplier of the processor that a plan needs.
ProcessorSupplier AggregationOf(AggregationPlan plan, std::string description);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_AGGREGATION_H_
