// The command line as a whole: what reaches the setters, in which order, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/flag.h"
#include "common/generate.h"
#include "common/help.h"
#include "common/parse.h"

namespace kstream::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    auto note = [this](std::string_view name) {
      return [this, name](std::string_view value) {
        seen_.push_back(std::string(name) + "=" + std::string(value));
        return Status::Ok();
      };
    };
    line_.groups.push_back(
        {"Things",
         {{.names = "-i,--input,--in-put", .metavar = "SRC", .help = "read", .set = note("i")},
          {.names = "-n,--dry-run", .metavar = "", .help = "dry", .set = note("n")},
          {.names = "-q", .metavar = "", .help = "quiet", .set = note("q")},
          {.names = "--explain",
           .metavar = "FORM",
           .help = "explain",
           .choices = {"text", "json"},
           .optional_value = true,
           .set = note("explain")},
          {.names = "--threads", .metavar = "N", .help = "threads", .option = &options_}}});
    line_.positional = {"EXPR", "what", note("EXPR")};
  }

  Status ParseWords(const std::vector<std::string>& words) {
    seen_.clear();
    return Parse(line_, words, &has_positional_);
  }

  CommandLine line_;
  std::vector<std::string> seen_;
  bool has_positional_ = false;
  RuntimeOptions options_;
};

TEST_F(CommandLineTest, SettersGetValuesInTheOrderTyped) {
  ASSERT_TRUE(ParseWords({"-i", "a", "-n", "--input=b", ".x", "-ic", "--in-put", "d"}).ok());
  EXPECT_THAT(seen_, ElementsAre("i=a", "n=true", "i=b", "EXPR=.x", "i=c", "i=d"));
  EXPECT_TRUE(has_positional_);
}

TEST_F(CommandLineTest, ARepeatedOptionDoesNotEatThePositional) {
  ASSERT_TRUE(ParseWords({"-i", "a", ".x"}).ok());
  EXPECT_THAT(seen_, ElementsAre("i=a", "EXPR=.x"));
}

TEST_F(CommandLineTest, BracketsAreText) {
  ASSERT_TRUE(ParseWords({"-i", "[a,b]", "[.a, .b]"}).ok());
  EXPECT_THAT(seen_, ElementsAre("i=[a,b]", "EXPR=[.a, .b]"));
}

TEST_F(CommandLineTest, ShortSwitchesMayBeJoined) {
  ASSERT_TRUE(ParseWords({"-nqi", "a"}).ok());
  EXPECT_THAT(seen_, ElementsAre("n=true", "q=true", "i=a"));
  EXPECT_FALSE(has_positional_);
}

TEST_F(CommandLineTest, AnOptionalValueComesWithEqualsOnly) {
  ASSERT_TRUE(ParseWords({"--explain", "json"}).ok());
  EXPECT_THAT(seen_, ElementsAre("explain=true", "EXPR=json"));
  ASSERT_TRUE(ParseWords({"--explain=json"}).ok());
  EXPECT_THAT(seen_, ElementsAre("explain=json"));
  EXPECT_EQ(ParseWords({"--explain=xml"}).message(), "--explain: 'xml' is none of text, json");
}

TEST_F(CommandLineTest, AValueMayBeginWithADash) {
  ASSERT_TRUE(ParseWords({"-i", "-5"}).ok());
  EXPECT_THAT(seen_, ElementsAre("i=-5"));
  ASSERT_TRUE(ParseWords({"-i", "--dry-run"}).ok());
  EXPECT_THAT(seen_, ElementsAre("i=--dry-run"));
}

TEST_F(CommandLineTest, AfterDashesEverythingIsThePositional) {
  ASSERT_TRUE(ParseWords({"-n", "--", "-.x"}).ok());
  EXPECT_THAT(seen_, ElementsAre("n=true", "EXPR=-.x"));
  EXPECT_THAT(std::string(ParseWords({"--", "-a", "-b"}).message()),
              HasSubstr("unexpected argument '-b'"));
}

TEST_F(CommandLineTest, MistakesNameTheFlag) {
  EXPECT_EQ(ParseWords({"--thread", "3"}).message(),
            "unknown flag --thread: did you mean --threads?");
  EXPECT_EQ(ParseWords({"--thread=3"}).message(), "unknown flag --thread: did you mean --threads?");
  EXPECT_EQ(ParseWords({"--something-else"}).message(), "unknown flag --something-else");
  EXPECT_EQ(ParseWords({"-z"}).message(), "unknown flag -z: an EXPR that begins with - follows --");
  EXPECT_EQ(ParseWords({"--threads"}).message(), "--threads: its value is missing");
  EXPECT_EQ(ParseWords({"-ni"}).message(), "-i: its value is missing");
  EXPECT_EQ(ParseWords({"--threads=", "3"}).message(), "--threads: empty value");
  EXPECT_EQ(ParseWords({"--threads", "300"}).message(), "--threads: 300 is not between 1 and 256");
  EXPECT_EQ(ParseWords({"--threads", "1e3"}).message(), "--threads: '1e3' is not a whole number");
  EXPECT_EQ(ParseWords({"--threads", "99999999999999999999"}).message(),
            "--threads: 99999999999999999999 is not between 1 and 256");
  for (const Status& status :
       {ParseWords({"-z"}), ParseWords({"--threads"}), ParseWords({"a", "b"})}) {
    EXPECT_EQ(status.code(), StatusCode::kUsage);
  }
}

TEST_F(CommandLineTest, NothingIsSetWhenAWordIsUnknown) {
  EXPECT_FALSE(ParseWords({"-i", "a", "--unknown"}).ok());
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(CommandLineTest, HelpAndGeneratedTextsLeaveHiddenFlagsOut) {
  line_.groups.push_back(
      {"", {{.names = "--hidden", .metavar = "", .help = "", .set = Set(&has_positional_)}}});
  EXPECT_TRUE(ParseWords({"--hidden"}).ok());
  std::string texts = Help("tool", "Does things", line_);
  for (const char* what : {"man", "bash", "zsh", "fish"}) texts += Generate("tool", line_, what);
  EXPECT_THAT(texts, HasSubstr("--dry-run"));
  EXPECT_EQ(texts.find("hidden"), std::string::npos);
}

}  // namespace
}  // namespace kstream::tools
