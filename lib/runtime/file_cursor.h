// FileCursor: the records of one file, one by one, in memory that is shared with those who keep
// them.
//
// A file is read in stretches: a chunk of its lines, and all that is made of them. The records of a
// stretch are views into it; a batch that carries some of them holds the stretch, and when all
// batches have let go of it, the cursor fills it anew. So no line is copied, and csv is turned into
// lines of JSON once, a stretch at a time. Tested by tests/unit/runtime/file_cluster_test.cc.
#ifndef KSTREAM_RUNTIME_FILE_CURSOR_H_
#define KSTREAM_RUNTIME_FILE_CURSOR_H_

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "record/csv.h"
#include "record/lines.h"
#include "runtime/line_source.h"
#include "transport/file/chunk_reader.h"

namespace kstream::runtime {

// A record, or a line that is none: then `status` says why, and `as_read` alone is set.
struct FileItem {
  Record record;
  Record as_read;
  int64_t line = 0;  // from 0
  Status status;
};

// Belongs to one thread.
class FileCursor {
 public:
  FileCursor(std::unique_ptr<transport::ChunkReader> reader, std::unique_ptr<LineSource> lines,
             const SourceSpec* source, const std::atomic<bool>* stop);

  // The next record of what has been read; false when Read is due. Fills item->as_read of every
  // record when `as_read` is true, else only of bad ones.
  bool Next(bool as_read, FileItem* item);

  using Got = transport::ChunkReader::Got;
  // Reads the next stretch, waiting up to `wait` for it. What Next has given so far stays valid
  // only in the hands of those who hold its memory().
  Result<Got> Read(std::chrono::milliseconds wait);

  // What the records given since the last Read point into.
  std::shared_ptr<const void> memory() const { return stretch_; }

  const LineSource& lines() const { return *lines_; }
  const SourceSpec* source() const { return source_; }

 private:
  struct Stretch {
    transport::Chunk chunk;
    std::string rows;  // of csv and tsv: its rows as JSON, each on a line, bad ones as empty lines
    LineMemory memory;

    // A cache of its own for the record decoded last: what is parsed of it stays parsed.
    json::ValueCache* KeepCache();
  };
  struct Row {
    int64_t line;
    Status status;
  };

  // A stretch that nobody holds.
  std::shared_ptr<Stretch> Unheld();
  Status ReadRows(Got got, Stretch* stretch);

  const std::unique_ptr<transport::ChunkReader> reader_;
  const std::unique_ptr<LineSource> lines_;
  const SourceSpec* const source_;
  const std::atomic<bool>* const stop_;
  std::optional<CsvReader> csv_;
  std::vector<std::shared_ptr<Stretch>> stretches_;
  std::shared_ptr<Stretch> stretch_;  // being given out
  std::vector<Row> rows_;             // of it, when it is csv or tsv
  std::optional<LineSplitter> splitter_;
  bool ended_ = false;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_FILE_CURSOR_H_
