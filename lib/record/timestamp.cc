#include "record/timestamp.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/time.h"
#include "record/decimal.h"
#include "record/json_document.h"

namespace kstream {
namespace {

// The power of ten that turns the unit into milliseconds.
int Scale(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 3;
    case TimeUnit::kMilliseconds:
      return 0;
    case TimeUnit::kMicroseconds:
      return -3;
    case TimeUnit::kNanoseconds:
      break;
  }
  return -6;
}

Status Invalid(std::string_view json, std::string_view why) {
  constexpr size_t kShown = 64;
  return Status::Data(fmt::format("timestamp {}{}: {}", json.substr(0, kShown),
                                  json.size() > kShown ? "..." : "", why));
}

Result<int64_t> ParseString(std::string_view json) {
  std::string_view content = json.substr(1, json.size() - 2);
  std::string unescaped;
  if (content.find('\\') != std::string_view::npos) {
    json::Unescape(content, &unescaped);
    content = unescaped;
  }
  return ParseRfc3339(content);
}

}  // namespace

Result<TimeUnit> ParseTimeUnit(std::string_view name) {
  if (name == "ms") return TimeUnit::kMilliseconds;
  if (name == "s") return TimeUnit::kSeconds;
  if (name == "us") return TimeUnit::kMicroseconds;
  if (name == "ns") return TimeUnit::kNanoseconds;
  return Status::Usage(fmt::format("'{}' is not a unit of time: give ms, s, us or ns", name));
}

Result<int64_t> ParseTimestamp(std::string_view json, TimeUnit unit) {
  char first = json.empty() ? '\0' : json.front();
  std::optional<int64_t> ms;
  if (first == '"') {
    Result<int64_t> parsed = ParseString(json);
    if (!parsed.ok()) return parsed.status();
    ms = *parsed;
  } else if (first == '-' || (first >= '0' && first <= '9')) {
    std::optional<ScaledDecimal> scaled = ScaleDecimal(json, Scale(unit));
    if (scaled) ms = scaled->AsInt64();
    if (!ms) return Invalid(json, "does not fit 64 bits of milliseconds");
  } else {
    return Invalid(json, "neither a number nor an RFC 3339 string");
  }
  if (*ms < 0) return Invalid(json, "before 1970");
  return *ms;
}

}  // namespace kstream
