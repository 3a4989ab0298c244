#include "base/byte_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kstream {
namespace {

// Keys of all lengths about the places where the hash changes its way, and with all bytes in them.
std::string KeyOf(uint32_t number) {
  std::string key(number % 37, static_cast<char>(number % 256));
  for (size_t i = 0; i < key.size() && i < 4; i++) {
    key[key.size() - 1 - i] = static_cast<char>(number >> (8 * i));
  }
  return key;
}

TEST(ByteTableTest, DoesWhatAMapDoes) {
  ByteTable<int> table;
  std::map<std::string, int> truth;
  uint32_t state = 7;
  const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  for (int step = 0; step < 200'000; step++) {
    // Grows, shrinks and grows again, so that erasures meet full and sparse tables.
    const uint32_t keys = step / 20'000 % 2 == 0 ? 20'000 : 300;
    const std::string key = KeyOf(next() % keys);
    if (next() % 3 == 0) {
      if (auto* const entry = table.Find(key)) {
        EXPECT_EQ(entry->value, truth.at(key));
        table.Erase(entry);
        truth.erase(key);
      } else {
        EXPECT_FALSE(truth.contains(key));
      }
    } else {
      const auto [entry, is_new] = table.Make(key);
      EXPECT_EQ(is_new, truth.emplace(key, 0).second);
      EXPECT_EQ(entry->key(), key);
      EXPECT_EQ(entry->value, truth[key]);
      entry->value = truth[key] = step;
    }
    ASSERT_EQ(table.size(), truth.size());
  }
  ASSERT_GT(truth.size(), 100U);
  std::map<std::string, int> found;
  for (const auto* entry : table.Entries()) found.emplace(entry->key(), entry->value);
  EXPECT_EQ(found, truth);
}

TEST(ByteTableTest, EntriesStayWhereTheyAre) {
  ByteTable<int> table;
  auto* const first = table.Make("first").first;
  first->value = 1;
  for (uint32_t i = 0; i < 1000; i++) table.Make(std::to_string(i));
  for (uint32_t i = 0; i < 1000; i += 2) table.Erase(table.Find(std::to_string(i)));
  EXPECT_EQ(table.Find("first"), first);
  EXPECT_EQ(first->value, 1);
}

TEST(ByteTableTest, ErasesThoseThatAreMeant) {
  ByteTable<int> table;
  for (int i = 0; i < 1000; i++) table.Make(std::to_string(i)).first->value = i;
  table.EraseIf([](auto* entry) { return entry->value % 3 != 0; });
  EXPECT_EQ(table.size(), 334U);
  for (int i = 0; i < 1000; i++) {
    EXPECT_EQ(table.Find(std::to_string(i)) != nullptr, i % 3 == 0) << i;
  }
}

TEST(ByteTableTest, GivesItsValuesBack) {
  const auto shared = std::make_shared<int>(1);
  {
    ByteTable<std::shared_ptr<int>> table;
    table.Make("a").first->value = shared;
    table.Make("b").first->value = shared;
    table.Make("c").first->value = shared;
    table.Erase(table.Find("b"));
    EXPECT_EQ(shared.use_count(), 3);
    table.clear();
    EXPECT_EQ(shared.use_count(), 1);
    EXPECT_EQ(table.Find("a"), nullptr);
    table.Make("a").first->value = shared;
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(ByteTableTest, TheEmptyKeyIsAKey) {
  ByteTable<int> table;
  EXPECT_EQ(table.Find(""), nullptr);
  table.Make("").first->value = 5;
  ASSERT_NE(table.Find(""), nullptr);
  EXPECT_EQ(table.Find("")->value, 5);
  EXPECT_EQ(table.Find(std::string_view("\0", 1)), nullptr);
}

// Of keys that differ in one bit, in any place, few share the low bits that choose the slot.
TEST(ByteTableTest, EveryBitOfAKeyTells) {
  for (const size_t size : {1U, 3U, 4U, 7U, 8U, 15U, 16U, 17U, 40U}) {
    std::set<uint64_t> low;
    std::string key(size, 'k');
    for (size_t bit = 0; bit < size * 8; bit++) {
      std::string other = key;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      low.insert(BytesHash::Of(other) % (1 << 20));
    }
    EXPECT_GE(low.size() + 2, size * 8) << size;
  }
}

}  // namespace
}  // namespace kstream
