#include "topology/co_partition.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(CheckCoPartitioned, TakesEqualCountsWhateverTheirNumber) {
  EXPECT_TRUE(CheckCoPartitioned({}).ok());
  EXPECT_TRUE(CheckCoPartitioned({{"", "a", 7}}).ok());
  EXPECT_TRUE(CheckCoPartitioned({{"", "a", 4}, {"west", "a", 4}, {"", "b", 4}}).ok());
}

TEST(CheckCoPartitioned, NamesBothTopicsWithBothCounts) {
  const Status status = CheckCoPartitioned({{"", "a", 4}, {"", "b", 4}, {"west", "c", 1}});
  EXPECT_EQ(status.code(), StatusCode::kCluster);
  EXPECT_EQ(status.message(),
            "topic:a has 4 partitions and topic:west:c has 1 partition: equal keys would not meet; "
            "repartition one of them");
}

}  // namespace
}  // namespace kstream
