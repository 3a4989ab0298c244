#include "runtime/identities.h"

#include <gmock/gmock.h>

#include "transport/memory/memory_cluster.h"

namespace kstream::runtime {
namespace {

using transport::memory::MemoryCluster;

class IdentitiesTest : public testing::Test {
 protected:
  void Name(const std::string& name, const MemoryCluster& cluster) {
    clusters_[name] = std::make_unique<MemoryCluster>(cluster);
  }
  // "?": it cannot be told.
  std::string Of(const std::string& cluster) const {
    const auto place = identities_.Of(Location::Topic("t", cluster));
    return place.ok() ? place->cluster : "?";
  }

  Identities::Clusters clusters_;
  const Identities identities_{&clusters_};
};

TEST_F(IdentitiesTest, NamesOfOneClusterAreOnePlace) {
  const MemoryCluster home, far;
  Name("", home);
  Name("home-again", home);
  Name("a", far);
  Name("b", far);
  EXPECT_EQ(Of(""), "");
  EXPECT_EQ(Of("home-again"), "");
  EXPECT_EQ(Of("a"), Of("b"));
  EXPECT_NE(Of("a"), "");
}

TEST_F(IdentitiesTest, WithoutAHomeTheOthersAreComparedTheSame) {
  const MemoryCluster one, two;
  Name("a", one);
  Name("b", one);
  Name("c", two);
  EXPECT_EQ(Of("a"), Of("b"));
  EXPECT_NE(Of("a"), Of("c"));
}

TEST_F(IdentitiesTest, WhatIsNoTopicOfAClusterOfTheUserStaysAsItIs) {
  Name("", MemoryCluster());
  Name("a", MemoryCluster());
  Name("<process>", MemoryCluster());
  for (const Location& location :
       {Location::Topic("t", "<process>"), Location::Topic("t", "unknown"),
        Location::Repartition("r"), Location{Location::Kind::kFile, "", "f"}}) {
    EXPECT_EQ(*identities_.Of(location), location) << location.ToString();
  }
}

}  // namespace
}  // namespace kstream::runtime
