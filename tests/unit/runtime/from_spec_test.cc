#include "runtime/from_spec.h"

#include <gtest/gtest.h>

#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {
namespace {

using Kind = FromSpec::Kind;
constexpr int64_t kNow = 1'700'000'000'000;

FromSpec Parsed(std::string_view text) {
  Result<FromSpec> spec = FromSpec::Parse(text, kNow);
  EXPECT_TRUE(spec.ok()) << text << ": " << spec.status().message();
  return spec.ok() ? *spec : FromSpec();
}

TEST(FromSpec, ReadsEveryForm) {
  EXPECT_EQ(Parsed("beginning").kind, Kind::kBeginning);
  EXPECT_EQ(Parsed("end").kind, Kind::kEnd);
  EXPECT_EQ(Parsed("42").kind, Kind::kOffset);
  EXPECT_EQ(Parsed("42").number, 42);
  EXPECT_EQ(Parsed("-10").kind, Kind::kLast);
  EXPECT_EQ(Parsed("-10").number, 10);
  EXPECT_EQ(Parsed("@1000").number, 1000);
  EXPECT_EQ(Parsed("@-1h").number, kNow - 3'600'000);
  EXPECT_EQ(Parsed("@2023-11-14T22:13:20Z").number, kNow);
}

TEST(FromSpec, ReadsTwoTimesThatHoldColons) {
  const FromSpec spec = Parsed("@2023-11-14T22:13:20Z:2023-11-14T22:13:21Z");
  EXPECT_EQ(spec.number, kNow);
  EXPECT_EQ(spec.until_time, kNow + 1000);
  EXPECT_EQ(Parsed("@1:2").until_time, 2);
  EXPECT_EQ(Parsed("@-2h:-1h").until_time, kNow - 3'600'000);
}

TEST(FromSpec, RefusesEverythingElse) {
  for (const char* text : {"", "start", "4.5", "@", "@yesterday", "@5:3", "@1:2:3", "1e3",
                           "99999999999999999999", "@-5"}) {
    EXPECT_EQ(FromSpec::Parse(text, kNow).status().code(), StatusCode::kUsage) << text;
  }
}

TEST(FromSpec, BeginsWithinTheLog) {
  transport::memory::MemoryCluster cluster;
  cluster.CreateTopic("t", 1);
  for (int i = 0; i < 10; i++) cluster.Produce("t", 0, {.timestamp = 100 + i});
  const transport::TopicPartition partition{"t", 0};
  cluster.DeleteRecords(partition, 4);
  const auto admin = *cluster.NewAdmin();
  const auto begin = [&](std::string_view text) {
    const auto offsets = Parsed(text).Resolve(admin.get(), std::span(&partition, 1));
    return offsets.ok() ? offsets->at(partition) : -1;
  };
  EXPECT_EQ(begin("beginning"), 4);
  EXPECT_EQ(begin("end"), 10);
  EXPECT_EQ(begin("7"), 7);
  EXPECT_EQ(begin("1"), 4);
  EXPECT_EQ(begin("11"), 10);
  EXPECT_EQ(begin("-3"), 7);
  EXPECT_EQ(begin("-0"), 10);
  EXPECT_EQ(begin("-7"), 4);
  EXPECT_EQ(begin("-9223372036854775807"), 4);
  EXPECT_EQ(begin("@0"), 4);
  EXPECT_EQ(begin("@106"), 6);
  EXPECT_EQ(begin("@110"), 10);
}

TEST(FromSpec, FailsForAPartitionThatIsNotThere) {
  transport::memory::MemoryCluster cluster;
  const transport::TopicPartition partition{"t", 0};
  const auto admin = *cluster.NewAdmin();
  for (const char* text : {"end", "@5"}) {
    EXPECT_EQ(Parsed(text).Resolve(admin.get(), std::span(&partition, 1)).status().code(),
              StatusCode::kCluster);
  }
}

}  // namespace
}  // namespace kstream::runtime
