// A value of a test file, out of text.
#ifndef KSTREAM_TESTS_UNIT_TOPOLOGY_TEST_PARSED_H_
#define KSTREAM_TESTS_UNIT_TOPOLOGY_TEST_PARSED_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "topology_file/file_text.h"

namespace kstream::topology_test {

struct Parsed {
  explicit Parsed(std::string json) {
    auto result = topology_file::FileText::Parse(std::move(json), "t.json", {});
    EXPECT_TRUE(result.ok()) << result.status().message();
    text = *std::move(result);
  }
  topology_file::FileValue root() const { return text->root(); }

  std::shared_ptr<const topology_file::FileText> text;
};

}  // namespace kstream::topology_test

#endif  // KSTREAM_TESTS_UNIT_TOPOLOGY_TEST_PARSED_H_
