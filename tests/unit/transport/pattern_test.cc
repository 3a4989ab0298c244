#include "transport/pattern.h"

#include <gtest/gtest.h>

namespace kstream::transport {
namespace {

TEST(TopicPattern, MatchesAsARegularExpression) {
  const Result<TopicPattern> pattern = TopicPattern::Parse("^orders-(de|fr)$");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->Matches("orders-de"));
  EXPECT_FALSE(pattern->Matches("orders-de-2"));
  EXPECT_FALSE(pattern->Matches("my-orders-de"));
}

TEST(TopicPattern, NeverMatchesTheBrokersOwnTopics) {
  EXPECT_FALSE(TopicPattern::Parse("^.*")->Matches("__consumer_offsets"));
}

TEST(TopicPattern, RefusesWhatIsNoExpression) {
  EXPECT_EQ(TopicPattern::Parse("^(a").status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::transport
