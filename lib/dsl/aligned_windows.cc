#include "dsl/aligned_windows.h"

#include <algorithm>

namespace kstream::dsl {
namespace {

constexpr int64_t kDayMs = 86'400'000;

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

AlignedWindows::AlignedWindows(const WindowSpec& spec)
    : size_(spec.size.count()),
      hop_(spec.kind == WindowSpec::Kind::kHopping ? spec.advance.count() : size_) {
  if (spec.zone.empty()) return;
  zone_ = *TimeZone::Find(spec.zone);
  size_ /= kDayMs;
  hop_ /= kDayMs;
}

// A day that the clocks of a place skipped is empty, and what begins with it is what begins with
// the next.
bool AlignedWindows::Exists(int64_t start_unit) const {
  return zone_ ? Begin(start_unit) < Begin(start_unit + 1) : start_unit >= 0;
}

void AlignedWindows::Move(int64_t time) {
  const int64_t unit = UnitOf(time);
  const int64_t first = (FloorDivide(unit - size_, hop_) + 1) * hop_;
  const int64_t last = FloorDivide(unit, hop_) * hop_;
  windows_.clear();
  for (int64_t start = first; start <= last; start += hop_) {
    if (Exists(start)) windows_.push_back({Begin(start), Begin(start + size_)});
  }
  from_ = Begin(std::max(last, first - hop_ + size_));
  to_ = Begin(std::min(last + hop_, first + size_));
}

std::optional<WindowBounds> AlignedWindows::At(int64_t start) const {
  if (start < -2 * kDayMs || start > kLastTime) return std::nullopt;
  const int64_t unit = UnitOf(start);
  if (FloorDivide(unit, hop_) * hop_ != unit || Begin(unit) != start || !Exists(unit)) {
    return std::nullopt;
  }
  return WindowBounds{start, Begin(unit + size_)};
}

}  // namespace kstream::dsl
