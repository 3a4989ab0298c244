#include "expr/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace kstream::expr {
namespace {

constexpr int64_t kMaxExact = int64_t{1} << 53;  // up to here every integer is a double
constexpr int kSafeDigits = 15;                  // decimals this short differ when their doubles do

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

double ParseDouble(std::string_view s) {
  double d = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), d);
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves d alone: too large, or too small?
    const size_t e = s.find_first_of("eE");
    const bool small = e != s.npos ? s[e + 1] == '-' : s.find('.') != s.npos && s.size() > 300;
    d = small ? 0 : std::numeric_limits<double>::infinity();
    return s[0] == '-' ? -d : d;
  }
  return d;
}

// Digits of a decimal as an integer without leading or trailing zeros, times a power of ten.
struct Decimal {
  bool negative = false;
  std::string digits;    // empty: zero
  int64_t exponent = 0;  // value = 0.DIGITS * 10^exponent
};

Decimal ParseDecimal(std::string_view s) {
  Decimal result;
  size_t i = 0;
  if (i < s.size() && s[i] == '-') {
    result.negative = true;
    ++i;
  }
  bool point = false;
  for (; i < s.size() && (IsDigit(s[i]) || s[i] == '.'); ++i) {
    if (s[i] == '.') {
      point = true;
    } else {
      if (!result.digits.empty() || s[i] != '0') {
        result.digits += s[i];
        result.exponent += point ? 0 : 1;
      } else if (point) {
        --result.exponent;
      }
    }
  }
  if (i < s.size()) {  // an exponent follows
    ++i;
    const bool minus = s[i] == '-';
    if (s[i] == '-' || s[i] == '+') ++i;
    int64_t e = 0;
    for (; i < s.size(); ++i) e = std::min<int64_t>(e * 10 + (s[i] - '0'), int64_t{1} << 50);
    result.exponent += minus ? -e : e;
  }
  while (!result.digits.empty() && result.digits.back() == '0') result.digits.pop_back();
  if (result.digits.empty()) result = Decimal();
  return result;
}

int CompareDecimals(std::string_view x, std::string_view y) {
  const Decimal a = ParseDecimal(x);
  const Decimal b = ParseDecimal(y);
  const int sign_a = a.digits.empty() ? 0 : a.negative ? -1 : 1;
  const int sign_b = b.digits.empty() ? 0 : b.negative ? -1 : 1;
  if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
  if (a.exponent != b.exponent) return a.exponent < b.exponent ? -sign_a : sign_a;
  const int order = a.digits.compare(b.digits);
  return order == 0 ? 0 : order < 0 ? -sign_a : sign_a;
}

int SignificantDigits(std::string_view s) {
  int n = 0;
  for (const char c : s) {
    if (c == 'e' || c == 'E') break;
    if (IsDigit(c) && (n != 0 || c != '0')) ++n;
  }
  return n;
}

bool IsIntegerSyntax(std::string_view s) { return s.find_first_of(".eE") == s.npos; }

// The usual spellings: at most 18 digits, perhaps a point, no exponent.
bool DecodeShort(std::string_view s, Number* n) {
  static constexpr double kPower[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = s[0] == '-';
  if (negative) s.remove_prefix(1);
  if (s.size() > 18) return false;
  int64_t mantissa = 0;
  size_t i = 0;
  for (; i < s.size() && IsDigit(s[i]); ++i) mantissa = mantissa * 10 + (s[i] - '0');
  size_t fraction = 0;
  if (i < s.size()) {
    if (s[i] != '.' || s.size() > kSafeDigits) return false;
    for (++i; i < s.size() && IsDigit(s[i]); ++i, ++fraction) {
      mantissa = mantissa * 10 + (s[i] - '0');
    }
    if (i != s.size()) return false;
  }
  n->d = static_cast<double>(mantissa);
  if (negative) {
    mantissa = -mantissa;
    n->d = -n->d;  // of zero too
  }
  if (fraction == 0) {
    n->is_int = true;
    n->i = mantissa;
    return true;
  }
  n->d /= kPower[fraction];  // both exact, so correctly rounded
  n->i = static_cast<int64_t>(n->d);
  n->is_int = static_cast<double>(n->i) == n->d;
  return true;
}

Number DecodeLiteral(std::string_view s) {
  Number n;
  n.spelling = s;
  if (DecodeShort(s, &n)) return n;
  if (IsIntegerSyntax(s)) {
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n.i);
    if (error == std::errc()) {
      n.is_int = true;
      n.d = static_cast<double>(n.i);
      return n;
    }
  }
  n.d = ParseDouble(s);
  const int digits = SignificantDigits(s);
  const bool underflow = n.d == 0 && digits != 0;
  if (std::abs(n.d) <= kMaxExact && digits <= kSafeDigits && !underflow) {
    n.i = static_cast<int64_t>(n.d);
    n.is_int = static_cast<double>(n.i) == n.d;
  }
  return n;
}

int CompareIntToDouble(int64_t i, double d) {
  if (d >= 9223372036854775808.0) return -1;
  if (d < -9223372036854775808.0) return 1;
  const auto whole = static_cast<int64_t>(d);
  if (i != whole) return i < whole ? -1 : 1;
  const double rest = d - static_cast<double>(whole);
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

// Equal as doubles: the exact values decide, where both are known.
int CompareExactly(const Number& a, const Number& b) {
  if (a.spelling.empty() && !a.is_int) return b.is_int ? -CompareIntToDouble(b.i, a.d) : 0;
  if (b.spelling.empty() && !b.is_int) return a.is_int ? CompareIntToDouble(a.i, b.d) : 0;
  char text_a[24];
  char text_b[24];
  const auto text = [](const Number& n, char* buffer) {
    if (!n.is_int) return n.spelling;
    return std::string_view(buffer, std::to_chars(buffer, buffer + 24, n.i).ptr - buffer);
  };
  return CompareDecimals(text(a, text_a), text(b, text_b));
}

constexpr const char* kOverflow = "do not fit a 64-bit integer";
constexpr const char* kInexact = "have more digits than can be calculated with exactly";

Value CalculateInts(Arithmetic op, int64_t a, int64_t b, const char** error) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Arithmetic::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Arithmetic::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Arithmetic::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Arithmetic::kDivide:
      if (b == -1) {
        overflow = __builtin_sub_overflow(int64_t{0}, a, &result);
      } else if (a % b == 0) {
        result = a / b;
      } else {
        return Value::Double(static_cast<double>(static_cast<long double>(a) / b));
      }
      break;
    case Arithmetic::kModulo:
      result = b == -1 ? 0 : a % b;
      break;
  }
  if (!overflow) return Value::Int(result);
  *error = kOverflow;
  return Value::Error();
}

// Whether `n` may be calculated with as a double: it is no integer of which digits would go.
bool ExactEnough(const Number& n) {
  if (n.is_int) return CompareIntToDouble(n.i, n.d) == 0;
  if (n.spelling.empty()) return true;
  return std::isfinite(n.d) && (std::abs(n.d) < kMaxExact || SurvivesDouble(n.spelling));
}

// Whether a double is printed as the number `spelling`. Its shortest digits are, with zeros behind
// them: 2^63 as 9223372036854776000, though it is a double.
bool Prints(double d, std::string_view spelling) {
  char buffer[32];
  const char* const end =
      std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  return CompareDecimals(spelling, std::string_view(buffer, end - buffer)) == 0;
}

Value CalculateDoubles(Arithmetic op, double a, double b, const char** error) {
  double result = 0;
  double lost = 0;  // of an integer result
  switch (op) {
    case Arithmetic::kSubtract:
      b = -b;
      [[fallthrough]];
    case Arithmetic::kAdd: {
      result = a + b;
      const double part = result - a;
      lost = (a - (result - part)) + (b - part);
      break;
    }
    case Arithmetic::kMultiply:
      result = a * b;
      lost = std::fma(a, b, -result);
      break;
    default:
      return Value::Double(a / b);
  }
  if (std::isfinite(result) && lost != 0 && a == std::trunc(a) && b == std::trunc(b)) {
    *error = kInexact;
    return Value::Error();
  }
  return Value::Double(result);
}

}  // namespace

Number Decode(Value v) {
  Number n;
  switch (v.kind()) {
    case Value::Kind::kInt:
      n.is_int = true;
      n.i = v.as_int();
      n.d = static_cast<double>(n.i);
      return n;
    case Value::Kind::kDouble:
      n.d = v.as_double();
      n.is_int = n.d == 0;  // -0
      return n;
    default:
      return DecodeLiteral(v.raw());
  }
}

double ToDouble(Value v) { return Decode(v).d; }

int CompareNumbers(Value x, Value y) {
  const Number a = Decode(x);
  const Number b = Decode(y);
  if (a.is_int && b.is_int) return a.i < b.i ? -1 : a.i > b.i ? 1 : 0;
  if (std::isnan(a.d)) return -1;
  if (std::isnan(b.d)) return 1;
  if (a.d != b.d) return a.d < b.d ? -1 : 1;
  return CompareExactly(a, b);
}

Value Calculate(Arithmetic op, Value x, Value y, const char** error) {
  const Number a = Decode(x);
  const Number b = Decode(y);
  if (op == Arithmetic::kDivide && b.d == 0) {
    *error = "cannot be divided because the divisor is zero";
    return Value::Error();
  }
  if (op == Arithmetic::kModulo) {
    // jq cuts both to integers first.
    if (!(std::abs(a.d) < 0x1p63 && std::abs(b.d) < 0x1p63) && !(a.is_int && b.is_int)) {
      *error = kOverflow;
      return Value::Error();
    }
    const int64_t divisor = b.is_int ? b.i : static_cast<int64_t>(b.d);
    if (divisor == 0) {
      *error = "cannot be divided (remainder) because the divisor is zero";
      return Value::Error();
    }
    return CalculateInts(op, a.is_int ? a.i : static_cast<int64_t>(a.d), divisor, error);
  }
  if (a.is_int && b.is_int) {
    const Value v = CalculateInts(op, a.i, b.i, error);
    const bool zero = v.kind() == Value::Kind::kInt && v.as_int() == 0;
    return zero ? CalculateDoubles(op, a.d, b.d, error) : v;  // for its sign
  }
  if (!ExactEnough(a) || !ExactEnough(b)) {
    *error = kInexact;
    return Value::Error();
  }
  return CalculateDoubles(op, a.d, b.d, error);
}

bool SurvivesDouble(std::string_view spelling) {
  if (spelling.size() <= kSafeDigits && spelling.find_first_of("eE") == spelling.npos) return true;
  const double d = ParseDouble(spelling);
  return std::isfinite(d) && Prints(d, spelling);
}

void AppendInt(int64_t i, std::string* out) {
  char buffer[24];
  out->append(buffer, std::to_chars(buffer, buffer + sizeof buffer, i).ptr);
}

std::string_view JsonSpelling(std::string_view text, Arena* arena) {
  size_t i = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++i;
  const size_t whole = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  std::string_view integer = text.substr(whole, i - whole);
  std::string_view fraction;
  if (i < text.size() && text[i] == '.') {
    const size_t point = ++i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    fraction = text.substr(point, i - point);
  }
  if (integer.empty() && fraction.empty()) return {};
  const std::string_view exponent = text.substr(i);
  if (!exponent.empty()) {
    if (exponent[0] != 'e' && exponent[0] != 'E') return {};
    const size_t digits = exponent.size() > 1 && (exponent[1] == '-' || exponent[1] == '+') ? 2 : 1;
    if (digits == exponent.size()) return {};
    if (!std::all_of(exponent.begin() + digits, exponent.end(), IsDigit)) return {};
  }
  while (integer.size() > 1 && integer[0] == '0') integer.remove_prefix(1);
  std::string spelling = negative ? "-" : "";
  spelling += integer.empty() ? "0" : integer;
  if (!fraction.empty()) spelling.append(".").append(fraction);
  spelling += exponent;
  return spelling == text ? text : arena->Copy(spelling);
}

Value NumberOfProgram(std::string_view spelling) {
  const Number number = DecodeLiteral(spelling);
  if (number.is_int) {
    std::string printed;
    AppendInt(number.i, &printed);
    if (printed == spelling) return Value::Int(number.i);
  }
  return Value::Literal(spelling);
}

}  // namespace kstream::expr
