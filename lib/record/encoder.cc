#include "record/encoder.h"

#include <fmt/format.h>

#include <utility>

#include "record/envelope.h"
#include "record/lines.h"

namespace kstream {
namespace {

// Whether the parsed value is these bytes, and not what a serde made of others.
bool LiesIn(const json::Document& document, std::string_view bytes) {
  const char* start = document.Raw(document.root()).data();
  return std::less_equal<>()(bytes.data(), start) &&
         std::less<>()(start, bytes.data() + bytes.size());
}

}  // namespace

Result<OutputFormat> ParseOutputFormat(std::string_view name) {
  if (name == "json") return OutputFormat::kJson;
  if (name == "envelope") return OutputFormat::kEnvelope;
  if (name == "raw") return OutputFormat::kRaw;
  if (name == "csv") return OutputFormat::kCsv;
  if (name == "tsv") return OutputFormat::kTsv;
  if (name == "format") return OutputFormat::kFormat;
  return Status::Usage(fmt::format(
      "'{}' is not an output format: give json, envelope, raw, csv, tsv or format", name));
}

RecordEncoder::RecordEncoder(OutputFormat format, Serdes serdes)
    : format_(format),
      serdes_(std::move(serdes)),
      columns_(format == OutputFormat::kTsv ? '\t' : ',') {}

RecordEncoder::RecordEncoder(Format pattern, Evaluate evaluate)
    : format_(OutputFormat::kFormat),
      columns_(','),
      pattern_(std::move(pattern)),
      evaluate_(std::move(evaluate)) {}

Status RecordEncoder::Append(const Record& record, std::string* out) {
  switch (format_) {
    case OutputFormat::kJson:
      return AppendJson(record, out);
    case OutputFormat::kEnvelope:
      AppendEnvelope(record, reader_, out);
      out->push_back('\n');
      return Status::Ok();
    case OutputFormat::kRaw:
      if (record.value && record.value->find('\n') != std::string_view::npos) {
        return Status::Data("the value holds a line end, so it is no line: use -J, or -f '%s\\n'");
      }
      *out += record.value.value_or("");
      out->push_back('\n');
      return Status::Ok();
    case OutputFormat::kCsv:
    case OutputFormat::kTsv:
      return AppendColumns(record, out);
    case OutputFormat::kFormat:
      break;
  }
  return pattern_->Append(
      record, [&](size_t i, std::string* text) { return evaluate_(record, i, text); }, out);
}

Status RecordEncoder::AppendJson(const Record& record, std::string* out) {
  if (!record.value) {
    *out += "null\n";
    return Status::Ok();
  }
  std::string_view text = *record.value;
  bool plain = serdes_.value.kind() == Serde::Kind::kJson;
  if (!plain || record.cache == nullptr || !record.cache->one_line) {
    json::Document document;
    KSTREAM_RETURN_IF_ERROR(Parse(record, &text, &document));
    if (HasLineEnd(text)) {
      json::AppendCompact(document, document.root(), out);
      out->push_back('\n');
      return Status::Ok();
    }
  }
  *out += text;
  out->push_back('\n');
  return Status::Ok();
}

Status RecordEncoder::AppendColumns(const Record& record, std::string* out) {
  if (!record.value) return Status::Data("a null payload cannot be a row of columns");
  std::string_view text;
  json::Document document;
  KSTREAM_RETURN_IF_ERROR(Parse(record, &text, &document));
  return columns_.Append(document, document.root(), out);
}

Status RecordEncoder::Parse(const Record& record, std::string_view* text,
                            json::Document* document) {
  *text = *record.value;
  if (serdes_.value.kind() != Serde::Kind::kJson) {
    converted_.clear();
    KSTREAM_RETURN_IF_ERROR(serdes_.value.ToJson(*text, &converted_));
    *text = converted_;
    return reader_.Parse(*text, document);
  }
  json::ValueCache* cache = record.cache;
  if (cache != nullptr && cache->parsed && LiesIn(cache->document, *text)) {
    *document = cache->document;
    return Status::Ok();
  }
  // The cache's own reader knows the region that the text lies in.
  if (cache == nullptr || cache->parsed || cache->reader == nullptr) {
    return reader_.Parse(*text, document);
  }
  KSTREAM_RETURN_IF_ERROR(cache->reader->Parse(*text, &cache->document));
  cache->parsed = true;
  *document = cache->document;
  return Status::Ok();
}

}  // namespace kstream
