// The envelope: what is written reads back as the same record, byte for byte; kcat's lines are
// understood; what is no envelope is refused by name.
#include "record/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace kstream {

// Two records are the same when a stage could not tell them apart. The cluster is not data.
static bool operator==(const Header& a, const Header& b) {
  return a.name == b.name && a.value == b.value;
}

namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

void ExpectSame(const Record& got, const Record& want, std::string_view line) {
  EXPECT_EQ(got.topic, want.topic) << line;
  EXPECT_EQ(got.partition, want.partition) << line;
  EXPECT_EQ(got.offset, want.offset) << line;
  EXPECT_EQ(got.timestamp_type, want.timestamp_type) << line;
  if (want.timestamp_type != TimestampType::kNone) {
    EXPECT_EQ(got.timestamp, want.timestamp) << line;
  }
  EXPECT_EQ(got.key, want.key) << line;
  EXPECT_EQ(got.value, want.value) << line;
  EXPECT_TRUE(
      std::equal(got.headers.begin(), got.headers.end(), want.headers.begin(), want.headers.end()))
      << line;
}

class Envelope : public testing::Test {
 protected:
  std::string Write(const Record& record) {
    std::string out;
    AppendEnvelope(record, writer_, &out);
    EXPECT_EQ(out.find_first_of("\r\n"), std::string::npos);
    return out;
  }

  Record Read(std::string_view line) {
    Record record;
    Status s = reader_.Parse(line, &record);
    EXPECT_TRUE(s.ok()) << line << ": " << s.message();
    return record;
  }

  void ExpectRoundTrip(const Record& record) {
    std::string line = Write(record);
    ExpectSame(Read(line), record, line.substr(0, 300));
  }

  void ExpectValueRoundTrip(std::string_view value) {
    Record record;
    record.value = value;
    ExpectRoundTrip(record);
  }

  void ExpectBad(std::string_view line, std::string_view reason) {
    Record record;
    record.topic = "unchanged";
    Status s = reader_.Parse(line, &record);
    ASSERT_EQ(s.code(), StatusCode::kData) << line;
    EXPECT_THAT(std::string(s.message()), testing::HasSubstr(reason)) << line;
    EXPECT_EQ(record.topic, "unchanged");
  }

  json::Reader writer_;
  EnvelopeReader reader_;
};

TEST_F(Envelope, HasTheFieldsOfKcatInItsOrder) {
  const std::array<Header, 3> headers = {{{"h", "1"}, {"h", std::nullopt}, {"b", "\xFF"}}};
  Record r;
  r.topic = "orders";
  r.partition = 0;
  r.offset = 7;
  r.timestamp = 1700000000123;
  r.timestamp_type = TimestampType::kCreateTime;
  r.headers = headers;
  r.key = "u1";
  r.value = "{\"amount\": 1.0}";
  EXPECT_EQ(Write(r),
            R"({"topic":"orders","partition":0,"offset":7,"tstype":"create","ts":1700000000123,)"
            R"("headers":["h","1","h",null,"b",{"b64":"/w=="}],"key":"u1",)"
            R"("value":{"amount": 1.0}})");
  ExpectRoundTrip(r);
}

TEST_F(Envelope, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(Write(Record()), R"({"key":null,"payload":null})");
  ExpectRoundTrip(Record());
}

TEST_F(Envelope, TellsNullEmptyAndTheTextNullApart) {
  Record r;
  r.value = "null";
  EXPECT_EQ(Write(r), R"({"key":null,"value":null})");
  EXPECT_EQ(Read(Write(r)).value, "null");
  r.value = "";
  EXPECT_EQ(Write(r), R"({"key":null,"payload":""})");
  EXPECT_EQ(Read(Write(r)).value, "");
  r.value = std::nullopt;
  EXPECT_EQ(Read(Write(r)).value, std::nullopt);
}

TEST_F(Envelope, KeepsTheSpellingOfAValue) {
  for (std::string_view value :
       {"1", "-0.0", "1e2", "\"\\u00e9\\/\"", "{ \"k\" : [ 1 ,2.0 ] }", "{\"a\":1,\"a\":2}",
        "123456789012345678901234567890", "\"\xC3\xA9\"", "[\t]", "true"}) {
    Record r;
    r.value = value;
    EXPECT_EQ(Write(r), R"({"key":null,"value":)" + std::string(value) + "}");
    ExpectRoundTrip(r);
  }
}

TEST_F(Envelope, KeepsValuesThatAreNotOneLineOfPlainJson) {
  for (std::string_view value : {" 1"sv, "1 "sv, "{\"a\":\n1}"sv, "[1]\r\n"sv, "\n"sv, "{\"n\":"sv,
                                 "1 2"sv, "plain"sv, "\xFF\xFE"sv, "\0"sv, "a\"\\\x7F\x01"sv,
                                 "\xEF\xBB\xBF{}"sv, "\"\xED\xA0\x80\""sv, "NaN"sv}) {
    Record r;
    r.value = value;
    EXPECT_THAT(Write(r), testing::StartsWith(R"({"key":null,"payload)")) << value;
    ExpectRoundTrip(r);
  }
}

TEST_F(Envelope, KeepsBinaryEverywhere) {
  const std::array<Header, 3> headers = {
      {{"\xFF", "\0\xFF"sv}, {"", ""}, {"caf\xC3\xA9", "line\nend"}}};
  Record r;
  r.topic = "dir/\xFF.ndjson";
  r.key = "\x80";
  r.value = "\xC3";
  r.headers = headers;
  ExpectRoundTrip(r);
}

TEST_F(Envelope, KeepsExtremeNumbers) {
  Record r;
  r.partition = INT32_MAX;
  r.offset = INT64_MAX;
  r.timestamp = INT64_MIN;
  r.timestamp_type = TimestampType::kLogAppendTime;
  ExpectRoundTrip(r);
}

TEST_F(Envelope, KeepsValuesOfAnyDepthAndSize) {
  for (size_t depth : {998u, 999u, 1000u, 1001u, 100'000u}) {
    ExpectValueRoundTrip(std::string(depth, '[') + std::string(depth, ']'));
  }
  // Brackets within strings are not depth: this one can stand as it is.
  std::string flat = "\"" + std::string(2000, '[') + "\\\"\"";
  Record r;
  r.value = flat;
  EXPECT_THAT(Write(r), testing::HasSubstr("\"value\":"));
  ExpectRoundTrip(r);
  ExpectValueRoundTrip('"' + std::string(20 << 20, 'x') + '"');
  ExpectValueRoundTrip(std::string(20 << 20, '\n'));
  ExpectValueRoundTrip(std::string(20 << 20, '\xFF'));
}

TEST_F(Envelope, ReadsLinesOfKcat) {
  Record r = Read(
      R"({"topic":"t","partition":2,"offset":41,"tstype":"create","ts":1700000000123,"broker":1,)"
      R"("headers":["a","1","a",null],"key":null,"payload":"{\"n\":1}"})");
  EXPECT_EQ(r.topic, "t");
  EXPECT_EQ(r.partition, 2);
  EXPECT_EQ(r.offset, 41);
  EXPECT_EQ(r.timestamp_type, TimestampType::kCreateTime);
  EXPECT_EQ(r.timestamp, 1700000000123);
  EXPECT_EQ(r.key, std::nullopt);
  EXPECT_EQ(r.value, "{\"n\":1}");
  ASSERT_EQ(r.headers.size(), 2u);
  EXPECT_EQ(r.headers[1].name, "a");
  EXPECT_EQ(r.headers[1].value, std::nullopt);

  r = Read(R"({"topic":"t","partition":0,"offset":0,"tstype":"logappend","ts":5,"key":"",)"
           R"("payload":null})");
  EXPECT_EQ(r.timestamp_type, TimestampType::kLogAppendTime);
  EXPECT_EQ(r.key, "");
  EXPECT_EQ(r.value, std::nullopt);

  EXPECT_EQ(Read(R"({"tstype":"unknown","ts":0,"payload":""})").timestamp_type,
            TimestampType::kNone);
}

TEST_F(Envelope, ReadsTheJsonThatKcatMakesOfAvro) {
  Record r = Read(R"({"key":{"id": 7},"payload":{"n": 1.0},"value_schema_id":3})");
  EXPECT_EQ(r.key, "{\"id\":7}");
  EXPECT_EQ(r.value, "{\"n\": 1.0}");
  ExpectBad(R"({"key":"k","payload":null,"payload_error":"no schema"})", "decode the payload");
  ExpectBad(R"({"key":null,"key_error":"no schema","payload":"x"})", "decode the key");
}

TEST_F(Envelope, ReadsHeadersAsAnObject) {
  Record r = Read(R"({"headers":{"a":"1","b":["2",null],"c":{"b64":"/w=="}},"payload":null})");
  ASSERT_EQ(r.headers.size(), 4u);
  EXPECT_EQ(r.headers[0], (Header{"a", "1"}));
  EXPECT_EQ(r.headers[1], (Header{"b", "2"}));
  EXPECT_EQ(r.headers[2], (Header{"b", std::nullopt}));
  EXPECT_EQ(r.headers[3], (Header{"c", "\xFF"}));
}

TEST_F(Envelope, ResolvesEscapes) {
  Record r = Read(R"({"k\u0065y":"a\u0000b\ud83d\ude00","payload":"\u0000\n","topic":"\u0074"})");
  EXPECT_EQ(r.key, "a\0b\xF0\x9F\x98\x80"sv);
  EXPECT_EQ(r.value, "\0\n"sv);
  EXPECT_EQ(r.topic, "t");
}

TEST_F(Envelope, TakesTheLastOfRepeatedFields) {
  Record r = Read(R"({"key":"a","value":1,"key":"b","ts":1,"value":2,"ts":2})");
  EXPECT_EQ(r.key, "b");
  EXPECT_EQ(r.value, "2");
  EXPECT_EQ(r.timestamp, 2);
  EXPECT_EQ(r.timestamp_type, TimestampType::kCreateTime);
}

TEST_F(Envelope, TakesIntegersHoweverSpelled) {
  Record r = Read(R"({"partition":1e1,"offset":-0,"ts":1700000000123.000,"value":1})");
  EXPECT_EQ(r.partition, 10);
  EXPECT_EQ(r.offset, 0);
  EXPECT_EQ(r.timestamp, 1700000000123);
}

TEST_F(Envelope, NamesTheFieldThatIsWrong) {
  ExpectBad("", "");
  ExpectBad("{", "");
  ExpectBad("[1]", "not a JSON object");
  ExpectBad("null", "not a JSON object");
  ExpectBad("{}", "no \"value\"");
  ExpectBad(R"({"user":"u1","amount":5})", "no \"value\"");
  ExpectBad(R"({"value":1,"payload":"1"})", "more than one");
  ExpectBad(R"({"payload":null,"payload_b64":""})", "more than one");
  ExpectBad(R"({"key":"a","key_b64":"YQ==","value":1})", "key_b64");
  ExpectBad(R"({"topic":1,"value":1})", "\"topic\"");
  ExpectBad(R"({"topic":null,"value":1})", "\"topic\"");
  ExpectBad(R"({"partition":"0","value":1})", "\"partition\"");
  ExpectBad(R"({"partition":2147483648,"value":1})", "\"partition\"");
  ExpectBad(R"({"partition":0.5,"value":1})", "\"partition\"");
  ExpectBad(R"({"offset":9223372036854775808,"value":1})", "\"offset\"");
  ExpectBad(R"({"offset":[],"value":1})", "\"offset\"");
  ExpectBad(R"({"ts":"2023","value":1})", "\"ts\"");
  ExpectBad(R"({"tstype":"now","ts":1,"value":1})", "\"tstype\"");
  ExpectBad(R"({"tstype":1,"ts":1,"value":1})", "\"tstype\"");
  ExpectBad(R"({"headers":"a=1","value":1})", "\"headers\"");
  ExpectBad(R"({"headers":["a"],"value":1})", "\"headers\"");
  ExpectBad(R"({"headers":[null,"a"],"value":1})", "\"headers\"");
  ExpectBad(R"({"headers":["a",1],"value":1})", "\"headers\"");
  ExpectBad(R"({"headers":["a",{"b64":1}],"value":1})", "\"headers\"");
  ExpectBad(R"({"headers":["a",{}],"value":1})", "\"headers\"");
  ExpectBad(R"({"headers":{"a":[["x"]]},"value":1})", "\"headers\"");
  ExpectBad(R"({"key_b64":null,"value":1})", "\"key_b64\"");
  ExpectBad(R"({"key_b64":"YQ","value":1})", "\"key_b64\"");
  ExpectBad(R"({"payload_b64":"!","key":null})", "\"payload_b64\"");
  ExpectBad("{\"payload\":\"\xFF\"}", "");
  ExpectBad(R"({"value":1}{"value":2})", "");
}

TEST_F(Envelope, RecordsOfABatchStayValidUntilClear) {
  std::deque<std::string> lines;
  std::vector<Record> records;
  for (int i = 0; i < 5000; ++i) {
    lines.push_back(R"({"headers":["h","\t)" + std::to_string(i) + R"("],"key":"\n)" +
                    std::to_string(i) + R"(","payload_b64":"AP8="})");
    records.push_back(Read(lines.back()));
  }
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(records[i].key, "\n" + std::to_string(i));
    ASSERT_EQ(records[i].value, "\0\xFF"sv);
    ASSERT_EQ(records[i].headers[0].value, "\t" + std::to_string(i));
  }
  reader_.Clear();
  EXPECT_EQ(Read(lines[7]).key, "\n7");
}

TEST_F(Envelope, BelievesTheCacheOnlyAboutTheseVeryBytes) {
  json::Reader reader;
  json::ValueCache cache;
  cache.reader = &reader;
  Record r;
  r.value = "{\"a\":1}";
  r.cache = &cache;
  ASSERT_TRUE(reader.Parse(*r.value, &cache.document).ok());
  cache.parsed = true;
  EXPECT_EQ(Write(r), R"({"key":null,"value":{"a":1}})");

  const std::string converted = "\"6666\"";  // what a hex serde makes of it
  ASSERT_TRUE(reader.Parse(converted, &cache.document).ok());
  r.value = "ff";
  EXPECT_EQ(Write(r), R"({"key":null,"payload":"ff"})");
}

// Random records, made of the pieces that such formats fall over.
class Maker {
 public:
  Bytes Any() {
    switch (random_() % 8) {
      case 0:
        return std::nullopt;
      case 1:
        return "";
      case 2:
        return Keep(Raw(256));
      case 3:
        return Keep(Raw(128));
      default:
        return Keep(Pieces());
    }
  }
  std::string_view Name() { return Any().value_or("n"); }
  uint64_t Number() { return random_(); }

 private:
  std::string Raw(int limit) {
    std::string bytes(random_() % 12, '\0');
    for (char& c : bytes) c = static_cast<char>(random_() % limit);
    return bytes;
  }
  std::string Pieces() {
    static constexpr std::string_view kPieces[] = {
        "null",   "{",        "}",     "[",           "]",  ":",    ",",   " ",    "\n",
        "\r",     "\t",       "\"a\"", "\"\\n\"",     "1",  "-0.0", "1e5", "true", "{\"a\": 1}",
        "[1, 2]", "\xC3\xA9", "\xFF",  "\"\\u0000\"", "\\", "\"",   "\0"sv};
    std::string text;
    for (size_t i = 1 + random_() % 4; i > 0; --i) text += kPieces[random_() % std::size(kPieces)];
    return text;
  }
  std::string_view Keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  std::mt19937_64 random_{2023};
  std::deque<std::string> kept_;
};

TEST_F(Envelope, RandomRecordsComeBackByteForByte) {
  Maker make;
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    std::vector<Header> headers;
    for (size_t n = make.Number() % 4; n > 0; --n) headers.push_back({make.Name(), make.Any()});
    Record r;
    if (make.Number() % 2 != 0) r.topic = make.Name();
    r.partition = static_cast<int32_t>(make.Number());
    r.offset = static_cast<int64_t>(make.Number());
    r.timestamp = static_cast<int64_t>(make.Number());
    r.timestamp_type = static_cast<TimestampType>(make.Number() % 3);
    r.key = make.Any();
    r.value = make.Any();
    r.headers = headers;
    ExpectRoundTrip(r);
    if (i % 100 == 0) reader_.Clear();
  }
}

}  // namespace
}  // namespace kstream
