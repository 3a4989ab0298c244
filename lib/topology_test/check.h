// Checks: a list of items that came against the one that a test expects: whether it is that, what
// people are told if not, and how the test file would have to read.
//
// An edit keeps what it can: items that are as expected stay as they are written, others are told
// by the fields that the test asked for, and the white space between items is that of the list.
//
// Tested by tests/unit/topology_test/check_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_CHECK_H_
#define KSTREAM_TOPOLOGY_TEST_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "kstream/topology_test.h"
#include "topology_test/test_file.h"

namespace kstream::topology_test {

struct CheckResult {
  std::vector<std::string> lines = {};  // none: as expected
  std::vector<TextEdit> edits = {};
};

// `item`: what people call one, "record" or "row".
CheckResult CheckItems(const Expectation& expectation, const std::vector<Item>& came,
                       std::string_view item, std::string_view file);

// "FILE:LINE:COLUMN: message" of a value.
std::string AtPlace(topology_file::FileValue at, std::string_view message);

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_CHECK_H_
