#include "topology_test/values.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <vector>

#include "base/time.h"
#include "record/base64.h"
#include "record/json_document.h"

namespace kstream::topology_test {
namespace {

using topology_file::FileValue;

// A string, {"b64":..} or null.
Result<std::optional<std::string>> HeaderValue(FileValue value) {
  if (!value.is_object()) return PayloadBytes(value);
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members, value.Members(""));
  if (members.size() != 1 || members[0].name != "b64") {
    return value.Error("takes a string, {\"b64\":..} or null");
  }
  KSTREAM_ASSIGN_OR_RETURN(std::string bytes, Base64Bytes(members[0].value));
  return std::optional(std::move(bytes));
}

}  // namespace

// --- as a file has them ---

Result<std::string> PlainText(FileValue value, std::string_view what) {
  if (!value.is_string()) return value.Error(fmt::format("takes {}, a string", what));
  std::string text;
  json::Unescape(value.Raw().substr(1, value.Raw().size() - 2), &text);
  return text;
}

Result<int64_t> ParseTime(FileValue value) {
  if (!value.is_string()) return ParseCount(value, INT64_MAX);
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, PlainText(value, "a time"));
  const Result<int64_t> time = ParseRfc3339(text);
  if (time.ok()) return *time;
  return value.Error(
      fmt::format("{}: give RFC 3339, or ms since 1970 as a number", time.status().message()));
}

Result<int64_t> ParseCount(FileValue value, int64_t most) {
  const std::string_view raw = value.Raw();
  int64_t count = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), count);
  const bool whole = error == std::errc() && end == raw.data() + raw.size();
  if (whole && 0 <= count && count <= most) return count;
  return value.Error(fmt::format("takes a whole number from 0 to {}", most));
}

Result<std::string> Base64Bytes(FileValue value) {
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, PlainText(value, "base64"));
  std::string bytes;
  if (!DecodeBase64(text, &bytes)) return value.Error("this is no base64");
  return bytes;
}

Result<std::optional<std::string>> KeyBytes(FileValue value) {
  if (value.is_null()) return std::optional<std::string>();
  if (!value.is_string()) return std::optional(CompactText(value));
  KSTREAM_ASSIGN_OR_RETURN(std::string text, PlainText(value, "a key"));
  return std::optional(std::move(text));
}

Result<std::optional<std::string>> PayloadBytes(FileValue value) {
  if (value.is_null()) return std::optional<std::string>();
  KSTREAM_ASSIGN_OR_RETURN(std::string text, PlainText(value, "a string, or null"));
  return std::optional(std::move(text));
}

Result<Headers> ParseHeaders(FileValue value) {
  Headers headers;
  if (value.is_object()) {
    KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members, value.Members(""));
    for (const FileValue::Member& member : members) {
      KSTREAM_ASSIGN_OR_RETURN(auto bytes, HeaderValue(member.value));
      headers.emplace_back(member.name, std::move(bytes));
    }
    return headers;
  }
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue> items,
                           value.Items("an array of names and values, or an object"));
  if (items.size() % 2 != 0) return value.Error("the last name has no value");
  for (size_t i = 0; i < items.size(); i += 2) {
    KSTREAM_ASSIGN_OR_RETURN(std::string name, PlainText(items[i], "the name of a header"));
    KSTREAM_ASSIGN_OR_RETURN(auto bytes, HeaderValue(items[i + 1]));
    headers.emplace_back(std::move(name), std::move(bytes));
  }
  return headers;
}

std::string CompactText(FileValue value) {
  return CompactJson(value.Raw()).value_or(std::string(value.Raw()));
}

// --- as facts ---

std::string Quoted(std::string_view text) {
  std::string quoted;
  json::AppendQuoted(text, &quoted);
  return quoted;
}

std::string Base64Of(std::string_view bytes) {
  std::string text = "\"";
  AppendBase64(bytes, &text);
  return text + '"';
}

std::optional<std::string> CompactJson(std::string_view text) {
  thread_local json::Reader reader;
  json::Document document;
  if (!reader.Parse(text, &document).ok()) return std::nullopt;
  std::string compact;
  json::AppendCompact(document, document.root(), &compact);
  return compact;
}

std::string HeadersText(const Headers& headers) {
  std::string text = "[";
  for (const auto& [name, value] : headers) {
    if (text.size() > 1) text += ',';
    text += Quoted(name) + ',';
    if (!value) {
      text += "null";
    } else {
      text += json::IsUtf8(*value) ? Quoted(*value) : "{\"b64\":" + Base64Of(*value) + "}";
    }
  }
  return text + ']';
}

}  // namespace kstream::topology_test
