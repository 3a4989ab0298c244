// Test files out of arbitrary bytes: one is read, or the mistake in it is told at its place. And
// what --update writes for what came is a test file that expects just that.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "topology_test/check.h"
#include "topology_test/test_file.h"

namespace {

using namespace kstream::topology_test;
using kstream::Result;
using kstream::TestRecord;
using kstream::TestRow;
using kstream::TextEdit;

constexpr const char* kName = "fuzz.test.json";

void Require(bool condition) {
  if (!condition) std::abort();
}

// Of what there is in topics and stores: JSON in several spellings, text, bytes, nothing.
const std::vector<Item>& Records() {
  static const auto* const items = new std::vector<Item>{
      Item::Of(
          TestRecord{.key = "u1", .value = R"({"a":1,"b":[{"c":1.50},null]})", .timestamp = 0}),
      Item::Of(TestRecord{.key = "u1", .headers = {{"h", "1"}, {"h", {}}}, .partition = 1}),
      Item::Of(TestRecord{.value = R"({"id":100000000000000001,"a":1e0,"":{}})", .offset = 1}),
      Item::Of(TestRecord{.key = "\xff", .value = "text", .partition = 1, .offset = 1}),
      Item::Of(TestRecord{.key = "", .value = "\xfe", .headers = {{"b", "\xff"}}})};
  return *items;
}
const std::vector<Item>& Rows() {
  static const auto* const items = new std::vector<Item>{
      Item::Of(TestRow{"0_0", "u1", R"({"count":3})", 1000, 0, 60000}),
      Item::Of(TestRow{"1_2", "\xff", "[1,[],{}]", 0}), Item::Of(TestRow{"0_0", "", "", 0})};
  return *items;
}

// All lists of expectations in a file, and whether they are of rows.
std::vector<std::pair<const Expectation*, bool>> ExpectationsOf(const TestFile& file) {
  std::vector<std::pair<const Expectation*, bool>> all;
  for (const Case& test : file.cases) {
    for (const Action& action : test.actions) {
      if (const auto* const topics = std::get_if<ExpectTopics>(&action.what)) {
        for (const Expectation& topic : topics->topics) all.emplace_back(&topic, false);
      } else if (const auto* const stores = std::get_if<ExpectStores>(&action.what)) {
        for (const Expectation& store : stores->stores) all.emplace_back(&store, true);
      }
    }
  }
  return all;
}

CheckResult CheckOne(const TestFile& file, size_t number) {
  const auto [expectation, rows] = ExpectationsOf(file)[number];
  return rows ? CheckItems(*expectation, Rows(), "row", file.text->text())
              : CheckItems(*expectation, Records(), "record", file.text->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<TestFile> file = TestFile::Parse(text, kName);
  if (!file.ok()) {
    Require(file.status().message().starts_with(std::string(kName) + ":"));
    return 0;
  }
  const size_t lists = ExpectationsOf(*file).size();
  for (size_t i = 0; i < lists; ++i) {
    const CheckResult result = CheckOne(*file, i);
    Require(result.lines.empty() == result.edits.empty());
    std::string edited = text;
    for (const TextEdit& edit : result.edits) edited.replace(edit.begin, edit.size, edit.text);
    const Result<TestFile> again = TestFile::Parse(std::move(edited), kName);
    Require(again.ok() && ExpectationsOf(*again).size() == lists);
    Require(CheckOne(*again, i).lines.empty());
  }
  return 0;
}
