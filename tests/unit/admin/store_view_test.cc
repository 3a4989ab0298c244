#include "admin/store_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <random>
#include <vector>

#include "store/memory/memory_engine.h"
#include "unit/test_folder.h"

namespace kstream::admin {
namespace {

using store::Change;
using testing::ElementsAre;
using testing::IsEmpty;

class StoreViewTest : public testing::Test {
 protected:
  StoreView Over(std::unique_ptr<store::Engine> base, size_t most = StoreView::kMostInMemory) {
    return StoreView(
        std::move(base),
        [this]() -> Result<std::string> {
          rooms_++;
          return directory_.path() + "/view";
        },
        most);
  }
  static std::unique_ptr<store::Engine> Base(const std::vector<Change>& rows) {
    auto engine = store::memory::NewEngine();
    EXPECT_TRUE(engine->Write(rows, {}).ok());
    return engine;
  }
  static std::vector<std::string> Rows(StoreView* view, std::string_view from = "",
                                       std::optional<std::string_view> to = std::nullopt,
                                       size_t most = SIZE_MAX) {
    std::vector<std::string> rows;
    const Status status = view->Scan(from, to, [&](auto key, auto value, int64_t timestamp) {
      rows.push_back(std::string(key) + "=" + std::string(value) + "@" + std::to_string(timestamp));
      return rows.size() < most;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return rows;
  }

  TestFolder directory_;
  int rooms_ = 0;
};

TEST_F(StoreViewTest, WithoutAnythingLaidTheRowsAreTheEngines) {
  StoreView view = Over(Base({{"a", "1", 10}, {"b", "2", 20}}));
  EXPECT_THAT(Rows(&view), ElementsAre("a=1@10", "b=2@20"));
}

TEST_F(StoreViewTest, WhatIsLaidHidesWhatIsBeneath) {
  StoreView view = Over(Base({{"a", "1", 10}, {"c", "3", 30}, {"e", "5", 50}}));
  ASSERT_TRUE(view.Lay(std::vector<Change>{{"b", "2", 20},
                                           {"c", "33", 31},
                                           {"e", std::nullopt, 51},
                                           {"x", std::nullopt, 52},
                                           {"z", "", 60}})
                  .ok());
  EXPECT_THAT(Rows(&view), ElementsAre("a=1@10", "b=2@20", "c=33@31", "z=@60"));
  EXPECT_THAT(Rows(&view, "b", "d"), ElementsAre("b=2@20", "c=33@31"));
  EXPECT_THAT(Rows(&view, "", std::nullopt, 1), ElementsAre("a=1@10"));
}

TEST_F(StoreViewTest, TheLastChangeOfAKeyWins) {
  StoreView view = Over(nullptr);
  ASSERT_TRUE(view.Lay(std::vector<Change>{{"a", "1", 1}, {"a", std::nullopt, 2}}).ok());
  EXPECT_THAT(Rows(&view), IsEmpty());
  ASSERT_TRUE(view.Lay(std::vector<Change>{{"a", "3", 3}}).ok());
  EXPECT_THAT(Rows(&view), ElementsAre("a=3@3"));
}

TEST_F(StoreViewTest, AForgottenEngineDoesNotCount) {
  StoreView view = Over(Base({{"a", "1", 10}}));
  view.Forget();
  EXPECT_EQ(view.base(), nullptr);
  EXPECT_THAT(Rows(&view), IsEmpty());
}

// The same changes, held in memory and moved to disk in their midst, against a plain map.
TEST_F(StoreViewTest, WhatIsTooMuchForMemoryIsOnDiskAndTheSame) {
  std::mt19937 random(7);
  std::map<std::string, std::string> truth{{"base", "0@0"}, {"k1", "0@0"}};
  StoreView view = Over(Base({{"base", "0", 0}, {"k1", "0", 0}}), /*most=*/10'000);
  for (int batch = 0; batch < 50; batch++) {
    std::vector<std::string> bytes;
    std::vector<Change> changes;
    bytes.reserve(200);
    for (int i = 0; i < 100; i++) {
      const std::string& key = bytes.emplace_back("k" + std::to_string(random() % 700));
      if (random() % 4 == 0) {
        changes.push_back({key, std::nullopt, batch});
        truth.erase(key);
      } else {
        const std::string& value = bytes.emplace_back(std::to_string(random()));
        changes.push_back({key, value, batch});
        truth[key] = value + "@" + std::to_string(batch);
      }
    }
    ASSERT_TRUE(view.Lay(changes).ok());
  }
  std::vector<std::string> want;
  for (const auto& [key, row] : truth) want.push_back(key + "=" + row);
  EXPECT_EQ(Rows(&view), want);
  EXPECT_EQ(rooms_, 1);
}

}  // namespace
}  // namespace kstream::admin
