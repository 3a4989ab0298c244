// Days by the clocks of places: where they change, skip a midnight, or show one twice.
#include "base/time_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/time.h"

namespace kstream {
namespace {

constexpr int64_t kHour = 3'600'000;

TimeZone Zone(std::string_view name) {
  Result<TimeZone> zone = TimeZone::Find(name);
  EXPECT_TRUE(zone.ok()) << zone.status().message();
  return *zone;
}

int64_t At(std::string_view text) {
  const Result<int64_t> ms = ParseRfc3339(text);
  EXPECT_TRUE(ms.ok()) << text;
  return *ms;
}

// The day that holds an instant, as "first instant, hours".
std::string DayAt(const TimeZone& zone, std::string_view text) {
  const int64_t day = zone.DayOf(At(text));
  const int64_t start = zone.StartOf(day), end = zone.StartOf(day + 1);
  EXPECT_LE(start, At(text));
  EXPECT_LT(At(text), end);
  return FormatRfc3339(start) + " " + std::to_string((end - start) / kHour) + "h";
}

TEST(TimeZoneTest, DaysOfUtcAreNumbered) {
  const TimeZone utc = Zone("UTC");
  EXPECT_EQ(utc.DayOf(0), 0);
  EXPECT_EQ(utc.DayOf(24 * kHour - 1), 0);
  EXPECT_EQ(utc.DayOf(24 * kHour), 1);
  EXPECT_EQ(utc.StartOf(19'000), 19'000 * 24 * kHour);
}

TEST(TimeZoneTest, DaysAreLongerOrShorterWhereClocksChange) {
  const TimeZone berlin = Zone("Europe/Berlin");
  EXPECT_EQ(DayAt(berlin, "1970-01-01T00:00:00Z"), "1969-12-31T23:00:00.000Z 24h");
  EXPECT_EQ(DayAt(berlin, "2024-03-30T23:00:00Z"), "2024-03-30T23:00:00.000Z 23h");
  EXPECT_EQ(DayAt(berlin, "2024-03-31T21:59:59.999Z"), "2024-03-30T23:00:00.000Z 23h");
  EXPECT_EQ(DayAt(berlin, "2024-03-31T22:00:00Z"), "2024-03-31T22:00:00.000Z 24h");
  EXPECT_EQ(DayAt(berlin, "2024-10-27T12:00:00Z"), "2024-10-26T22:00:00.000Z 25h");
}

TEST(TimeZoneTest, ADayWithoutAMidnightBeginsWhenTheClocksHaveSkippedIt) {
  const TimeZone beirut = Zone("Asia/Beirut");  // 2022-03-27 00:00 is 01:00
  EXPECT_EQ(DayAt(beirut, "2022-03-26T22:00:00Z"), "2022-03-26T22:00:00.000Z 23h");
  EXPECT_EQ(DayAt(beirut, "2022-03-26T21:59:59.999Z"), "2022-03-25T22:00:00.000Z 24h");
}

TEST(TimeZoneTest, ADayWithTwoMidnightsBeginsAtTheFirst) {
  // 2006-10-29 00:01 is 2006-10-28 23:01 in St. John's, an hour of which belongs to the new day.
  const TimeZone st_johns = Zone("America/St_Johns");
  EXPECT_EQ(DayAt(st_johns, "2006-10-29T02:29:59.999Z"), "2006-10-28T02:30:00.000Z 24h");
  EXPECT_EQ(DayAt(st_johns, "2006-10-29T02:30:00Z"), "2006-10-29T02:30:00.000Z 25h");
  EXPECT_EQ(DayAt(st_johns, "2006-10-29T03:00:00Z"), "2006-10-29T02:30:00.000Z 25h");
}

TEST(TimeZoneTest, ADayThatAPlaceHasSkippedIsEmpty) {
  const TimeZone apia = Zone("Pacific/Apia");  // there was no 2011-12-30
  const int64_t before = apia.DayOf(At("2011-12-30T09:59:59Z"));
  EXPECT_EQ(apia.StartOf(before + 1), apia.StartOf(before + 2));
  EXPECT_EQ(apia.DayOf(At("2011-12-30T10:00:00Z")), before + 2);
}

TEST(TimeZoneTest, ANameThatIsNoneGetsTheNearest) {
  EXPECT_EQ(TimeZone::Find("Europe/Berln").status().message(),
            "there is no time zone 'Europe/Berln': did you mean Europe/Berlin?");
  EXPECT_EQ(TimeZone::Find("nowhere at all").status().message(),
            "there is no time zone 'nowhere at all': names are as Europe/Berlin");
  EXPECT_EQ(TimeZone::Find("").status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream
