// The writing half of record/csv.h.
#include <csv.h>
#include <fmt/format.h>

#include "record/csv.h"
#include "record/lines.h"

namespace kstream {
namespace {

// Unescaped text of a string's content; `scratch` may hold it.
std::string_view Unescaped(std::string_view content, std::string* scratch) {
  if (content.find('\\') == std::string_view::npos) return content;
  scratch->clear();
  json::Unescape(content, scratch);
  return *scratch;
}

void SetField(const json::Document& document, json::Node node, std::string* field) {
  field->clear();
  switch (document.type(node)) {
    case json::Type::kNull:
      break;
    case json::Type::kString:
      json::Unescape(document.StringContent(node), field);
      break;
    default:
      json::AppendCompact(document, node, field);
      break;
  }
}

bool IsEdgeSpace(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Status CsvWriter::Append(const json::Document& document, json::Node node, std::string* out) {
  if (document.type(node) != json::Type::kObject) {
    return Status::Data("only an object can be a row of columns");
  }
  const bool first = columns_.empty();
  if (first) KSTREAM_RETURN_IF_ERROR(SetColumns(document, node));

  fields_.assign(columns_.size(), {});
  std::string scratch;
  size_t expected = 0;  // objects of one kind mostly have their names in one order
  for (json::Node name = document.First(node); name != json::kNoNode;) {
    json::Node value = document.ValueOf(name);
    std::string_view text = Unescaped(document.StringContent(name), &scratch);
    size_t column = expected;
    if (column >= columns_.size() || columns_[column] != text) {
      auto found = index_.find(std::string(text));
      if (found == index_.end()) {
        return Status::Data(fmt::format("'{}' is not a column; the first row had only {}",
                                        text.substr(0, 64), columns_.size()));
      }
      column = found->second;
    }
    expected = column + 1;
    SetField(document, value, &fields_[column]);
    name = document.Next(value);
  }
  if (first) AppendRow(columns_, out);
  AppendRow(fields_, out);
  return Status::Ok();
}

Status CsvWriter::SetColumns(const json::Document& document, json::Node object) {
  std::string scratch;
  for (json::Node name = document.First(object); name != json::kNoNode;
       name = document.Next(document.ValueOf(name))) {
    std::string text(Unescaped(document.StringContent(name), &scratch));
    if (index_.emplace(text, columns_.size()).second) columns_.push_back(std::move(text));
  }
  if (columns_.empty()) return Status::Data("an object without fields has no columns");
  return Status::Ok();
}

void CsvWriter::AppendRow(const std::vector<std::string>& fields, std::string* out) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) out->push_back(separator_);
    AppendField(fields[i], out);
  }
  out->push_back('\n');
}

void CsvWriter::AppendField(std::string_view text, std::string* out) {
  // Quoted beyond what RFC 4180 demands: what readers trim, what would look like a blank line, and
  // what would look like a byte order mark.
  bool plain = text.empty() ? columns_.size() > 1
                            : text.find_first_of("\"\r\n") == std::string_view::npos &&
                                  text.find(separator_) == std::string_view::npos &&
                                  !IsEdgeSpace(text.front()) && !IsEdgeSpace(text.back()) &&
                                  !text.starts_with(kByteOrderMark);
  if (plain) {
    *out += text;
    return;
  }
  size_t at = out->size();
  out->resize(at + 2 * text.size() + 2);
  size_t size = csv_write2(out->data() + at, out->size() - at, text.data(), text.size(), '"');
  out->resize(at + size);
}

}  // namespace kstream
