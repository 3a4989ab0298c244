#include <string>

#include "gtest/gtest.h"
#include "record/json_document.h"

namespace kstream::json {
namespace {

std::string Unescaped(std::string_view content) {
  std::string out;
  Unescape(content, &out);
  return out;
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendQuoted(text, &out);
  return out;
}

TEST(Unescape, ResolvesEveryEscape) {
  EXPECT_EQ(Unescaped("plain"), "plain");
  EXPECT_EQ(Unescaped(""), "");
  EXPECT_EQ(Unescaped(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(Unescaped(R"(a\u0041b\u00E9\u20ac)"), "aAb\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(Unescaped(R"(\ud83d\uDE00!)"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(Unescaped(R"(\u0000)"), std::string(1, '\0'));
}

TEST(AppendQuoted, EscapesOnlyWhatItMust) {
  EXPECT_EQ(Quoted("a/b \x7F \xC3\xA9"), "\"a/b \x7F \xC3\xA9\"");
  EXPECT_EQ(Quoted("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(Quoted(std::string("\0\x01\x0B\x1F", 4)), R"("\u0000\u0001\u000b\u001f")");
}

TEST(AppendQuoted, IsUndoneByUnescape) {
  std::string text;
  for (int c = 0; c < 0x80; ++c) text.push_back(static_cast<char>(c));
  const std::string quoted = Quoted(text);
  Reader reader;
  Document document;
  ASSERT_TRUE(reader.Parse(quoted, &document).ok());
  EXPECT_EQ(Unescaped(document.StringContent(document.root())), text);
}

TEST(IsUtf8, RefusesSurrogatesAndOverlongForms) {
  EXPECT_TRUE(IsUtf8("a\xC3\xA9"));
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_FALSE(IsUtf8("\xED\xA0\x80"));
  EXPECT_FALSE(IsUtf8("\xC0\xAF"));
  EXPECT_FALSE(IsUtf8("\xC3"));
}

}  // namespace
}  // namespace kstream::json
