#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kstream/store.h"

namespace kstream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Keys = std::vector<std::string>;

std::unique_ptr<KeyValueStore> Made(std::string_view name = "counts") {
  std::unique_ptr<StateStore> store = InMemoryKeyValueStore()(name);
  auto* keyed = dynamic_cast<KeyValueStore*>(store.get());
  if (keyed != nullptr) static_cast<void>(store.release());
  return std::unique_ptr<KeyValueStore>(keyed);
}

class InMemory : public testing::Test {
 protected:
  void Put(const Keys& keys) {
    for (const std::string& key : keys) ASSERT_TRUE(store_->Put(key, "of " + key).ok());
  }
  Keys Range(std::string_view from, std::optional<std::string_view> to) const {
    Keys keys;
    EXPECT_TRUE(store_->Range(from, to, Into(&keys)).ok());
    return keys;
  }
  Keys Prefix(std::string_view prefix) const {
    Keys keys;
    EXPECT_TRUE(store_->Prefix(prefix, Into(&keys)).ok());
    return keys;
  }
  Keys All() const {
    Keys keys;
    EXPECT_TRUE(store_->All(Into(&keys)).ok());
    return keys;
  }
  // nullopt too when the store fails, which no test of this fixture expects.
  std::optional<std::string> Get(std::string_view key) const {
    const auto value = store_->Get(key);
    EXPECT_TRUE(value.ok());
    return value.ok() ? *value : std::nullopt;
  }

  std::unique_ptr<KeyValueStore> store_ = Made();

 private:
  static KeyValueStore::Visitor Into(Keys* keys) {
    return [keys](std::string_view key, std::string_view value) {
      EXPECT_EQ(value, "of " + std::string(key));
      keys->emplace_back(key);
      return true;
    };
  }
};

TEST_F(InMemory, RemembersTheLastValueOfAKey) {
  EXPECT_EQ(Get("a"), std::nullopt);
  ASSERT_TRUE(store_->Put("a", "1").ok());
  ASSERT_TRUE(store_->Put("a", "2").ok());
  EXPECT_EQ(Get("a"), "2");
  ASSERT_TRUE(store_->Delete("a").ok());
  EXPECT_EQ(Get("a"), std::nullopt);
  EXPECT_TRUE(store_->Delete("a").ok());
}

TEST_F(InMemory, TakesEmptyKeysAndValuesAndAnyByte) {
  const std::string zeros("\0\0", 2);
  ASSERT_TRUE(store_->Put("", "of nobody").ok());
  ASSERT_TRUE(store_->Put("nothing", "").ok());
  ASSERT_TRUE(store_->Put(zeros, zeros).ok());
  EXPECT_EQ(Get(""), "of nobody");
  EXPECT_EQ(Get("nothing"), "");
  EXPECT_EQ(Get(zeros), zeros);
  EXPECT_EQ(Get(std::string_view("\0", 1)), std::nullopt);
}

TEST_F(InMemory, OrdersKeysAsUnsignedBytes) {
  const std::string zero(1, '\0');
  Put({"\xff", "a", "\x80", "", zero, "aa", "\x7f"});
  EXPECT_THAT(All(), ElementsAre("", zero, "a", "aa", "\x7f", "\x80", "\xff"));
}

TEST_F(InMemory, ARangeHoldsItsBeginningAndNotItsEnd) {
  Put({"a", "b", "c", "d"});
  EXPECT_THAT(Range("b", "d"), ElementsAre("b", "c"));
  EXPECT_THAT(Range("aa", "cc"), ElementsAre("b", "c"));
  EXPECT_THAT(Range("c", std::nullopt), ElementsAre("c", "d"));
  EXPECT_THAT(Range("b", "b"), IsEmpty());
  EXPECT_THAT(Range("d", "b"), IsEmpty());
  EXPECT_THAT(Range("", ""), IsEmpty());
}

TEST_F(InMemory, APrefixReachesToItsLastKey) {
  Put({"a", "ab", "ab\xff", "ab\xff\xff", "ac", "b"});
  EXPECT_THAT(Prefix("ab"), ElementsAre("ab", "ab\xff", "ab\xff\xff"));
  EXPECT_THAT(Prefix("ab\xff"), ElementsAre("ab\xff", "ab\xff\xff"));
  EXPECT_THAT(Prefix("x"), IsEmpty());
  EXPECT_EQ(Prefix(""), All());
}

TEST_F(InMemory, APrefixOfHighBytesReachesToTheEnd) {
  Put({"\x7f", "\x80", "\xfe\xff", "\xff", "\xff\xff", "\xff\xff\x01"});
  EXPECT_THAT(Prefix("\xff"), ElementsAre("\xff", "\xff\xff", "\xff\xff\x01"));
  EXPECT_THAT(Prefix("\xff\xff"), ElementsAre("\xff\xff", "\xff\xff\x01"));
  EXPECT_THAT(Prefix("\x7f"), ElementsAre("\x7f"));
  EXPECT_THAT(Prefix("\xfe"), ElementsAre("\xfe\xff"));
}

TEST_F(InMemory, AVisitorStopsWhenItHasSeenEnough) {
  Put({"a", "b", "c"});
  Keys seen;
  ASSERT_TRUE(store_
                  ->All([&](std::string_view key, std::string_view) {
                    seen.emplace_back(key);
                    return seen.size() < 2;
                  })
                  .ok());
  EXPECT_THAT(seen, ElementsAre("a", "b"));
}

TEST_F(InMemory, ClearForgetsAllAndGoesOn) {
  Put({"a", "b"});
  ASSERT_TRUE(store_->Clear().ok());
  EXPECT_THAT(All(), IsEmpty());
  Put({"c"});
  EXPECT_THAT(All(), ElementsAre("c"));
}

TEST_F(InMemory, RefusesEverythingOnceClosed) {
  Put({"a"});
  store_->Close();
  const auto visit = [](std::string_view, std::string_view) {
    ADD_FAILURE() << "visits a closed store";
    return true;
  };
  for (const Status& status :
       {store_->Put("a", "1"), store_->Delete("a"), store_->Clear(), store_->Get("a").status(),
        store_->Range("", std::nullopt, visit), store_->Range("b", "a", visit), store_->All(visit),
        store_->Prefix("a", visit)}) {
    EXPECT_EQ(status.code(), StatusCode::kUsage);
    EXPECT_EQ(status.message(),
              "store 'counts' is closed: a processor may use it from Init until its Close returns");
  }
  EXPECT_EQ(store_->name(), "counts");
  store_->Close();
}

TEST(InMemorySupplier, MakesAStoreOfItsOwnEachTime) {
  const auto first = Made("one");
  const auto second = Made("two");
  ASSERT_TRUE(first->Put("a", "1").ok());
  EXPECT_EQ(first->name(), "one");
  EXPECT_EQ(second->name(), "two");
  EXPECT_EQ(*second->Get("a"), std::nullopt);
}

}  // namespace
}  // namespace kstream
