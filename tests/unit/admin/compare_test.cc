// Two states side by side, and a directory beside its changelog.
#include "admin/compare.h"

#include <gmock/gmock.h>

#include <fstream>

#include "dsl/window_key.h"
#include "unit/admin/inspected_app.h"

namespace kstream::admin {
namespace {

using store::Change;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CompareTest : public InspectedApp {
 protected:
  struct Outcome {
    Status status;
    std::vector<std::string> differences;
    std::vector<InstanceVerdict> verdicts;
  };
  Outcome Verify(const RowQuery& query = {}) {
    Outcome outcome;
    auto verdicts = Open(true)->Verify(query, [&](const RowDifference& difference) {
      outcome.differences.push_back(DifferenceToJson(difference, "here", "log"));
    });
    outcome.status = verdicts.status();
    if (verdicts.ok()) outcome.verdicts = *verdicts;
    return outcome;
  }
  std::string Dump(const std::string& name, const std::string& lines) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << lines;
    return path;
  }
  // Compares two sides; how many rows, then the differences.
  std::vector<std::string> Compare(const StateSource& left, const StateSource& right,
                                   const RowQuery& query = {}) {
    std::vector<std::string> seen;
    const auto a = OpenSide(left, left.state.from_changelog ? Cluster() : nullptr, &kTime, query);
    const auto b = OpenSide(right, right.state.from_changelog ? Cluster() : nullptr, &kTime, query);
    if (!a.ok() || !b.ok()) return {std::string((a.ok() ? b.status() : a.status()).message())};
    const auto rows = CompareSides(a->get(), b->get(), query, [&](const RowDifference& difference) {
      seen.push_back(DifferenceToJson(difference, "a", "b"));
    });
    seen.insert(seen.begin(),
                rows.ok() ? std::to_string(*rows) : std::string(rows.status().message()));
    return seen;
  }
  StateSource FileOf(const std::string& path) const {
    return {.state = {.app = "", .state_dir = folder_.path()}, .dump = path};
  }
};

TEST_F(CompareTest, AStoreThatIsAsItsChangelogHasNoDifference) {
  Ran();
  Journal("b", "0", 5);
  Journal("c", "0", 5);
  Journal("c", std::nullopt, 6);
  Journal("a", "1", 10);
  Keep(0, {{"a", "1", 10}, {"b", "0", 5}}, After(3, "a", "1"));
  const Outcome outcome = Verify();
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_THAT(outcome.differences, IsEmpty());
  ASSERT_EQ(outcome.verdicts.size(), 1u);  // nothing of task 1 is here
  EXPECT_EQ(outcome.verdicts[0].rows, 2u);
  EXPECT_EQ(outcome.verdicts[0].offset, 4);
}

TEST_F(CompareTest, EachRowThatDiffersIsTold) {
  Ran();
  Journal("gone", "1", 5);
  Journal("other", "1", 5);
  Journal("time", "1", 5);
  Journal("same", "1", 5);
  Keep(0, {{"more", "1", 5}, {"other", "2", 5}, {"same", "1", 5}, {"time", "1", 6}},
       After(3, "same", "1"));
  const Outcome outcome = Verify();
  const std::string begin = R"({"store":"cnt","task":0,"key":)";
  EXPECT_THAT(
      outcome.differences,
      ElementsAre(
          begin + R"("gone","here":null,"log":{"value":1,"timestamp":5}})",
          begin + R"("more","here":{"value":1,"timestamp":5},"log":null})",
          begin + R"("other","here":{"value":2,"timestamp":5},"log":{"value":1,"timestamp":5}})",
          begin + R"("time","here":{"value":1,"timestamp":6},"log":{"value":1,"timestamp":5}})"));
  EXPECT_EQ(outcome.verdicts[0].rows, 5u);
  EXPECT_EQ(outcome.verdicts[0].differing, 4u);
}

// A store is compared as of its own offset; what has changed since may be compacted away.
TEST_F(CompareTest, WhatChangedSinceIsComparedOnlyIfItIsStillThere) {
  Ran();
  Journal("a", "1", 10);
  Journal("b", "1", 10);
  Journal("a", "2", 20);
  Journal("z", "1", 20);
  Keep(0, {{"a", "1", 10}, {"b", "1", 10}}, After(1, "b", "1"));
  Outcome outcome = Verify();
  EXPECT_THAT(outcome.differences, IsEmpty());
  EXPECT_EQ(outcome.verdicts[0].rows, 2u);
  EXPECT_EQ(outcome.verdicts[0].superseded, 0u);
  // As a compacted log has it, without the former value of `a`.
  Keep(0, {{"a", "0", 9}, {"b", "1", 10}}, After(1, "b", "1"));
  outcome = Verify();
  EXPECT_THAT(outcome.differences, IsEmpty());
  EXPECT_EQ(outcome.verdicts[0].rows, 1u);
  EXPECT_EQ(outcome.verdicts[0].superseded, 1u);
}

TEST_F(CompareTest, WhatWasAbortedIsNotInTheChangelog) {
  Ran();
  const auto transaction = cluster_.BeginTransaction();
  cluster_.Produce(kLog, 0, {.key = "a", .value = "lost"}, transaction);
  cluster_.EndTransaction(transaction, /*commit=*/false);
  const int64_t offset = Journal("b", "1", 10);
  Keep(0, {{"b", "1", 10}}, After(offset, "b", "1"));
  const Outcome outcome = Verify();
  EXPECT_THAT(outcome.differences, IsEmpty());
  EXPECT_EQ(outcome.verdicts[0].rows, 1u);
}

TEST_F(CompareTest, AStoreThatIsOfNoSuchChangelogCannotBeCompared) {
  Ran();
  Journal("a", "1", 10);
  const std::vector<Change> rows{{"a", "1", 10}};
  Keep(0, rows, {incarnation_, 7, 6, 0, 0});
  EXPECT_THAT(std::string(Verify().status.message()),
              HasSubstr("up to offset 7, and that ends at 1"));
  Keep(0, rows, {std::string(32, 'b'), 1, 0, 0, 0});
  EXPECT_THAT(std::string(Verify().status.message()), HasSubstr("of another incarnation"));
  Keep(0, rows, {incarnation_, 1, 0, 12345, 0});
  EXPECT_THAT(std::string(Verify().status.message()), HasSubstr("offset 0 is another than it was"));
  EXPECT_EQ(Verify().status.code(), StatusCode::kState);
  EXPECT_EQ(Open(false)->Verify({}, nullptr).status().code(), StatusCode::kUsage);
}

TEST_F(CompareTest, NothingHereIsNothingCompared) {
  Ran();
  Journal("a", "1", 10);
  EXPECT_EQ(Verify().status.code(), StatusCode::kState);
}

TEST_F(CompareTest, ADumpIsComparedWithAChangelogRowByRow) {
  Ran();
  Journal("a", "1", 10);
  Journal("c", "3", 30, /*task=*/1);
  const StateSource changelog{
      .state = {.app = "app", .state_dir = folder_.path(), .from_changelog = true}, .dump = ""};
  const std::string same = R"({"store":"cnt","task":1,"key":"c","value":3,"timestamp":30})"
                           "\n"
                           R"({"store":"cnt","task":0,"key":"a","value":9,"timestamp":10})"
                           "\n\n"
                           R"({"store":"cnt","task":0,"key":"a","value":1,"timestamp":10})";
  EXPECT_THAT(Compare(FileOf(Dump("same", same)), changelog), ElementsAre("2"));
  EXPECT_THAT(
      Compare(changelog, FileOf(Dump("less", same.substr(0, same.find('\n'))))),
      ElementsAre("2", R"({"store":"cnt","task":0,"key":"a","a":{"value":1,"timestamp":10},)"
                       R"("b":null})"));
  EXPECT_THAT(Compare(changelog, FileOf(Dump("same", same)), {.store = "cnt", .task = 1}),
              ElementsAre("1"));
  EXPECT_THAT(Compare(changelog, FileOf(Dump("same", same)), {.store = "other"}),
              ElementsAre("neither side has a store other"));
}

TEST_F(CompareTest, RowsOfWindowsAreToldByGroupAndWindow) {
  Keep(0,
       {{dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0},
        {dsl::WindowPrefix(10'000) + "a", "1", 10'001}},
       {"", 0, -1, 0, 0});
  const StateSource here{.state = {.app = "app", .state_dir = folder_.path()}, .dump = ""};
  EXPECT_THAT(Compare(here, FileOf(Dump("none", ""))),
              ElementsAre("2",
                          R"({"store":"cnt","task":0,"key":"\u0000\u0000\u0000\u0000\u0000\u0000)"
                          R"(\u0000\u0000","a":{"value":{"windows":"tumbling:10000ms"},)"
                          R"("timestamp":0},"b":null})",
                          R"({"store":"cnt","task":0,"key":"a","window_start":10000,)"
                          R"("window_end":20000,"a":{"value":1,"timestamp":10001},"b":null})"));
}

}  // namespace
}  // namespace kstream::admin
