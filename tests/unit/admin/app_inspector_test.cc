// Looking into directories and changelogs over a cluster in memory.
#include "admin/app_inspector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "dsl/span_key.h"
#include "dsl/window_key.h"
#include "runtime/changelogs.h"
#include "store/changelog_hash.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "transport/memory/memory_cluster.h"
#include "unit/test_folder.h"

namespace kstream::admin {
namespace {

using store::Change;
using store::Checkpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using transport::memory::MemoryCluster;

const SystemClock kTime;
const std::string kLog = "app-cnt-changelog";

class AppInspectorTest : public testing::Test {
 protected:
  AppInspectorTest() {
    options_.state_dir = folder_.path();
    options_.app = "app";
  }

  // The application has run on the cluster with two tasks.
  void Ran() {
    runtime::Manifest manifest;
    manifest.incarnation = incarnation_;
    manifest.topics = {{kLog, 2, runtime::InternalTopic::Kind::kChangelog, 2}};
    manifest.stores = {"cnt", "unjournaled"};
    ASSERT_TRUE(runtime::ManifestLog(&cluster_, "app", &kTime).Establish(manifest).ok());
    cluster_.CreateTopic(kLog, 2);
  }
  int64_t Journal(const std::string& key, const std::optional<std::string>& value, int64_t time,
                  int32_t task = 0) {
    return cluster_.Produce(
        kLog, task,
        {.key = key,
         .value = value,
         .headers = {{std::string(runtime::kRowTimeHeader), std::to_string(time)}},
         .timestamp = 999});
  }
  void Keep(int32_t task, const std::vector<Change>& rows, Checkpoint at,
            const std::string& store = "cnt") {
    at.written = kTime.WallMs();
    const std::string path = options_.state_dir + "/app/" + store + "/" + std::to_string(task);
    auto engine = *store::rocksdb::Open(path, store::rocksdb::Memory::New(8 << 20));
    ASSERT_TRUE(engine->Write(rows, at).ok());
    ASSERT_TRUE(engine->Close().ok());
  }
  // Contains the changelog of one record up to `offset`.
  Checkpoint After(int64_t offset, std::string_view key, std::string_view value) const {
    return {incarnation_, offset + 1, offset, store::ChangelogHash(key, value), 0};
  }

  std::unique_ptr<AppInspector> Open(bool cluster, bool from_changelog = false) {
    options_.from_changelog = from_changelog;
    return std::make_unique<AppInspector>(
        options_, cluster ? std::make_unique<MemoryCluster>(cluster_) : nullptr, &kTime);
  }
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
  static std::vector<std::string> Rows(AppInspector* inspector, const RowQuery& query = {}) {
    std::vector<std::string> rows;
    const Status status = inspector->Scan(query, [&](const InspectedRow& row) {
      rows.push_back(std::to_string(row.task) + " " + std::string(row.key) + "=" +
                     std::string(row.value) + "@" + std::to_string(row.timestamp));
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

  const std::string incarnation_ = std::string(32, 'a');
  MemoryCluster cluster_;
  TestFolder folder_;
  InspectOptions options_;
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

TEST_F(AppInspectorTest, AStoreWithoutAChangelogIsAsItIs) {
  Ran();
  Keep(0, {{"x", "1", 1}}, {incarnation_, 0, -1, 0, 0}, "unjournaled");
  EXPECT_THAT(Rows(Open(true).get()), ElementsAre("0 x=1@1"));
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
  EXPECT_EQ(RowToText({"s", 3, "k\x1b", "{\n}", 0}),
            "s[3]  1970-01-01T00:00:00.000Z  k\\u001b  {\\u000a}");
}

}  // namespace
}  // namespace kstream::admin
