// What is a line, what is none, and that the numbers agree with an editor's.
#include "record/lines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kstream {
namespace {

using Lines = std::vector<std::pair<size_t, std::string>>;
using std::string_literals::operator""s;

Lines Split(std::string_view region, bool first = false, LineRule rule = LineRule::kText) {
  LineSplitter splitter(region, first, rule);
  Lines lines;
  std::string_view line;
  size_t number = 0;
  while (splitter.Next(&line, &number)) lines.emplace_back(number, line);
  EXPECT_FALSE(splitter.Next(&line, &number));
  return lines;
}

TEST(Lines, EndWithANewlineOrTheRegion) {
  EXPECT_EQ(Split(""), Lines{});
  EXPECT_EQ(Split("a"), (Lines{{0, "a"}}));
  EXPECT_EQ(Split("a\n"), (Lines{{0, "a"}}));
  EXPECT_EQ(Split("a\nb"), (Lines{{0, "a"}, {1, "b"}}));
  EXPECT_EQ(Split("a\0b\nc\n"s), (Lines{{0, "a\0b"s}, {1, "c"}}));
}

TEST(Lines, BlankOnesCountButAreNothing) {
  EXPECT_EQ(Split("\n\n"), Lines{});
  EXPECT_EQ(Split("\na\n \t\r\n\nb\n\n"), (Lines{{1, "a"}, {4, "b"}}));
  LineSplitter splitter("\na\n\n", false);
  std::string_view line;
  size_t number = 0;
  while (splitter.Next(&line, &number)) {
  }
  EXPECT_EQ(splitter.lines(), 3u);
}

TEST(Lines, LoseOneCarriageReturnAndNoOtherSpace) {
  EXPECT_EQ(Split("a\r\nb\r\r\n c \nd\re\r"),
            (Lines{{0, "a"}, {1, "b\r"}, {2, " c "}, {3, "d\re"}}));
}

TEST(Lines, LoseAByteOrderMarkOnlyAtTheStartOfTheFile) {
  EXPECT_EQ(Split("\xEF\xBB\xBF"
                  "1\n\xEF\xBB\xBF"
                  "2",
                  true),
            (Lines{{0, "1"},
                   {1,
                    "\xEF\xBB\xBF"
                    "2"}}));
  EXPECT_EQ(Split("\xEF\xBB\xBF"
                  "1",
                  false),
            (Lines{{0,
                    "\xEF\xBB\xBF"
                    "1"}}));
  EXPECT_EQ(Split("\xEF\xBB\xBF", true), Lines{});
  EXPECT_EQ(Split("\xEF\xBB", true), (Lines{{0, "\xEF\xBB"}}));
}

TEST(Lines, RawOnesAreBytes) {
  EXPECT_EQ(Split("\xEF\xBB\xBF"
                  "a\r\n\n \nb",
                  true, LineRule::kRaw),
            (Lines{{0,
                    "\xEF\xBB\xBF"
                    "a\r"},
                   {1, ""},
                   {2, " "},
                   {3, "b"}}));
  EXPECT_EQ(Split("", true, LineRule::kRaw), Lines{});
}

TEST(Lines, PointIntoTheRegion) {
  std::string region = "one\ntwo";
  LineSplitter splitter(region, true);
  std::string_view line;
  size_t number = 0;
  ASSERT_TRUE(splitter.Next(&line, &number));
  EXPECT_EQ(line.data(), region.data());
}

}  // namespace
}  // namespace kstream
