#include "task/ingest.h"

#include <fmt/format.h>

#include <chrono>

namespace kstream::task {

Result<std::unique_ptr<Ingest>> Ingest::Create(const SourceSpec& source, const Serdes& serdes) {
  std::unique_ptr<Ingest> ingest(new Ingest());
  if (source.key) ingest->key_.emplace("--key", *source.key, serdes);
  KSTREAM_ASSIGN_OR_RETURN(ingest->unit_, ParseTimeUnit(source.timestamp_unit));
  if (source.timestamp_expression) {
    ingest->clock_ = Clock::kExpression;
    ingest->timestamp_.emplace("--timestamp", *source.timestamp_expression, serdes);
  } else if (source.timestamp == "wallclock") {
    ingest->clock_ = Clock::kWallclock;
  } else if (source.timestamp != "record") {
    return Status::Usage(
        fmt::format("--timestamp {}: use record, wallclock or an expression", source.timestamp));
  }
  return ingest;
}

Status Ingest::Apply(Record* record, Arena* arena) {
  const expr::Input input{.record = record, .out = {}, .left = {}, .right = {}, .acc = {}};
  int64_t timestamp = record->timestamp;
  if (clock_ == Clock::kWallclock) {
    timestamp = std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  } else if (clock_ == Clock::kExpression) {
    std::string_view json;
    KSTREAM_RETURN_IF_ERROR(timestamp_->Eval(input, &json));
    Result<int64_t> parsed = ParseTimestamp(json, unit_);
    if (!parsed.ok()) return parsed.status().At("--timestamp");
    timestamp = *parsed;
  }
  if (key_) {
    Bytes key;
    KSTREAM_RETURN_IF_ERROR(key_->Key(input, &key));
    if (key) key = arena->Copy(*key);
    record->key = key;
  }
  if (clock_ != Clock::kRecord) {
    record->timestamp = timestamp;
    record->timestamp_type = TimestampType::kCreateTime;
  }
  return Status::Ok();
}

}  // namespace kstream::task
