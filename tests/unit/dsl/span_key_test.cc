#include "dsl/span_key.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kstream::dsl {
namespace {

using Kind = SpanKey::Kind;
using std::string_literals::operator""s;

// By group, then by start: as the bytes of keys are.
TEST(SpanKey, IsOrderedAsGroupsAndStartsAre) {
  const std::vector<std::string> groups = {"",     "\0"s, "\0\0"s, "\0\xff"s, "\1",   "a",
                                           "a\0"s, "a\1", "ab",    "b",       "\xff", "\xff\xff"};
  const std::vector<int64_t> starts = {INT64_MIN, -1, 0, 1, 255, 256, INT64_MAX};
  std::string before;
  for (const std::string& group : groups) {
    EXPECT_LT(before, SpanKey::From(Kind::kSession, group));
    for (const int64_t start : starts) {
      const std::string key = SpanKey::Of(Kind::kSession, group, start);
      EXPECT_LT(before, key);
      EXPECT_LE(SpanKey::From(Kind::kSession, group), key);
      EXPECT_LT(key, SpanKey::Behind(Kind::kSession, group));
      const auto parsed = SpanKey::Parse(Kind::kSession, key);
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->group, group);
      EXPECT_EQ(parsed->start, start);
      before = key;
    }
    EXPECT_LE(SpanKey::Behind(Kind::kSession, group).size(), before.size());
    before = SpanKey::Behind(Kind::kSession, group);
  }
}

TEST(SpanKey, IsNoOtherKey) {
  const std::string key = SpanKey::Of(Kind::kSession, "a\0b"s, 7);
  EXPECT_FALSE(SpanKey::Parse(Kind::kMoment, key));
  for (size_t size = 0; size < key.size(); size++) {
    EXPECT_FALSE(SpanKey::Parse(Kind::kSession, key.substr(0, size))) << size;
  }
  EXPECT_FALSE(SpanKey::Parse(Kind::kSession, key + "x"));
  EXPECT_FALSE(SpanKey::Parse(Kind::kSession, "sa\0\1aaaaaaaa"s));
}

TEST(TimerKey, IsOrderedAsRowsComeAndBehindAllRows) {
  std::string before = SpanKey::Behind(Kind::kSession, "\xff\xff");
  EXPECT_LT(SpanKey::Behind(Kind::kMoment, "\xff\xff"), before);
  for (const int64_t end : {-5, 0, 300}) {
    for (const int64_t start : {-6, 0, 299}) {
      for (const std::string& group : {""s, "\0"s, "a"s}) {
        const std::string key = TimerKey::Of(end, start, group);
        EXPECT_LT(before, key);
        const auto parsed = TimerKey::Parse(key);
        ASSERT_TRUE(parsed);
        EXPECT_EQ(parsed->end, end);
        EXPECT_EQ(parsed->start, start);
        EXPECT_EQ(parsed->group, group);
        before = key;
      }
    }
  }
  EXPECT_FALSE(TimerKey::Parse("t1234567812345"));
}

}  // namespace
}  // namespace kstream::dsl
