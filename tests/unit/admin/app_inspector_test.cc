// Looking into directories and changelogs over a cluster in memory.
#include "admin/app_inspector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "dsl/span_key.h"
#include "dsl/window_key.h"
#include "unit/admin/inspected_app.h"

namespace kstream::admin {
namespace {

using store::Change;
using store::Checkpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AppInspectorTest : public InspectedApp {
 protected:
  // "key[START END=value", with what stands between and behind the ends of a window.
  std::vector<std::string> Windows(const RowQuery& query, const std::string& between,
                                   const std::string& close) {
    std::vector<std::string> rows;
    const Status status = Open(true, true)->Scan(query, [&](const InspectedRow& row) {
      rows.push_back(std::string(row.key) + "[" + std::to_string(row.window_start.value_or(-1)) +
                     between + std::to_string(row.window_end.value_or(-1)) + close + "=" +
                     std::string(row.value));
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return rows;
  }
  std::string Refused(AppInspector* inspector, StatusCode code, const RowQuery& query = {}) {
    const Status status = inspector->Scan(query, [](const InspectedRow&) { return true; });
    EXPECT_EQ(status.code(), code) << status.message();
    return std::string(status.message());
  }
};

TEST_F(AppInspectorTest, ADirectoryIsAsOfItsLastFlush) {
  Keep(0, {{"a", "1", 10}, {"b", "2", 20}}, {incarnation_, 7, 6, 0, 0});
  Keep(1, {{"c", "3", 30}}, {incarnation_, 4, 3, 0, 0});
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10", "0 b=2@20", "1 c=3@30"));
  RowQuery one{.task = 1};
  EXPECT_THAT(Rows(Open(false).get(), one), ElementsAre("1 c=3@30"));
  const auto list = *Open(false)->List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].offset, 7);
  EXPECT_EQ(list[0].incarnation, incarnation_);
  EXPECT_EQ(list[1].task, 1);
}

TEST_F(AppInspectorTest, RowsOfWindowsAreThoseOfGroups) {
  Ran();
  Journal(dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0);
  Journal(dsl::WindowPrefix(20'000) + "a", "2", 20'001);
  Journal(dsl::WindowPrefix(10'000) + "a", "1", 10'001);
  Journal(dsl::WindowPrefix(10'000) + "b", "3", 10'002);
  Journal(dsl::WindowPrefix(10'001) + "b", "not a window's", 10'002);
  const auto seen = [&](const RowQuery& query) { return Windows(query, ",", ")"); };
  EXPECT_THAT(seen({.store = "cnt"}),
              ElementsAre("a[10000,20000)=1", "b[10000,20000)=3", "a[20000,30000)=2"));
  RowQuery only{.store = "cnt"};
  only.Only("a");
  EXPECT_THAT(seen(only), ElementsAre("a[10000,20000)=1", "a[20000,30000)=2"));
  RowQuery at{.store = "cnt"};
  EXPECT_TRUE(at.AtWindow("19999").ok());
  EXPECT_THAT(seen(at), ElementsAre("a[10000,20000)=1", "b[10000,20000)=3"));
  EXPECT_TRUE(at.AtWindow("1970-01-01T00:00:20Z").ok());
  EXPECT_THAT(seen(at), ElementsAre("a[20000,30000)=2"));
  EXPECT_EQ(at.AtWindow("noon").code(), StatusCode::kUsage);
}

TEST_F(AppInspectorTest, RowsOfSessionsHaveTheirEnds) {
  using dsl::SpanKey;
  Ran();
  Journal(dsl::kWindowsKey, R"({"windows":"session:10ms"})", 0);
  Journal(SpanKey::Of(SpanKey::Kind::kSession, "a", 100), "1", 120);
  Journal(SpanKey::Of(SpanKey::Kind::kSession, "a", 140), "2", 140);
  Journal(SpanKey::Of(SpanKey::Kind::kSession, "ab", 90), "3", 100);
  Journal(dsl::TimerKey::Of(100, 100, "a"), "", 100);
  const auto seen = [&](const RowQuery& query) { return Windows(query, "..", "]"); };
  EXPECT_THAT(seen({.store = "cnt"}),
              ElementsAre("a[100..120]=1", "a[140..140]=2", "ab[90..100]=3"));
  RowQuery only{.store = "cnt"};
  only.Only("a");
  EXPECT_THAT(seen(only), ElementsAre("a[100..120]=1", "a[140..140]=2"));
  RowQuery at{.store = "cnt"};
  EXPECT_TRUE(at.AtWindow("100").ok());
  EXPECT_THAT(seen(at), ElementsAre("a[100..120]=1", "ab[90..100]=3"));
  EXPECT_EQ((*Open(true, true)->Totals({.store = "cnt"}))[0].windows, 3u);
}

TEST_F(AppInspectorTest, TheTailOfTheChangelogIsLaidOver) {
  Ran();
  Journal("a", "1", 10);
  Keep(0, {{"a", "1", 10}, {"b", "0", 5}}, After(0, "a", "1"));
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=1@10", "0 b=0@5"));
  Journal("a", "2", 11);
  Journal("b", std::nullopt, 12);
  Journal("c", "3", 13);
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=2@11", "0 c=3@13"));
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10", "0 b=0@5"));
  RowQuery only;
  only.Only("c");
  EXPECT_THAT(Rows(Open(true).get(), only), ElementsAre("0 c=3@13"));
}

TEST_F(AppInspectorTest, WhatWasAbortedIsNotSeen) {
  Ran();
  Journal("a", "1", 10);
  const auto transaction = cluster_.BeginTransaction();
  cluster_.Produce(kLog, 0, {.key = "a", .value = "lost"}, transaction);
  cluster_.EndTransaction(transaction, /*commit=*/false);
  EXPECT_THAT(Rows(Open(true, true).get()), ElementsAre("0 a=1@10"));
}

TEST_F(AppInspectorTest, AStoreThatARestoreWouldNotGoOnFromIsNotUsed) {
  Ran();
  Journal("a", "1", 10);
  Journal("a", "2", 11);
  const std::vector<Change> stale{{"a", "9", 9}, {"z", "9", 9}};
  for (const Checkpoint& at : {Checkpoint{std::string(32, 'b'), 1, 0, 0, 0},  // another's
                               Checkpoint{incarnation_, 1, 0, 12345, 0}}) {   // another log
    Keep(0, stale, at);
    EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=2@11"));
  }
}

// Its start would be refused, and what the directory has is nowhere else.
TEST_F(AppInspectorTest, AStoreBeyondTheEndOfItsChangelogIsShownAsItIs) {
  Ran();
  Journal("a", "1", 10);
  const std::vector<Change> more{{"a", "9", 9}, {"z", "9", 9}};
  Keep(0, more, Checkpoint{incarnation_, 7, 6, 0, 0});
  testing::internal::CaptureStderr();
  const std::vector<std::string> rows = Rows(Open(true).get());
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("store cnt has seen app-cnt-changelog[0] up to offset 7, and that ends at 1"));
  EXPECT_THAT(rows, ElementsAre("0 a=9@9", "0 z=9@9"));
}

TEST_F(AppInspectorTest, WithoutADirectoryAllIsInTheChangelog) {
  Ran();
  Journal("a", "1", 10);
  Journal("b", "2", 20);
  Journal("b", std::nullopt, 21);
  Journal("c", "3", 30, /*task=*/1);
  EXPECT_THAT(Rows(Open(true, true).get()), ElementsAre("0 a=1@10", "1 c=3@30"));
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=1@10", "1 c=3@30"));
  RowQuery query;
  query.Prefix("c");
  EXPECT_THAT(Rows(Open(true, true).get(), query), ElementsAre("1 c=3@30"));
  EXPECT_FALSE(std::filesystem::exists(options_.state_dir + "/app"));
  const auto totals = *Open(true, true)->Totals({});
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].rows, 1u);
  EXPECT_EQ(totals[1].newest, 30);
  // Deleted up to its end.
  cluster_.DeleteRecords({kLog, 0}, 3);
  EXPECT_THAT(Rows(Open(true, true).get()), ElementsAre("1 c=3@30"));
}

TEST_F(AppInspectorTest, WithBrokersATaskThatIsElsewhereIsReadFromItsChangelog) {
  Ran();
  Journal("a", "1", 10);
  Journal("c", "3", 30, /*task=*/1);
  Keep(0, {{"a", "1", 10}, {"b", "0", 5}}, After(0, "a", "1"));
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 a=1@10", "0 b=0@5", "1 c=3@30"));
  EXPECT_THAT(Rows(Open(false).get()), ElementsAre("0 a=1@10", "0 b=0@5"));
}

TEST_F(AppInspectorTest, AStoreWithoutAChangelogIsAsItIs) {
  Ran();
  Keep(0, {{"x", "1", 1}}, {incarnation_, 0, -1, 0, 0}, "unjournaled");
  EXPECT_THAT(Rows(Open(true).get(), {.store = "unjournaled"}), ElementsAre("0 x=1@1"));
}

TEST_F(AppInspectorTest, WindowsAreCounted) {
  Ran();
  const std::string early = dsl::WindowPrefix(10'000), late = dsl::WindowPrefix(30'000);
  const std::string keys[] = {early + "a", early + "b", late + "a"};  // changes are views
  const std::vector<Change> rows{{dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0},
                                 {keys[0], "1", 10'001},
                                 {keys[1], "1", 10'001},
                                 {keys[2], "1", 30'001}};
  Keep(0, rows, {incarnation_, 0, -1, 0, 0});
  Keep(1, {}, {incarnation_, 0, -1, 0, 0});
  const auto list = *Open(false)->List();
  EXPECT_EQ(list[0].windows, 2u);
  EXPECT_EQ(list[1].windows, std::nullopt);
  const auto totals = *Open(false)->Totals({});
  EXPECT_EQ(totals[0].windows, 2u);
  EXPECT_EQ(totals[0].rows, 3u);
}

// A moment is in every window that holds it: so it is asked for by whatever lies as near.
TEST_F(AppInspectorTest, MomentsOfSlidingWindowsAreFoundByTheTimesThatShareAWindow) {
  using dsl::SpanKey;
  Ran();
  Journal(dsl::kWindowsKey, R"({"windows":"sliding:10ms"})", 0);
  Journal(SpanKey::Of(SpanKey::Kind::kMoment, "a", 100), "1", 100);
  Journal(SpanKey::Of(SpanKey::Kind::kMoment, "a", 111), "2", 111);
  const auto at = [&](const std::string& time) {
    RowQuery query{.store = "cnt"};
    EXPECT_TRUE(query.AtWindow(time).ok());
    return Windows(query, "..", "]");
  };
  EXPECT_THAT(at("89"), IsEmpty());
  EXPECT_THAT(at("90"), ElementsAre("a[100..100]=1"));
  EXPECT_THAT(at("105"), ElementsAre("a[100..100]=1", "a[111..111]=2"));
  EXPECT_THAT(at("121"), ElementsAre("a[111..111]=2"));
  EXPECT_EQ((*Open(true, true)->Totals({.store = "cnt"}))[0].windows, std::nullopt);
}

// What is read so is all that the store has.
TEST_F(AppInspectorTest, KeysCanBeSeenAsTheyAreStored) {
  Ran();
  const std::string key = dsl::WindowPrefix(10'000) + "a";
  Journal(dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0);
  Journal(key, "1", 10'001);
  EXPECT_THAT(Rows(Open(true, true).get(), {.store = "cnt", .stored = true}),
              ElementsAre("0 " + dsl::kWindowsKey + R"(={"windows":"tumbling:10000ms"}@0)",
                          "0 " + key + "=1@10001"));
}

TEST_F(AppInspectorTest, WhatIsNotThereIsTold) {
  EXPECT_THAT(Refused(Open(false).get(), StatusCode::kState), HasSubstr("no state of application"));
  EXPECT_THAT(Refused(Open(true, true).get(), StatusCode::kCluster), HasSubstr("no manifest"));
  Keep(0, {}, {incarnation_, 1, 0, 0, 0});
  EXPECT_THAT(Refused(Open(false).get(), StatusCode::kState, {.store = "other"}),
              HasSubstr("application app has no store other here: it has cnt"));
  EXPECT_THAT(Refused(Open(false).get(), StatusCode::kState, {.task = 3}), HasSubstr("no task 3"));
}

TEST(RowQueryTest, APrefixEndsWhereTheNextOneBegins) {
  RowQuery query;
  query.Prefix("ab");
  EXPECT_EQ(query.from, "ab");
  EXPECT_EQ(query.to, "ac");
  query.Prefix("a\xff\xff");
  EXPECT_EQ(query.to, "b");
  query.Prefix("\xff");
  EXPECT_EQ(query.to, std::nullopt);
  query.Prefix("");
  EXPECT_EQ(query.to, std::nullopt);
}

TEST(RowTextTest, ARowIsOneLineWhateverIsInIt) {
  EXPECT_EQ(RowToJson({"s", 3, "k", R"({"n":1})", 7}),
            R"({"store":"s","task":3,"key":"k","value":{"n":1},"timestamp":7})");
  EXPECT_EQ(RowToJson({"s", 0, "a\"\n", "not json", -1}),
            R"({"store":"s","task":0,"key":"a\"\n","payload":"not json","timestamp":-1})");
  EXPECT_EQ(RowToJson({"s", 0, "\xff", "\xff\n", 0}),
            R"({"store":"s","task":0,"key_b64":"/w==","payload_b64":"/wo=","timestamp":0})");
}

TEST(RowTextTest, CellsAreSafeForATerminalAndTimesAreThoseOfThePlace) {
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  EXPECT_THAT(RowToCells({"s", 3, "k\x1b", "{\n}", 0, 1'700'000'000'123, std::nullopt}),
              ElementsAre("s[3]", "1970-01-01T01:00:00.000+01:00", "k\\u001b",
                          "2023-11-14T23:13:20.123+01:00", "{\\u000a}"));
  EXPECT_EQ(LocalTime(-1), "1970-01-01T00:59:59.999+01:00");
  EXPECT_EQ(LocalTime(INT64_MAX), "9223372036854775807");
}

}  // namespace
}  // namespace kstream::admin
