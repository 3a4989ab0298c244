// The hash is written to disk: these values are of format 1 for good.
#include "store/changelog_hash.h"

#include <gtest/gtest.h>

namespace kstream::store {
namespace {

TEST(ChangelogHash, IsTheSameForEver) {
  EXPECT_EQ(ChangelogHash("", ""), 0xe604813a2490280c);
  EXPECT_EQ(ChangelogHash("", std::nullopt), 0xe604823a249029bf);
  EXPECT_EQ(ChangelogHash("anna", "{\"n\":1}"), 0xefa48ebae474517d);
  EXPECT_EQ(ChangelogHash("\xff", std::nullopt), 0x5035d0c89cd40693);
}

TEST(ChangelogHash, TellsWhereTheKeyEndsAndADeletionFromNothing) {
  EXPECT_NE(ChangelogHash("ab", "c"), ChangelogHash("a", "bc"));
  EXPECT_NE(ChangelogHash("a", ""), ChangelogHash("a", std::nullopt));
  EXPECT_NE(ChangelogHash("a", "1"), ChangelogHash("a", "2"));
  EXPECT_NE(ChangelogHash("a", "1"), ChangelogHash("b", "1"));
}

}  // namespace
}  // namespace kstream::store
