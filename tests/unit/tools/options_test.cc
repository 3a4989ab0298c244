// The flags of the tools and the options of the library are the same ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/flag.h"
#include "common/parse.h"
#include "common/stage_options.h"
#include "kstream/runtime.h"

namespace kstream::tools {
namespace {

using testing::Not;

// What says where records are, how they look and what is printed: not how the topology is run.
const std::set<std::string_view> kOfTheTool = {
    "--input", "--output",    "--in",        "--out",     "-J",           "--format",
    "--key",   "--timestamp", "--partition", "--explain", "--print-spec", "--timestamp-unit",
    "--http",  "--token",
};

class FlagTableTest : public testing::Test {
 protected:
  FlagTableTest() {
    AddStageFlags(&options_, &line_);
    for (const FlagGroup& group : line_.groups) {
      for (const Flag& flag : group.flags) {
        if (!kOfTheTool.contains(MainName(flag))) of_the_runtime_.push_back(&flag);
      }
    }
  }

  static std::string_view Bare(std::string_view name) {
    return name.substr(name.find_first_not_of('-'));
  }

  StageOptions options_;
  CommandLine line_;
  std::vector<const Flag*> of_the_runtime_;
};

TEST_F(FlagTableTest, EveryFlagOfTheRuntimeIsAnOptionInEachOfItsSpellings) {
  EXPECT_GE(of_the_runtime_.size(), 28u);
  for (const Flag* flag : of_the_runtime_) {
    for (const std::string_view name : Names(*flag)) {
      // No value at all is a mistake of every option, so nothing is touched.
      EXPECT_EQ(RuntimeOptions().Set(Bare(name), "").message(),
                std::string(MainName(*flag)) + ": empty value");
    }
  }
}

TEST_F(FlagTableTest, TheChoicesOfAFlagAreThoseOfItsOption) {
  for (const Flag* flag : of_the_runtime_) {
    if (flag->choices.empty()) continue;
    std::string all;
    for (const std::string_view choice : flag->choices) {
      const Status status = RuntimeOptions().Set(Bare(MainName(*flag)), choice);
      EXPECT_THAT(std::string(status.message()), Not(testing::HasSubstr("is none of")));
      all += (all.empty() ? "" : ", ") + std::string(choice);
    }
    EXPECT_EQ(RuntimeOptions().Set(Bare(MainName(*flag)), "x").message(),
              std::string(MainName(*flag)) + ": 'x' is none of " + all);
  }
}

TEST_F(FlagTableTest, AFlagHasOneWhoTakesItsValue) {
  for (const FlagGroup& group : line_.groups) {
    for (const Flag& flag : group.flags) {
      EXPECT_NE(flag.option != nullptr, flag.set != nullptr) << flag.names;
    }
  }
}

TEST_F(FlagTableTest, ASwitchIsOneOnBothSides) {
  for (const Flag* flag : of_the_runtime_) {
    if (!flag->metavar.empty()) continue;
    EXPECT_TRUE(RuntimeOptions().Set(Bare(MainName(*flag)), "true").ok()) << flag->names;
  }
}

TEST_F(FlagTableTest, ValuesReachTheOptions) {
  bool has_positional = false;
  line_.positional = {"EXPR", "what", [](std::string_view) { return Status::Ok(); }};
  const Status status =
      Parse(line_,
            {"-G", "g", "--grouper", "by-topic", "--max-idle", "2s", "--max-skew=1h", "-j3", "-en",
             "--from", "end", "-s", "key=json", "--create-output", "6:3"},
            &has_positional);
  ASSERT_TRUE(status.ok()) << status.message();
  const RuntimeOptions& runtime = options_.runtime;
  EXPECT_EQ(runtime.app, "g");
  EXPECT_EQ(runtime.grouper, "by-topic");
  EXPECT_EQ(runtime.max_idle, std::chrono::seconds(2));
  EXPECT_EQ(runtime.max_skew, std::chrono::hours(1));
  EXPECT_EQ(runtime.threads, 3);
  EXPECT_TRUE(runtime.exit_at_end && runtime.dry_run && runtime.from_given);
  EXPECT_EQ(runtime.serdes.key, "json");
  EXPECT_EQ(runtime.create_output, std::pair(6, 3));
}

TEST_F(FlagTableTest, MistakesNameTheFlagOnce) {
  bool has_positional = false;
  line_.positional = {"EXPR", "what", [](std::string_view) { return Status::Ok(); }};
  EXPECT_EQ(Parse(line_, {"-j", "0"}, &has_positional).message(),
            "--threads: 0 is not between 1 and 256");
  EXPECT_EQ(Parse(line_, {"--grouper", "sticky"}, &has_positional).message(),
            "--grouper: 'sticky' is none of default, single, by-topic, broadcast:TOPIC");
  EXPECT_EQ(Parse(line_, {"--dry-run=false"}, &has_positional).message(),
            "--dry-run: takes no value");
}

}  // namespace
}  // namespace kstream::tools
