// LineSource: the records of lines: one line decoded at a time, key and event time applied.
// Tested by tests/unit/runtime/file_run_test.cc.
#ifndef KSTREAM_RUNTIME_LINE_SOURCE_H_
#define KSTREAM_RUNTIME_LINE_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "record/decoder.h"
#include "record/envelope.h"
#include "record/json_document.h"
#include "runtime/run_state.h"
#include "task/ingest.h"

namespace kstream::runtime {

// Decodes lines of one file for one thread.
class LineSource {
 public:
  static Result<std::unique_ptr<LineSource>> Create(const RunState& state, const std::string& path);

  // Says that the lines to come lie in `lines` (see json::Reader::Prepare).
  void Prepare(std::string_view lines);

  // Makes *record the one to process, with its key and event time. It points into the line and into
  // this source, until its next call.
  Status Decode(std::string_view line, int64_t number, Record* record);

  // What there is to tell about a line that turned out bad: the record as it was read. Valid as
  // above.
  Record Raw(std::string_view line, int64_t number);

  InputFormat format() const { return format_; }
  const std::string& path() const { return path_; }

 private:
  LineSource(const RunState& state, const std::string& path, InputFormat format);
  // In place: a Record made elsewhere and copied here would be read while it is still being
  // written.
  void SetPlain(std::string_view line, int64_t number, Record* record) const;

  const std::string path_;
  const InputFormat format_;
  const int32_t partitions_;
  Record blank_;  // what all lines have in common
  std::unique_ptr<task::Ingest> ingest_;
  json::Reader reader_;
  json::ValueCache cache_;
  EnvelopeReader envelope_;
  Arena arena_;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_LINE_SOURCE_H_
