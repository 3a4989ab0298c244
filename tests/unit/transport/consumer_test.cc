#include "transport/consumer.h"

#include <gtest/gtest.h>

namespace kstream::transport {
namespace {

StatusCode Check(const std::string& metadata) {
  const PartitionOffset offsets[] = {{{"t", 0}, 1, ""}, {{"t", 1}, 1, metadata}};
  return CheckMetadata(offsets).code();
}

TEST(CommitMetadata, IsTextOfLimitedLength) {
  EXPECT_EQ(Check(""), StatusCode::kOk);
  EXPECT_EQ(Check("{\"t\":1}\n\x7f \u20ac"), StatusCode::kOk);
  EXPECT_EQ(Check(std::string(4096, 'm')), StatusCode::kOk);
  EXPECT_EQ(Check(std::string(4097, 'm')), StatusCode::kCluster);
  EXPECT_EQ(Check(std::string("a\0b", 3)), StatusCode::kCluster);
  EXPECT_EQ(Check("\xff"), StatusCode::kCluster);
  EXPECT_EQ(Check("\xed\xa0\x80"), StatusCode::kCluster) << "a surrogate";
}

TEST(CommitMetadata, TheErrorNamesThePartition) {
  const PartitionOffset offset{{"t", 1}, 1, std::string(5000, 'm')};
  const std::string message(CheckMetadata({&offset, 1}).message());
  EXPECT_NE(message.find("t[1] has 5000 bytes"), message.npos) << message;
}

}  // namespace
}  // namespace kstream::transport
