#include "expr/text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "expr/number.h"

namespace kstream::expr {
namespace {

// The shortest digits of a double that is finite: +-0.DIGITS * 10^point.
struct Digits {
  explicit Digits(double d) : negative(std::signbit(d)) {
    const char* const end =
        std::to_chars(text, text + sizeof text, std::abs(d), std::chars_format::scientific).ptr;
    size = 1;
    const char* next = text + 1;
    if (*next == '.') {
      for (++next; *next != 'e'; ++next) text[size++] = *next;
    }
    ++next;
    if (*next == '+') ++next;
    std::from_chars(next, end, point);
    point = text[0] == '0' ? 1 : point + 1;
  }
  std::string_view view() const { return {text, static_cast<size_t>(size)}; }

  bool negative;
  int size = 0;
  int point = 0;
  char text[32];
};

void AppendPlain(const Digits& digits, std::string* out) {
  if (digits.point <= 0) {
    out->append("0.").append(static_cast<size_t>(-digits.point), '0').append(digits.view());
  } else if (digits.point >= digits.size) {
    out->append(digits.view()).append(static_cast<size_t>(digits.point - digits.size), '0');
  } else {
    const auto whole = static_cast<size_t>(digits.point);
    out->append(digits.view().substr(0, whole)).append(".").append(digits.view().substr(whole));
  }
}

// With at least `width` digits after the e.
void AppendScientific(const Digits& digits, size_t width, std::string* out) {
  out->append(digits.view().substr(0, 1));
  if (digits.size > 1) out->append(".").append(digits.view().substr(1));
  const int exponent = digits.point - 1;
  const std::string text = std::to_string(std::abs(exponent));
  out->append(exponent < 0 ? "e-" : "e+");
  if (text.size() < width) out->append(width - text.size(), '0');
  out->append(text);
}

void AppendJavaScriptDouble(double d, std::string* out) {
  const Digits digits(d);
  if (d < 0) out->push_back('-');  // not of -0
  if (digits.point > -6 && digits.point <= 21) {
    AppendPlain(digits, out);
  } else {
    AppendScientific(digits, 1, out);
  }
}

// Integers of so few digits look the same everywhere, and most numbers are such.
bool IsPlainInteger(std::string_view spelling) {
  return spelling.size() <= 15 && spelling.find_first_of(".eE") == spelling.npos &&
         spelling != "-0";
}

void AppendNumber(Value number, void (*append)(double, std::string*), std::string* out) {
  if (number.kind() == Value::Kind::kDouble) {
    append(number.as_double(), out);
    return;
  }
  std::string digits;
  if (number.kind() == Value::Kind::kInt) AppendInt(number.as_int(), &digits);
  const std::string_view spelling = digits.empty() ? number.raw() : std::string_view(digits);
  if (IsPlainInteger(spelling) || !SurvivesDouble(spelling)) {
    out->append(spelling);
  } else {
    append(ToDouble(number), out);
  }
}

// jq escapes DEL as well.
void AppendJqString(Value string, std::string* out, Arena* arena) {
  constexpr char kDel = '\x7f';
  const std::string_view text = TextOf(string, arena);
  if (text.find(kDel) == text.npos) {
    json::AppendQuoted(text, out);
    return;
  }
  std::string quoted;
  json::AppendQuoted(text, &quoted);
  for (const char c : quoted) {
    if (c == kDel) {
      out->append("\\u007f");
    } else {
      out->push_back(c);
    }
  }
}

}  // namespace

void AppendDouble(double d, std::string* out) {
  if (std::isnan(d)) {
    out->append("null");
    return;
  }
  if (std::isinf(d)) d = std::copysign(std::numeric_limits<double>::max(), d);
  const Digits digits(d);
  if (digits.negative) out->push_back('-');
  if (digits.point > -4 && digits.point <= digits.size + 15) {
    AppendPlain(digits, out);
  } else {
    AppendScientific(digits, 2, out);
  }
}

void AppendJqText(Value v, std::string* out, Arena* arena) {
  bool first = true;
  switch (v.type()) {
    case Type::kNumber:
      AppendNumber(v, AppendDouble, out);
      return;
    case Type::kString:
      AppendJqString(v, out, arena);
      return;
    case Type::kArray:
      out->push_back('[');
      for (const Value item : ItemsOf(v, arena)) {
        if (!first) out->push_back(',');
        first = false;
        AppendJqText(item, out, arena);
      }
      out->push_back(']');
      return;
    case Type::kObject:
      out->push_back('{');
      for (const Object::Member& m : MembersOf(v, arena)) {
        if (!first) out->push_back(',');
        first = false;
        AppendJqString(m.name, out, arena);
        out->push_back(':');
        AppendJqText(m.value, out, arena);
      }
      out->push_back('}');
      return;
    default:
      AppendJson(v, out);
  }
}

void AppendJavaScriptText(Value number, std::string* out) {
  AppendNumber(number, AppendJavaScriptDouble, out);
}

}  // namespace kstream::expr
