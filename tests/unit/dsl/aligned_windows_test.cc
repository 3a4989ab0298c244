// Which windows hold a time: edges, overlaps, days of a zone, and all of it against a definition
// that is too slow to be used.
#include "dsl/aligned_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/time.h"

namespace kstream::dsl {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kHour = 3'600'000;

WindowSpec Spec(std::string_view text, std::string zone = "") {
  WindowSpec spec = *WindowSpec::Parse(text);
  spec.zone = std::move(zone);
  return spec;
}

std::vector<std::pair<int64_t, int64_t>> At(AlignedWindows* windows, int64_t time) {
  if (!windows->Holds(time)) windows->Move(time);
  EXPECT_TRUE(windows->Holds(time));
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const WindowBounds& window : windows->windows())
    found.emplace_back(window.start, window.end);
  return found;
}

int64_t Ms(std::string_view text) { return *ParseRfc3339(text); }

TEST(AlignedWindowsTest, ATumblingWindowHasItsStartAndNotItsEnd) {
  AlignedWindows windows(Spec("tumbling:10s"));
  EXPECT_THAT(At(&windows, 0), ElementsAre(std::pair(0, 10'000)));
  EXPECT_THAT(At(&windows, 9'999), ElementsAre(std::pair(0, 10'000)));
  EXPECT_THAT(At(&windows, 10'000), ElementsAre(std::pair(10'000, 20'000)));
  EXPECT_THAT(At(&windows, 3), ElementsAre(std::pair(0, 10'000)));
  const int64_t last = AlignedWindows::kLastTime;
  EXPECT_THAT(At(&windows, last), ElementsAre(std::pair(last - 9'999, last + 1)));
}

TEST(AlignedWindowsTest, HoppingWindowsOverlap) {
  AlignedWindows windows(Spec("hopping:10s/4s"));
  EXPECT_THAT(At(&windows, 12'000), ElementsAre(std::pair(4'000, 14'000), std::pair(8'000, 18'000),
                                                std::pair(12'000, 22'000)));
  EXPECT_THAT(At(&windows, 11'999),
              ElementsAre(std::pair(4'000, 14'000), std::pair(8'000, 18'000)));
  EXPECT_THAT(At(&windows, 14'000),
              ElementsAre(std::pair(8'000, 18'000), std::pair(12'000, 22'000)));
}

TEST(AlignedWindowsTest, NoneBeginsBefore1970) {
  AlignedWindows windows(Spec("hopping:10s/4s"));
  EXPECT_THAT(At(&windows, 0), ElementsAre(std::pair(0, 10'000)));
  EXPECT_THAT(At(&windows, 5'000), ElementsAre(std::pair(0, 10'000), std::pair(4'000, 14'000)));
}

TEST(AlignedWindowsTest, DaysOfAZoneAreOfItsClocks) {
  AlignedWindows days(Spec("tumbling:1d", "Europe/Berlin"));
  const int64_t short_day = Ms("2024-03-30T23:00:00Z");
  EXPECT_THAT(At(&days, short_day), ElementsAre(std::pair(short_day, short_day + 23 * kHour)));
  EXPECT_THAT(At(&days, short_day + 23 * kHour - 1),
              ElementsAre(std::pair(short_day, short_day + 23 * kHour)));
  EXPECT_THAT(At(&days, short_day + 23 * kHour),
              ElementsAre(std::pair(short_day + 23 * kHour, short_day + 47 * kHour)));
  const int64_t long_day = Ms("2024-10-26T22:00:00Z");
  EXPECT_THAT(At(&days, long_day + 24 * kHour),
              ElementsAre(std::pair(long_day, long_day + 25 * kHour)));
  // The first day of 1970 began there in 1969.
  EXPECT_THAT(At(&days, 0), ElementsAre(std::pair(-kHour, 23 * kHour)));
}

TEST(AlignedWindowsTest, ADayThatAPlaceSkippedBeginsNoWindow) {
  AlignedWindows days(Spec("hopping:2d/1d", "Pacific/Apia"));  // there was no 2011-12-30
  const int64_t day29 = Ms("2011-12-29T10:00:00Z"), day31 = Ms("2011-12-30T10:00:00Z");
  EXPECT_THAT(At(&days, day31 - 1),
              ElementsAre(std::pair(day29 - 24 * kHour, day31), std::pair(day29, day31)));
  EXPECT_THAT(At(&days, day31), ElementsAre(std::pair(day31, day31 + 48 * kHour)));
}

TEST(AlignedWindowsTest, AWindowIsKnownByItsStart) {
  const AlignedWindows tumbling(Spec("tumbling:10s"));
  EXPECT_EQ(tumbling.At(20'000), (WindowBounds{20'000, 30'000}));
  EXPECT_EQ(tumbling.At(20'001), std::nullopt);
  EXPECT_EQ(tumbling.At(-10'000), std::nullopt);
  const AlignedWindows days(Spec("tumbling:1d", "Europe/Berlin"));
  EXPECT_EQ(days.At(-kHour), (WindowBounds{-kHour, 23 * kHour}));
  EXPECT_EQ(days.At(0), std::nullopt);
}

// By trying every start there is.
std::vector<std::pair<int64_t, int64_t>> Slowly(int64_t time, int64_t size, int64_t hop) {
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int64_t start = 0; start <= time; start += hop) {
    if (time < start + size) found.emplace_back(start, start + size);
  }
  return found;
}

TEST(AlignedWindowsTest, AgreesWithTheDefinition) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; round++) {
    const auto size = static_cast<int64_t>(1 + random() % 50);
    const int64_t hop = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    AlignedWindows windows({.kind = WindowSpec::Kind::kHopping,
                            .size = milliseconds(size),
                            .advance = milliseconds(hop)});
    for (int i = 0; i < 100; i++) {
      const auto time = static_cast<int64_t>(random() % 300);
      ASSERT_EQ(At(&windows, time), Slowly(time, size, hop)) << time << " " << size << "/" << hop;
    }
  }
}

// Every instant is in as many day windows as there are hops in one, and they are those whose bounds
// say so.
TEST(AlignedWindowsTest, DaysCoverEveryInstantOnce) {
  for (const char* zone : {"Europe/Berlin", "America/St_Johns", "Asia/Beirut", "Pacific/Apia",
                           "America/Sao_Paulo", "Antarctica/Troll"}) {
    AlignedWindows days(Spec("tumbling:1d", zone));
    int64_t end = 0;
    for (int64_t time = Ms("2005-01-01T00:00:00Z"); time < Ms("2026-01-01T00:00:00Z");
         time += 3 * kHour / 2 + 1) {
      const auto found = At(&days, time);
      ASSERT_EQ(found.size(), 1u) << zone << " " << time;
      ASSERT_TRUE(found[0].first <= time && time < found[0].second) << zone << " " << time;
      ASSERT_TRUE(end == 0 || found[0].second == end || found[0].first == end)
          << zone << " " << time;
      end = found[0].second;
      ASSERT_EQ(days.At(found[0].first)->end, end) << zone << " " << time;
    }
  }
}

}  // namespace
}  // namespace kstream::dsl
