#include "task/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "task/thrown.h"

namespace kstream::task {

Result<std::unique_ptr<Ingest>> Ingest::Create(const SourceSpec& source, const Serdes& serdes,
                                               const Clock* clock) {
  Serdes own = serdes;
  if (source.serdes) {
    KSTREAM_ASSIGN_OR_RETURN(own, Serdes::Parse(source.serdes->key, source.serdes->value));
  }
  std::unique_ptr<Ingest> ingest(new Ingest());
  ingest->clock_ = clock;
  if (source.key) ingest->key_.emplace("--key", *source.key, own);
  KSTREAM_ASSIGN_OR_RETURN(ingest->unit_, ParseTimeUnit(source.timestamp_unit));
  if (source.extractor) {
    if (source.timestamp_expression) {
      return Status::Usage("a source takes its time from an expression or an extractor, not both");
    }
    ingest->time_ = Time::kExtractor;
    ingest->extractor_ = source.extractor;
  } else if (source.timestamp_expression) {
    ingest->time_ = Time::kExpression;
    ingest->timestamp_.emplace("--timestamp", *source.timestamp_expression, own);
  } else if (source.timestamp == "wallclock") {
    ingest->time_ = Time::kWallclock;
  } else if (source.timestamp != "record") {
    return Status::Usage(
        fmt::format("--timestamp {}: use record, wallclock or an expression", source.timestamp));
  }
  return ingest;
}

Status Ingest::Apply(Record* record, Arena* arena, int64_t* partition_time) {
  const expr::Input input{.record = record, .out = {}, .left = {}, .right = {}, .acc = {}};
  // Key and time are both taken from the record as it was read.
  int64_t timestamp = record->timestamp;
  if (time_ != Time::kRecord) {
    KSTREAM_ASSIGN_OR_RETURN(timestamp, TimeOf(*record, input, *partition_time));
  }
  if (key_) {
    Bytes key;
    KSTREAM_RETURN_IF_ERROR(key_->Key(input, &key));
    if (key) key = arena->Copy(*key);
    record->key = key;
  }
  if (time_ != Time::kRecord) {
    record->timestamp = timestamp;
    record->timestamp_type = TimestampType::kCreateTime;
  }
  if (time_ == Time::kExtractor) *partition_time = std::max(*partition_time, timestamp);
  return Status::Ok();
}

Result<int64_t> Ingest::TimeOf(const Record& record, const expr::Input& input,
                               int64_t partition_time) {
  if (time_ == Time::kWallclock) return clock_->WallMs();
  if (time_ == Time::kExtractor) return Extract(record, partition_time);
  std::string_view json;
  KSTREAM_RETURN_IF_ERROR(timestamp_->Eval(input, &json));
  Result<int64_t> parsed = ParseTimestamp(json, unit_);
  if (!parsed.ok()) return parsed.status().At("--timestamp");
  return parsed;
}

Result<int64_t> Ingest::Extract(const Record& record, int64_t partition_time) const {
  try {
    Result<int64_t> extracted = extractor_(record, partition_time);
    if (extracted.ok() && *extracted < 0) {
      return Status::Data(fmt::format("the timestamp extractor gave {}: no time", *extracted));
    }
    return extracted;
  } catch (...) {
    return Thrown("timestamp extractor");
  }
}

}  // namespace kstream::task
