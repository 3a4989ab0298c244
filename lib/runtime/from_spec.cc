#include "runtime/from_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/time.h"
#include "kstream/units.h"

namespace kstream::runtime {
namespace {

bool ParseNumber(std::string_view text, int64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

Result<int64_t> ParseTime(std::string_view text, int64_t now) {
  int64_t ms = 0;
  if (ParseNumber(text, &ms) && ms >= 0) return ms;
  if (text.starts_with("-")) {
    KSTREAM_ASSIGN_OR_RETURN(const std::chrono::milliseconds ago, ParseDuration(text.substr(1)));
    return std::max<int64_t>(0, now - ago.count());
  }
  Result<int64_t> time = ParseRfc3339(text);
  if (!time.ok()) {
    return Status::Usage(fmt::format(
        "'{}' is no time: give ms since the epoch, RFC 3339 or a duration ago such as -1h", text));
  }
  return *time;
}

// The colon between two times, which may hold colons themselves: the one that leaves a time on both
// sides.
Result<std::pair<int64_t, int64_t>> ParseSpan(std::string_view text, int64_t now) {
  for (size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const Result<int64_t> begin = ParseTime(text.substr(0, colon), now);
    const Result<int64_t> end = ParseTime(text.substr(colon + 1), now);
    if (begin.ok() && end.ok()) return std::pair(*begin, *end);
  }
  return Status::Usage(fmt::format("'{}' is no time and no two times with a colon between", text));
}

}  // namespace

Result<FromSpec> FromSpec::Parse(std::string_view text, int64_t now) {
  FromSpec spec;
  int64_t number = 0;
  if (text == "beginning") return spec;
  if (text == "end") {
    spec.kind = Kind::kEnd;
  } else if (text.starts_with("@")) {
    const std::string_view times = text.substr(1);
    spec.kind = Kind::kTime;
    if (const Result<int64_t> time = ParseTime(times, now); time.ok()) {
      spec.number = *time;
      return spec;
    }
    const auto span = ParseSpan(times, now);
    if (!span.ok()) return span.status();
    spec.number = span->first;
    spec.until_time = span->second;
    if (span->second < span->first) return Status::Usage("the second time is before the first");
  } else if (ParseNumber(text, &number) && number != INT64_MIN) {
    spec.kind = text.starts_with("-") ? Kind::kLast : Kind::kOffset;
    spec.number = std::abs(number);
  } else {
    return Status::Usage(fmt::format("'{}' is none of beginning, end, N, -N, @TIME, @T1:T2", text));
  }
  return spec;
}

Result<std::map<transport::TopicPartition, int64_t>> FromSpec::Resolve(
    transport::Admin* admin, std::span<const transport::TopicPartition> partitions) const {
  if (kind == Kind::kTime) return admin->OffsetsForTime(partitions, number);
  KSTREAM_ASSIGN_OR_RETURN(const auto watermarks, admin->Offsets(partitions));
  std::map<transport::TopicPartition, int64_t> offsets;
  for (const auto& [partition, marks] : watermarks) {
    int64_t offset = marks.low;
    if (kind == Kind::kEnd) offset = marks.high;
    if (kind == Kind::kOffset) offset = number;
    if (kind == Kind::kLast) offset = marks.high - number;
    offsets[partition] = std::clamp(offset, marks.low, marks.high);
  }
  return offsets;
}

}  // namespace kstream::runtime
