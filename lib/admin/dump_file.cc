#include "admin/dump_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>

namespace kstream::admin {
namespace {

using json::kNoNode;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Status ReadLines(std::istream& lines, const std::string& name,
                 const std::function<Status(const DumpedRow&)>& take) {
  DumpReader reader;
  DumpedRow row;
  std::string line;
  for (int64_t number = 1; std::getline(lines, line); number++) {
    std::string_view text = line;
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.find_first_not_of(" \t\r") == text.npos) continue;
    Status status = reader.Read(text, &row);
    if (status.ok()) status = take(row);
    if (!status.ok()) return status.At(fmt::format("{}:{}", name, number));
  }
  if (!lines.bad()) return Status::Ok();
  return Status::Data(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
}

}  // namespace

Status DumpReader::Read(std::string_view line, DumpedRow* row) {
  envelopes_.Clear();
  Record record;
  KSTREAM_RETURN_IF_ERROR(envelopes_.Parse(line, &record));
  KSTREAM_RETURN_IF_ERROR(reader_.Parse(line, &document_));
  if (!record.key) return Status::Data("no \"key\" or \"key_b64\"");
  const json::Node key = Member("key");
  if (key != kNoNode && document_.type(key) != json::Type::kString) {
    return Status::Data("\"key\" is no string");
  }
  if (Member("window_start") != kNoNode) {
    return Status::Data(
        "its key is that of a window's group, not the row's: give lines of dump, not of scan");
  }
  const json::Node store = Member("store");
  if (store == kNoNode || document_.type(store) != json::Type::kString) {
    return Status::Data("no \"store\": it is no row of a dump");
  }
  row->store.clear();
  json::Unescape(document_.StringContent(store), &row->store);
  int64_t task = 0, tasks = 0;
  KSTREAM_RETURN_IF_ERROR(Integer("task", 0, std::numeric_limits<int32_t>::max(), &task));
  row->task = static_cast<int32_t>(task);
  row->tasks.reset();
  if (Member("tasks") != kNoNode) {
    KSTREAM_RETURN_IF_ERROR(Integer("tasks", 1, std::numeric_limits<int32_t>::max(), &tasks));
    row->tasks = static_cast<int32_t>(tasks);
  }
  row->key = *record.key;
  row->value = record.value;
  return Integer("timestamp", std::numeric_limits<int64_t>::min(),
                 std::numeric_limits<int64_t>::max(), &row->timestamp);
}

json::Node DumpReader::Member(std::string_view name) const {
  return document_.Find(document_.root(), name);
}

Status DumpReader::Integer(std::string_view name, int64_t least, int64_t most,
                           int64_t* number) const {
  const json::Node node = Member(name);
  if (node == kNoNode) return Status::Data(fmt::format("no \"{}\"", name));
  const std::string_view text = document_.Raw(node);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error == std::errc() && end == text.data() + text.size() && *number >= least &&
      *number <= most) {
    return Status::Ok();
  }
  return Status::Data(fmt::format("\"{}\" is no integer from {} to {}", name, least, most));
}

Status ReadDump(const std::string& path, const std::function<Status(const DumpedRow&)>& take) {
  if (path == "-") return ReadLines(std::cin, "stdin", take);
  std::ifstream file(path);
  if (!file) {
    return Status::Usage(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  return ReadLines(file, path, take);
}

}  // namespace kstream::admin
