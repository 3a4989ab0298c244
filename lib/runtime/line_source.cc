#include "runtime/line_source.h"

#include <fmt/format.h>

#include "record/partitioner.h"

namespace kstream::runtime {
namespace {

// An envelope that names no place stands where its line does.
void FillPlace(const Record& line, Record* read) {
  if (!read->topic.empty()) return;
  read->topic = line.topic;
  read->partition = line.partition;
  read->offset = line.offset;
}

}  // namespace

std::string LinePlace::ToString() const {
  return fmt::format("{}:{}", path == "-" ? "stdin" : path, line + 1);
}

Result<std::unique_ptr<LineSource>> LineSource::Create(const SourceSpec& spec, const Serdes& serdes,
                                                       int32_t partitions,
                                                       const kstream::Clock* clock,
                                                       std::string_view path) {
  KSTREAM_ASSIGN_OR_RETURN(const InputFormat format, ParseInputFormat(spec.format));
  std::unique_ptr<LineSource> source(new LineSource(partitions, path, format));
  KSTREAM_ASSIGN_OR_RETURN(source->ingest_, task::Ingest::Create(spec, serdes, clock));
  return source;
}

LineSource::LineSource(int32_t partitions, std::string_view path, InputFormat format)
    : path_(path), format_(format), partitions_(partitions) {
  blank_.topic = path_;
  blank_.partition = 0;
}

void LineSource::Prepare(std::string_view lines, LineMemory* memory) const {
  memory->cache.Reset();
  memory->arena.Reset();
  memory->envelope.Clear();
  if (format_ == InputFormat::kEnvelope) {
    memory->envelope.Prepare(lines);
  } else if (format_ != InputFormat::kRaw) {
    memory->reader.Prepare(lines);
  }
}

Status LineSource::Decode(std::string_view line, int64_t number, LineMemory* memory, Record* record,
                          Record* raw) {
  memory->cache.Reset();
  SetPlain(line, number, record);
  if (raw) *raw = *record;
  if (format_ == InputFormat::kEnvelope) {
    KSTREAM_RETURN_IF_ERROR(memory->envelope.Parse(line, record));
    if (raw) {
      const Record plain = *raw;
      *raw = *record;
      FillPlace(plain, raw);
    }
  }
  record->cache = &memory->cache;
  if (!ingest_->trivial()) {
    KSTREAM_RETURN_IF_ERROR(ingest_->Apply(record, &memory->arena, &file_time_));
  }
  if (partitions_ > 1) record->partition = PartitionOfKey(record->key, partitions_, number);
  return Status::Ok();
}

Record LineSource::Raw(std::string_view line, int64_t number, LineMemory* memory) const {
  Record plain;
  SetPlain(line, number, &plain);
  if (format_ != InputFormat::kEnvelope) return plain;
  Record read;
  // A line that is no envelope is told as it stands.
  if (!memory->envelope.Parse(line, &read).ok()) return plain;
  FillPlace(plain, &read);
  return read;
}

void LineSource::SetPlain(std::string_view line, int64_t number, Record* record) const {
  *record = blank_;
  record->offset = number;
  record->value = line;
}

}  // namespace kstream::runtime
