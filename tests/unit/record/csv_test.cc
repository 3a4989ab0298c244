// CSV and TSV: rows are exact, one bad row spoils no other, and nothing is dropped silently.
#include "record/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kstream {
namespace {

using std::string_literals::operator""s;
using Rows = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;

// Each row as "line:json" or "line!reason"; the reader's own failure as "failed:reason". Fed in
// pieces of `piece` bytes.
Rows Read(std::string_view text, char separator = ',', size_t piece = 1 << 20,
          size_t max_row = CsvReader::kMaxRowBytes) {
  Rows rows;
  CsvReader reader(
      separator,
      [&rows](const CsvRow& row) {
        std::string line = std::to_string(row.line);
        if (row.status.ok()) {
          rows.push_back(line + ":" + std::string(row.json));
        } else {
          EXPECT_EQ(row.status.code(), StatusCode::kData);
          EXPECT_EQ(row.json, "");
          rows.push_back(line + "!" + std::string(row.status.message()));
        }
      },
      max_row);
  Status status;
  for (size_t at = 0; at < text.size() && status.ok(); at += piece) {
    status = reader.Feed(text.substr(at, piece));
  }
  if (status.ok()) status = reader.Finish();
  if (!status.ok()) {
    EXPECT_EQ(status.code(), StatusCode::kData);
    EXPECT_EQ(reader.Feed("x,y\n").message(), status.message());
    EXPECT_EQ(reader.Finish().message(), status.message());
    rows.push_back("failed:" + std::string(status.message()));
  }
  return rows;
}

TEST(CsvReader, MakesObjectsOfStrings) {
  EXPECT_THAT(Read("a,b\n1,x\n2,\n"),
              ElementsAre(R"(1:{"a":"1","b":"x"})", R"(2:{"a":"2","b":""})"));
  EXPECT_THAT(Read("a,b\r\n1,x\r\n2,y"),
              ElementsAre(R"(1:{"a":"1","b":"x"})", R"(2:{"a":"2","b":"y"})"));
  EXPECT_THAT(Read("a\rx\ry\r"), ElementsAre(R"(1:{"a":"x"})", R"(2:{"a":"y"})"));
  EXPECT_THAT(Read("a,b\n"), ElementsAre());
  EXPECT_THAT(Read(""), ElementsAre());
}

TEST(CsvReader, KeepsFieldsExactly) {
  EXPECT_THAT(Read("a,\" b\"\n x ,\t\n"), ElementsAre(R"(1:{"a":" x "," b":"\t"})"));
  EXPECT_THAT(Read("a,b\n\"x,\"\"y\"\"\",\"l1\r\nl2\"\nz,\n"),
              ElementsAre(R"(1:{"a":"x,\"y\"","b":"l1\r\nl2"})", R"(3:{"a":"z","b":""})"));
  EXPECT_THAT(Read("a\n\"\"\nb\n"), ElementsAre(R"(1:{"a":""})", R"(2:{"a":"b"})"));
  EXPECT_THAT(Read("a\nx\0y\n"s), ElementsAre(R"(1:{"a":"x\u0000y"})"));
}

TEST(CsvReader, SkipsByteOrderMarkAndBlankLines) {
  EXPECT_THAT(Read("\xEF\xBB\xBF\n\n\"a\",b\n\n  \r\n1,2\r\n\r\n3,4\n\n"),
              ElementsAre(R"(5:{"a":"1","b":"2"})", R"(7:{"a":"3","b":"4"})"));
  EXPECT_THAT(Read("\xEF\xBB\xBF"), ElementsAre());
  EXPECT_THAT(Read("\xEF\xBB"), ElementsAre(HasSubstr("failed:header: column 1 is not UTF-8")));
  // In a file of one column white space is a value.
  EXPECT_THAT(Read("a\n \n"), ElementsAre(R"(1:{"a":" "})"));
}

TEST(CsvReader, OneBadRowSpoilsNoOther) {
  EXPECT_THAT(Read("a,b\n1\n1,2,3\n\xFF,x\nok,ok\n"),
              ElementsAre("1!1 fields, but the header has 2", "2!3 fields, but the header has 2",
                          "3!field 1 is not UTF-8", R"(4:{"a":"ok","b":"ok"})"));
  EXPECT_THAT(
      Read("a,b\n5\" pipe,2\nok,1\n\"x\"y,2\r\nok,2\n\"l1\nl2\"y,2\nok,3"),
      ElementsAre(HasSubstr("1!a quote"), R"(2:{"a":"ok","b":"1"})", HasSubstr("3!a quote"),
                  R"(4:{"a":"ok","b":"2"})", HasSubstr("5!a quote"), R"(7:{"a":"ok","b":"3"})"));
  EXPECT_THAT(Read("a,b\nok,1\nx,\"open\nto the end\n"),
              ElementsAre(R"(1:{"a":"ok","b":"1"})", "2!a quoted field does not end"));
}

TEST(CsvReader, RefusesHeadersItCannotUse) {
  EXPECT_THAT(Read("a,b,a\n1,2,3\n4,5,6\n"),
              ElementsAre("failed:header: the name 'a' comes twice"));
  EXPECT_THAT(Read("a,b\"c\n1,2\n"), ElementsAre(HasSubstr("failed:header: a quote")));
  EXPECT_THAT(Read("\"a"), ElementsAre("failed:header: a quoted field does not end"));
}

TEST(CsvReader, BoundsTheLengthOfARow) {
  std::string text = "a,b\nx,\"" + std::string(5 << 20, 'y') + "\nok,1\n";
  Rows rows = Read(text, ',', 1 << 16, 1 << 20);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0], HasSubstr("1!longer than 1048576 bytes"));
  EXPECT_EQ(rows[1], R"(2:{"a":"ok","b":"1"})");
}

TEST(CsvReader, TakesLongFields) {
  std::string field(20 << 20, 'y');
  EXPECT_EQ(Read("a\n\"" + field + "\"\n"), Rows{R"(1:{"a":")" + field + "\"}"});
}

TEST(CsvReader, DoesNotCareHowBytesArrive) {
  const std::string text =
      "\xEF\xBB\xBF"
      "a,\"b\r\nc\"\r\n\r\n1,\"x\"\"y\"\n\nbad\n\"q\"z,2\r\n\"l\nm\",\"\xC3\xA9\"\rlast,\"open";
  Rows whole = Read(text);
  EXPECT_EQ(whole.size(), 5u);
  for (size_t piece = 1; piece < text.size(); ++piece)
    EXPECT_EQ(Read(text, ',', piece), whole) << piece;
}

TEST(CsvReader, ReadsTabsInsteadOfCommas) {
  EXPECT_THAT(Read("a\tb\n1,5\t\n\"x\ty\"\tz\n", '\t'),
              ElementsAre(R"(1:{"a":"1,5","b":""})", R"(2:{"a":"x\ty","b":"z"})"));
  EXPECT_THAT(Read("a\n\tb\n", '\t'), ElementsAre("1!2 fields, but the header has 1"));
}

class CsvWriterTest : public testing::Test {
 protected:
  Status Append(std::string_view json) {
    json::Document document;
    Status parsed = reader_.Parse(json, &document);
    EXPECT_TRUE(parsed.ok()) << json;
    return writer_.Append(document, document.root(), &out_);
  }

  json::Reader reader_;
  CsvWriter writer_{','};
  std::string out_;
};

TEST_F(CsvWriterTest, TheFirstObjectFixesTheColumns) {
  ASSERT_TRUE(Append(R"({"a":"x","b":1.0})").ok());
  ASSERT_TRUE(Append(R"({"b":true,"a":null})").ok());
  ASSERT_TRUE(Append(R"({"b":[1, {"c": 2}]})").ok());
  ASSERT_TRUE(Append("{}").ok());
  EXPECT_EQ(out_, "a,b\nx,1.0\n,true\n,\"[1,{\"\"c\"\":2}]\"\n,\n");
}

TEST_F(CsvWriterTest, QuotesOnlyWhatNeedsIt) {
  ASSERT_TRUE(Append(R"({"a b":"x,y","\u0022":"l1\nl2","c":" x","d":"\r","e":"x\ty"})").ok());
  EXPECT_EQ(out_, "a b,\"\"\"\",c,d,e\n\"x,y\",\"l1\nl2\",\" x\",\"\r\",x\ty\n");
}

TEST_F(CsvWriterTest, AColumnAloneIsNeverABlankLine) {
  ASSERT_TRUE(Append(R"({"a":""})").ok());
  EXPECT_EQ(out_, "a\n\"\"\n");
}

TEST_F(CsvWriterTest, RefusesWhatHasNoPlace) {
  EXPECT_EQ(Append("{}").code(), StatusCode::kData);
  EXPECT_EQ(Append("1").code(), StatusCode::kData);
  EXPECT_EQ(Append("[{}]").code(), StatusCode::kData);
  EXPECT_EQ(out_, "");
  ASSERT_TRUE(Append(R"({"a":1,"b":2})").ok());
  out_.clear();
  Status s = Append(R"({"a":1,"b":2,"c":3})");
  EXPECT_EQ(s.code(), StatusCode::kData);
  EXPECT_THAT(std::string(s.message()), HasSubstr("'c' is not a column"));
  EXPECT_EQ(out_, "");
  ASSERT_TRUE(Append(R"({"a":5})").ok());
  EXPECT_EQ(out_, "5,\n");
}

TEST_F(CsvWriterTest, OfRepeatedNamesTheLastWins) {
  ASSERT_TRUE(Append(R"({"a":1,"b":2,"a":"3"})").ok());
  ASSERT_TRUE(Append(R"({"a":1,"\u0061":null})").ok());
  EXPECT_EQ(out_, "a,b\n3,2\n,\n");
}

TEST(Csv, ReadsBackTheTextItWrote) {
  std::mt19937 random(9);
  constexpr std::string_view kPieces[] = {"a", ",",  "\"",       "\n", "\r",
                                          " ", "\t", "\xC3\xA9", "\\", ""};
  for (char separator : {',', '\t'}) {
    for (int columns : {1, 2, 5}) {
      CsvWriter writer(separator);
      json::Reader reader;
      std::string text;
      Rows want;
      for (int row = 0; row < 500; ++row) {
        std::string json = "{";
        for (int c = 0; c < columns; ++c) {
          std::string field;
          for (int i = 0; i < 4; ++i) field += kPieces[random() % std::size(kPieces)];
          json += (c == 0 ? "\"c" : ",\"c") + std::to_string(c) + "\":";
          json::AppendQuoted(field, &json);
        }
        json += "}";
        json::Document document;
        ASSERT_TRUE(reader.Parse(json, &document).ok());
        ASSERT_TRUE(writer.Append(document, document.root(), &text).ok());
        want.push_back(json);
      }
      Rows got = Read(text, separator, 7);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].substr(got[i].find(':') + 1), want[i]);
      }
    }
  }
}

}  // namespace
}  // namespace kstream
