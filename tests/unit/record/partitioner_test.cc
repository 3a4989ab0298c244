#include "record/partitioner.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(Partitioner, PutsKeysWhereTheJavaClientPutsThem) {
  EXPECT_EQ(PartitionOfKey("TT0124", 15, 0), 10);
  EXPECT_EQ(PartitionOfKey("fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 32, 0), 26);
  EXPECT_EQ(PartitionOfKey("354afe16-939a-4ea8-8e17-8bb0840b6886", 10, 0), 4);
  EXPECT_EQ(PartitionOfKey("f562ac3b-2224-4e25-a0ab-56094e10c239", 10, 0), 5);
  EXPECT_EQ(PartitionOfKey("alice", 3, 0), 0);
}

TEST(Partitioner, TreatsAnEmptyKeyAsAKey) {
  EXPECT_EQ(PartitionOfKey("", 4, 0), 1);
  EXPECT_EQ(PartitionOfKey("", 4, 3), 1);
}

TEST(Partitioner, SpreadsRecordsWithoutAKey) { EXPECT_EQ(PartitionOfKey(std::nullopt, 4, 6), 2); }

}  // namespace
}  // namespace kstream
