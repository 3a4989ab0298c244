// The page says what the table of the code says: every family, in the same order, and no other.
#include "metrics/names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "fmt/format.h"

namespace kstream::metrics {
namespace {

std::string Page() {
  std::ifstream file(KSTREAM_SOURCE "/share/doc/kstream/metrics.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Quoted(std::string_view words) {
  std::string text;
  ForEachWord(words, [&](std::string_view word) { text += fmt::format(" `{}`", word); });
  return text.empty() ? "" : text.substr(1);
}

std::string_view TypeWord(const Family& family) {
  switch (family.type) {
    case Type::kCounter:
      return "counter";
    case Type::kHistogram:
      return "histogram";
    case Type::kGauge:
    case Type::kState:
      break;
  }
  return "gauge";
}

std::string Labels(const Family& family) {
  const bool state = family.type == Type::kState;
  return Quoted(std::string(family.labels) +
                (state ? family.labels.empty() ? "state" : " state" : ""));
}

TEST(Names, ThePageHasTheTable) {
  std::string table = "| name | type | labels | meaning |\n|---|---|---|---|\n";
  for (const Family& family : kFamilies) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", family.name, TypeWord(family), Labels(family),
                         family.help);
  }
  EXPECT_NE(Page().find("\n" + table + "\n"), std::string::npos)
      << "share/doc/kstream/metrics.md should have this table:\n"
      << table;
}

TEST(Names, ThePageHasTheStates) {
  for (const Family& family : kFamilies) {
    if (family.type != Type::kState) continue;
    const std::string line = fmt::format("- `{}`: {}\n", family.name, Quoted(family.states));
    EXPECT_NE(Page().find("\n" + line), std::string::npos) << line;
  }
}

TEST(Names, ThePageNamesNoFamilyThatDoesNotExist) {
  std::set<std::string, std::less<>> known;
  for (const Family& family : kFamilies) known.emplace(family.name);
  const std::string page = Page();
  size_t found = 0;
  for (size_t at = page.find("kstream_"); at != std::string::npos; at = page.find("kstream_", at)) {
    const size_t end = page.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    std::string_view word = std::string_view(page).substr(at, end - at);
    if (!known.contains(word)) {
      for (std::string_view series : {"_bucket", "_sum", "_count"}) {
        if (word.ends_with(series)) word.remove_suffix(series.size());
      }
    }
    EXPECT_TRUE(known.contains(word)) << word;
    found++;
    at = end;
  }
  EXPECT_GE(found, known.size());
}

TEST(Names, AreFoundAtCompileTime) {
  static_assert(Name<Type::kState>("kstream_runtime_state").index() == 0);
  constexpr Name<Type::kGauge> last = "kstream_standby_lag_records";
  static_assert(last.index() == std::size(kFamilies) - 1);
}

TEST(Names, WordsAreSplitAtSpaces) {
  std::string seen;
  ForEachWord("", [&](std::string_view word) { seen += fmt::format("<{}>", word); });
  EXPECT_EQ(seen, "");
  ForEachWord("a bc d", [&](std::string_view word) { seen += fmt::format("<{}>", word); });
  EXPECT_EQ(seen, "<a><bc><d>");
}

}  // namespace
}  // namespace kstream::metrics
