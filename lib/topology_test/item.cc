#include "topology_test/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "record/json_document.h"
#include "topology_file/fields.h"
#include "topology_test/json_difference.h"
#include "topology_test/values.h"

namespace kstream::topology_test {
namespace {

using topology_file::Fields;
using topology_file::FileValue;

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

// Those of its members that are asked for; empty: it has none of them.
std::string MembersOf(const Fact& asked, const Item& item) {
  const std::string* const value = item.Find("value");
  if (value == nullptr || value->front() != '{') return "";
  const std::string members = Rewritten(asked.json, *value, false);
  return members == "{}" ? "" : members;
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
    item.values_.push_back(member.value);
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
  std::vector<Fact> told;
  const auto tell = [&](std::string_view name) {
    const std::string* const json = item.Find(name);
    if (json != nullptr) told.push_back({std::string(name), *json});
    return json != nullptr;
  };
  for (const Fact& fact : facts_) {
    if (fact.name == "value_has") {
      if (std::string members = MembersOf(fact, item); !members.empty()) {
        told.push_back({fact.name, std::move(members)});
        continue;
      }
    }
    // In the form that it has, where it has not this one.
    if (tell(fact.name)) continue;
    if (fact.name.starts_with("key")) {
      tell("key") || tell("key_b64");
    } else if (fact.name.starts_with("value") || fact.name.starts_with("payload")) {
      tell("value") || tell("payload") || tell("payload_b64");
    }
  }
  return told.empty() ? item.Text() : JsonOf(told);
}

std::string WantedItem::Rewritten(const Item& item) const {
  std::string_view rest = at_.Raw();
  std::string text;
  for (size_t i = 0; i < facts_.size(); ++i) {
    const Fact& fact = facts_[i];
    const bool part = fact.name == "value_has";
    const std::string* const came = item.Find(part ? "value" : fact.name);
    // In another form: all of it anew.
    if (came == nullptr || (part && MembersOf(fact, item).empty())) return Like(item);
    const std::string_view raw = values_[i].Raw();
    const size_t begin = static_cast<size_t>(raw.data() - rest.data());
    text.append(rest.substr(0, begin));
    if (part || fact.name == "value") {
      text += topology_test::Rewritten(raw, *came, !part);
    } else {
      text += fact.json == *came ? raw : *came;
    }
    rest.remove_prefix(begin + raw.size());
  }
  return text.append(rest);
}

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

}  // namespace kstream::topology_test
