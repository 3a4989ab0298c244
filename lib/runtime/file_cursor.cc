#include "runtime/file_cursor.h"

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace kstream::runtime {

FileCursor::FileCursor(std::unique_ptr<transport::ChunkReader> reader,
                       std::unique_ptr<LineSource> lines, const SourceSpec* source,
                       const std::atomic<bool>* stop)
    : reader_(std::move(reader)), lines_(std::move(lines)), source_(source), stop_(stop) {
  if (!IsColumns(lines_->format())) return;
  csv_.emplace(SeparatorOf(lines_->format()), [this](const CsvRow& row) {
    rows_.push_back({row.line, row.status});
    stretch_->rows.append(row.json).push_back('\n');
  });
}

bool FileCursor::Next(bool as_read, FileItem* item) {
  std::string_view line;
  size_t number = 0;
  if (!splitter_ || !splitter_->Next(&line, &number)) return false;
  LineMemory* const memory = &stretch_->memory;
  if (csv_) {
    item->line = rows_[number].line;
    item->status = std::move(rows_[number].status);
  } else {
    item->line = stretch_->chunk.first_line + static_cast<int64_t>(number);
    item->status = Status::Ok();
  }
  if (item->status.ok()) {
    item->status =
        lines_->Decode(line, item->line, memory, &item->record, as_read ? &item->as_read : nullptr);
  }
  if (item->status.ok()) {
    item->record.cache = stretch_->KeepCache();
  } else {
    item->as_read = lines_->Raw(line, item->line, memory);
  }
  return true;
}

json::ValueCache* FileCursor::Stretch::KeepCache() {
  static_assert(std::is_trivially_destructible_v<json::ValueCache>);
  constexpr size_t kSize = sizeof(json::ValueCache);
  size_t space = kSize + alignof(json::ValueCache);
  void* place = memory.arena.Allocate(space);
  std::align(alignof(json::ValueCache), kSize, place, space);
  auto* const kept = new (place) json::ValueCache(memory.cache);
  kept->Freshen();
  return kept;
}

Result<FileCursor::Got> FileCursor::Read(std::chrono::milliseconds wait) {
  if (ended_) return Got::kEnd;
  splitter_.reset();
  stretch_.reset();
  stretch_ = Unheld();
  KSTREAM_ASSIGN_OR_RETURN(const Got got, reader_->Poll(*stop_, wait, &stretch_->chunk));
  ended_ = got == Got::kEnd;
  if (got == Got::kNothing) return got;
  const transport::Chunk& chunk = stretch_->chunk;
  std::string_view text = chunk.lines;
  if (csv_) {
    KSTREAM_RETURN_IF_ERROR(ReadRows(got, stretch_.get()));
    text = stretch_->rows;
  }
  if (ended_ && text.empty()) return Got::kEnd;
  lines_->Prepare(text, &stretch_->memory);
  if (csv_) {
    splitter_.emplace(text, false, LineRule::kRaw);
  } else {
    splitter_.emplace(text, chunk.first_of_file, LineRuleOf(lines_->format()));
  }
  return Got::kChunk;
}

Status FileCursor::ReadRows(Got got, Stretch* stretch) {
  rows_.clear();
  stretch->rows.clear();
  const Status fed = got == Got::kEnd ? csv_->Finish() : csv_->Feed(stretch->chunk.lines);
  return fed.At(LinePlace{lines_->path(), 0}.ToString());
}

std::shared_ptr<FileCursor::Stretch> FileCursor::Unheld() {
  for (const auto& stretch : stretches_) {
    if (stretch.use_count() == 1) return stretch;
  }
  return stretches_.emplace_back(std::make_shared<Stretch>());
}

}  // namespace kstream::runtime
