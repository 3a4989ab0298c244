// MergedFiles: the records of several files, or of formats whose lines do not stand alone, one by
// one in the order of their timestamps; ties, and records without a timestamp, in the order of the
// inputs. Tested by tests/unit/runtime/file_run_test.cc.
#ifndef KSTREAM_RUNTIME_MERGED_FILES_H_
#define KSTREAM_RUNTIME_MERGED_FILES_H_

#include <memory>
#include <vector>

#include "kstream/record.h"
#include "kstream/status.h"
#include "runtime/file_worker.h"
#include "runtime/run_state.h"

namespace kstream::runtime {

class FileCursor;

// A record, or a line that is none: then `status` says why.
struct FileItem {
  LinePlace place;
  Record record;
  Status status;
  FileCursor* cursor = nullptr;  // which read it
};

// Reads one file, an item at a time.
class FileCursor {
 public:
  virtual ~FileCursor() = default;
  // Fills *item, valid until the next call; false at the end or when the run stops.
  virtual Result<bool> Next(FileItem* item) = 0;
  // The record of the last item as it was read, for when it turns out bad.
  virtual Record Raw() = 0;
  // Whether Next may have to wait for input.
  virtual bool AtRest() const = 0;
};

class MergedFiles {
 public:
  // kData when an input cannot be opened.
  static Result<std::unique_ptr<MergedFiles>> Open(RunState* state);

  // Points *item at the next item, valid until the next call; false at the end.
  Result<bool> Next(const FileItem** item);
  // Whether the next call may have to wait for input: a good moment to flush.
  bool AtRest() const;

 private:
  struct Input {
    std::unique_ptr<FileCursor> cursor;
    FileItem head;
    bool has_head = false, ended = false;
  };
  std::vector<Input> inputs_;
  Input* current_ = nullptr;  // whose head was given out last
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_MERGED_FILES_H_
