#include "dsl/row.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/key_json.h"
#include "expr/number.h"
#include "record/json_document.h"

namespace kstream::dsl {
namespace {

// The member that says that a row has yet to be forwarded. No aggregate's name begins with $.
constexpr std::string_view kDue = "$due";

class JsonRows final : public RowFormat {
 public:
  JsonRows(std::vector<std::unique_ptr<Column>> columns, const Serde& key_serde)
      : RowFormat(std::move(columns)), keys_(key_serde) {
    for (const auto& column : columns_) {
      std::string& name = names_.emplace_back();
      json::AppendQuoted(column->name(), &name);
      name.push_back(':');
    }
  }

  Status Result(std::string_view key, const WindowBounds* window, const Row& row,
                std::optional<std::string>* value) override {
    std::string& json = Cleared(value);
    json.append("{\"key\":");
    KSTREAM_RETURN_IF_ERROR(keys_.Append(key, &json));
    if (window) {
      expr::AppendInt(window->start, &json.append(",\"window_start\":"));
      expr::AppendInt(window->end, &json.append(",\"window_end\":"));
    }
    for (size_t i = 0; i < columns_.size(); i++) {
      json.append(",").append(names_[i]);
      columns_[i]->AppendResult(row.At(i), &json);
    }
    json.push_back('}');
    return Status::Ok();
  }

  void State(const Row& row, std::optional<std::string>* value) const override {
    std::string& json = Cleared(value);
    for (size_t i = 0; i < columns_.size(); i++) {
      json.append(i == 0 ? "{" : ",").append(names_[i]);
      columns_[i]->AppendState(row.At(i), &json);
    }
    if (row.due) json.append(",\"").append(kDue).append("\":true");
    json.push_back('}');
  }

  bool Restore(const StoredRow& stored, Row* row, std::string* why) override {
    json::Document document;
    if (!reader_.Parse(stored.value, &document).ok() ||
        document.type(document.root()) != json::Type::kObject) {
      *why = "it is no JSON object";
      return false;
    }
    for (size_t i = 0; i < columns_.size(); i++) {
      const json::Node state = document.Find(document.root(), columns_[i]->name());
      if (state == json::kNoNode || !columns_[i]->Restore(document, state, &row->At(i))) {
        *why = fmt::format("its '{}' is {}", columns_[i]->name(),
                           state == json::kNoNode ? "missing" : "that of another function");
        return false;
      }
    }
    row->due = document.Find(document.root(), kDue) != json::kNoNode;
    row->timestamp = stored.timestamp;
    row->stored = true;
    return true;
  }

 private:
  static std::string& Cleared(std::optional<std::string>* value) {
    if (!*value) value->emplace();
    (*value)->clear();
    return **value;
  }

  KeyJson keys_;
  std::vector<std::string> names_;  // "\"total\":"
  json::Reader reader_;
};

class PlainRows final : public RowFormat {
 public:
  explicit PlainRows(std::vector<std::unique_ptr<Column>> column) : RowFormat(std::move(column)) {}

  Status Result(std::string_view, const WindowBounds*, const Row& row,
                std::optional<std::string>* value) override {
    State(row, value);
    return Status::Ok();
  }
  void State(const Row& row, std::optional<std::string>* value) const override {
    value->reset();
    if (row.first.texts && !row.gone()) *value = row.first.texts->text;
  }
  bool Restore(const StoredRow& stored, Row* row, std::string*) override {
    row->At(0).texts = std::make_unique<Accumulator::Texts>();
    row->At(0).texts->text = stored.value;
    row->timestamp = stored.timestamp;
    row->stored = true;
    return true;
  }
};

std::vector<std::unique_ptr<Column>> One(std::unique_ptr<Column> column) {
  std::vector<std::unique_ptr<Column>> columns;
  columns.push_back(std::move(column));
  return columns;
}

}  // namespace

Row RowFormat::Empty() const {
  Row row;
  if (columns_.size() > 1) row.others = std::make_unique<Accumulator[]>(columns_.size() - 1);
  return row;
}

Status RowFormat::Read(const Record& record) {
  for (const auto& column : columns_) KSTREAM_RETURN_IF_ERROR(column->Read(record));
  return Status::Ok();
}

Status RowFormat::Prepare(const Record& record, const Row& row) {
  for (size_t i = 0; i < columns_.size(); i++) {
    KSTREAM_RETURN_IF_ERROR(columns_[i]->Prepare(record, row.At(i)));
  }
  return Status::Ok();
}

size_t RowFormat::Apply(Row* row) {
  size_t grown = 0;
  for (size_t i = 0; i < columns_.size(); i++) grown += columns_[i]->Apply(&row->At(i));
  return grown;
}

kstream::Result<bool> RowFormat::PrepareOut(const Record& record, const Row& row) {
  for (size_t i = 0; i < columns_.size(); i++) {
    KSTREAM_ASSIGN_OR_RETURN(const bool in, columns_[i]->PrepareOut(record, row.At(i)));
    if (!in) return false;
  }
  return true;
}

void RowFormat::ApplyOut(Row* row) {
  for (size_t i = 0; i < columns_.size(); i++) columns_[i]->ApplyOut(&row->At(i));
}

Status RowFormat::Merge(const Row& later, Row* row) {
  for (size_t i = 0; i < columns_.size(); i++) {
    KSTREAM_RETURN_IF_ERROR(columns_[i]->Merge(later.At(i), &row->At(i)));
  }
  row->timestamp = std::max(row->timestamp, later.timestamp);
  return Status::Ok();
}

std::unique_ptr<RowFormat> NewJsonRows(std::vector<std::unique_ptr<Column>> columns,
                                       const Serde& key_serde) {
  return std::make_unique<JsonRows>(std::move(columns), key_serde);
}

std::unique_ptr<RowFormat> NewPlainRows(std::unique_ptr<Column> column) {
  return std::make_unique<PlainRows>(One(std::move(column)));
}

}  // namespace kstream::dsl
