#include "base/printable.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

using namespace std::string_view_literals;

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(Printable(""), "");
  EXPECT_EQ(Printable("orders \"a\\b\" \u00e9 \u20ac \U0001F600 ~"),
            "orders \"a\\b\" \u00e9 \u20ac \U0001F600 ~");
}

TEST(Printable, ShowsControlCharactersAsEscapes) {
  EXPECT_EQ(Printable("a\nb\0c\x1b[2J\x7f"sv), "a\\u000ab\\u0000c\\u001b[2J\\u007f");
  EXPECT_EQ(Printable("\u0080\u009b2J\u009f\u00a0"), "\\u0080\\u009b2J\\u009f\u00a0");
}

TEST(Printable, ReplacesEachByteThatIsNoUtf8) {
  EXPECT_EQ(Printable("\xff|\xC3|\xC0\x80|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82"),
            "\uFFFD|\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD");
}

TEST(Printable, QuotesWhatItIsTold) { EXPECT_EQ(Printable(R"(a"\b)", R"("\)"), R"(a\"\\b)"); }

}  // namespace
}  // namespace kstream
