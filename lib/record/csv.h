// CSV and TSV: rows as compact JSON objects of strings, and back.
//
// Reading is libcsv in strict mode behind two rules of ours. Fields are kept exactly (libcsv would
// trim them; RFC 4180 says that spaces belong to the field), and a bad row spoils no other: the
// reader skips to the next line end and goes on. The first row is the header. CR, LF and CRLF end a
// row, a byte order mark is accepted, blank lines are nothing.
//
// TSV is the same with a tab: a field with a tab, quote or line end is quoted, as spreadsheets do
// it. IANA's text/tab-separated-values has no quoting, so it cannot hold tabs and line ends at all;
// its files read the same here, but a row with a quote in an unquoted field is bad, in TSV as in
// CSV, since nobody can say what was meant.
//
// Everything is text in CSV: 1 reads as "1", and null, missing and empty are written alike. Tested
// by tests/unit/record/csv_test.cc.
#ifndef KSTREAM_RECORD_CSV_H_
#define KSTREAM_RECORD_CSV_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kstream/status.h"
#include "record/json_document.h"

namespace kstream {

// One row of data. Valid during the callback.
struct CsvRow {
  Status status;          // kData: this row is bad, and says why
  std::string_view json;  // {"column":"text",..} in the header's order; empty when bad
  int64_t line = 0;       // the line of the file on which the row begins, from 0
};

// Takes bytes in pieces of any size and gives rows. Not thread-safe.
class CsvReader {
 public:
  using OnRow = std::function<void(const CsvRow&)>;

  // A longer row is bad: a stray quote must not swallow a file into memory.
  static constexpr size_t kMaxRowBytes = 256 << 20;

  // `separator`: ',' or '\t'. `max_row_bytes` is for tests.
  CsvReader(char separator, OnRow on_row, size_t max_row_bytes = kMaxRowBytes);
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // kData when the header cannot be used (malformed, not UTF-8, a repeated name): no row can be
  // read then, and the status comes again. Bad rows are no failure: they go to the callback.
  Status Feed(std::string_view bytes);
  // The end of the input: the last row needs no line end.
  Status Finish();

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

// Writes objects as rows. The first one's names are the columns: it writes the header too, so one
// writer belongs to one output. Not thread-safe.
class CsvWriter {
 public:
  explicit CsvWriter(char separator) : separator_(separator) {}

  // Appends the row of the object `node`, with the header when it is the first: strings as their
  // text, null as nothing, numbers and booleans as spelled, arrays and objects as compact JSON. A
  // column that the object lacks is empty. kData, and nothing appended, when it is no object or has
  // a column that the header lacks.
  Status Append(const json::Document& document, json::Node node, std::string* out);

 private:
  void AppendField(std::string_view text, std::string* out);
  void AppendRow(const std::vector<std::string>& fields, std::string* out);
  Status SetColumns(const json::Document& document, json::Node object);

  char separator_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<std::string> fields_;
};

}  // namespace kstream

#endif  // KSTREAM_RECORD_CSV_H_
