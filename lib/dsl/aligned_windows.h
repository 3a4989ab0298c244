// AlignedWindows: which tumbling or hopping windows hold a time.
//
// All of them are alike in a unit: milliseconds, or the days of a zone. One begins at every
// multiple of the hop and is `size` units long; only where units begin is another matter. Records
// come mostly in order, so the windows of the last time are remembered together with the span of
// time in which they are the same: a record costs two comparisons until that is left.
//
// Windows of milliseconds that would begin before 1970 are left out, as in Kafka Streams: no record
// has such a time. Tested by tests/unit/dsl/aligned_windows_test.cc.
#ifndef KSTREAM_DSL_ALIGNED_WINDOWS_H_
#define KSTREAM_DSL_ALIGNED_WINDOWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time_zone.h"
#include "dsl/row.h"
#include "kstream/windows.h"

namespace kstream::dsl {

// Belongs to one thread.
class AlignedWindows {
 public:
  static constexpr int64_t kLastTime = 253'402'300'799'999;  // the year 9999 ends

  // `spec` is tumbling or hopping, and has been checked.
  explicit AlignedWindows(const WindowSpec& spec);

  // The windows that hold a time, 0 to kLastTime, by start.
  const std::vector<WindowBounds>& windows() const { return windows_; }
  bool Holds(int64_t time) const { return from_ <= time && time < to_; }
  void Move(int64_t time);

  // The window that begins at `start`; nullopt: none does.
  std::optional<WindowBounds> At(int64_t start) const;

 private:
  int64_t UnitOf(int64_t time) const { return zone_ ? zone_->DayOf(time) : time; }
  int64_t Begin(int64_t unit) const { return zone_ ? zone_->StartOf(unit) : unit; }
  bool Exists(int64_t start_unit) const;

  std::optional<TimeZone> zone_;
  int64_t size_, hop_;  // in units
  int64_t from_ = 0, to_ = 0;
  std::vector<WindowBounds> windows_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ALIGNED_WINDOWS_H_
