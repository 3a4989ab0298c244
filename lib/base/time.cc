#include "base/time.h"

#include <date/date.h>
#include <fmt/format.h>

namespace kstream {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes fixed fields off the front of a text. The first mismatch makes it fail for good.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  int Digits(size_t count) {
    if (rest_.size() < count) return Fail();
    int value = 0;
    for (char c : rest_.substr(0, count)) {
      if (!IsDigit(c)) return Fail();
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }

  // One character out of `set`; '\0' when there is none.
  char OneOf(std::string_view set) {
    if (rest_.empty() || set.find(rest_.front()) == std::string_view::npos) {
      Fail();
      return '\0';
    }
    char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  // ".123456" as milliseconds, rounded down; 0 when no fraction follows.
  int Fraction() {
    if (rest_.empty() || rest_.front() != '.') return 0;
    rest_.remove_prefix(1);
    size_t digits = 0;
    int ms = 0;
    for (; digits < rest_.size() && IsDigit(rest_[digits]); ++digits) {
      if (digits < 3) ms = ms * 10 + (rest_[digits] - '0');
    }
    if (digits == 0) return Fail();
    for (size_t i = digits; i < 3; ++i) ms *= 10;
    rest_.remove_prefix(digits);
    return ms;
  }

  bool failed() const { return failed_; }
  bool done() const { return !failed_ && rest_.empty(); }

 private:
  int Fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool failed_ = false;
};

Status Malformed(std::string_view text, std::string_view why) {
  return Status::Data(fmt::format("'{}' is not an RFC 3339 time: {}", text.substr(0, 64), why));
}

}  // namespace

Result<int64_t> ParseRfc3339(std::string_view text) {
  Cursor c(text);
  int year = c.Digits(4);
  c.OneOf("-");
  int month = c.Digits(2);
  c.OneOf("-");
  int day = c.Digits(2);
  c.OneOf("Tt ");
  int hour = c.Digits(2);
  c.OneOf(":");
  int minute = c.Digits(2);
  c.OneOf(":");
  int second = c.Digits(2);
  int ms = c.Fraction();
  if (c.failed()) return Malformed(text, "give it as 2023-11-14T22:13:20Z");
  int offset = 0;
  char sign = c.OneOf("Zz+-");
  if (sign == '+' || sign == '-') {
    int offset_hour = c.Digits(2);
    c.OneOf(":");
    int offset_minute = c.Digits(2);
    if (offset_hour > 23 || offset_minute > 59) return Malformed(text, "no such UTC offset");
    offset = (sign == '-' ? -1 : 1) * (offset_hour * 60 + offset_minute);
  }
  if (!c.done()) return Malformed(text, "end it with Z or an offset such as +01:00");

  date::year_month_day ymd{date::year(year), date::month(month), date::day(day)};
  if (!ymd.ok()) return Malformed(text, "no such day");
  if (hour > 23 || minute > 59 || second > 60) return Malformed(text, "no such time of day");
  int64_t minutes =
      int64_t{date::sys_days(ymd).time_since_epoch().count()} * 1440 + hour * 60 + minute - offset;
  constexpr int64_t kLastMinute = 1439;
  if (second == 60 && ((minutes % 1440) + 1440) % 1440 != kLastMinute) {
    return Malformed(text, "a leap second ends a day in UTC");
  }
  // A leap second shares its number with the second that follows; its fraction would run ahead.
  if (second == 60) ms = 0;
  return minutes * 60'000 + second * 1000 + ms;
}

std::string FormatRfc3339(int64_t ms) {
  constexpr int64_t kFirst = -62'167'219'200'000;  // 0000-01-01T00:00:00.000Z
  constexpr int64_t kLast = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z
  if (ms < kFirst || ms > kLast) return fmt::format("{}", ms);
  int64_t days = ms / kMsPerDay - (ms % kMsPerDay < 0 ? 1 : 0);
  int64_t of_day = ms - days * kMsPerDay;
  date::year_month_day ymd{date::sys_days(date::days(days))};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                     of_day / 3'600'000, of_day / 60'000 % 60, of_day / 1000 % 60, of_day % 1000);
}

}  // namespace kstream
