// Lines out of records: bytes stay as they are where they can, and nothing invalid is printed.
#include "record/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kstream {
namespace {

using testing::HasSubstr;

Record Of(Bytes value) {
  Record r;
  r.value = value;
  return r;
}

// The line of one record, or "error" when it is bad; then nothing may have been appended.
std::string Line(RecordEncoder& encoder, const Record& record) {
  std::string out = "|";
  Status s = encoder.Append(record, &out);
  if (s.ok()) return out.substr(1);
  EXPECT_EQ(s.code(), StatusCode::kData);
  EXPECT_EQ(out, "|");
  return "error";
}

std::string Line(OutputFormat format, Bytes value) {
  RecordEncoder encoder(format);
  return Line(encoder, Of(value));
}

TEST(OutputFormat, IsOneOfSix) {
  EXPECT_EQ(*ParseOutputFormat("json"), OutputFormat::kJson);
  EXPECT_EQ(*ParseOutputFormat("envelope"), OutputFormat::kEnvelope);
  EXPECT_EQ(*ParseOutputFormat("raw"), OutputFormat::kRaw);
  EXPECT_EQ(*ParseOutputFormat("csv"), OutputFormat::kCsv);
  EXPECT_EQ(*ParseOutputFormat("tsv"), OutputFormat::kTsv);
  EXPECT_EQ(*ParseOutputFormat("format"), OutputFormat::kFormat);
  for (std::string_view name : {"", "Json", "xml"}) {
    EXPECT_EQ(ParseOutputFormat(name).status().code(), StatusCode::kUsage) << name;
  }
}

TEST(Encoder, JsonKeepsTheBytesOfOneLine) {
  for (std::string_view value :
       {R"({"k":1, "v":2.0,"p":1.10,"e":1e2,"z":-0.0})", R"({"z":1,"a":2,"u":"\u00e9","s":"a\/b"})",
        " 1 ", "null", "\"\""}) {
    EXPECT_EQ(Line(OutputFormat::kJson, value), std::string(value) + "\n");
  }
}

TEST(Encoder, JsonBecomesCompactWhereItHasLineEnds) {
  EXPECT_EQ(Line(OutputFormat::kJson, "{\n  \"a\": [1.0,\r\n 2]\n}\n"), "{\"a\":[1.0,2]}\n");
  EXPECT_EQ(Line(OutputFormat::kJson, "1\r"), "1\n");
}

TEST(Encoder, JsonPrintsANullPayloadAsNull) {
  EXPECT_EQ(Line(OutputFormat::kJson, std::nullopt), "null\n");
}

TEST(Encoder, JsonPrintsNothingInvalid) {
  for (std::string_view value : {"", "{\"n\":", "1 2", "1\n2", "NaN", "\"\xFF\"", "\"\\ud800\""}) {
    EXPECT_EQ(Line(OutputFormat::kJson, value), "error") << value;
  }
  EXPECT_EQ(Line(OutputFormat::kJson, std::string(100'000, '[')), "error");
  EXPECT_EQ(Line(OutputFormat::kJson, std::string(100'000, '[') + std::string(100'000, ']')),
            "error");
}

TEST(Encoder, JsonShowsOtherSerdesAsExpressionsSeeThem) {
  RecordEncoder hex(OutputFormat::kJson, {Serde(), Serde(Serde::Kind::kHex)});
  EXPECT_EQ(Line(hex, Of("\xFF\n")), "\"ff0a\"\n");
  EXPECT_EQ(Line(hex, Of(std::nullopt)), "null\n");
  RecordEncoder text(OutputFormat::kJson, {Serde(), Serde(Serde::Kind::kString)});
  EXPECT_EQ(Line(text, Of("a\nb")), "\"a\\nb\"\n");
  EXPECT_EQ(Line(text, Of("\xFF")), "error");
  RecordEncoder pack(OutputFormat::kJson, {Serde(), *Serde::Parse(">hh")});
  EXPECT_EQ(Line(pack, Of(std::string_view("\0\1\0\2", 4))), "[1,2]\n");
  EXPECT_EQ(Line(pack, Of("x")), "error");
}

TEST(Encoder, JsonUsesAndFillsTheCache) {
  json::Reader reader;
  json::ValueCache cache;
  cache.reader = &reader;
  RecordEncoder encoder(OutputFormat::kJson);
  Record r = Of("{\"a\":\n1}");
  r.cache = &cache;
  EXPECT_EQ(Line(encoder, r), "{\"a\":1}\n");
  EXPECT_TRUE(cache.parsed);
  EXPECT_EQ(cache.document.Raw(cache.document.root()), *r.value);
  EXPECT_EQ(Line(encoder, r), "{\"a\":1}\n");

  // Parsed from other bytes, as a serde makes them: not believed.
  r.value = "not json";
  EXPECT_EQ(Line(encoder, r), "error");

  cache.Reset();
  r.value = "{";
  EXPECT_EQ(Line(encoder, r), "error");
  EXPECT_FALSE(cache.parsed);

  cache.one_line = true;
  r.value = "{\"b\":2}";
  EXPECT_EQ(Line(encoder, r), "{\"b\":2}\n");
}

TEST(Encoder, EnvelopeIsOneLine) {
  EXPECT_EQ(Line(OutputFormat::kEnvelope, "{\"a\":1}"), "{\"key\":null,\"value\":{\"a\":1}}\n");
  EXPECT_EQ(Line(OutputFormat::kEnvelope, "a\nb"), "{\"key\":null,\"payload\":\"a\\nb\"}\n");
}

TEST(Encoder, RawIsTheBytes) {
  EXPECT_EQ(Line(OutputFormat::kRaw, "\xFF\r x"), "\xFF\r x\n");
  EXPECT_EQ(Line(OutputFormat::kRaw, ""), "\n");
  EXPECT_EQ(Line(OutputFormat::kRaw, std::nullopt), "\n");
}

TEST(Encoder, ColumnsHaveOneHeader) {
  RecordEncoder csv(OutputFormat::kCsv);
  EXPECT_EQ(Line(csv, Of("[1]")), "error");
  EXPECT_EQ(Line(csv, Of("{\"a\":1,\"b\":\"x,y\"}")), "a,b\n1,\"x,y\"\n");
  EXPECT_EQ(Line(csv, Of("{\"b\":null}")), ",\n");
  EXPECT_EQ(Line(csv, Of("{\"c\":1}")), "error");
  EXPECT_EQ(Line(csv, Of(std::nullopt)), "error");
  EXPECT_EQ(Line(csv, Of("{")), "error");
  RecordEncoder tsv(OutputFormat::kTsv);
  EXPECT_EQ(Line(tsv, Of("{\"a\":1,\"b\":\"x,y\"}")), "a\tb\n1\tx,y\n");
}

TEST(Encoder, FormatBringsItsOwnLineEnds) {
  RecordEncoder plain(*Format::Parse("%s;"), {});
  EXPECT_EQ(Line(plain, Of("x")), "x;");
  RecordEncoder with(*Format::Parse("%s %{.a}\\n"),
                     [](const Record& record, size_t i, std::string* out) {
                       if (*record.value == "bad") return Status::Data("no");
                       *out += std::to_string(i) + std::string(*record.value);
                       return Status::Ok();
                     });
  EXPECT_EQ(Line(with, Of("x")), "x 0x\n");
  EXPECT_EQ(Line(with, Of("bad")), "error");
}

TEST(Encoder, TakesLongValues) {
  const std::string value = '"' + std::string(20 << 20, 'x') + '"';
  EXPECT_EQ(Line(OutputFormat::kJson, value), value + "\n");
  EXPECT_EQ(Line(OutputFormat::kEnvelope, value), "{\"key\":null,\"value\":" + value + "}\n");
}

}  // namespace
}  // namespace kstream
