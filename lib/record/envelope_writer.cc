// The writing half of record/envelope.h.
#include <fmt/format.h>

#include <algorithm>

#include "record/base64.h"
#include "record/envelope.h"
#include "record/lines.h"

namespace kstream {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// How deep the brackets of a valid JSON text nest.
int Depth(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

// A shorter text has no room for that many brackets and their partners.
bool FitsInsideObject(std::string_view json) {
  return json.size() < 2 * json::kMaxDepth || Depth(json) < json::kMaxDepth;
}

// Whether the bytes are known to be valid JSON. What a cache holds parsed may be the JSON that a
// serde made of the value, so it must be these very bytes.
bool IsKnownJson(std::string_view bytes, const json::ValueCache* cache) {
  if (cache == nullptr) return false;
  if (cache->one_line) return true;
  if (!cache->parsed) return false;
  std::string_view parsed = cache->document.Raw(cache->document.root());
  return parsed.data() == bytes.data() && parsed.size() == bytes.size();
}

// Whether the bytes can stand in the envelope as they are and be read back unchanged.
bool IsValue(std::string_view bytes, const json::ValueCache* cache, json::Reader& reader) {
  if (bytes.empty() || IsSpace(bytes.front()) || IsSpace(bytes.back()) || HasLineEnd(bytes)) {
    return false;
  }
  json::Document document;
  bool valid = IsKnownJson(bytes, cache) || reader.Parse(bytes, &document).ok();
  return valid && FitsInsideObject(bytes);
}

void AppendBase64String(std::string_view bytes, std::string* out) {
  out->push_back('"');
  AppendBase64(bytes, out);
  out->push_back('"');
}

// A field called `name`, or `name_b64` when only that can hold the bytes.
void AppendBytesField(std::string_view name, std::string_view name_b64, const Bytes& bytes,
                      std::string* out) {
  if (!bytes) {
    *out += name;
    *out += "null";
  } else if (json::IsUtf8(*bytes)) {
    *out += name;
    json::AppendQuoted(*bytes, out);
  } else {
    *out += name_b64;
    AppendBase64String(*bytes, out);
  }
}

void AppendInteger(std::string_view name, int64_t value, std::string* out) {
  *out += name;
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
  out->push_back(',');
}

void AppendText(std::string_view bytes, std::string* out) {
  if (json::IsUtf8(bytes)) {
    json::AppendQuoted(bytes, out);
  } else {
    *out += "{\"b64\":";
    AppendBase64String(bytes, out);
    out->push_back('}');
  }
}

void AppendHeaders(std::span<const Header> headers, std::string* out) {
  char separator = '[';
  for (const Header& header : headers) {
    out->push_back(separator);
    separator = ',';
    AppendText(header.name, out);
    out->push_back(',');
    header.value ? AppendText(*header.value, out) : void(*out += "null");
  }
  out->push_back(']');
}

}  // namespace

void AppendEnvelope(const Record& record, json::Reader& reader, std::string* out) {
  out->push_back('{');
  if (!record.topic.empty()) {
    *out += "\"topic\":";
    AppendText(record.topic, out);
    out->push_back(',');
  }
  if (record.partition != -1) AppendInteger("\"partition\":", record.partition, out);
  if (record.offset != -1) AppendInteger("\"offset\":", record.offset, out);
  if (record.timestamp_type != TimestampType::kNone) {
    *out += record.timestamp_type == TimestampType::kCreateTime ? "\"tstype\":\"create\","
                                                                : "\"tstype\":\"logappend\",";
    AppendInteger("\"ts\":", record.timestamp, out);
  }
  if (!record.headers.empty()) {
    *out += "\"headers\":";
    AppendHeaders(record.headers, out);
    out->push_back(',');
  }
  AppendBytesField("\"key\":", "\"key_b64\":", record.key, out);
  if (record.value && IsValue(*record.value, record.cache, reader)) {
    *out += ",\"value\":";
    *out += *record.value;
  } else {
    AppendBytesField(",\"payload\":", ",\"payload_b64\":", record.value, out);
  }
  out->push_back('}');
}

}  // namespace kstream
