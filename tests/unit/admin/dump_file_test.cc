// Lines of a dump, and what is no line of one.
#include "admin/dump_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "kstream/inspect.h"
#include "unit/test_folder.h"

namespace kstream::admin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class DumpFileTest : public testing::Test {
 protected:
  // "STORE TASK/TASKS KEY=VALUE@TIME".
  Status Read(const std::string& lines) {
    rows_.clear();
    const std::string path = folder_.path() + "/dump";
    std::ofstream(path, std::ios::binary) << lines;
    return ReadDump(path, [this](const DumpedRow& row) {
      rows_.push_back(row.store + " " + std::to_string(row.task) + "/" +
                      std::to_string(row.tasks.value_or(0)) + " " + std::string(row.key) + "=" +
                      std::string(row.value.value_or("(none)")) + "@" +
                      std::to_string(row.timestamp));
      return Status::Ok();
    });
  }
  std::string Bad(const std::string& line) {
    const Status status = Read(R"({"store":"s","task":0,"key":"k","value":1,"timestamp":1})"
                               "\n" +
                               line);
    EXPECT_EQ(status.code(), StatusCode::kData) << line;
    EXPECT_THAT(std::string(status.message()), HasSubstr("/dump:2: ")) << line;
    const std::string message(status.message());
    return message.substr(message.find(":2: ") + 4);
  }

  TestFolder folder_;
  std::vector<std::string> rows_;
};

TEST_F(DumpFileTest, EveryByteOfKeyAndValueComesBack) {
  std::string bytes;
  for (int c = 0; c < 256; c++) bytes.push_back(static_cast<char>(c));
  const std::vector<std::string> texts = {
      "", "a\"b\n", bytes, " 1", "{\"n\": [1,  2]}", "null", "1e400", "\xf0\x9f\x98\x80"};
  std::string lines;
  std::vector<std::string> want;
  for (const std::string& text : texts) {
    lines += RowToJson({"s", 7, text, text, -5}) + "\r\n";
    want.push_back("s 7/0 " + text + "=" + text + "@-5");
  }
  ASSERT_TRUE(Read("\xef\xbb\xbf" + lines).ok());
  EXPECT_EQ(rows_, want);
}

TEST_F(DumpFileTest, ANullPayloadDeletesAndTheTextNullDoesNot) {
  ASSERT_TRUE(Read(R"({"store":"s","task":0,"tasks":3,"key":"a","payload":null,"timestamp":1})"
                   "\n\n"
                   R"({"store":"s","task":0,"key":"b","value":null,"timestamp":1})")
                  .ok());
  EXPECT_THAT(rows_, ElementsAre("s 0/3 a=(none)@1", "s 0/0 b=null@1"));
}

TEST_F(DumpFileTest, WhatIsNoRowIsToldWithItsLine) {
  EXPECT_THAT(Bad("{"), StartsWith(""));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"value":1,"timestamp":1})"), HasSubstr("no \"key\""));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":null,"value":1,"timestamp":1})"),
              HasSubstr("no \"key\""));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":1,"value":1,"timestamp":1})"),
              HasSubstr("\"key\" is no string"));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":"k","timestamp":1})"), HasSubstr("no \"value\""));
  EXPECT_THAT(Bad(R"({"task":0,"key":"k","value":1,"timestamp":1})"), HasSubstr("no \"store\""));
  EXPECT_THAT(Bad(R"({"store":"s","key":"k","value":1,"timestamp":1})"), HasSubstr("no \"task\""));
  EXPECT_THAT(Bad(R"({"store":"s","task":-1,"key":"k","value":1,"timestamp":1})"),
              HasSubstr("\"task\" is no integer"));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":"k","value":1})"), HasSubstr("no \"timestamp\""));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":"k","value":1,"timestamp":1.5})"),
              HasSubstr("\"timestamp\" is no integer"));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"tasks":0,"key":"k","value":1,"timestamp":1})"),
              HasSubstr("\"tasks\" is no integer"));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key_b64":"?","value":1,"timestamp":1})"),
              HasSubstr("base64"));
  EXPECT_THAT(Bad(R"({"store":"s","task":0,"key":"k","value":1,"window_start":0,"timestamp":1})"),
              HasSubstr("give lines of dump, not of scan"));
}

TEST_F(DumpFileTest, AFileThatIsNotThereIsWrongUse) {
  EXPECT_EQ(ReadDump(folder_.path() + "/none", nullptr).code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace kstream::admin
