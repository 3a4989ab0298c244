#include "base/sort_by_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kstream {
namespace {

using Item = std::pair<std::string, int>;

std::string_view KeyOf(const Item& item) { return item.first; }

TEST(SortByKey, GoesByUnsignedBytesHoweverLongTheCommonBeginning) {
  const std::string nul(1, '\0');
  std::vector<Item> items = {{"12345678b", 0},      {"\xff", 1}, {"", 2},  {"12345678", 3},
                             {"12345678" + nul, 4}, {"a", 5},    {nul, 6}, {"12345678a", 7}};
  SortByKey(&items, KeyOf);
  std::vector<int> order;
  for (const Item& item : items) order.push_back(item.second);
  EXPECT_EQ(order, (std::vector<int>{2, 6, 3, 4, 7, 0, 5, 1}));
}

TEST(SortByKey, IsAsAStableSortOfTheKeys) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    std::vector<Item> items;
    for (int i = 0; i < 60; i++) {
      std::string key(random() % 12, 'x');
      for (char& c : key) c = static_cast<char>(random() % 3 * 127);
      items.emplace_back(std::move(key), i);
    }
    std::vector<Item> expected = items;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Item& a, const Item& b) { return a.first < b.first; });
    SortByKey(&items, KeyOf);
    EXPECT_EQ(items, expected);
  }
}

TEST(SortByKey, OfNothingIsNothing) {
  std::vector<Item> items;
  SortByKey(&items, KeyOf);
  EXPECT_TRUE(items.empty());
}

}  // namespace
}  // namespace kstream
