// Rows as lines: of JSON for programs, and in cells for people. Tested by
// tests/unit/admin/app_inspector_test.cc.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "base/printable.h"
#include "base/time.h"
#include "kstream/inspect.h"
#include "kstream/record.h"
#include "record/envelope.h"

namespace kstream {
namespace {

// The members of an envelope that say key and value, without its brackets.
std::string Members(Bytes key, Bytes value) {
  Record record;
  record.key = key;
  record.value = value;
  thread_local json::Reader reader;
  std::string envelope;
  AppendEnvelope(record, reader, &envelope);
  return envelope.substr(1, envelope.size() - 2);
}

// `"key":..` or `"key_b64":..`, and the same of the value.
std::string KeyMember(std::string_view key) {
  constexpr std::string_view kNull = ",\"payload\":null";
  std::string members = Members(key, std::nullopt);
  members.resize(members.size() - kNull.size());
  return members;
}
std::string ValueMember(std::string_view value) {
  constexpr std::string_view kNull = "\"key\":null,";
  return Members(std::nullopt, value).substr(kNull.size());
}

std::string Begin(const InspectedRow& row) {
  std::string line = "{\"store\":";
  json::AppendQuoted(Printable(row.store), &line);
  return line += fmt::format(",\"task\":{},", row.task);
}

std::string WindowMembers(const InspectedRow& row) {
  std::string members;
  if (row.window_start) members += fmt::format(",\"window_start\":{}", *row.window_start);
  if (row.window_end) members += fmt::format(",\"window_end\":{}", *row.window_end);
  return members;
}

std::string SideToJson(const std::optional<RowDifference::Side>& side) {
  if (!side) return "null";
  return fmt::format("{{{},\"timestamp\":{}}}", ValueMember(side->value), side->timestamp);
}

}  // namespace

std::string RowToJson(const InspectedRow& row) {
  return fmt::format("{}{}{},\"timestamp\":{}}}", Begin(row), Members(row.key, row.value),
                     WindowMembers(row), row.timestamp);
}

std::string VersionToJson(const RowVersion& version) {
  const InspectedRow& row = version.row;
  const Bytes value = version.deleted ? std::nullopt : Bytes(row.value);
  return fmt::format("{}\"offset\":{},\"written\":{},{}{},\"timestamp\":{}}}", Begin(row),
                     version.offset, version.written, Members(row.key, value), WindowMembers(row),
                     row.timestamp);
}

std::string DifferenceToJson(const RowDifference& difference, std::string_view left,
                             std::string_view right) {
  return fmt::format("{}{}{},\"{}\":{},\"{}\":{}}}", Begin(difference.row),
                     KeyMember(difference.row.key), WindowMembers(difference.row), left,
                     SideToJson(difference.left), right, SideToJson(difference.right));
}

std::vector<std::string> RowToCells(const InspectedRow& row) {
  std::string window;
  if (row.window_start) window = LocalTime(*row.window_start);
  if (row.window_end) window += "/" + LocalTime(*row.window_end);
  return {fmt::format("{}[{}]", Printable(row.store), row.task), LocalTime(row.timestamp),
          Printable(row.key), window, Printable(row.value)};
}

std::string LocalTime(int64_t ms) {
  const int64_t part = (ms % 1000 + 1000) % 1000;
  const time_t seconds = (ms - part) / 1000;
  tm parts{};
  // A row may have any time, and a calendar has not.
  if (localtime_r(&seconds, &parts) == nullptr || parts.tm_year < -1900 || parts.tm_year > 8099) {
    return FormatRfc3339(ms);
  }
  const long minutes = parts.tm_gmtoff / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     part, minutes < 0 ? '-' : '+', std::labs(minutes) / 60,
                     std::labs(minutes) % 60);
}

}  // namespace kstream
