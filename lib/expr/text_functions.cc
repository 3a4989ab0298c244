// jq's built-in functions on strings, and those that read values out of them.
#include <algorithm>

#include "expr/evaluation.h"
#include "expr/number.h"

namespace kstream::expr {
namespace {

// A copy of a parsed value that outlives its Document. The text it was parsed from stays.
Value Built(const json::Document& document, json::Node n, Arena* arena) {
  const Value v = Value::Of(document, n);
  if (v.kind() != Value::Kind::kNode) return v;
  if (v.is_array()) {
    ArrayBuilder items(arena);
    for (json::Node i = document.First(n); i != json::kNoNode; i = document.Next(i)) {
      items.Add(Built(document, i, arena));
    }
    return items.Build();
  }
  ObjectBuilder members(arena);
  for (json::Node i = document.First(n); i != json::kNoNode;) {
    const json::Node value = document.ValueOf(i);
    members.Set(Value::Of(document, i), Built(document, value, arena));
    i = document.Next(value);
  }
  return members.Build();
}

}  // namespace

Value Evaluation::ToNumber(Value in) {
  if (in.is_number()) return in;
  if (!in.is_string()) return Fail(Describe(in) + " cannot be parsed as a number");
  std::string_view text = TextOf(in, &arena_);
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  text = first == text.npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  const std::string_view spelling = JsonSpelling(text, &arena_);
  if (spelling.empty()) return Fail(Describe(in) + " cannot be parsed as a number");
  return Value::Literal(spelling);
}

Value Evaluation::FromJson(Value in) {
  if (!in.is_string()) return Fail(Describe(in) + " cannot be parsed as JSON");
  if (reader_ == nullptr) reader_ = std::make_unique<json::Reader>();
  // The document points into the text, which must stay where it is.
  std::string_view text = TextOf(in, &arena_);
  json::Document document;
  const Status status = reader_->Parse(text, &document);
  if (!status.ok()) return Fail("fromjson: " + std::string(status.message()));
  return Built(document, document.root(), &arena_);
}

Value Evaluation::Split(Value in, Value separator) {
  const std::string_view text = TextOf(in, &arena_);
  const std::string_view by = TextOf(separator, &arena_);
  ArrayBuilder parts(&arena_);
  if (text.empty()) return parts.Build();
  size_t from = 0;
  if (by.empty()) {
    for (size_t i = 1; i <= text.size(); ++i) {
      if (i < text.size() && (text[i] & 0xC0) == 0x80) continue;
      parts.Add(Value::String(text.substr(from, i - from)));
      from = i;
    }
    return parts.Build();
  }
  for (size_t at = text.find(by); at != text.npos; at = text.find(by, from)) {
    parts.Add(Value::String(text.substr(from, at - from)));
    from = at + by.size();
  }
  parts.Add(Value::String(text.substr(from)));
  return parts.Build();
}

Value Evaluation::Join(Value in, Value separator) {
  if (in.type() < Type::kArray) return Fail("Cannot iterate over " + Describe(in));
  std::vector<Value> parts;
  EachItem(in, [&](Value v) {
    if (!parts.empty() && separator.kind() != Value::Kind::kNull) {
      if (!separator.is_string()) {
        CannotBe(parts.front(), separator, "added");
        return false;
      }
      parts.push_back(separator);
    }
    if (v.type() >= Type::kArray) {
      CannotBe(Value::String(""), v, "added");
      return false;
    }
    parts.push_back(v.kind() == Value::Kind::kNull ? Value::String("") : v);
    return true;
  });
  return failed_ ? Value::Error() : Joined(parts);
}

Value Evaluation::Case(Value in, bool upper) {
  if (!in.is_string()) {
    return Fail(upper ? "ascii_upcase input must be a string"
                      : "ascii_downcase input must be a string");
  }
  const std::string_view text = TextOf(in, &arena_);
  char* changed = static_cast<char*>(arena_.Allocate(text.size()));
  std::transform(text.begin(), text.end(), changed, [upper](char c) {
    if (upper) return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return Value::String({changed, text.size()});
}

}  // namespace kstream::expr
