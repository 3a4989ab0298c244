#include "common/output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/process.h"

namespace kstream::tools {
namespace {

constexpr size_t kGather = 64 << 10;
constexpr size_t kRowsForWidths = 1000;

// In characters, as far as each takes one column.
size_t WidthOf(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

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
  if (!has_cells()) {
    names_.clear();
    for (const auto& [name, value] : row.items()) names_.push_back(name);
    Cells(names_);
  }
  std::vector<std::string> cells;
  for (const std::string& name : names_) {
    cells.push_back(row.contains(name) ? Cell(row.at(name)) : "-");
  }
  Cells(std::move(cells));
}

void Output::Cells(std::vector<std::string> cells) {
  if (!widths_.empty()) return Aligned(cells);
  table_.push_back(std::move(cells));
  if (table_.size() > kRowsForWidths) Table();
}

void Output::Table() {
  for (const auto& row : table_) {
    widths_.resize(std::max(widths_.size(), row.size()));
    for (size_t i = 0; i < row.size(); i++) widths_[i] = std::max(widths_[i], WidthOf(row[i]));
  }
  for (const auto& row : table_) Aligned(row);
  table_.clear();
}

void Output::Aligned(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i + 1 < cells.size(); i++) {
    line += cells[i];
    const size_t width = WidthOf(cells[i]), wanted = i < widths_.size() ? widths_[i] : 0;
    line.append(2 + (wanted > width ? wanted - width : 0), ' ');
  }
  Line(line + cells.back());
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
  widths_.clear();
  Write();
  return status_;
}

}  // namespace kstream::tools
