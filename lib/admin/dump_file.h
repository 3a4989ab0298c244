// DumpFile: rows that were dumped, read back: lines of JSON as RowToJson writes them of a query for
// stored rows. Every byte is a stranger's until it has been read: the store, task, key, value and
// time of a line must be there, and a line of `scan`, whose key is that of a group and not of a
// row, is refused.
//
// Lines may come in any order; of two with one key the later counts. A null payload is a deletion.
// Tested by tests/unit/admin/dump_file_test.cc.
#ifndef KSTREAM_ADMIN_DUMP_FILE_H_
#define KSTREAM_ADMIN_DUMP_FILE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kstream/record.h"
#include "kstream/status.h"
#include "record/envelope.h"
#include "record/json_document.h"

namespace kstream::admin {

// A line; views into it and its reader.
struct DumpedRow {
  std::string store;
  int32_t task = 0;
  std::optional<int32_t> tasks = {};  // how many the store had, if the dump knew
  std::string_view key;
  Bytes value;  // nullopt: the row is to be deleted
  int64_t timestamp = 0;
};

// Reads lines, one at a time. Belongs to one thread.
class DumpReader {
 public:
  // *row lives until the next call. kData: the line is no row.
  Status Read(std::string_view line, DumpedRow* row);

 private:
  json::Node Member(std::string_view name) const;
  Status Integer(std::string_view name, int64_t least, int64_t most, int64_t* number) const;

  EnvelopeReader envelopes_;
  json::Reader reader_;
  json::Document document_;
};

// Reads a file ("-": stdin) and hands over its rows in their order; each lives until the next. What
// `take` says ends it, with the file and line before its message. kData: a line that is no row;
// kUsage: no such file.
Status ReadDump(const std::string& path, const std::function<Status(const DumpedRow&)>& take);

}  // namespace kstream::admin

#endif  // KSTREAM_ADMIN_DUMP_FILE_H_
