#include "topology_test/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/time.h"
#include "record/base64.h"
#include "record/json_document.h"
#include "topology_file/fields.h"
#include "topology_test/json_difference.h"

namespace kstream::topology_test {
namespace {

using topology_file::Fields;
using topology_file::FileValue;

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

// Compact; nullopt: it is no JSON.
std::optional<std::string> CompactJson(std::string_view text) {
  thread_local json::Reader reader;
  json::Document document;
  if (!reader.Parse(text, &document).ok()) return std::nullopt;
  std::string compact;
  json::AppendCompact(document, document.root(), &compact);
  return compact;
}

// As the envelope has them.
std::string HeadersText(const decltype(TestRecord::headers)& headers) {
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

std::string JsonOf(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", fact.name, fact.json);
  }
  return "{" + text + "}";
}

const std::string* FindFact(const std::vector<Fact>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Fact::name);
  return found == facts.end() ? nullptr : &found->json;
}

}  // namespace

// --- Item ---

void Item::AddBytes(std::string_view name, const std::optional<std::string>& bytes) {
  if (!bytes) {
    Add(std::string(name), "null");
    return;
  }
  if (json::IsUtf8(*bytes)) Add(std::string(name), Quoted(*bytes));
  Add(fmt::format("{}_b64", name), Base64Of(*bytes));
}

void Item::AddValue(const std::optional<std::string>& value) {
  if (value) {
    if (auto json = CompactJson(*value)) Add("value", *std::move(json));
  }
  AddBytes("payload", value);
}

Item Item::Of(const TestRecord& record) {
  Item item;
  item.AddBytes("key", record.key);
  item.best_.push_back(item.facts_.front().name);
  const size_t value = item.facts_.size();
  item.AddValue(record.value);
  item.best_.push_back(item.facts_[value].name);
  if (record.timestamp) item.Add("ts", fmt::format("{}", *record.timestamp));
  item.Add("headers", HeadersText(record.headers));
  if (!record.headers.empty()) item.best_.emplace_back("headers");
  item.partition_ = record.partition.value_or(0);
  item.Add("partition", fmt::format("{}", item.partition_));
  item.Add("offset", fmt::format("{}", record.offset));
  return item;
}

Item Item::Of(const TestRow& row) {
  Item item;
  item.AddBytes("key", row.key);
  item.best_.push_back(item.facts_.front().name);
  if (row.window_start && row.window_end) {
    item.Add("window_start", fmt::format("{}", *row.window_start));
    item.Add("window_end", fmt::format("{}", *row.window_end));
    item.best_.insert(item.best_.end(), {"window_start", "window_end"});
  }
  const size_t value = item.facts_.size();
  item.AddValue(row.value);
  item.best_.push_back(item.facts_[value].name);
  item.Add("timestamp", fmt::format("{}", row.timestamp));
  // "<stage>_<number>"
  item.Add("task", row.task.substr(row.task.find('_') + 1));
  return item;
}

const std::string* Item::Find(std::string_view name) const { return FindFact(facts_, name); }

std::string Item::Text(const std::vector<std::string>& names) const {
  std::vector<Fact> told;
  for (const std::string& name : names) {
    if (const std::string* const json = Find(name)) told.push_back({name, *json});
  }
  return JsonOf(told);
}

// --- WantedItem ---

namespace {

constexpr std::string_view kRecordFields[] = {"key",         "key_b64", "value",   "value_has",
                                              "payload",     "ts",      "headers", "partition",
                                              "payload_b64", "offset",  "topic",   "tstype"};
constexpr std::string_view kInputFields[] = {"key",    "key_b64", "value",     "payload",
                                             "ts",     "headers", "partition", "payload_b64",
                                             "offset", "topic",   "tstype"};
constexpr std::string_view kRowFields[] = {"key",   "key_b64",     "window_start", "window_end",
                                           "value", "value_has",   "payload",      "timestamp",
                                           "task",  "payload_b64", "store"};

// The one of two forms of the same thing that an item may have.
Status CheckForms(const std::vector<FileValue::Member>& members,
                  const std::vector<std::string_view>& forms) {
  const FileValue::Member* first = nullptr;
  for (const FileValue::Member& member : members) {
    if (std::ranges::find(forms, member.name) == forms.end()) continue;
    if (first != nullptr) {
      return member.name_value.Error(
          fmt::format("'{}' contradicts '{}': give one of them", member.name, first->name));
    }
    first = &member;
  }
  return Status::Ok();
}

Result<std::vector<FileValue::Member>> ItemMembers(FileValue value,
                                                   std::span<const std::string_view> fields,
                                                   std::string_view what) {
  KSTREAM_ASSIGN_OR_RETURN(Fields object, Fields::Of(value, std::string(what)));
  for (const std::string_view name : fields) object.Take(name);
  KSTREAM_RETURN_IF_ERROR(object.Finish());
  KSTREAM_RETURN_IF_ERROR(CheckForms(object.members(), {"key", "key_b64"}));
  KSTREAM_RETURN_IF_ERROR(
      CheckForms(object.members(), {"value", "value_has", "payload", "payload_b64"}));
  return object.members();
}

Result<std::string> Base64Bytes(FileValue value) {
  KSTREAM_ASSIGN_OR_RETURN(const std::string text, PlainText(value, "base64"));
  std::string bytes;
  if (!DecodeBase64(text, &bytes)) return value.Error("this is no base64");
  return bytes;
}

// As an expression that gives a key: a string's text, the compact JSON of anything else.
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

// kcat's flat array, or an object.
Result<decltype(TestRecord::headers)> ParseHeaders(FileValue value) {
  decltype(TestRecord::headers) headers;
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

// What is wanted, in the words in which what came is told.
Result<std::string> WantedJson(const FileValue::Member& member) {
  const auto& [name, at, value] = member;
  if (name == "key") {
    KSTREAM_ASSIGN_OR_RETURN(const auto key, KeyBytes(value));
    return key ? Quoted(*key) : "null";
  }
  if (name == "key_b64" || name == "payload_b64") {
    KSTREAM_ASSIGN_OR_RETURN(const std::string bytes, Base64Bytes(value));
    return Base64Of(bytes);
  }
  if (name == "payload") {
    KSTREAM_ASSIGN_OR_RETURN(const auto payload, PayloadBytes(value));
    return payload ? Quoted(*payload) : "null";
  }
  if (name == "ts" || name == "timestamp" || name.starts_with("window_")) {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t time, ParseTime(value));
    return fmt::format("{}", time);
  }
  if (name == "headers") {
    KSTREAM_ASSIGN_OR_RETURN(const auto headers, ParseHeaders(value));
    return HeadersText(headers);
  }
  if (name == "partition" || name == "task" || name == "offset") {
    KSTREAM_ASSIGN_OR_RETURN(const int64_t count, ParseCount(value, INT64_MAX));
    return fmt::format("{}", count);
  }
  return CompactText(value);
}

// They tell where it was, not what it is: a line of -J, or of an inspection, can be pasted in.
bool IsAddress(std::string_view name) {
  return name == "topic" || name == "tstype" || name == "store";
}

}  // namespace

Result<WantedItem> WantedItem::Parse(FileValue value, What what) {
  const bool record = what == What::kRecord;
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members,
                           record ? ItemMembers(value, kRecordFields, "a record")
                                  : ItemMembers(value, kRowFields, "a row"));
  WantedItem item(value);
  for (const FileValue::Member& member : members) {
    if (IsAddress(member.name)) continue;
    KSTREAM_ASSIGN_OR_RETURN(std::string json, WantedJson(member));
    item.facts_.push_back({member.name, std::move(json)});
  }
  return item;
}

std::optional<std::string> WantedItem::Difference(const Item& item) const {
  for (const Fact& fact : facts_) {
    const bool part = fact.name == "value_has";
    const std::string* const came = item.Find(part ? "value" : fact.name);
    if (came == nullptr) return fmt::format("{}: expected {}, came none", fact.name, fact.json);
    const auto difference = FirstDifference(fact.json, *came, !part);
    if (!difference) continue;
    const auto or_none = [](const std::string& json) { return json.empty() ? "none" : json; };
    return fmt::format("{}{}: expected {}, came {}", part ? "value" : fact.name, difference->path,
                       or_none(difference->wanted), or_none(difference->came));
  }
  return std::nullopt;
}

std::string WantedItem::Text() const { return JsonOf(facts_); }

std::string WantedItem::Like(const Item& item) const {
  std::vector<std::string> names;
  for (const Fact& fact : facts_) {
    const std::string name = fact.name == "value_has" ? "value" : fact.name;
    // In the form that it has, where it has not this one.
    if (item.Find(name) != nullptr) {
      names.push_back(name);
    } else if (name.starts_with("key")) {
      names.emplace_back(item.Find("key") != nullptr ? "key" : "key_b64");
    } else if (name == "value" || name.starts_with("payload")) {
      names.emplace_back(item.Find("payload") != nullptr ? "payload" : "payload_b64");
    }
  }
  return names.empty() ? item.Text() : item.Text(names);
}

const std::string* WantedItem::Find(std::string_view name) const { return FindFact(facts_, name); }

// --- input ---

Result<TestRecord> ParseRecord(FileValue value) {
  KSTREAM_ASSIGN_OR_RETURN(const std::vector<FileValue::Member> members,
                           ItemMembers(value, kInputFields, "an input record"));
  TestRecord record;
  bool valued = false;
  for (const auto& [name, at, field] : members) {
    if (name == "key") {
      KSTREAM_ASSIGN_OR_RETURN(record.key, KeyBytes(field));
    } else if (name == "key_b64") {
      KSTREAM_ASSIGN_OR_RETURN(record.key, Base64Bytes(field));
    } else if (name == "value") {
      record.value = CompactText(field);
    } else if (name == "payload") {
      KSTREAM_ASSIGN_OR_RETURN(record.value, PayloadBytes(field));
    } else if (name == "payload_b64") {
      KSTREAM_ASSIGN_OR_RETURN(record.value, Base64Bytes(field));
    } else if (name == "ts") {
      KSTREAM_ASSIGN_OR_RETURN(record.timestamp, ParseTime(field));
    } else if (name == "headers") {
      KSTREAM_ASSIGN_OR_RETURN(record.headers, ParseHeaders(field));
    } else if (name == "partition") {
      KSTREAM_ASSIGN_OR_RETURN(const int64_t partition, ParseCount(field, INT32_MAX));
      record.partition = static_cast<int32_t>(partition);
    }
    valued |= name == "value" || name.starts_with("payload");
  }
  if (valued) return record;
  return value.Error("the record has no 'value': \"payload\": null is one without a value");
}

// --- values ---

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

std::string CompactText(FileValue value) {
  return CompactJson(value.Raw()).value_or(std::string(value.Raw()));
}

}  // namespace kstream::topology_test
