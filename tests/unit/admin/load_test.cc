// Rows put into a store: what is written, what is not, and what is refused.
#include <gmock/gmock.h>

#include <fstream>

#include "admin/app_load.h"
#include "dsl/window_key.h"
#include "unit/admin/inspected_app.h"

namespace kstream::admin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Line(const std::string& key, const std::string& value, int64_t time, int32_t task = 0) {
  return RowToJson({"cnt", task, key, value, time}) + "\n";
}

class LoadTest : public InspectedApp {
 protected:
  std::unique_ptr<AppLoad> Begin(const std::string& lines, bool replace = false,
                                 bool cluster = true) {
    load_ = {.app = "app", .state_dir = folder_.path(), .replace = replace};
    load_.input = folder_.path() + "/dump";
    // So that it is known that there are brokers.
    if (cluster) load_.home.brokers = "memory";
    std::ofstream(load_.input) << lines;
    return std::make_unique<AppLoad>(load_, cluster ? Cluster() : nullptr, &kTime);
  }
  // "TASK puts deletes same", of each step.
  static std::vector<std::string> Told(const Result<std::vector<LoadStep>>& steps) {
    if (!steps.ok()) return {std::string(steps.status().message())};
    std::vector<std::string> told;
    for (const LoadStep& step : *steps) {
      told.push_back(std::to_string(step.task) + " " + std::to_string(step.puts) + " " +
                     std::to_string(step.deletes) + " " + std::to_string(step.same));
    }
    return told;
  }
  std::vector<std::string> Stored() {
    return Rows(Open(true, true).get(), {.store = "cnt", .stored = true});
  }
  std::string Refused(const std::string& lines, StatusCode code, bool replace = false) {
    const std::vector<std::string> before = Stored();
    const auto planned = Begin(lines, replace)->Plan();
    EXPECT_EQ(planned.status().code(), code) << planned.status().message();
    const auto done = Begin(lines, replace)->Execute();
    EXPECT_EQ(done.status().code(), code) << done.status().message();
    EXPECT_EQ(Stored(), before);
    return std::string(done.status().message());
  }

  LoadOptions load_;
};

TEST_F(LoadTest, RowsAreWrittenToTheChangelogWhereTheyAreOther) {
  Ran();
  Journal("a", "1", 10);
  Journal("b", "2", 20);
  Journal("z", "9", 90);
  const std::string lines = Line("a", "1", 10) + Line("b", "3", 20) + Line("c", "4", 40, 1) +
                            R"({"store":"cnt","task":0,"key":"z","payload":null,"timestamp":1})" +
                            "\n" +
                            R"({"store":"cnt","task":0,"key":"y","payload":null,"timestamp":1})";
  EXPECT_THAT(Told(Begin(lines)->Plan()), ElementsAre("0 1 1 1", "1 1 0 0"));
  EXPECT_THAT(Stored(), ElementsAre("0 a=1@10", "0 b=2@20", "0 z=9@90"));
  EXPECT_THAT(Told(Begin(lines)->Execute()), ElementsAre("0 1 1 1", "1 1 0 0"));
  EXPECT_THAT(Stored(), ElementsAre("0 a=1@10", "0 b=3@20", "1 c=4@40"));
  EXPECT_THAT(Told(Begin(lines)->Execute()), ElementsAre("0 0 0 2", "1 0 0 1"));
}

// Which is older then than its changelog, as it may be at any time.
TEST_F(LoadTest, TheDirectoryIsLeftAsItIs) {
  Ran();
  Journal("a", "1", 10);
  Keep(0, {{"a", "1", 10}}, After(0, "a", "1"));
  ASSERT_THAT(Told(Begin(Line("a", "2", 20))->Execute()), ElementsAre("0 1 0 0"));
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10"));
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=2@20"));
}

TEST_F(LoadTest, ReplaceDeletesWhatTheInputDoesNotHave) {
  Ran();
  Journal("a", "1", 10);
  Journal("b", "2", 20);
  Journal("c", "3", 30, 1);
  EXPECT_THAT(Told(Begin(Line("b", "2", 20), true)->Execute()), ElementsAre("0 0 1 1", "1 0 1 0"));
  EXPECT_THAT(Stored(), ElementsAre("0 b=2@20"));
  EXPECT_THAT(Told(Begin("", true)->Plan()),
              ElementsAre(HasSubstr("--store says whose rows are replaced by none")));
}

TEST_F(LoadTest, ADumpGivesBackTheSameStore) {
  Ran();
  const std::string key = dsl::WindowPrefix(10'000) + "a\xff";
  Journal(dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0);
  Journal(key, std::string("\0\xfe", 2), 10'001);
  Journal(dsl::WindowPrefix(20'000) + "b", " {}", 20'001, 1);
  const std::vector<std::string> before = Stored();
  std::string dump;
  ASSERT_TRUE(Open(true, true)
                  ->Scan({.store = "cnt", .stored = true},
                         [&](const InspectedRow& row) {
                           dump += RowToJson(row) + "\n";
                           return true;
                         })
                  .ok());
  Journal(key, "other", 10'002);
  Journal(dsl::WindowPrefix(20'000) + "c", "1", 20'001);
  ASSERT_TRUE(Begin(dump, true)->Execute().ok());
  EXPECT_EQ(Stored(), before);
}

TEST_F(LoadTest, WhatWouldMakeAWrongStoreIsRefused) {
  Ran();
  Journal("a", "1", 10);
  EXPECT_THAT(Refused(Line("b", "1", 1, 2), StatusCode::kRefused),
              HasSubstr("a row is of task 2, and store cnt has 2 tasks"));
  EXPECT_THAT(Refused(R"({"store":"cnt","task":0,"tasks":3,"key":"k","value":1,"timestamp":1})",
                      StatusCode::kRefused),
              HasSubstr("a store with 3 tasks, and store cnt has 2"));
  EXPECT_THAT(
      Refused(Line("b", "1", 1) + R"({"store":"x","task":0,"key":"k","value":1,"timestamp":1})",
              StatusCode::kRefused),
      HasSubstr("dump:2: it is of store x, and others are of cnt"));
  EXPECT_THAT(Refused(Line("b", "1", 1) + "{", StatusCode::kData), HasSubstr("dump:2: "));
  EXPECT_THAT(
      Refused(Line(dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0), StatusCode::kRefused),
      HasSubstr("store cnt has no windows, and the rows are of some"));
}

TEST_F(LoadTest, RowsOfOtherWindowsAreRefused) {
  Ran();
  const std::string windows = R"({"windows":"tumbling:10000ms"})";
  Journal(dsl::kWindowsKey, windows, 0);
  Journal(dsl::WindowPrefix(10'000) + "a", "1", 10'001);
  EXPECT_THAT(Refused(Line("a", "1", 1), StatusCode::kRefused),
              HasSubstr("key a is none of its windows"));
  EXPECT_THAT(Refused(Line(dsl::WindowPrefix(15'000) + "a", "1", 15'000), StatusCode::kRefused),
              HasSubstr("is none of its windows"));
  EXPECT_THAT(
      Refused(Line(dsl::kWindowsKey, R"({"windows":"tumbling:20000ms"})", 0), StatusCode::kRefused),
      HasSubstr("its windows are "));
  // Of a whole store it need not be the same windows, but must be some.
  const std::string other = Line(dsl::kWindowsKey, R"({"windows":"tumbling:20000ms"})", 0);
  EXPECT_THAT(Refused(other + Line(dsl::WindowPrefix(10'000) + "a", "1", 10'001),
                      StatusCode::kRefused, true),
              HasSubstr("is none of its windows"));
  EXPECT_THAT(
      Told(Begin(other + Line(dsl::WindowPrefix(20'000) + "a", "1", 20'001), true)->Execute()),
      ElementsAre("0 2 1 0", "1 0 0 0"));
}

TEST_F(LoadTest, AStoreThatHasSeenMoreThanItsChangelogIsNotLoaded) {
  Ran();
  Journal("a", "1", 10);
  Keep(0, {{"a", "1", 10}}, {incarnation_, 7, 6, 0, 0});
  EXPECT_THAT(Refused(Line("a", "2", 10), StatusCode::kState), HasSubstr("records of it are gone"));
}

TEST_F(LoadTest, NothingIsLoadedWhileAMemberIsAlive) {
  Ran();
  transport::ConsumerOptions group;
  group.group = "app";
  const auto member = *Cluster()->NewConsumer(group);
  ASSERT_TRUE(member->Subscribe({kLog}).ok());
  const auto batch = member->NewBatch();
  ASSERT_TRUE(member->Poll(std::chrono::milliseconds(0), batch.get()).ok());
  EXPECT_THAT(Refused(Line("a", "1", 10), StatusCode::kRefused),
              HasSubstr("application app has 1 member"));
}

TEST_F(LoadTest, TheStoreOfARunOnFilesIsWrittenItself) {
  EXPECT_THAT(Told(Begin(Line("a", "1", 10) + Line("b", "2", 20, 1), false, false)->Plan()),
              ElementsAre("0 1 0 0", "1 1 0 0"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/app"));
  ASSERT_TRUE(Begin(Line("a", "1", 10) + Line("b", "2", 20, 1), false, false)->Execute().ok());
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10", "1 b=2@20"));
  EXPECT_THAT(Told(Begin(Line("a", "3", 30), true, false)->Execute()),
              ElementsAre("0 1 0 0", "1 0 1 0"));
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=3@30"));
}

TEST_F(LoadTest, AStoreThatHasAChangelogIsNotWrittenWithoutIt) {
  Keep(0, {{"a", "1", 10}}, {incarnation_, 1, 0, 0, 0});
  const auto done = Begin(Line("a", "2", 10), false, false)->Execute();
  EXPECT_EQ(done.status().code(), StatusCode::kRefused);
  EXPECT_THAT(std::string(done.status().message()), HasSubstr("give --brokers"));
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10"));
}

}  // namespace
}  // namespace kstream::admin
