// The log's two forms, its levels, and that no message can break out of its line.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <thread>
#include <vector>

namespace kstream {
namespace {

std::string Logged(const LogOptions& options, const std::function<void()>& body) {
  SetLog(options);
  testing::internal::CaptureStderr();
  body();
  std::string text = testing::internal::GetCapturedStderr();
  SetLog({});
  return text;
}

LogOptions Named(LogLevel least, bool json = false) {
  return {.name = "kstream-map", .least = least, .json = json};
}

TEST(Log, WritesTextAsKcatDoes) {
  EXPECT_EQ(Logged(Named(LogLevel::kDebug),
                   [] {
                     Log(LogLevel::kDebug, "detail");
                     Log(LogLevel::kInfo, "done: 5 records");
                     Log(LogLevel::kWarning, "slow");
                     Log(LogLevel::kError, "orders[0]@2: not JSON");
                   }),
            "% detail\n% done: 5 records\nkstream-map: warning: slow\n"
            "kstream-map: error: orders[0]@2: not JSON\n");
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
  EXPECT_EQ(Logged(Named(LogLevel::kError),
                   [] {
                     EXPECT_FALSE(LogEnabled(LogLevel::kWarning));
                     EXPECT_TRUE(LogEnabled(LogLevel::kError));
                     Log(LogLevel::kInfo, "a");
                     Log(LogLevel::kWarning, "b");
                     Log(LogLevel::kError, "c");
                   }),
            "kstream-map: error: c\n");
}

TEST(Log, KeepsHostileMessagesOnOneLine) {
  EXPECT_EQ(
      Logged(Named(LogLevel::kInfo),
             [] { Log(LogLevel::kInfo, "a\nkstream-map: error: forged\x1b[2J {}\xff\xC3\xA9"); }),
      "% a\\u000akstream-map: error: forged\\u001b[2J {}\uFFFD\u00e9\n");
}

TEST(Log, WritesJsonWithTimeAndLevel) {
  EXPECT_THAT(Logged(Named(LogLevel::kInfo, true),
                     [] { Log(LogLevel::kWarning, "a \"quoted\" \\ line\n\xED\xA0\x80"); }),
              testing::MatchesRegex(R"(\{"ts":"[0-9-]+T[0-9:]+\.[0-9]+Z","level":"warning",)"
                                    R"("message":"a \\"quoted\\" \\\\ line\\u000a)"
                                    "\uFFFD\uFFFD\uFFFD"
                                    R"("\}
)"));
}

TEST(Log, KeepsLinesOfManyThreadsWhole) {
  std::string text = Logged(Named(LogLevel::kInfo), [] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 500; ++i)
          Log(LogLevel::kInfo, std::string(50, static_cast<char>('a' + t)));
      });
    }
    for (std::thread& t : threads) t.join();
  });
  std::istringstream lines(text);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    ++count;
    ASSERT_EQ(line.size(), 52u);
    ASSERT_EQ(line, "% " + std::string(50, line[2]));
  }
  EXPECT_EQ(count, 2000);
}

}  // namespace
}  // namespace kstream
