// Ingest: what a source does to a record before the topology sees it: its key and its event time.
// Tested by tests/unit/task/ingest_test.cc.
#ifndef KSTREAM_TASK_INGEST_H_
#define KSTREAM_TASK_INGEST_H_

#include <optional>

#include "base/arena.h"
#include "expr/single_value.h"
#include "kstream/topology.h"
#include "record/json_document.h"
#include "record/serde.h"
#include "record/timestamp.h"

namespace kstream::task {

// Belongs to one thread.
class Ingest {
 public:
  // kUsage for a unit or rule that is unknown.
  static Result<std::unique_ptr<Ingest>> Create(const SourceSpec& source, const Serdes& serdes);

  // Applies key and timestamp. New bytes are kept in *arena. kData when there is no valid timestamp
  // though one was asked for, or when an expression fails.
  Status Apply(Record* record, Arena* arena);

  // Whether Apply changes nothing, so that callers may leave it out.
  bool trivial() const { return !key_ && clock_ == Clock::kRecord; }

 private:
  enum class Clock { kRecord, kWallclock, kExpression };
  Ingest() = default;

  std::optional<expr::SingleValue> key_, timestamp_;
  Clock clock_ = Clock::kRecord;
  TimeUnit unit_ = TimeUnit::kMilliseconds;
};

}  // namespace kstream::task

#endif  // KSTREAM_TASK_INGEST_H_
