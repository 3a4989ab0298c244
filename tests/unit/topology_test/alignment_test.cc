#include "topology_test/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kstream::topology_test {
namespace {

// '?' is whatever comes.
Fits ByLetter(const std::string& wanted, const std::string& came) {
  return [&](size_t w, size_t c) { return wanted[w] == '?' || wanted[w] == came[c]; };
}

// "=ab -c +d *ef": the same, wanted alone, came alone, one in place of the other.
std::string Show(const std::vector<Pair>& pairs, const std::string& wanted,
                 const std::string& came) {
  std::string text;
  for (const Pair& pair : pairs) {
    if (!text.empty()) text += ' ';
    if (pair.same) {
      text += '=';
    } else if (pair.wanted && pair.came) {
      text += '*';
    } else {
      text += pair.wanted ? '-' : '+';
    }
    if (pair.wanted) text += wanted[*pair.wanted];
    if (pair.came) text += came[*pair.came];
  }
  return text;
}

std::string InOrder(const std::string& wanted, const std::string& came) {
  return Show(AlignInOrder(wanted.size(), came.size(), ByLetter(wanted, came)), wanted, came);
}

std::string Interleaved(const std::string& wanted, const std::string& came,
                        const std::vector<int32_t>& partitions) {
  return Show(AlignInterleaved(wanted.size(), partitions, ByLetter(wanted, came)), wanted, came);
}

std::string InAnyOrder(const std::string& wanted, const std::string& came) {
  return Show(AlignInAnyOrder(wanted.size(), came.size(), ByLetter(wanted, came)), wanted, came);
}

TEST(AlignmentTest, OneTooManyOrTooFewMakesNothingElseWrong) {
  EXPECT_EQ(InOrder("abc", "abc"), "=aa =bb =cc");
  EXPECT_EQ(InOrder("abc", "ac"), "=aa -b =cc");
  EXPECT_EQ(InOrder("ac", "abc"), "=aa +b =cc");
  EXPECT_EQ(InOrder("abcd", "axcd"), "=aa *bx =cc =dd");
  EXPECT_EQ(InOrder("abcd", "bd"), "-a =bb -c =dd");
  EXPECT_EQ(InOrder("", "ab"), "+a +b");
  EXPECT_EQ(InOrder("ab", ""), "-a -b");
  EXPECT_EQ(InOrder("", ""), "");
}

TEST(AlignmentTest, OrderCountsWhereAllIsOnePartition) {
  EXPECT_EQ(InOrder("ab", "ba"), "-a =bb +a");
}

TEST(AlignmentTest, PartitionsMayInterleaveAsTheTestLikes) {
  EXPECT_EQ(Interleaved("axby", "abxy", {0, 0, 1, 1}), "=aa =xx =bb =yy");
  EXPECT_EQ(Interleaved("xyab", "abxy", {0, 0, 1, 1}), "=xx =yy =aa =bb");
}

TEST(AlignmentTest, WithinAPartitionTheOrderCounts) {
  EXPECT_THAT(Interleaved("bax", "abx", {0, 0, 1}), testing::HasSubstr("-"));
}

TEST(AlignmentTest, WhatMayBeEitherIsNotTakenForTheWrongOne) {
  // The first of partition 0 would fit, and leave nothing for 'a'.
  EXPECT_EQ(Interleaved("?a", "ab", {0, 1}), "=?b =aa");
  EXPECT_EQ(InAnyOrder("?a", "ab"), "=?b =aa");
}

TEST(AlignmentTest, InAnyOrderWhatIsLeftStandsForWhatIsMissing) {
  EXPECT_EQ(InAnyOrder("abc", "cab"), "=aa =bb =cc");
  EXPECT_EQ(InAnyOrder("aab", "aba"), "=aa =aa =bb");
  EXPECT_EQ(InAnyOrder("ab", "bx"), "*ax =bb");
  EXPECT_EQ(InAnyOrder("a", "ab"), "=aa +b");
  EXPECT_EQ(InAnyOrder("aa", "a"), "=aa -a");
}

// Every item is there once, in its order, whatever the two lists are.
TEST(AlignmentTest, NothingIsLostOrDoubled) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const auto letters = [&] {
      std::string text(random() % 12, ' ');
      for (char& c : text) c = "abc?"[random() % 4];
      return text;
    };
    const std::string wanted = letters(), came = letters();
    std::string shown_wanted, shown_came;
    for (const Pair& pair : AlignInOrder(wanted.size(), came.size(), ByLetter(wanted, came))) {
      if (pair.wanted) shown_wanted += wanted[*pair.wanted];
      if (pair.came) shown_came += came[*pair.came];
      EXPECT_TRUE(!pair.same || ByLetter(wanted, came)(*pair.wanted, *pair.came));
    }
    EXPECT_EQ(shown_wanted, wanted);
    EXPECT_EQ(shown_came, came);
  }
}

TEST(AlignmentTest, ManyItemsThatFitAnywhereDoNotTakeForEver) {
  const std::string wanted(400, '?');
  const std::string came(401, 'a');
  std::vector<int32_t> partitions;
  for (int i = 0; i < 401; ++i) partitions.push_back(i % 4);
  const auto pairs = AlignInterleaved(wanted.size(), partitions, ByLetter(wanted, came));
  EXPECT_EQ(pairs.size(), 401U);
  EXPECT_FALSE(pairs.back().same);
}

}  // namespace
}  // namespace kstream::topology_test
