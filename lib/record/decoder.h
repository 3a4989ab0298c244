// The formats of input, and which of the readers of this room serves each.
//
// LineSplitter (lines.h) finds the lines of json, raw and envelope: a json or raw line is the value
// of a record, an envelope line is all of it (envelope.h). CSV and TSV are no lines, since a field
// may hold line ends: CsvReader (csv.h) reads them and gives JSON. Tested by
// tests/unit/record/decoder_test.cc.
#ifndef KSTREAM_RECORD_DECODER_H_
#define KSTREAM_RECORD_DECODER_H_

#include <cstdint>
#include <string_view>

#include "kstream/status.h"
#include "record/lines.h"

namespace kstream {

enum class InputFormat : uint8_t { kJson, kEnvelope, kRaw, kCsv, kTsv };

// "json", "envelope", "raw", "csv" or "tsv"; kUsage otherwise.
Result<InputFormat> ParseInputFormat(std::string_view name);

// Whether records are rows that CsvReader reads, rather than lines.
inline bool IsColumns(InputFormat format) {
  return format == InputFormat::kCsv || format == InputFormat::kTsv;
}
// What separates columns.
inline char SeparatorOf(InputFormat format) { return format == InputFormat::kTsv ? '\t' : ','; }
// What ends a line and what makes none.
inline LineRule LineRuleOf(InputFormat format) {
  return format == InputFormat::kRaw ? LineRule::kRaw : LineRule::kText;
}

}  // namespace kstream

#endif  // KSTREAM_RECORD_DECODER_H_
