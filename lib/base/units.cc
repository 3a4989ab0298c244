#include "kstream/units.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace kstream {
namespace {

// A whole number, then the unit that follows it. Nothing when there is no number or it overflows.
struct Quantity {
  int64_t number;
  std::string_view unit;
};

std::optional<Quantity> ParseQuantity(std::string_view text) {
  if (text.empty() || (text.front() < '0' || text.front() > '9')) return std::nullopt;
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return Quantity{number, text.substr(end - text.data())};
}

}  // namespace

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  std::optional<Quantity> q = ParseQuantity(text);
  int64_t scale = 0;
  if (q) {
    scale = q->unit == "ms"  ? 1
            : q->unit == "s" ? 1000
            : q->unit == "m" ? 60'000
            : q->unit == "h" ? 3'600'000
            : q->unit == "d" ? 86'400'000
                             : 0;
  }
  int64_t ms = 0;
  if (scale == 0 || __builtin_mul_overflow(q->number, scale, &ms)) {
    return Status::Usage(
        fmt::format("'{}' is not a duration: give it as 500ms, 10s, 5m, 2h or 7d", text));
  }
  return std::chrono::milliseconds(ms);
}

Result<int64_t> ParseSize(std::string_view text) {
  std::optional<Quantity> q = ParseQuantity(text);
  int64_t scale = 0;
  if (q) {
    scale = q->unit.empty()  ? 1
            : q->unit == "K" ? int64_t{1} << 10
            : q->unit == "M" ? int64_t{1} << 20
            : q->unit == "G" ? int64_t{1} << 30
                             : 0;
  }
  int64_t bytes = 0;
  if (scale == 0 || __builtin_mul_overflow(q->number, scale, &bytes)) {
    return Status::Usage(fmt::format("'{}' is not a size: give it as 64K, 256M or 4G", text));
  }
  return bytes;
}

}  // namespace kstream
