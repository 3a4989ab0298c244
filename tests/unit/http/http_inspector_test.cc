// Rows of a run that listens, seen as an inspector of files would see them; and servers that are
// none of ours.
#include <gmock/gmock.h>

#include <map>

#include "http/listener.h"
#include "kstream/http.h"

namespace kstream::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A server that says what the test wants.
class HttpInspectorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listener = Listener::Open({"127.0.0.1", 0}, [this](const Request& request) {
      if (request.authorization != authorization_) return Refuse(401, "a token is needed");
      const auto found = answers_.find(request.path + TaskOf(request));
      if (found == answers_.end()) return Refuse(404, "no such store");
      return found->second;
    });
    ASSERT_TRUE(listener.ok());
    listener_ = *std::move(listener);
  }
  static std::string TaskOf(const Request& request) {
    const auto task = request.query.find("task");
    return task == request.query.end() ? "" : "#" + task->second;
  }
  std::unique_ptr<Inspector> Open(std::string_view token = "") const {
    return *InspectOverHttp("http://localhost:" + std::to_string(listener_->port()) + "/", token);
  }
  void Say(const std::string& place, const std::string& body) { answers_[place] = {.body = body}; }
  static std::string Row(int task, const std::string& key, const std::string& value) {
    return "{\"store\":\"s\",\"task\":" + std::to_string(task) + ",\"key\":\"" + key +
           "\",\"value\":" + value + ",\"timestamp\":7}\n";
  }
  // What a scan brings, and its end.
  Status Scan(const RowQuery& query = {}) {
    lines_.clear();
    return Open()->Scan(query, [this](const InspectedRow& row) {
      lines_.push_back(RowToJson(row) + "\n");
      return lines_.size() < 100;
    });
  }

  std::map<std::string, Answer> answers_;
  std::string authorization_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::string> lines_;
};

TEST_F(HttpInspectorTest, SeesRowsAsTheyAre) {
  Say("/stores",
      "{\"store\":\"s\",\"task\":0,\"offset\":3}\n{\"store\":\"s\",\"task\":1,\"offset\":0}\n");
  Say("/stores/s#0", Row(0, "a", "{\"n\":1.50}") + Row(0, "b", "2"));
  Say("/stores/s#1", "");
  EXPECT_TRUE(Scan().ok());
  EXPECT_THAT(lines_, ElementsAre(Row(0, "a", "{\"n\":1.50}"), Row(0, "b", "2")));
  EXPECT_TRUE(Scan({.task = 1}).ok());
  EXPECT_THAT(lines_, IsEmpty());
  const auto totals = Open()->Totals({});
  ASSERT_TRUE(totals.ok()) << totals.status().message();
  ASSERT_EQ(totals->size(), 2U);
  EXPECT_EQ((*totals)[0].rows, 2U);
  EXPECT_EQ((*totals)[0].value_bytes, 11U);
  EXPECT_EQ((*totals)[1].rows, 0U);
  const auto stores = Open()->List();
  ASSERT_EQ(stores->size(), 2U);
  EXPECT_EQ((*stores)[0].offset, 3);
}

TEST_F(HttpInspectorTest, AVisitorMayStop) {
  Say("/stores", "{\"store\":\"s\",\"task\":0,\"offset\":0}\n");
  std::string many;
  for (int i = 0; i < 10'000; i++) many += Row(0, std::to_string(i), "1");
  Say("/stores/s#0", many);
  EXPECT_TRUE(Scan().ok());
  EXPECT_EQ(lines_.size(), 100U);
}

TEST_F(HttpInspectorTest, SaysWhatIsWrong) {
  EXPECT_EQ(Scan().code(), StatusCode::kState);
  Say("/stores", "");
  EXPECT_EQ(Scan().code(), StatusCode::kState);
  Say("/stores",
      "{\"store\":\"s\",\"task\":0,\"offset\":0}\n{\"store\":\"t\",\"task\":0,\"offset\":0}\n");
  EXPECT_EQ(Scan().code(), StatusCode::kUsage) << "which?";
  EXPECT_EQ(Scan({.store = "u"}).code(), StatusCode::kState);
  for (const char* nonsense : {"{}\n", "[]\n", "7\n", "x\n", "\n", "{\"store\":7,\"task\":0}\n",
                               "{\"store\":\"s\",\"task\":\"0\",\"offset\":1}\n"}) {
    Say("/stores", nonsense);
    EXPECT_EQ(Scan().code(), StatusCode::kData) << nonsense;
  }
  Say("/stores", "{\"store\":\"s\",\"task\":0,\"offset\":0}\n");
  Say("/stores/s#0", Row(0, "a", "1") + "{\"key\":\"b\"}\n");
  EXPECT_EQ(Scan().code(), StatusCode::kData);
  EXPECT_THAT(lines_, ElementsAre(Row(0, "a", "1")));
}

TEST_F(HttpInspectorTest, ACutAnswerIsNotWhole) {
  Say("/stores", "{\"store\":\"s\",\"task\":0,\"offset\":0}\n");
  answers_["/stores/s#0"] = {.body = Row(0, "a", "1"), .more = [](std::string*) {
                               return Result<bool>(Status::Data("gone"));
                             }};
  const Status cut = Scan();
  EXPECT_EQ(cut.code(), StatusCode::kState);
  EXPECT_THAT(std::string(cut.message()), HasSubstr("ended before its end"));
}

TEST_F(HttpInspectorTest, ShowsItsToken) {
  authorization_ = "Bearer secret";
  Say("/stores", "{\"store\":\"s\",\"task\":0,\"offset\":0}\n");
  const auto refused = Open()->List();
  EXPECT_EQ(refused.status().code(), StatusCode::kCluster);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("says 401: a token is needed"));
  EXPECT_TRUE(Open("secret")->List().ok());
  listener_.reset();
  EXPECT_EQ((*InspectOverHttp("1", ""))->List().status().code(), StatusCode::kCluster);
  EXPECT_EQ(InspectOverHttp("x", "").status().code(), StatusCode::kUsage);
}

TEST_F(HttpInspectorTest, WhatNeedsTheChangelogIsRefused) {
  EXPECT_EQ(Open()->History({}, nullptr).code(), StatusCode::kUsage);
  EXPECT_EQ(Open()->Verify({}, nullptr).status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::http
