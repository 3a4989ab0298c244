#include "kstream/location.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

Location Parsed(std::string_view text, bool brokers) {
  Result<Location> location = Location::Parse(text, brokers, {"west"});
  EXPECT_TRUE(location.ok()) << text;
  return *location;
}

TEST(Location, IsAFileWithoutBrokersAndATopicWithThem) {
  EXPECT_EQ(Parsed("orders", false), (Location{Location::Kind::kFile, "", "orders"}));
  EXPECT_EQ(Parsed("orders", true), (Location{Location::Kind::kTopic, "", "orders"}));
}

TEST(Location, APrefixAlwaysSaysWhich) {
  EXPECT_EQ(Parsed("file:orders", true), (Location{Location::Kind::kFile, "", "orders"}));
  EXPECT_EQ(Parsed("topic:orders", false), (Location{Location::Kind::kTopic, "", "orders"}));
  EXPECT_EQ(Parsed("file:topic:x", false).name, "topic:x");
}

TEST(Location, ADashIsAStreamOfTheProcess) {
  EXPECT_FALSE(Parsed("-", true).is_topic());
  EXPECT_FALSE(Parsed("-", false).is_topic());
}

TEST(Location, AKnownClusterBeforeAColonIsACluster) {
  EXPECT_EQ(Parsed("west:orders", true), (Location{Location::Kind::kTopic, "west", "orders"}));
  EXPECT_EQ(Parsed("west:orders", false), (Location{Location::Kind::kTopic, "west", "orders"}));
  EXPECT_EQ(Parsed("east:orders", false).name, "east:orders");
}

TEST(Location, APatternIsATopicThatBeginsWithACaret) {
  EXPECT_TRUE(Parsed("^orders-.*", true).is_pattern());
  EXPECT_FALSE(Parsed("^orders-.*", false).is_pattern());
}

TEST(Location, ReadsBackWhatItPrints) {
  for (const char* text : {"-", "file:a", "topic:a", "topic:west:a", "topic:^a"}) {
    EXPECT_EQ(Parsed(Parsed(text, false).ToString(), true), Parsed(text, false)) << text;
  }
}

TEST(Location, ARepartitionTopicIsNoneOfTheOthersAndIsNeverParsed) {
  const Location location = Location::Repartition("by-user");
  EXPECT_EQ(location.ToString(), "repartition:by-user");
  EXPECT_FALSE(location.is_topic());
  EXPECT_FALSE(Location::Repartition("^by-user").is_pattern());
  EXPECT_NE(location, Location::Topic("by-user"));
  for (const bool brokers : {false, true}) {
    EXPECT_NE(Parsed("repartition:by-user", brokers).kind, Location::Kind::kRepartition);
  }
}

TEST(Location, RefusesAnEmptyName) {
  for (const char* text : {"", "file:", "topic:", "west:"}) {
    EXPECT_EQ(Location::Parse(text, true, {"west"}).status().code(), StatusCode::kUsage) << text;
  }
}

}  // namespace
}  // namespace kstream
