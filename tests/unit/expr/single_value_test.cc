// Keys, topics and partitions from expressions: one value, of the right type, or an error that
// names the flag.
#include "expr/single_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr_testing.h"

namespace kstream::expr {
namespace {

using ::testing::HasSubstr;

// What `get` makes of the expression on a record of this value; "error: ..." when it fails.
template <typename Get>
std::string On(std::string_view text, std::string_view json, Get get) {
  auto expression = Expression::Compile(text);
  EXPECT_TRUE(expression.ok()) << expression.status().message();
  SingleValue value("--flag", *expression, Serdes());
  Record record;
  record.value = json;
  Input input;
  input.record = &record;
  std::string result;
  const Status status = get(value, input, &result);
  return status.ok() ? result : "error: " + std::string(status.message());
}

Status Text(SingleValue& value, const Input& input, std::string* result) {
  Bytes text;
  const Status status = value.Text(input, &text);
  *result = text ? std::string(*text) : "(null)";
  return status;
}

Status Topic(SingleValue& value, const Input& input, std::string* result) {
  std::string_view topic;
  const Status status = value.Topic(input, &topic);
  *result = topic;
  return status;
}

Status Partition(SingleValue& value, const Input& input, std::string* result) {
  int32_t partition = -1;
  const Status status = value.Partition(input, &partition);
  *result = std::to_string(partition);
  return status;
}

TEST(SingleValue, TextIsThatOfAStringOrJson) {
  EXPECT_EQ(On(".a", R"({"a":"x\u0041"})", Text), "xA");
  EXPECT_EQ(On(".a", R"({"a":1.50})", Text), "1.50");
  EXPECT_EQ(On(".a", R"({"a":[1, 2]})", Text), "[1,2]");
  EXPECT_EQ(On(".a", "{}", Text), "(null)");
  EXPECT_EQ(On("empty", "{}", Text), "(null)");
}

TEST(SingleValue, IsSingle) {
  EXPECT_THAT(On(".[]", "[1,2]", Text), HasSubstr("gives more than one value"));
  EXPECT_THAT(On(".[]", "[1,2]", Text), HasSubstr("--flag"));
  EXPECT_EQ(On(".[]", "[1]", Text), "1");
}

TEST(SingleValue, ATopicIsAStringThatIsNotEmpty) {
  EXPECT_EQ(On(".t", R"({"t":"orders"})", Topic), "orders");
  for (const char* json : {R"({"t":""})", R"({"t":1})", R"({"t":null})", R"({"t":["a"]})"}) {
    EXPECT_THAT(On(".t", json, Topic), HasSubstr("--flag must give the name of a topic")) << json;
  }
}

TEST(SingleValue, APartitionIsAnInteger) {
  EXPECT_EQ(On(".", "7", Partition), "7");
  EXPECT_EQ(On(".", "2147483647", Partition), "2147483647");
  for (const char* json : {"-1", "2147483648", "1.5", "\"1\"", "null"}) {
    EXPECT_THAT(On(".", json, Partition), HasSubstr("--flag must give a partition number")) << json;
  }
}

}  // namespace
}  // namespace kstream::expr
