// Rows as lines: of JSON for programs, and for people. Tested by
// tests/unit/admin/app_inspector_test.cc.
#include <fmt/format.h>

#include "base/printable.h"
#include "base/time.h"
#include "kstream/inspect.h"
#include "kstream/record.h"
#include "record/envelope.h"

namespace kstream {

std::string RowToJson(const InspectedRow& row) {
  std::string line = "{\"store\":";
  json::AppendQuoted(Printable(row.store), &line);
  line += fmt::format(",\"task\":{},", row.task);
  Record record;
  record.key = row.key;
  record.value = row.value;
  thread_local json::Reader reader;
  std::string envelope;
  AppendEnvelope(record, reader, &envelope);
  line.append(envelope, 1, envelope.size() - 2);  // without its brackets
  if (row.window_start) {
    line += fmt::format(",\"window_start\":{},\"window_end\":{}", *row.window_start,
                        row.window_end.value_or(0));
  }
  line += fmt::format(",\"timestamp\":{}}}", row.timestamp);
  return line;
}

std::string RowToText(const InspectedRow& row) {
  const std::string window = row.window_start
                                 ? fmt::format("  {}/{}", FormatRfc3339(*row.window_start),
                                               FormatRfc3339(row.window_end.value_or(0)))
                                 : "";
  return fmt::format("{}[{}]  {}  {}{}  {}", Printable(row.store), row.task,
                     FormatRfc3339(row.timestamp), Printable(row.key), window,
                     Printable(row.value));
}

}  // namespace kstream
