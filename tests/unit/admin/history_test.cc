// What a changelog still has of a key.
#include <gmock/gmock.h>

#include "dsl/span_key.h"
#include "dsl/window_key.h"
#include "unit/admin/inspected_app.h"

namespace kstream::admin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HistoryTest : public InspectedApp {
 protected:
  std::vector<std::string> Of(const std::string& key, size_t most = 100) {
    RowQuery query{.store = "cnt"};
    query.Only(key);
    std::vector<std::string> versions;
    const Status status = Open(true)->History(query, [&](const RowVersion& version) {
      versions.push_back(VersionToJson(version));
      return versions.size() < most;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return versions;
  }
};

TEST_F(HistoryTest, AllVersionsComeInTheirOrderWithDeletions) {
  Ran();
  Journal("a", "1", 10);
  Journal("b", "9", 10);
  Journal("a", std::nullopt, 20);
  Journal("a", R"({"n":2})", 30);
  Journal("a", "3", 5, /*task=*/1);
  const std::string of_a = R"({"store":"cnt","task":0,"offset":)";
  EXPECT_THAT(Of("a"),
              ElementsAre(of_a + R"(0,"written":999,"key":"a","value":1,"timestamp":10})",
                          of_a + R"(2,"written":999,"key":"a","payload":null,"timestamp":20})",
                          of_a + R"(3,"written":999,"key":"a","value":{"n":2},"timestamp":30})",
                          R"({"store":"cnt","task":1,"offset":0,"written":999,"key":"a","value":3,)"
                          R"("timestamp":5})"));
  EXPECT_EQ(Of("a", 2).size(), 2u);
  EXPECT_THAT(Of("nobody"), IsEmpty());
}

TEST_F(HistoryTest, AGroupHasThoseOfAllItsWindows) {
  Ran();
  // What says which windows these are may come behind their rows.
  Journal(dsl::WindowPrefix(10'000) + "a", "1", 10'001);
  Journal(dsl::kWindowsKey, R"({"windows":"tumbling:10000ms"})", 0);
  Journal(dsl::WindowPrefix(20'000) + "a", "2", 20'001);
  Journal(dsl::WindowPrefix(20'000) + "ba", "7", 20'001);
  Journal(dsl::WindowPrefix(10'000) + "a", std::nullopt, 10'001);
  const std::vector<std::string> versions = Of("a");
  ASSERT_EQ(versions.size(), 3u);
  EXPECT_EQ(versions[0], R"({"store":"cnt","task":0,"offset":0,"written":999,"key":"a","value":1,)"
                         R"("window_start":10000,"window_end":20000,"timestamp":10001})");
  EXPECT_EQ(versions[2],
            R"({"store":"cnt","task":0,"offset":4,"written":999,"key":"a","payload":null,)"
            R"("window_start":10000,"window_end":20000,"timestamp":10001})");
}

TEST_F(HistoryTest, ADeletedSessionHasNoEnd) {
  using dsl::SpanKey;
  Ran();
  const std::string key = SpanKey::Of(SpanKey::Kind::kSession, "a", 100);
  Journal(dsl::kWindowsKey, R"({"windows":"session:10ms"})", 0);
  Journal(key, "1", 120);
  Journal(key, std::nullopt, 130);
  EXPECT_THAT(Of("a"),
              ElementsAre(R"({"store":"cnt","task":0,"offset":1,"written":999,"key":"a","value":1,)"
                          R"("window_start":100,"window_end":120,"timestamp":120})",
                          R"({"store":"cnt","task":0,"offset":2,"written":999,"key":"a",)"
                          R"("payload":null,"window_start":100,"timestamp":130})"));
}

TEST_F(HistoryTest, ItIsInTheChangelogOrNowhere) {
  Ran();
  const auto never = [](const RowVersion&) { return true; };
  EXPECT_EQ(Open(false)->History({.store = "cnt"}, never).code(), StatusCode::kUsage);
  Keep(0, {{"x", "1", 1}}, {incarnation_, 0, -1, 0, 0}, "unjournaled");
  EXPECT_EQ(Open(true)->History({.store = "unjournaled"}, never).code(), StatusCode::kState);
}

}  // namespace
}  // namespace kstream::admin
