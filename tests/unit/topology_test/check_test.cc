#include "topology_test/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/topology_test/parsed.h"

namespace kstream::topology_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A file that is {"out": LIST}, and what came: numbers.
struct Checked {
  Checked(const std::string& json, const std::vector<int>& numbers) : file(json) {
    const auto members = file.root().Members("");
    Expectation expectation{{"out", (*members)[0].name_value}, (*members)[0].value};
    const auto items = expectation.list.Items("");
    for (const auto& item : *items) {
      expectation.items.push_back(*WantedItem::Parse(item, WantedItem::What::kRecord));
    }
    std::vector<Item> came;
    for (const int number : numbers) {
      came.push_back(Item::Of(TestRecord{.key = "k", .value = std::to_string(number)}));
    }
    result = CheckItems(expectation, came, "record", file.text->text());
  }

  std::string Edited() const {
    std::string text = file.text->text();
    for (const TextEdit& edit : result.edits) text.replace(edit.begin, edit.size, edit.text);
    return text;
  }

  Parsed file;
  CheckResult result;
};

TEST(CheckTest, NothingIsSaidOfWhatIsAsExpected) {
  const Checked checked(R"({"out": [{"value": 1}, {"value": 2}]})", {1, 2});
  EXPECT_THAT(checked.result.lines, IsEmpty());
  EXPECT_THAT(checked.result.edits, IsEmpty());
}

TEST(CheckTest, TheFirstDifferenceIsToldWithItsPlaceAndItsNeighbours) {
  const Checked checked("{\"out\": [{\"value\": 1},\n {\"value\": 2},\n {\"value\": 3}]}",
                        {1, 5, 3});
  EXPECT_THAT(checked.result.lines,
              ElementsAre("t.json:2:2: out: record 2 is not as expected", R"(      {"value":1})",
                          R"(    - {"value":2})", R"(    + {"value":5})",
                          "      value: expected 2, came 5", R"(      {"value":3})"));
}

TEST(CheckTest, MissingAndUnexpectedRecordsAreSuch) {
  EXPECT_THAT(Checked(R"({"out": [{"value": 1}, {"value": 2}]})", {1}).result.lines,
              ElementsAre("t.json:1:24: out: record 2 is missing", R"(      {"value":1})",
                          R"(    - {"value":2})"));
  EXPECT_THAT(Checked(R"({"out": [{"value": 1}]})", {1, 2}).result.lines,
              ElementsAre("t.json:1:2: out: a record came that is not expected",
                          R"(      {"value":1})", R"(    + {"key":"k","value":2})"));
  EXPECT_THAT(
      Checked(R"({"out": []})", {2}).result.lines,
      ElementsAre("t.json:1:2: out: no record is expected", R"(    + {"key":"k","value":2})"));
}

TEST(CheckTest, LongListsAreCutToWhereTheyPart) {
  std::string json = R"({"out": [)";
  std::vector<int> came;
  for (int i = 0; i < 100; ++i) {
    json += (i > 0 ? ", " : "") + std::string("{\"value\": ") + std::to_string(i) + "}";
    came.push_back(i == 50 ? -1 : i);
  }
  const Checked checked(json + "]}", came);
  EXPECT_EQ(checked.result.lines.size(), 10U);
  EXPECT_THAT(checked.result.lines, testing::Contains("    ... 48 as expected"));
  EXPECT_THAT(checked.result.lines, testing::Contains("    ... 47 as expected"));
  const Checked all_wrong(json + "]}", std::vector<int>(100, -1));
  EXPECT_EQ(all_wrong.result.lines.back(), "    ... and more");
  EXPECT_LT(all_wrong.result.lines.size(), 40U);
}

TEST(CheckTest, AnEditKeepsWhatIsAsExpectedAndTheWhiteSpace) {
  EXPECT_EQ(Checked("{\"out\": [\n  {\"value\":   1},\n  {\"value\": 2}\n]}", {1, 3, 4}).Edited(),
            "{\"out\": [\n  {\"value\":   1},\n  {\"value\": 3},\n  {\"value\":4}\n]}");
  EXPECT_EQ(Checked(R"({"out": [{"value": 1}, {"value": 2}]})", {2}).Edited(),
            R"({"out": [{"value": 2}]})");
  EXPECT_EQ(Checked(R"({"out": [{"value": 1}]})", {}).Edited(), R"({"out": []})");
  EXPECT_EQ(Checked(R"({"out": []})", {1, 2}).Edited(),
            "{\"out\": [{\"key\":\"k\",\"value\":1},\n         {\"key\":\"k\",\"value\":2}]}");
  EXPECT_EQ(Checked("{\"out\": [\n    {\"value\": 1}]}", {1, 2}).Edited(),
            "{\"out\": [\n    {\"value\": 1},\n    {\"value\":2}]}");
}

}  // namespace
}  // namespace kstream::topology_test
