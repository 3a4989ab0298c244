#include "record/json_document.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kstream::json {
namespace {

using ::testing::HasSubstr;

std::string Compact(const Document& document) {
  std::string out;
  AppendCompact(document, document.root(), &out);
  return out;
}

// The error of parsing `text` alone; "" when it is accepted.
std::string Error(std::string_view text) {
  Reader reader;
  Document document;
  return std::string(reader.Parse(text, &document).message());
}

bool Accepts(std::string_view text) { return Error(text).empty(); }

// --- JSONTestSuite ---

struct SuiteFile {
  std::string name;
  std::string text;
};

std::vector<SuiteFile> Suite() {
  std::vector<SuiteFile> files;
  const std::filesystem::path root = KSTREAM_ORACLES "/jsontestsuite/test_parsing";
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    files.push_back({entry.path().filename().string(), text.str()});
  }
  std::ranges::sort(files, {}, &SuiteFile::name);
  return files;
}

// Where the standard leaves the choice, kstream's rule and what it makes of the file.
struct Choice {
  bool accepted;
  const char* rule;
};

const std::map<std::string, Choice>& Choices() {
  static constexpr const char* kAnyNumber = "numbers of any length and exponent are valid";
  static constexpr const char* kUtf8 = "a value is UTF-8";
  static constexpr const char* kPaired = "a surrogate escape has its partner";
  static const std::map<std::string, Choice> choices = {
      {"i_number_double_huge_neg_exp.json", {true, kAnyNumber}},
      {"i_number_huge_exp.json", {true, kAnyNumber}},
      {"i_number_neg_int_huge_exp.json", {true, kAnyNumber}},
      {"i_number_pos_double_huge_exp.json", {true, kAnyNumber}},
      {"i_number_real_neg_overflow.json", {true, kAnyNumber}},
      {"i_number_real_pos_overflow.json", {true, kAnyNumber}},
      {"i_number_real_underflow.json", {true, kAnyNumber}},
      {"i_number_too_big_neg_int.json", {true, kAnyNumber}},
      {"i_number_too_big_pos_int.json", {true, kAnyNumber}},
      {"i_number_very_big_negative_int.json", {true, kAnyNumber}},
      {"i_object_key_lone_2nd_surrogate.json", {false, kPaired}},
      {"i_string_1st_surrogate_but_2nd_missing.json", {false, kPaired}},
      {"i_string_1st_valid_surrogate_2nd_invalid.json", {false, kPaired}},
      {"i_string_UTF-16LE_with_BOM.json", {false, kUtf8}},
      {"i_string_UTF-8_invalid_sequence.json", {false, kUtf8}},
      {"i_string_UTF8_surrogate_U+D800.json", {false, kUtf8}},
      {"i_string_incomplete_surrogate_and_escape_valid.json", {false, kPaired}},
      {"i_string_incomplete_surrogate_pair.json", {false, kPaired}},
      {"i_string_incomplete_surrogates_escape_valid.json", {false, kPaired}},
      {"i_string_invalid_lonely_surrogate.json", {false, kPaired}},
      {"i_string_invalid_surrogate.json", {false, kPaired}},
      {"i_string_invalid_utf-8.json", {false, kUtf8}},
      {"i_string_inverted_surrogates_U+1D11E.json", {false, kPaired}},
      {"i_string_iso_latin_1.json", {false, kUtf8}},
      {"i_string_lone_second_surrogate.json", {false, kPaired}},
      {"i_string_lone_utf8_continuation_byte.json", {false, kUtf8}},
      {"i_string_not_in_unicode_range.json", {false, kUtf8}},
      {"i_string_overlong_sequence_2_bytes.json", {false, kUtf8}},
      {"i_string_overlong_sequence_6_bytes.json", {false, kUtf8}},
      {"i_string_overlong_sequence_6_bytes_null.json", {false, kUtf8}},
      {"i_string_truncated-utf-8.json", {false, kUtf8}},
      {"i_string_utf16BE_no_BOM.json", {false, kUtf8}},
      {"i_string_utf16LE_no_BOM.json", {false, kUtf8}},
      {"i_structure_500_nested_arrays.json", {true, "1 000 levels are allowed"}},
      {"i_structure_UTF-8_BOM_empty_object.json",
       {false, "a value has no BOM: the line reader takes the one of a file"}},
  };
  return choices;
}

bool ShouldAccept(const std::string& name) {
  if (name[0] != 'i') return name[0] == 'y';
  const auto choice = Choices().find(name);
  if (choice == Choices().end()) {
    ADD_FAILURE() << "no rule for " << name;
    return false;
  }
  return choice->second.accepted;
}

TEST(JsonTestSuite, EveryFileHasItsAnswer) {
  const std::vector<SuiteFile> files = Suite();
  ASSERT_EQ(files.size(), 318u);
  for (const SuiteFile& file : files) {
    EXPECT_EQ(Accepts(file.text), ShouldAccept(file.name)) << file.name << ": " << Error(file.text);
  }
}

TEST(JsonTestSuite, PrintedCompactlyItIsTheSameValue) {
  for (const SuiteFile& file : Suite()) {
    if (!ShouldAccept(file.name)) continue;
    Reader reader;
    Document document;
    ASSERT_TRUE(reader.Parse(file.text, &document).ok()) << file.name;
    std::string text = file.text;
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
    if (text.find(' ') == std::string::npos) {
      EXPECT_EQ(Compact(document), text) << file.name;
    }
    const std::string once = Compact(document);
    ASSERT_TRUE(reader.Parse(once, &document).ok()) << file.name;
    EXPECT_EQ(Compact(document), once) << file.name;
  }
}

TEST(JsonTestSuite, NoFileSpoilsItsNeighboursInARegion) {
  const std::string before = R"({"before":[1,"x"]})";
  const std::string after = R"({"after":{"y":2.50}})";
  for (const SuiteFile& file : Suite()) {
    if (file.text.find('\n') != std::string::npos) continue;
    const std::string region = before + "\n" + file.text + "\n" + after + "\n";
    const std::string_view view = region;
    Reader reader;
    reader.Prepare(view);
    Document document;
    ASSERT_TRUE(reader.Parse(view.substr(0, before.size()), &document).ok()) << file.name;
    EXPECT_EQ(Compact(document), before) << file.name;
    const Status middle = reader.Parse(view.substr(before.size() + 1, file.text.size()), &document);
    EXPECT_EQ(std::string(middle.message()), Error(file.text)) << file.name;
    ASSERT_TRUE(
        reader.Parse(view.substr(before.size() + file.text.size() + 2, after.size()), &document)
            .ok())
        << file.name;
    EXPECT_EQ(Compact(document), after) << file.name;
  }
}

// --- what is wrong, and where ---

TEST(Reader, SaysWhatIsWrongAtWhichByte) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON: empty"},
      {" \t\r\n", "not JSON: empty"},
      {R"({"a" 1})", "not JSON: expected ':' at byte 5"},
      {R"({a:1})", "not JSON: expected a name in quotes at byte 1"},
      {R"({"a":1,})", "not JSON: expected a name in quotes at byte 7"},
      {R"({"a":1 "b":2})", "not JSON: expected ',' or '}' at byte 7"},
      {R"([1 2])", "not JSON: expected ',' or ']' at byte 3"},
      {R"([1,])", "not JSON: expected a value at byte 3"},
      {R"([}])", "not JSON: expected a value at byte 1"},
      {R"([nul])", "not JSON: expected a value at byte 1"},
      {R"([nulll])", "not JSON: expected ',' or the end of the value at byte 5"},
      {R"([01])", "not JSON: expected ',' or the end of the value at byte 2"},
      {R"([-])", "not JSON: expected a digit at byte 2"},
      {R"([1.])", "not JSON: expected a digit at byte 3"},
      {R"([1e+])", "not JSON: expected a digit at byte 4"},
      {R"([1"x"])", "not JSON: expected ',' or the end of the value at byte 2"},
      {R"({"a":1)", "not JSON: the text ends early at byte 6"},
      {R"({"a":[1])", "not JSON: the text ends early at byte 8"},
      {R"({"a":1}{"b":2})", "not JSON: more after the value at byte 7"},
      {R"(1 2)", "not JSON: more after the value at byte 2"},
      {R"("a" "b")", "not JSON: more after the value at byte 4"},
      {R"(1x)", "not JSON: expected the end of the value at byte 1"},
      {R"(tru)", "not JSON: expected a value at byte 0"},
      {R"(])", "not JSON: expected a value at byte 0"},
      {R"(["a\q"])", "not JSON: bad escape at byte 3"},
      {R"(["\u12g4"])", "not JSON: bad \\u escape at byte 2"},
      {R"(["\ud800"])", "not JSON: lone surrogate at byte 2"},
      {R"(["\udc00"])", "not JSON: lone surrogate at byte 2"},
      {R"(["\ud800\u0041"])", "not JSON: lone surrogate at byte 2"},
      {R"(["a)", "not JSON: string without end at byte 1"},
      {R"(["a\"])", "not JSON: string without end at byte 1"},
      {"[\"a\nb\"]", "not JSON: control character in a string at byte 3"},
      {"[\"a\xC3(\"]", "not JSON: invalid UTF-8 at byte 3"},
      {"[\"\xED\xA0\x80\"]", "not JSON: invalid UTF-8 at byte 2"},
      {"[\"\xF4\x90\x80\x80\"]", "not JSON: invalid UTF-8 at byte 2"},
      {"[1\f,2]", "not JSON: expected ',' or ']' at byte 2"},
      {"[1\x1A,2]", "not JSON: expected ',' or ']' at byte 2"},
      {std::string("[1\0]", 4), "not JSON: expected ',' or the end of the value at byte 2"},
      {"\xEF\xBB\xBF{}", "not JSON: expected a value at byte 0"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(Error(text), message) << text;
}

TEST(Reader, FailuresAreBadData) {
  Reader reader;
  Document document;
  EXPECT_EQ(reader.Parse("{", &document).code(), StatusCode::kData);
}

TEST(Reader, DepthIsLimitedNotTheStack) {
  const auto nested = [](size_t depth, char open, char close) {
    return std::string(depth, open) + std::string(depth, close);
  };
  EXPECT_TRUE(Accepts(nested(1000, '[', ']')));
  EXPECT_EQ(Error(nested(1001, '[', ']')), "not JSON: nested too deep at byte 1000");
  EXPECT_THAT(Error(nested(100'000, '[', ']')), HasSubstr("nested too deep"));
  EXPECT_FALSE(Accepts(std::string(100'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  EXPECT_FALSE(Accepts(objects));
  EXPECT_THAT(Error(objects + "1" + std::string(100'000, '}')), HasSubstr("nested too deep"));
}

TEST(Reader, LongTextsAreFine) {
  const std::string text = "\"" + std::string(20'000'000, 'x') + "\"";
  Reader reader;
  Document document;
  ASSERT_TRUE(reader.Parse(text, &document).ok());
  EXPECT_EQ(document.StringContent(document.root()).size(), 20'000'000u);
  const std::string number(1'000'000, '7');
  ASSERT_TRUE(reader.Parse(number, &document).ok());
  EXPECT_EQ(document.Raw(document.root()), number);
}

// Puts a text right before memory that must not be touched.
class GuardedText {
 public:
  explicit GuardedText(std::string_view text) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (text.size() / page + 2) * page;
    memory_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char* const guard = memory_ + size_ - page;
    mprotect(guard, page, PROT_NONE);
    std::memcpy(guard - text.size(), text.data(), text.size());
    text_ = {guard - text.size(), text.size()};
  }
  ~GuardedText() { munmap(memory_, size_); }
  std::string_view text() const { return text_; }

 private:
  char* memory_;
  size_t size_;
  std::string_view text_;
};

TEST(Reader, ReadsNoByteBeyondTheText) {
  for (const std::string text :
       {"1",   "-",    "1.",      "1e",     "t",           "tru",      "true",      "\"",
        "\"a", "\"\\", "\"\\u00", "[",      "[1",          "[t",       "[f",        "[fals",
        "[n",  "{",    "{\"",     "{\"a\"", "{\"a\":",     "{\"a\":1", "{\"a\":1}", "[[]",
        "]t",  "[]f",  "[] fals", "[]1",    "[]\"\\ud800", "\"\\ud800"}) {
    for (size_t pad : {0, 1, 63, 64, 65, 127, 128, 200}) {
      const GuardedText guarded(std::string(pad, ' ') + text);
      Reader reader;
      Document document;
      const bool alone = reader.Parse(guarded.text(), &document).ok();
      reader.Prepare(guarded.text());
      EXPECT_EQ(reader.Parse(guarded.text(), &document).ok(), alone) << text;
    }
  }
}

// --- regions ---

struct Line {
  bool ok;
  std::string outcome;  // the compact value, or the message
  bool operator==(const Line&) const = default;
};

Line ParseLine(Reader* reader, std::string_view text) {
  Document document;
  const Status status = reader->Parse(text, &document);
  return {status.ok(), status.ok() ? Compact(document) : std::string(status.message())};
}

TEST(Region, TextsMayComeInAnyOrderAndFromElsewhere) {
  const std::string region = "{\"a\":1}\n[2]\n\n\"three\"\n4\n";
  const std::string_view view = region;
  Reader reader;
  reader.Prepare(view);
  const std::vector<std::string_view> texts = {view.substr(0, 7), view.substr(8, 3),
                                               view.substr(13, 7), view.substr(21, 1)};
  for (size_t i : {3u, 0u, 2u, 1u, 1u, 3u, 2u, 0u, 0u, 3u}) {
    EXPECT_EQ(ParseLine(&reader, texts[i]).outcome, texts[i]);
  }
  // Its tokens come from the region's index, where other tokens precede them.
  Document last;
  ASSERT_TRUE(reader.Parse(texts[3], &last).ok());
  EXPECT_GT(last.root(), 0u);
  EXPECT_EQ(ParseLine(&reader, view.substr(12, 0)).outcome, "not JSON: empty");
  EXPECT_EQ(ParseLine(&reader, "[5]").outcome, "[5]");
  EXPECT_EQ(ParseLine(&reader, texts[1]).outcome, "[2]");
}

TEST(Region, BoundsThatCutTokensChangeNothing) {
  const std::string region =
      R"({"a":"b\"c","d":[12.5e3,true,null]} "x\\" "y\"z" 345 -1 {"e":"  "} [[[ 1 ]]] )";
  const std::string_view view = region;
  Reader reader;
  for (size_t begin = 0; begin < view.size(); ++begin) {
    for (size_t size = 0; size <= view.size() - begin; ++size) {
      const std::string_view text = view.substr(begin, size);
      reader.Prepare(view);
      const Line in_region = ParseLine(&reader, text);
      Reader alone;
      ASSERT_EQ(in_region, ParseLine(&alone, text)) << text;
    }
  }
}

TEST(Region, MutatedLinesMeanTheSameAsAlone) {
  const std::vector<std::string> seeds = {
      R"({"id":123,"user":"u42","amount":512.33,"items":[{"sku":"a17","qty":3}],"ok":true})",
      R"(["\u00e9\ud83d\ude00\n", -0.5e-10, null, false, {}, [], {"a":{"b":[[]]}}])",
      R"( {"k" : "v\\" , "k" : "\"" } )",
      "\"\xC3\xA9\xF0\x9F\x98\x80\"",
      "[[[[[[1]]]]]]",
      "12345",
      "",
  };
  const std::string bytes = "{}[]:,\"\\ \t\r\fntfu0123456789.-+eE\xC3\xA9\xED\xA0x";
  std::mt19937 random(20240607);
  const auto below = [&](size_t n) { return random() % n; };
  size_t accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> lines;
    for (size_t n = 1 + below(6); n > 0; --n) {
      std::string line = seeds[below(seeds.size())];
      for (size_t edits = below(3); edits > 0 && !line.empty(); --edits) {
        const size_t at = below(line.size());
        switch (below(3)) {
          case 0:
            line[at] = bytes[below(bytes.size())];
            break;
          case 1:
            line.erase(at, 1 + below(4));
            break;
          default:
            line.insert(at, 1, bytes[below(bytes.size())]);
        }
      }
      lines.push_back(line);
    }
    std::string region;
    for (const std::string& line : lines) region += line + "\n";
    Reader reader;
    reader.Prepare(region);
    size_t begin = 0;
    for (const std::string& line : lines) {
      const Line in_region =
          ParseLine(&reader, std::string_view(region).substr(begin, line.size()));
      Reader alone;
      ASSERT_EQ(in_region, ParseLine(&alone, line)) << region;
      accepted += in_region.ok;
      begin += line.size() + 1;
    }
  }
  EXPECT_GT(accepted, 1000u);
}

// --- reading a document ---

class DocumentTest : public ::testing::Test {
 protected:
  const Document& Parse(std::string_view text) {
    const Status status = reader_.Parse(text, &document_);
    EXPECT_TRUE(status.ok()) << status.message();
    return document_;
  }
  std::string FindRaw(std::string_view text, std::string_view name) {
    const Document& document = Parse(text);
    const Node found = document.Find(document.root(), name);
    return found == kNoNode ? "(none)" : std::string(document.Raw(found));
  }

  Reader reader_;
  Document document_;
};

TEST_F(DocumentTest, TypesAndSpellings) {
  const Document& d =
      Parse(" [ null , true , false , -1.50e+2 , \"s\" , [ 1 , 2 ] , { \"a\" : 1 } ] ");
  const std::vector<std::pair<Type, std::string>> expected = {
      {Type::kNull, "null"},           {Type::kTrue, "true"},    {Type::kFalse, "false"},
      {Type::kNumber, "-1.50e+2"},     {Type::kString, "\"s\""}, {Type::kArray, "[ 1 , 2 ]"},
      {Type::kObject, "{ \"a\" : 1 }"}};
  size_t i = 0;
  for (Node n = d.First(d.root()); n != kNoNode; n = d.Next(n), ++i) {
    ASSERT_LT(i, expected.size());
    EXPECT_EQ(d.type(n), expected[i].first);
    EXPECT_EQ(d.Raw(n), expected[i].second);
    EXPECT_EQ(d.At(d.root(), i), n);
  }
  EXPECT_EQ(i, expected.size());
  EXPECT_EQ(d.At(d.root(), i), kNoNode);
}

TEST_F(DocumentTest, EmptyContainersHaveNoFirst) {
  for (std::string_view text : {"[]", "{}", "[ ]", "{\t}"}) {
    const Document& d = Parse(text);
    EXPECT_EQ(d.First(d.root()), kNoNode) << text;
  }
}

TEST_F(DocumentTest, FindTakesTheLastOfDuplicates) {
  EXPECT_EQ(FindRaw(R"({"a":1,"b":{"a":2},"a" : [3],"c":4})", "a"), "[3]");
  EXPECT_EQ(FindRaw(R"({"a":1,"\u0061":2})", "a"), "2");
  EXPECT_EQ(FindRaw(R"({"\u0061":2,"a":1})", "a"), "1");
}

TEST_F(DocumentTest, FindComparesTheNameAsText) {
  EXPECT_EQ(FindRaw(R"({"a\/b":1})", "a/b"), "1");
  EXPECT_EQ(FindRaw(R"({"a\"b":1})", "a\"b"), "1");
  EXPECT_EQ(FindRaw("{\"\\u00e9\":1}", "\xC3\xA9"), "1");
  EXPECT_EQ(FindRaw(R"({"":1})", ""), "1");
  EXPECT_EQ(FindRaw(R"({"ab":1,"abc":2})", "abc"), "2");
  EXPECT_EQ(FindRaw(R"({"abc":2})", "ab"), "(none)");
  EXPECT_EQ(FindRaw(R"({"a"  :2})", "a\" "), "(none)");
}

TEST_F(DocumentTest, FindOfAbsentNamesAndEmptyObjects) {
  EXPECT_EQ(FindRaw("{}", "a"), "(none)");
  EXPECT_EQ(FindRaw(R"({"b":{"a":1}})", "a"), "(none)");
}

TEST_F(DocumentTest, CompactKeepsSpellings) {
  EXPECT_EQ(
      Compact(Parse(" { \"k\" : 1.0 ,\n\"e\":1e2, \"s\" : \" a\\/b \" , \"l\" : [ 1 ,2 ] } ")),
      R"({"k":1.0,"e":1e2,"s":" a\/b ","l":[1,2]})");
  const Document& d = Parse(R"({"a": {"b": [1, 2]}, "c": 3})");
  std::string part;
  AppendCompact(d, d.Find(d.root(), "a"), &part);
  EXPECT_EQ(part, R"({"b":[1,2]})");
}

}  // namespace
}  // namespace kstream::json
