#include "runtime/line_source.h"

#include "record/partitioner.h"

namespace kstream::runtime {

Result<std::unique_ptr<LineSource>> LineSource::Create(const RunState& state,
                                                       const std::string& path) {
  KSTREAM_ASSIGN_OR_RETURN(const InputFormat format, ParseInputFormat(state.source().format));
  std::unique_ptr<LineSource> source(new LineSource(state, path, format));
  KSTREAM_ASSIGN_OR_RETURN(source->ingest_, task::Ingest::Create(state.source(), state.serdes));
  return source;
}

LineSource::LineSource(const RunState& state, const std::string& path, InputFormat format)
    : path_(path), format_(format), partitions_(state.options.partitions) {
  blank_.topic = path_;
  blank_.partition = 0;
  cache_.reader = &reader_;
}

void LineSource::Prepare(std::string_view lines) {
  if (format_ == InputFormat::kJson) reader_.Prepare(lines);
  if (format_ == InputFormat::kEnvelope) envelope_.Prepare(lines);
}

Status LineSource::Decode(std::string_view line, int64_t number, Record* record) {
  arena_.Reset();
  cache_.Reset();
  SetPlain(line, number, record);
  if (format_ == InputFormat::kEnvelope) {
    envelope_.Clear();
    KSTREAM_RETURN_IF_ERROR(envelope_.Parse(line, record));
  }
  record->cache = &cache_;
  if (!ingest_->trivial()) KSTREAM_RETURN_IF_ERROR(ingest_->Apply(record, &arena_));
  if (partitions_ > 1) record->partition = PartitionOfKey(record->key, partitions_, number);
  return Status::Ok();
}

Record LineSource::Raw(std::string_view line, int64_t number) {
  Record record;
  SetPlain(line, number, &record);
  if (format_ != InputFormat::kEnvelope) return record;
  Record read;
  // A line that is no envelope is told as it stands, one without a place as where it stands.
  if (!envelope_.Parse(line, &read).ok()) return record;
  if (read.topic.empty()) {
    read.topic = record.topic;
    read.partition = record.partition;
    read.offset = record.offset;
  }
  return read;
}

void LineSource::SetPlain(std::string_view line, int64_t number, Record* record) const {
  *record = blank_;
  record->offset = number;
  record->value = line;
}

}  // namespace kstream::runtime
