// Every serde both ways: exact, and what does not fit is refused with nothing appended.
#include "record/serde.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "kstream/serdes.h"
#include "record/encoder.h"
#include "record/format.h"

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

// A serde of two functions; what it appends, it appends before it fails or throws.
class TestSerde : public CustomSerde {
 public:
  using Convert = std::function<Status(std::string_view in, std::string* out)>;
  TestSerde(Convert to_json, Convert from_json)
      : to_json_(std::move(to_json)), from_json_(std::move(from_json)) {}
  Status ToJson(std::string_view bytes, std::string* json) const override {
    return to_json_(bytes, json);
  }
  Status FromJson(std::string_view json, std::string* bytes) const override {
    return from_json_(json, bytes);
  }

 private:
  Convert to_json_, from_json_;
};

Status Registered(const std::string& name, TestSerde::Convert to_json,
                  TestSerde::Convert from_json = nullptr) {
  return RegisterSerde(name, std::make_shared<TestSerde>(std::move(to_json), std::move(from_json)));
}

// Passes its input on as it is, which makes a ToJson that gives anything a topic may hold.
Status Same(std::string_view in, std::string* out) {
  *out += in;
  return Status::Ok();
}

TEST(CustomSerde, WorksByItsName) {
  // Milliseconds as decimal text <-> a number of seconds.
  ASSERT_TRUE(Registered(
                  "seconds",
                  [](std::string_view bytes, std::string* json) {
                    if (bytes.size() < 4) return Status::Data("too short");
                    *json += std::string(bytes.substr(0, bytes.size() - 3));
                    return Status::Ok();
                  },
                  [](std::string_view json, std::string* bytes) {
                    *bytes += std::string(json) + "000";
                    return Status::Ok();
                  })
                  .ok());
  EXPECT_EQ(Make("seconds").kind(), Serde::Kind::kCustom);
  EXPECT_EQ(ToJson("seconds", "17000"), "17");
  EXPECT_EQ(FromJson("seconds", "17"), "17000");
  EXPECT_EQ(ToJson("seconds", "17"), "error");
  std::string out;
  EXPECT_EQ(Make("seconds").ToJson("1", &out).message(), "serde 'seconds': too short");
}

TEST(CustomSerde, TakesNoNameThatIsTakenOrIsNone) {
  ASSERT_TRUE(Registered("mine", Same).ok());
  for (const char* name : {"mine", "json", "string", "b64", "hex", "b", "qs", "Hi", "cs", "ss", "",
                           "2x", "-x", "_x", "a b", "a/b", "a$", "caf\xC3\xA9"}) {
    EXPECT_EQ(Registered(name, Same).code(), StatusCode::kUsage) << name;
  }
  for (const char* name : {"x", "bz", "Avro-2_b"}) EXPECT_TRUE(Registered(name, Same).ok()) << name;
  EXPECT_EQ(RegisterSerde("nothing", nullptr).code(), StatusCode::kUsage);
  EXPECT_FALSE(Serde::Parse("nothing").ok());
}

TEST(CustomSerde, GivesCompactJsonOrABadRecord) {
  ASSERT_TRUE(Registered("same", Same).ok());
  EXPECT_EQ(ToJson("same", " { \"a\" : [ 1.0 ,\n2 ] } "), "{\"a\":[1.0,2]}");
  for (std::string_view bytes : {"", "{", "\"", "\"\\", "\"\\u12\"", "1 2", "nul", "\"\xFF\"",
                                 "\"a\nb\"", "\"\\ud800\"", "01"}) {
    EXPECT_EQ(ToJson("same", bytes), "error") << bytes;
  }
  EXPECT_EQ(ToJson("same", std::string(2000, '[')), "error");
}

TEST(CustomSerde, IsCheckedWhereverBytesArePrinted) {
  ASSERT_TRUE(Registered("printed", Same).ok());
  const Serdes serdes{Serde(), Make("printed")};
  RecordEncoder json(OutputFormat::kJson, serdes);
  Result<Format> pattern = Format::Parse("%s\\n", serdes);
  ASSERT_TRUE(pattern.ok());
  RecordEncoder format(*std::move(pattern), nullptr);
  Record record;
  record.value = "\"cut \\";
  for (RecordEncoder* encoder : {&json, &format}) {
    std::string out = "|";
    EXPECT_EQ(encoder->Append(record, &out).code(), StatusCode::kData);
    EXPECT_EQ(out, "|");
  }
  record.value = "\"a\\tb\"";
  std::string out;
  EXPECT_TRUE(json.Append(record, &out).ok());
  EXPECT_TRUE(format.Append(record, &out).ok());
  EXPECT_EQ(out, "\"a\\tb\"\na\tb\n");
}

TEST(CustomSerde, WhatItThrowsIsABadRecord) {
  const auto thrower = [](std::string_view in, std::string* out) -> Status {
    *out += "half";
    if (in == "1") throw std::runtime_error("no such schema");
    throw 1;
  };
  ASSERT_TRUE(Registered("throws", thrower, thrower).ok());
  for (const char* in : {"1", "2"}) {
    EXPECT_EQ(ToJson("throws", in), "error");
    EXPECT_EQ(FromJson("throws", in), "error");
  }
  std::string out;
  EXPECT_EQ(Make("throws").ToJson("1", &out).message(), "serde 'throws': it threw: no such schema");
}

TEST(CustomSerde, CannotTouchWhatWasThereBefore) {
  const auto clears = [](std::string_view, std::string* out) {
    *out = "1";
    return Status::Ok();
  };
  ASSERT_TRUE(Registered("clears", clears, clears).ok());
  EXPECT_EQ(ToJson("clears", "x"), "1");
  EXPECT_EQ(FromJson("clears", "2"), "1");
}

}  // namespace
}  // namespace kstream
