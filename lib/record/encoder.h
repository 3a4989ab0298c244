// The formats of output, and lines out of records.
//
//   json      the value: its own bytes when they are one line, else compact; a null payload is
//   `null` envelope  all of the record (envelope.h) raw       the bytes of the value, whatever they
//   are; an empty line for a null payload csv, tsv  the fields of the value, an object (csv.h)
//   format    a pattern (format.h), which brings its own line ends
//
// Nothing invalid is printed as JSON: a value that is not valid is kData. Tested by
// tests/unit/record/encoder_test.cc.
#ifndef KSTREAM_RECORD_ENCODER_H_
#define KSTREAM_RECORD_ENCODER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/record.h"
#include "kstream/status.h"
#include "record/csv.h"
#include "record/format.h"
#include "record/json_document.h"
#include "record/serde.h"

namespace kstream {

enum class OutputFormat : uint8_t { kJson, kEnvelope, kRaw, kCsv, kTsv, kFormat };

// "json", "envelope", "raw", "csv", "tsv" or "format"; kUsage otherwise.
Result<OutputFormat> ParseOutputFormat(std::string_view name);

// Not thread-safe: one per thread. With columns the first record makes the header, so there one per
// output: records of several threads must come to it in the order of the output.
class RecordEncoder {
 public:
  // Appends the result of expression number `expression` of a pattern for this record.
  using Evaluate = std::function<Status(const Record& record, size_t expression, std::string* out)>;

  // `format` is any but kFormat. Of the serdes only the value's matters: with another than json the
  // value is shown as the JSON that expressions see.
  explicit RecordEncoder(OutputFormat format, Serdes serdes = {});
  // kFormat. `evaluate` may be empty when the pattern has no expressions.
  RecordEncoder(Format pattern, Evaluate evaluate);

  // Appends the record as one whole line, line end included. kData when the record cannot be shown
  // in this format, and nothing is appended then. A value that record.cache holds parsed is not
  // parsed again; one that it does not hold, is parsed into it.
  Status Append(const Record& record, std::string* out);

 private:
  Status AppendJson(const Record& record, std::string* out);
  Status AppendColumns(const Record& record, std::string* out);
  // The value as a valid document: *text is its text, *document its tokens.
  Status Parse(const Record& record, std::string_view* text, json::Document* document);

  OutputFormat format_;
  Serdes serdes_;
  CsvWriter columns_;
  std::optional<Format> pattern_;
  Evaluate evaluate_;
  json::Reader reader_;
  std::string converted_;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_ENCODER_H_
