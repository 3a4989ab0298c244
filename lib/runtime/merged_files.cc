#include "runtime/merged_files.h"

#include <optional>

#include "record/csv.h"
#include "record/lines.h"
#include "runtime/line_source.h"
#include "task/record_queues.h"
#include "transport/file/chunk_reader.h"

namespace kstream::runtime {
namespace {

class LineCursor final : public FileCursor {
 public:
  LineCursor(RunState* state, const std::string& path,
             std::unique_ptr<transport::ChunkReader> reader, std::unique_ptr<LineSource> lines)
      : state_(state), path_(path), reader_(std::move(reader)), lines_(std::move(lines)) {}

  Result<bool> Next(FileItem* item) override {
    size_t number = 0;
    while (!splitter_ || !splitter_->Next(&line_, &number)) {
      KSTREAM_ASSIGN_OR_RETURN(const bool more, reader_->Next(state_->stop, &chunk_));
      if (!more) return false;
      lines_->Prepare(chunk_.lines);
      const LineRule rule =
          lines_->format() == InputFormat::kRaw ? LineRule::kRaw : LineRule::kText;
      splitter_.emplace(chunk_.lines, chunk_.first_of_file, rule);
    }
    number_ = chunk_.first_line + static_cast<int64_t>(number);
    item->place = {path_, number_};
    item->status = lines_->Decode(line_, number_, &item->record);
    at_rest_ = line_.data() + line_.size() + 1 >= chunk_.lines.data() + chunk_.lines.size();
    return true;
  }

  Record Raw() override { return lines_->Raw(line_, number_); }

  bool AtRest() const override { return at_rest_; }

 private:
  RunState* const state_;
  const std::string path_;
  const std::unique_ptr<transport::ChunkReader> reader_;
  const std::unique_ptr<LineSource> lines_;
  transport::Chunk chunk_;
  std::optional<LineSplitter> splitter_;
  std::string_view line_;
  int64_t number_ = 0;
  bool at_rest_ = false;
};

// Rows of csv or tsv. A chunk of the file gives many at once, so they wait in a queue.
class CsvCursor final : public FileCursor {
 public:
  CsvCursor(RunState* state, const std::string& path,
            std::unique_ptr<transport::ChunkReader> reader, std::unique_ptr<LineSource> lines)
      : state_(state),
        path_(path),
        reader_(std::move(reader)),
        lines_(std::move(lines)),
        csv_(SeparatorOf(lines_->format()), [this](const CsvRow& row) {
          rows_.push_back({row.status, std::string(row.json), row.line});
        }) {}

  Result<bool> Next(FileItem* item) override {
    while (next_ == rows_.size()) {
      if (ended_) return false;
      rows_.clear();
      next_ = 0;
      KSTREAM_ASSIGN_OR_RETURN(const bool more, reader_->Next(state_->stop, &chunk_));
      ended_ = !more;
      if (state_->stopping()) return false;
      if (Status fed = more ? csv_.Feed(chunk_.lines) : csv_.Finish(); !fed.ok()) {
        return fed.At(LinePlace{path_, 0}.ToString());
      }
    }
    const Row& row = rows_[next_++];
    item->place = {path_, row.line};
    const Status decoded = lines_->Decode(row.json, row.line, &item->record);
    item->status = row.status.ok() ? decoded : row.status;
    return true;
  }

  Record Raw() override { return lines_->Raw(rows_[next_ - 1].json, rows_[next_ - 1].line); }

  bool AtRest() const override { return next_ == rows_.size(); }

 private:
  struct Row {
    Status status;
    std::string json;
    int64_t line;
  };
  RunState* const state_;
  const std::string path_;
  const std::unique_ptr<transport::ChunkReader> reader_;
  const std::unique_ptr<LineSource> lines_;
  CsvReader csv_;
  transport::Chunk chunk_;
  std::vector<Row> rows_;
  size_t next_ = 0;
  bool ended_ = false;
};

// What orders a head: a bad line has no time and is told where it stands.
int64_t HeadTime(const FileItem& item) {
  return item.status.ok() ? task::OrderTime(item.record) : INT64_MIN;
}

}  // namespace

Result<std::unique_ptr<MergedFiles>> MergedFiles::Open(RunState* state) {
  auto merged = std::make_unique<MergedFiles>();
  for (const Location& input : state->source().inputs) {
    KSTREAM_ASSIGN_OR_RETURN(auto reader, transport::ChunkReader::Open(input.name, state->stop));
    KSTREAM_ASSIGN_OR_RETURN(auto lines, LineSource::Create(*state, input.name));
    Input& opened = merged->inputs_.emplace_back();
    if (IsColumns(lines->format())) {
      opened.cursor =
          std::make_unique<CsvCursor>(state, input.name, std::move(reader), std::move(lines));
    } else {
      opened.cursor =
          std::make_unique<LineCursor>(state, input.name, std::move(reader), std::move(lines));
    }
  }
  return merged;
}

Result<bool> MergedFiles::Next(const FileItem** item) {
  if (current_) current_->has_head = false;
  current_ = nullptr;
  for (Input& input : inputs_) {
    if (!input.has_head && !input.ended) {
      KSTREAM_ASSIGN_OR_RETURN(input.has_head, input.cursor->Next(&input.head));
      input.head.cursor = input.cursor.get();
      input.ended = !input.has_head;
    }
    if (input.has_head && (!current_ || HeadTime(input.head) < HeadTime(current_->head)))
      current_ = &input;
  }
  if (!current_) return false;
  *item = &current_->head;
  return true;
}

bool MergedFiles::AtRest() const { return current_ && current_->cursor->AtRest(); }

}  // namespace kstream::runtime
