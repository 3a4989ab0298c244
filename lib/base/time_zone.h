// TimeZone: the days of a place: when each begins, by the clocks there.
//
// The rules are those of the system's tz database, read by Howard Hinnant's tz library. A day whose
// midnight the clocks skip begins when they have skipped it; one whose midnight they show twice
// begins at the first. Tested by tests/unit/base/time_zone_test.cc.
#ifndef KSTREAM_BASE_TIME_ZONE_H_
#define KSTREAM_BASE_TIME_ZONE_H_

#include <cstdint>
#include <string_view>

#include "kstream/status.h"

namespace date {
class time_zone;
}

namespace kstream {

// Cheap to copy. Threads may share it.
class TimeZone {
 public:
  // An IANA name. kUsage: there is none of that name, and which was probably meant.
  static Result<TimeZone> Find(std::string_view name);

  // The day of an instant (ms since the epoch, within the years 0000 to 9999), by its number: day 0
  // is 1970-01-01.
  int64_t DayOf(int64_t ms) const;
  // The first instant of a day.
  int64_t StartOf(int64_t day) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}
  const date::time_zone* zone_;
};

}  // namespace kstream

#endif  // KSTREAM_BASE_TIME_ZONE_H_
