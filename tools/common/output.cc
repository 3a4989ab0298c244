#include "common/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/process.h"

namespace kstream::tools {
namespace {

constexpr size_t kGather = 64 << 10;

// A name of a file or topic may hold anything; on a terminal it must do nothing.
std::string Cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "-";
  std::string text = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // Quotes are for what would be another thing without them.
  const bool plain =
      value.is_string() && text.size() > 2 && text.find_first_of(" \\") == std::string::npos;
  return plain ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

void Output::Line(std::string_view text) {
  lines_ += text;
  lines_ += '\n';
  if (lines_.size() >= kGather) Write();
}

void Output::Row(const nlohmann::ordered_json& row, bool pretty) {
  if (!pretty) {
    return Line(row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  if (table_.empty()) {
    auto& names = table_.emplace_back();
    for (const auto& [name, value] : row.items()) names.push_back(name);
  }
  auto& cells = table_.emplace_back();
  for (const std::string& name : table_.front()) {
    cells.push_back(row.contains(name) ? Cell(row.at(name)) : "-");
  }
}

void Output::Table() {
  if (table_.empty()) return;
  std::vector<size_t> widths(table_.front().size());
  for (const auto& row : table_) {
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : table_) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); i++) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    Line(line + row.back());
  }
  table_.clear();
}

void Output::Write() {
  if (open()) {
    const Result<bool> written = TryWriteStdout(lines_);
    status_ = written.status();
    open_ = written.ok() && *written;
  }
  lines_.clear();
}

Status Output::Flush() {
  Table();
  Write();
  return status_;
}

}  // namespace kstream::tools
