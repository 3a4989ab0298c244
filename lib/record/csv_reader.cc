// The reading half of record/csv.h.
#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "record/csv.h"
#include "record/lines.h"

namespace kstream {
namespace {

// How much is parsed between two looks at the length of the row.
constexpr size_t kPiece = 1 << 20;

int NoSpace(unsigned char) { return 0; }

// libcsv's parser; freed and made anew after an error, since it cannot be reset.
class Parser {
 public:
  explicit Parser(char separator) : separator_(separator) { Init(); }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void Reset() {
    csv_free(&parser_);
    Init();
  }
  csv_parser* get() { return &parser_; }
  // What is read of the field that is not complete.
  std::string_view partial() const {
    return {reinterpret_cast<const char*>(parser_.entry_buf), parser_.entry_pos};
  }

 private:
  void Init() {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
    csv_set_delim(&parser_, static_cast<unsigned char>(separator_));
    csv_set_space_func(&parser_, NoSpace);
    csv_set_blk_size(&parser_, 64 << 10);
  }

  csv_parser parser_;
  char separator_;
};

int64_t CountLines(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

class CsvReader::Rep {
 public:
  Rep(char separator, OnRow on_row, size_t max_row_bytes)
      : parser_(separator), on_row_(std::move(on_row)), max_row_bytes_(max_row_bytes) {}

  Status Feed(std::string_view bytes) {
    bytes = SkipByteOrderMark(bytes);
    while (!bytes.empty() && failure_.ok()) bytes.remove_prefix(Step(bytes));
    return failure_;
  }

  Status Finish() {
    if (mark_ > 0 && mark_ < kByteOrderMark.size()) {
      KSTREAM_RETURN_IF_ERROR(FlushMark());
    }
    if (failure_.ok() && csv_fini(parser_.get(), OnField, OnRowEnd, this) != 0) {
      EndBadRow("a quoted field does not end");
    }
    return failure_;
  }

 private:
  static void OnField(void* text, size_t size, void* self) {
    auto* rep = static_cast<Rep*>(self);
    std::string_view field(static_cast<const char*>(text), size);
    rep->line_ += CountLines(field);
    rep->after_cr_ = false;
    rep->text_ += field;
    rep->ends_.push_back(rep->text_.size());
  }

  static void OnRowEnd(int c, void* self) {
    auto* rep = static_cast<Rep*>(self);
    rep->EndRow();
    // With CSV_REPALL_NL the two halves of a CRLF come one by one; they are one line end.
    if (c == CSV_CR || (c == CSV_LF && !rep->after_cr_)) ++rep->line_;
    rep->after_cr_ = c == CSV_CR;
    rep->row_line_ = rep->line_;
  }

  // Takes some bytes off the front and says how many.
  size_t Step(std::string_view bytes) {
    if (skipping_) {
      size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
      skipping_ = end == bytes.size();
      return end;
    }
    std::string_view piece = bytes.substr(0, kPiece);
    size_t done = csv_parse(parser_.get(), piece.data(), piece.size(), OnField, OnRowEnd, this);
    if (done < piece.size()) {
      int error = csv_error(parser_.get());
      BreakRow(error == CSV_EPARSE ? "a quote inside a field that is not quoted, or text after the "
                                     "quote that ends one"
                                   : csv_strerror(error));
    } else if (text_.size() + parser_.partial().size() > max_row_bytes_) {
      BreakRow(fmt::format("longer than {} bytes; is a quote not closed?", max_row_bytes_));
    }
    return done;
  }

  // Gives up the row that is being read; what follows its next line end is read again.
  void BreakRow(std::string_view why) {
    line_ += CountLines(parser_.partial());
    EndBadRow(why);
    parser_.Reset();
    skipping_ = true;
    after_cr_ = false;
  }

  std::string_view SkipByteOrderMark(std::string_view bytes) {
    while (mark_ < kByteOrderMark.size() && !bytes.empty()) {
      if (bytes.front() != kByteOrderMark[mark_]) {
        if (Status flushed = FlushMark(); !flushed.ok()) return {};
        break;
      }
      ++mark_;
      bytes.remove_prefix(1);
    }
    return bytes;
  }

  // The bytes so far only looked like a byte order mark.
  Status FlushMark() {
    std::string_view seen = kByteOrderMark.substr(0, mark_);
    mark_ = kByteOrderMark.size();
    return Feed(seen);
  }

  std::string_view Field(size_t i) const {
    size_t start = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(start, ends_[i] - start);
  }

  bool IsBlank() const {
    return ends_.empty() || (ends_.size() == 1 && columns_.size() != 1 &&
                             text_.find_first_not_of(" \t") == std::string::npos);
  }

  void EndRow() {
    if (failure_.ok() && !IsBlank()) {
      columns_.empty() ? SetColumns() : GiveRow();
    }
    text_.clear();
    ends_.clear();
  }

  void EndBadRow(std::string_view why) {
    Bad(std::string(why));
    text_.clear();
    ends_.clear();
  }

  // A bad row; before there is a header it is the header, and the whole file is bad.
  void Bad(std::string why) {
    if (columns_.empty()) {
      failure_ = Status::Data("header: " + why);
    } else {
      on_row_({Status::Data(std::move(why)), {}, row_line_});
    }
  }

  void SetColumns() {
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> columns;
    for (size_t i = 0; i < ends_.size(); ++i) {
      std::string_view name = Field(i);
      if (!json::IsUtf8(name)) return Bad(fmt::format("column {} is not UTF-8", i + 1));
      if (!seen.insert(name).second) {
        return Bad(fmt::format("the name '{}' comes twice", name.substr(0, 64)));
      }
      std::string& prefix = columns.emplace_back(i == 0 ? "{" : ",");
      json::AppendQuoted(name, &prefix);
      prefix += ':';
    }
    columns_ = std::move(columns);
  }

  void GiveRow() {
    if (ends_.size() != columns_.size()) {
      return Bad(fmt::format("{} fields, but the header has {}", ends_.size(), columns_.size()));
    }
    json_.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!json::IsUtf8(Field(i))) return Bad(fmt::format("field {} is not UTF-8", i + 1));
      json_ += columns_[i];
      json::AppendQuoted(Field(i), &json_);
    }
    json_ += '}';
    on_row_({Status::Ok(), json_, row_line_});
  }

  Parser parser_;
  const OnRow on_row_;
  const size_t max_row_bytes_;
  Status failure_;

  std::vector<std::string> columns_;  // each as the JSON before its value: {"name":
  std::string text_;                  // the fields of the row, one after the other
  std::vector<size_t> ends_;          // where each ends
  std::string json_;

  size_t mark_ = 0;  // bytes of a byte order mark that were seen
  bool skipping_ = false;
  bool after_cr_ = false;
  int64_t line_ = 0;
  int64_t row_line_ = 0;
};

CsvReader::CsvReader(char separator, OnRow on_row, size_t max_row_bytes)
    : rep_(std::make_unique<Rep>(separator, std::move(on_row), max_row_bytes)) {}
CsvReader::~CsvReader() = default;

Status CsvReader::Feed(std::string_view bytes) { return rep_->Feed(bytes); }
Status CsvReader::Finish() { return rep_->Finish(); }

}  // namespace kstream
