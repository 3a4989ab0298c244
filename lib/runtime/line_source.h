// LineSource: the records of lines: one line decoded at a time, key and event time applied.
// Tested by tests/unit/runtime/file_cluster_test.cc and file_run_test.cc.
#ifndef KSTREAM_RUNTIME_LINE_SOURCE_H_
#define KSTREAM_RUNTIME_LINE_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/clock.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/topology.h"
#include "record/decoder.h"
#include "record/envelope.h"
#include "record/json_document.h"
#include "record/serde.h"
#include "task/ingest.h"

namespace kstream::runtime {

// A line of a file, as errors write it.
struct LinePlace {
  std::string_view path;
  int64_t line = 0;              // from 0
  std::string ToString() const;  // "orders.ndjson:18", "stdin:18", from 1
};

// What the records of one stretch of lines need beside the lines: what was made of them, and the
// index by which their JSON is found. Serves every line of its stretch, then the next stretch.
struct LineMemory {
  LineMemory() { cache.reader = &reader; }
  LineMemory(const LineMemory&) = delete;
  LineMemory& operator=(const LineMemory&) = delete;

  json::Reader reader;
  json::ValueCache cache;  // of the line decoded last
  EnvelopeReader envelope;
  Arena arena;
};

// Decodes lines of one file for one thread.
class LineSource {
 public:
  // `path` outlives the source and its records. With several `partitions` a record's partition
  // follows from its key, as in a topic. `serdes` and `clock`: see task::Ingest.
  static Result<std::unique_ptr<LineSource>> Create(const SourceSpec& spec, const Serdes& serdes,
                                                    int32_t partitions, const kstream::Clock* clock,
                                                    std::string_view path);

  // Says that the lines to come lie in `lines` (see json::Reader::Prepare); takes back what
  // *memory holds for others.
  void Prepare(std::string_view lines, LineMemory* memory) const;

  // Makes *record the one to process, with its key and event time, and its cache in *memory. It
  // points into the line and into *memory, until the next Prepare. *raw, unless null, is what Raw
  // would give.
  Status Decode(std::string_view line, int64_t number, LineMemory* memory, Record* record,
                Record* raw = nullptr);

  // The record as it was read: what there is to tell when it turns out bad. Valid as above.
  Record Raw(std::string_view line, int64_t number, LineMemory* memory) const;

  InputFormat format() const { return format_; }
  std::string_view path() const { return path_; }
  // Whether Raw is the record that Decode makes.
  bool gives_raw() const { return ingest_->trivial() && format_ != InputFormat::kEnvelope; }

 private:
  LineSource(int32_t partitions, std::string_view path, InputFormat format);
  // In place: a Record made elsewhere and copied here would be read while it is still being
  // written.
  void SetPlain(std::string_view line, int64_t number, Record* record) const;

  const std::string_view path_;
  const InputFormat format_;
  const int32_t partitions_;
  Record blank_;  // what all lines have in common
  std::unique_ptr<task::Ingest> ingest_;
  int64_t file_time_ = -1;  // the partition time of all partitions: they are known by key alone
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_LINE_SOURCE_H_
