// Names of input formats, and the reader that serves each.
#include "record/decoder.h"

#include <gtest/gtest.h>

namespace kstream {
namespace {

TEST(InputFormat, IsOneOfFive) {
  EXPECT_EQ(*ParseInputFormat("json"), InputFormat::kJson);
  EXPECT_EQ(*ParseInputFormat("envelope"), InputFormat::kEnvelope);
  EXPECT_EQ(*ParseInputFormat("raw"), InputFormat::kRaw);
  EXPECT_EQ(*ParseInputFormat("csv"), InputFormat::kCsv);
  EXPECT_EQ(*ParseInputFormat("tsv"), InputFormat::kTsv);
  for (std::string_view name : {"", "JSON", "jsonl", "csv ", "format"}) {
    EXPECT_EQ(ParseInputFormat(name).status().code(), StatusCode::kUsage) << name;
  }
}

TEST(InputFormat, KnowsItsReader) {
  EXPECT_FALSE(IsColumns(InputFormat::kJson));
  EXPECT_TRUE(IsColumns(InputFormat::kCsv));
  EXPECT_TRUE(IsColumns(InputFormat::kTsv));
  EXPECT_EQ(SeparatorOf(InputFormat::kCsv), ',');
  EXPECT_EQ(SeparatorOf(InputFormat::kTsv), '\t');
  EXPECT_EQ(LineRuleOf(InputFormat::kRaw), LineRule::kRaw);
  EXPECT_EQ(LineRuleOf(InputFormat::kEnvelope), LineRule::kText);
}

}  // namespace
}  // namespace kstream
