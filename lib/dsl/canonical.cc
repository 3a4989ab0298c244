#include "dsl/canonical.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "expr/number.h"

namespace kstream::dsl {
namespace {

using expr::Value;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The exponent of a number as a sign and digits without leading zeros, which may be many, plus
// `shift`. One that fits no integer stands for itself: two of those that are equal though spelled
// with other digits count as different.
void AppendExponent(std::string_view text, int64_t shift, std::string* out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (!text.empty() &&
      (error != std::errc() || __builtin_add_overflow(exponent, shift, &exponent))) {
    out->append(text).append(",");
    exponent = shift;
  } else if (text.empty()) {
    exponent = shift;
  }
  expr::AppendInt(exponent, out);
}

// 0.DIGITS times a power of ten, the digits without zeros around them.
void AppendNumber(std::string_view spelling, std::string* out) {
  const bool negative = spelling[0] == '-';
  if (negative) spelling.remove_prefix(1);
  const size_t e = std::min(spelling.find_first_of("eE"), spelling.size());
  std::string digits;
  int64_t point = 0;  // how far the decimal point is behind the first digit
  bool fraction = false;
  for (const char c : spelling.substr(0, e)) {
    if (!IsDigit(c)) {
      fraction = true;
    } else if (c != '0' || !digits.empty()) {
      digits += c;
      point += fraction ? 0 : 1;
    } else if (fraction) {
      point--;
    }
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  if (digits.empty()) {
    out->push_back('0');
    return;
  }
  if (negative) out->push_back('-');
  out->append(digits).push_back('e');
  AppendExponent(spelling.substr(std::min(e + 1, spelling.size())), point, out);
}

}  // namespace

const std::string& Canonical::Of(std::string_view json) {
  out_.clear();
  if (json[0] == '-' || IsDigit(json[0])) {
    AppendNumber(json, &out_);
  } else if (json[0] != '[' && json[0] != '{' && json.find('\\') == json.npos) {
    out_ = json;
  } else {
    arena_.Reset();
    json::Document document;
    // What an expression gave is valid.
    if (reader_.Parse(json, &document).ok()) Append(Value::Of(document, document.root()));
  }
  return out_;
}

void Canonical::Append(Value value) {
  if (value.is_number()) {
    AppendNumber(value.raw(), &out_);
  } else if (value.is_string()) {
    json::AppendQuoted(expr::TextOf(value, &arena_), &out_);
  } else if (value.is_array()) {
    out_.push_back('[');
    for (const Value item : expr::ItemsOf(value, &arena_)) {
      Append(item);
      out_.push_back(',');
    }
    out_.push_back(']');
  } else if (value.is_object()) {
    AppendObject(value);
  } else {
    expr::AppendJson(value, &out_);
  }
}

void Canonical::AppendObject(Value object) {
  std::vector<std::pair<std::string_view, Value>> members;
  for (const auto& member : expr::MembersOf(object, &arena_)) {
    members.emplace_back(expr::TextOf(member.name, &arena_), member.value);
  }
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  out_.push_back('{');
  for (const auto& [name, value] : members) {
    json::AppendQuoted(name, &out_);
    out_.push_back(':');
    Append(value);
    out_.push_back(',');
  }
  out_.push_back('}');
}

}  // namespace kstream::dsl
