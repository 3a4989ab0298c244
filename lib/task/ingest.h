// Ingest: what a source does to a record before the topology sees it: its key and its event time.
// Tested by tests/unit/task/ingest_test.cc.
#ifndef KSTREAM_TASK_INGEST_H_
#define KSTREAM_TASK_INGEST_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "base/arena.h"
#include "base/clock.h"
#include "expr/single_value.h"
#include "kstream/topology.h"
#include "record/json_document.h"
#include "record/serde.h"
#include "record/timestamp.h"

namespace kstream::task {

// Belongs to one thread.
class Ingest {
 public:
  // `serdes` are the runtime's, for a source that names none. `clock` outlives the result. kUsage
  // for a unit, rule or serde that is unknown.
  static Result<std::unique_ptr<Ingest>> Create(const SourceSpec& source, const Serdes& serdes,
                                                const Clock* clock);

  // Applies key and timestamp. New bytes are kept in *arena. `partition_time` is the caller's slot
  // for the record's partition, -1 at first: the largest timestamp that an extractor gave there.
  // kData when there is no valid timestamp though one was asked for, or when an expression or the
  // user's extractor fails.
  Status Apply(Record* record, Arena* arena, int64_t* partition_time);

  // Whether Apply changes nothing, so that callers may leave it out.
  bool trivial() const { return !key_ && time_ == Time::kRecord; }

 private:
  enum class Time { kRecord, kWallclock, kExpression, kExtractor };
  Ingest() = default;
  Result<int64_t> TimeOf(const Record& record, const expr::Input& input, int64_t partition_time);
  Result<int64_t> Extract(const Record& record, int64_t partition_time) const;

  std::optional<expr::SingleValue> key_, timestamp_;
  TimestampExtractor extractor_;
  Time time_ = Time::kRecord;
  TimeUnit unit_ = TimeUnit::kMilliseconds;
  const Clock* clock_ = nullptr;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_INGEST_H_
