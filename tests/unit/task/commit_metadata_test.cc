#include "task/commit_metadata.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace kstream::task {
namespace {

CommitMetadata Decoded(std::string_view text) {
  const Result<CommitMetadata> metadata = CommitMetadata::Decode(text);
  EXPECT_TRUE(metadata.ok()) << metadata.status().message();
  return metadata.ok() ? *metadata : CommitMetadata();
}

TEST(CommitMetadata, IsOneLineOfText) {
  CommitMetadata metadata;
  EXPECT_EQ(*metadata.Encode(), "");
  metadata.stream_time = 1700000000000;
  EXPECT_EQ(*metadata.Encode(), "ks1 t=1700000000000");
  metadata.positions[{"far", "rates", 2}] = 17;
  metadata.positions[{"", "codes", 0}] = 5;
  EXPECT_EQ(*metadata.Encode(), "ks1 t=1700000000000 p=/codes/0:5,far/rates/2:17");
  metadata.stream_time.reset();
  EXPECT_EQ(*metadata.Encode(), "ks1 p=/codes/0:5,far/rates/2:17");
}

TEST(CommitMetadata, ComesBackAsItWas) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; i++) {
    CommitMetadata metadata;
    if (random() % 3) metadata.stream_time = static_cast<int64_t>(random()) * random() % 100000;
    for (size_t n = random() % 5; n > 0; n--) {
      std::string cluster, topic = "t";
      for (size_t c = random() % 6; c > 0; c--) cluster.push_back(static_cast<char>(random()));
      for (size_t c = random() % 6; c > 0; c--) topic.push_back(static_cast<char>(random()));
      metadata.positions[{cluster, topic, static_cast<int32_t>(random() % 100)}] = random();
    }
    const Result<std::string> text = metadata.Encode();
    ASSERT_TRUE(text.ok());
    for (const char c : *text) ASSERT_TRUE(c >= ' ' && c <= '~');
    EXPECT_EQ(Decoded(*text), metadata) << *text;
  }
}

TEST(CommitMetadata, TheTextOfAnotherProgramIsNothingKept) {
  for (const char* text : {"", " ", "ks", "ks1", "ks ", "ksx 1", "ks01 t=1", "ks-1 t=1", "AQAAAYvP",
                           "{\"ks1 \":1}", "KS1 t=1", " ks1 t=1"}) {
    EXPECT_EQ(Decoded(text), CommitMetadata()) << text;
  }
}

TEST(CommitMetadata, OursButDamagedIsSaid) {
  for (const char* text : {"ks1 ",
                           "ks1 t=",
                           "ks1 t=x",
                           "ks1 t=1x",
                           "ks1 t=1 ",
                           "ks1 t= 1",
                           "ks1 t=1 t=2",
                           "ks1  t=1",
                           "ks1 t=99999999999999999999",
                           "ks1 q=1",
                           "ks1 t=1 q=1",
                           "ks1 p=",
                           "ks1 p=a",
                           "ks1 p=a/b",
                           "ks1 p=a/b/",
                           "ks1 p=a/b/0",
                           "ks1 p=a/b/0:",
                           "ks1 p=a/b/0:x",
                           "ks1 p=a//0:1",
                           "ks1 p=a/b/-1:1",
                           "ks1 p=a/b/x:1",
                           "ks1 p=a/b/4294967296:1",
                           "ks1 p=a/b/0:1,",
                           "ks1 p=a/b/0:1,,",
                           "ks1 p=,a/b/0:1",
                           "ks1 p=a/b/0:1,a/b/0:2",
                           "ks1 p=a/b/0:1 t=1",
                           "ks1 p=%/b/0:1",
                           "ks1 p=%4/b/0:1",
                           "ks1 p=%zz/b/0:1",
                           "ks1 p=a b/c/0:1",
                           "ks1 p=a/b/0:1 ",
                           "ks1 p=a/b/c/0:1",
                           "ks1 p=a/%-1/0:1"}) {
    const Result<CommitMetadata> metadata = CommitMetadata::Decode(text);
    EXPECT_EQ(metadata.status().code(), StatusCode::kState) << text;
  }
}

TEST(CommitMetadata, ANewerVersionIsSaid) {
  for (const char* text : {"ks2 t=1", "ks10 whatever", "ks99999999999999999999999999 "}) {
    const Result<CommitMetadata> metadata = CommitMetadata::Decode(text);
    EXPECT_EQ(metadata.status().code(), StatusCode::kState) << text;
    EXPECT_NE(metadata.status().message().find("version"), std::string_view::npos);
  }
}

TEST(CommitMetadata, EveryCutOfOursIsOursStillOrSaidOrNothing) {
  CommitMetadata metadata;
  metadata.stream_time = 17;
  metadata.positions[{"far away", "rates", 2}] = 17;
  metadata.positions[{"far away", "rates", 3}] = 18;
  const std::string text = *metadata.Encode();
  for (size_t size = 0; size < text.size(); size++) {
    const Result<CommitMetadata> cut = CommitMetadata::Decode(text.substr(0, size));
    if (cut.ok()) {
      EXPECT_NE(*cut, metadata) << size;
    } else {
      EXPECT_EQ(cut.status().code(), StatusCode::kState);
    }
  }
}

TEST(CommitMetadata, RefusesMoreThanTheBrokerTakesAndSaysHowManyFit) {
  CommitMetadata metadata;
  size_t size = 7;  // "ks1 p=" and the comma that the first one lacks
  int32_t fit = 0;
  for (int32_t p = 1000; size <= 4096; p++) {
    metadata.positions[{"", "topic", p}] = 1234567;
    size += std::string_view(",/topic/1000:1234567").size();
    if (size - 1 <= 4096) fit++;
  }
  const Result<std::string> text = metadata.Encode();
  EXPECT_EQ(text.status().code(), StatusCode::kUsage);
  EXPECT_EQ(text.status().message().find(
                fmt::format("{} partitions in the 4096 bytes", metadata.positions.size())),
            std::string_view("a task keeps the positions of ").size())
      << text.status().message();
  EXPECT_NE(text.status().message().find(fmt::format("only {} fit", fit)), std::string_view::npos)
      << text.status().message();
  metadata.positions.erase(std::prev(metadata.positions.end()));
  EXPECT_EQ(metadata.Encode().ok(), static_cast<size_t>(fit) == metadata.positions.size());
}

}  // namespace
}  // namespace kstream::task
