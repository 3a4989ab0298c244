#include "base/time_zone.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <exception>
#include <vector>

#include "kstream/nearest.h"

namespace kstream {
namespace {

std::string_view Nearest(std::string_view name) {
  std::vector<std::string_view> names;
  for (const date::time_zone& zone : date::get_tzdb().zones) names.push_back(zone.name());
  return NearestName(name, names);
}

}  // namespace

Result<TimeZone> TimeZone::Find(std::string_view name) {
  try {
    for (const date::time_zone& zone : date::get_tzdb().zones) {
      if (zone.name() == name) return TimeZone(date::locate_zone(name));
    }
    const std::string_view nearest = Nearest(name);
    return Status::Usage(fmt::format(
        "there is no time zone '{}': {}", name,
        nearest.empty() ? "names are as Europe/Berlin" : fmt::format("did you mean {}?", nearest)));
  } catch (const std::exception& thrown) {
    return Status::Usage(fmt::format("the tz database cannot be read: {}", thrown.what()));
  }
}

// Where the clocks show a midnight twice, what they show of the day before in between is of the day
// that has begun.
int64_t TimeZone::DayOf(int64_t ms) const {
  const date::sys_time<std::chrono::milliseconds> instant{std::chrono::milliseconds(ms)};
  const int64_t day = date::floor<date::days>(zone_->to_local(instant)).time_since_epoch().count();
  return ms >= StartOf(day + 1) ? day + 1 : day;
}

int64_t TimeZone::StartOf(int64_t day) const {
  const date::local_days midnight{date::days(day)};
  const auto instant = zone_->to_sys(midnight, date::choose::earliest);
  return std::chrono::duration_cast<std::chrono::milliseconds>(instant.time_since_epoch()).count();
}

}  // namespace kstream
