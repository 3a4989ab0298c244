// Every serde both ways: exact, and what does not fit is refused with nothing appended.
#include "record/serde.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kstream {
namespace {

using std::string_literals::operator""s;

Serde Make(std::string_view spec) {
  Result<Serde> r = Serde::Parse(spec);
  EXPECT_TRUE(r.ok()) << spec << ": " << r.status().message();
  return r.ok() ? *r : Serde();
}

// The outcome as text; "error" for kData, and then nothing may have been appended.
std::string ToJson(std::string_view spec, std::string_view bytes) {
  std::string out = "|";
  Status s = Make(spec).ToJson(bytes, &out);
  if (s.ok()) return out.substr(1);
  EXPECT_EQ(s.code(), StatusCode::kData);
  EXPECT_EQ(out, "|");
  return "error";
}

std::string FromJson(std::string_view spec, std::string_view json) {
  std::string out = "|";
  Status s = Make(spec).FromJson(json, &out);
  if (s.ok()) return out.substr(1);
  EXPECT_EQ(s.code(), StatusCode::kData);
  EXPECT_EQ(out, "|");
  return "error";
}

TEST(Serde, RefusesUnknownSpecs) {
  for (std::string_view spec :
       {"", "avro", "JSON", "x", "<>", "$", "$b", "sb", "ss", "b$b", ">q,"}) {
    EXPECT_EQ(Serde::Parse(spec).status().code(), StatusCode::kUsage) << spec;
  }
}

TEST(Serde, JsonPassesBytesUnchanged) {
  EXPECT_EQ(ToJson("json", "{\"a\": 1.0}"), "{\"a\": 1.0}");
  EXPECT_EQ(FromJson("json", "\"quoted\""), "\"quoted\"");
}

TEST(Serde, StringIsTextOrElseJson) {
  EXPECT_EQ(ToJson("string", "a\"\n\xC3\xA9"), "\"a\\\"\\n\xC3\xA9\"");
  EXPECT_EQ(ToJson("string", ""), "\"\"");
  EXPECT_EQ(ToJson("string", "\xFF"), "error");
  EXPECT_EQ(FromJson("string", R"("a\"\u0000\u00e9")"), "a\"\0\xC3\xA9"s);
  EXPECT_EQ(FromJson("string", "\"42\""), "42");
  EXPECT_EQ(FromJson("string", "42"), "42");
  EXPECT_EQ(FromJson("string", "[1,\"a\"]"), "[1,\"a\"]");
  EXPECT_EQ(FromJson("string", "null"), "null");
}

TEST(Serde, Base64AndHexHoldAnyBytes) {
  EXPECT_EQ(ToJson("b64", "\0\xFF"s), "\"AP8=\"");
  EXPECT_EQ(FromJson("b64", "\"AP8=\""), "\0\xFF"s);
  EXPECT_EQ(FromJson("b64", R"("\u0041P8=")"), "\0\xFF"s);
  EXPECT_EQ(ToJson("hex", "\0\xFF"s), "\"00ff\"");
  EXPECT_EQ(FromJson("hex", "\"00FF\""), "\0\xFF"s);
  EXPECT_EQ(ToJson("hex", ""), "\"\"");
  EXPECT_EQ(FromJson("hex", "\"\""), "");
  for (std::string_view json : {"\"AP8\"", "\"AP8=\\n\"", "1", "null", "[\"AP8=\"]"}) {
    EXPECT_EQ(FromJson("b64", json), "error") << json;
  }
  for (std::string_view json : {"\"0\"", "\"0x\"", "12", "null"}) {
    EXPECT_EQ(FromJson("hex", json), "error") << json;
  }
}

TEST(Pack, ReadsIntegersInBothByteOrders) {
  EXPECT_EQ(ToJson("b", "\xFF"), "-1");
  EXPECT_EQ(ToJson("B", "\xFF"), "255");
  EXPECT_EQ(ToJson("h", "\x80\x00"s), "-32768");
  EXPECT_EQ(ToJson(">h", "\x01\x02"), "258");
  EXPECT_EQ(ToJson("<h", "\x01\x02"), "513");
  EXPECT_EQ(ToJson("<i", "\xFE\xFF\xFF\xFF"), "-2");
  EXPECT_EQ(ToJson(">I", "\xFF\xFF\xFF\xFE"), "4294967294");
  EXPECT_EQ(ToJson("q", "\x80\0\0\0\0\0\0\0"s), "-9223372036854775808");
  EXPECT_EQ(ToJson("Q", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "18446744073709551615");
}

TEST(Pack, SeveralLettersMakeAnArray) {
  EXPECT_EQ(ToJson(">h<hs",
                   "\x00\x01\x01\x00"
                   "caf\xC3\xA9"s),
            "[1,1,\"caf\xC3\xA9\"]");
  EXPECT_EQ(ToJson("c B $", "A\x02"), "[\"A\",2]");
  EXPECT_EQ(ToJson("bs", "\x01"), "[1,\"\"]");
  EXPECT_EQ(FromJson(">h<hs", "[1,1,\"caf\xC3\xA9\"]"),
            "\x00\x01\x01\x00"
            "caf\xC3\xA9"s);
  EXPECT_EQ(FromJson("cs", R"(["\"","a,]\"b"])"), "\"a,]\"b");
}

TEST(Pack, OnlyDollarAsksForTheEnd) {
  EXPECT_EQ(ToJson("b", "\x01\x02"), "1");
  EXPECT_EQ(ToJson("b$", "\x01\x02"), "error");
  EXPECT_EQ(ToJson("b$", "\x01"), "1");
}

TEST(Pack, RefusesBytesThatDoNotFit) {
  EXPECT_EQ(ToJson("b", ""), "error");
  EXPECT_EQ(ToJson("bq", "\x01\x02"), "error");
  EXPECT_EQ(ToJson("c", "\xC3"), "error");
  EXPECT_EQ(ToJson("c", ""), "error");
  EXPECT_EQ(ToJson("s", "\xC3"), "error");
}

TEST(Pack, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(FromJson("b", "127"), "\x7F");
  EXPECT_EQ(FromJson("b", "-128"), "\x80");
  EXPECT_EQ(FromJson("B", "1e2"), "d");
  EXPECT_EQ(FromJson("Q", "18446744073709551615"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
  EXPECT_EQ(FromJson("<q", "-2"), "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
  for (std::string_view json : {"128", "-129", "1.5", "\"1\"", "null", "true", "[1]", "1e99"}) {
    EXPECT_EQ(FromJson("b", json), "error") << json;
  }
  EXPECT_EQ(FromJson("B", "-1"), "error");
  EXPECT_EQ(FromJson("q", "9223372036854775808"), "error");
  EXPECT_EQ(FromJson("Q", "18446744073709551616"), "error");
  EXPECT_EQ(FromJson("c", "\"ab\""), "error");
  EXPECT_EQ(FromJson("c", "\"\xC3\xA9\""), "error");
  EXPECT_EQ(FromJson("s", "1"), "error");
  for (std::string_view json : {"[1]", "[1,2,3]", "[]", "[1,[2]]", "1", "{\"a\":1}", "[1,null]"}) {
    EXPECT_EQ(FromJson("bb", json), "error") << json;
  }
}

TEST(Pack, GivesBackTheBytesItRead) {
  std::mt19937 random(5);
  for (std::string_view spec : {">bhiqBHIQ$", "<bhiqBHIQ$", "q", "<I", ">Hs", "hs$"}) {
    for (int i = 0; i < 1000; ++i) {
      std::string bytes(spec.size() > 5 ? 30 : spec == "q" ? 8 : 4, '\0');
      for (char& c : bytes)
        c = static_cast<char>(random() % (spec.ends_with("s") || spec[1] == 's' ? 128 : 256));
      std::string json = ToJson(spec, bytes);
      ASSERT_EQ(FromJson(spec, json), bytes) << spec << " " << json;
    }
  }
}

}  // namespace
}  // namespace kstream
