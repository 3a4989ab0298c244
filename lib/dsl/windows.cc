// WindowSpec as text, and what is wrong with one. Tested by tests/unit/dsl/windows_test.cc.
#include "kstream/windows.h"

#include <fmt/format.h>

#include <optional>

#include "base/time_zone.h"
#include "kstream/units.h"

namespace kstream {
namespace {

using std::chrono::milliseconds;
using Kind = WindowSpec::Kind;

// Sums of times and lengths stay far from overflow; nobody waits so long.
constexpr milliseconds kLongest = std::chrono::hours(24) * 365 * 1000;
// A record is in so many windows, and has a row in each of them.
constexpr int64_t kMostOverlaps = 100'000;
constexpr milliseconds kDay = std::chrono::hours(24);

constexpr std::string_view kNames[] = {"tumbling", "hopping", "sliding", "session"};

std::optional<Kind> KindOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); i++) {
    if (kNames[i] == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

Status CheckLength(milliseconds length, std::string_view what) {
  if (length.count() <= 0) {
    return Status::Usage(fmt::format("{} of {}ms is not longer than 0", what, length.count()));
  }
  if (length > kLongest) return Status::Usage(fmt::format("{} is longer than 1000 years", what));
  return Status::Ok();
}

Status CheckWait(milliseconds wait, std::string_view what) {
  if (wait.count() < 0 || wait > kLongest) {
    return Status::Usage(fmt::format("{} is not between 0 and 1000 years", what));
  }
  return Status::Ok();
}

Status CheckHop(const WindowSpec& spec) {
  KSTREAM_RETURN_IF_ERROR(CheckLength(spec.advance, "a hop"));
  if (spec.advance > spec.size) {
    return Status::Usage(
        fmt::format("a hop of {}ms is longer than its window of {}ms: records between two windows "
                    "would be in none",
                    spec.advance.count(), spec.size.count()));
  }
  const int64_t overlaps = spec.size / spec.advance;
  if (overlaps <= kMostOverlaps) return Status::Ok();
  return Status::Usage(
      fmt::format("each record would be in {} windows: take a longer hop", overlaps));
}

Status CheckZone(const WindowSpec& spec) {
  const bool aligned = spec.kind == Kind::kTumbling || spec.kind == Kind::kHopping;
  if (!aligned || spec.size % kDay != milliseconds(0) || spec.advance % kDay != milliseconds(0)) {
    return Status::Usage(
        "a time zone is for windows of whole days: tumbling:1d, tumbling:7d, hopping:7d/1d");
  }
  return TimeZone::Find(spec.zone).status();
}

}  // namespace

Result<WindowSpec> WindowSpec::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::optional<Kind> kind = KindOf(text.substr(0, colon));
  if (!kind || colon == text.npos) {
    return Status::Usage(fmt::format(
        "'{}' is none of tumbling:DURATION, hopping:SIZE/HOP, sliding:DURATION, session:GAP",
        text));
  }
  WindowSpec spec{.kind = *kind};
  std::string_view length = text.substr(colon + 1);
  if (*kind == Kind::kHopping) {
    const size_t slash = length.find('/');
    if (slash == length.npos) {
      return Status::Usage(fmt::format("'{}' lacks the hop: hopping:SIZE/HOP", text));
    }
    KSTREAM_ASSIGN_OR_RETURN(spec.advance, ParseDuration(length.substr(slash + 1)));
    length = length.substr(0, slash);
  }
  auto& target = *kind == Kind::kSession ? spec.gap : spec.size;
  KSTREAM_ASSIGN_OR_RETURN(target, ParseDuration(length));
  KSTREAM_RETURN_IF_ERROR(spec.Check());
  return spec;
}

Status WindowSpec::Check() const {
  KSTREAM_RETURN_IF_ERROR(kind == Kind::kSession ? CheckLength(gap, "a gap")
                                                 : CheckLength(size, "a window"));
  if (kind == Kind::kHopping) KSTREAM_RETURN_IF_ERROR(CheckHop(*this));
  KSTREAM_RETURN_IF_ERROR(CheckWait(grace, "grace"));
  KSTREAM_RETURN_IF_ERROR(CheckWait(retention, "retention"));
  return zone.empty() ? Status::Ok() : CheckZone(*this);
}

std::string WindowSpec::ToString() const {
  const std::string_view name = kNames[static_cast<size_t>(kind)];
  const milliseconds length = kind == Kind::kSession ? gap : size;
  std::string text = fmt::format("{}:{}ms", name, length.count());
  if (kind == Kind::kHopping) text += fmt::format("/{}ms", advance.count());
  return text;
}

}  // namespace kstream
