// Reports of test runs: TAP for people and for prove, JUnit's XML for what CI shows.
#ifndef KSTREAM_TOOLS_KSTREAM_RUN_TEST_REPORT_H_
#define KSTREAM_TOOLS_KSTREAM_RUN_TEST_REPORT_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/topology_test.h"

namespace kstream::tools {

struct RanCase {
  TopologyTestResult result;
  std::chrono::microseconds took{0};
  bool updated = false;  // its expectations are rewritten, and that is all it took
};

struct RanFile {
  TopologyTest test;
  std::vector<RanCase> cases;
};

// TAP 13, piece by piece. What a failed case tells stands in lines that begin with #.
std::string TapPlan(size_t cases);
std::string TapCase(size_t number, const TopologyTestCase& test, const RanCase& ran);

std::string JUnit(const std::vector<RanFile>& files);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_RUN_TEST_REPORT_H_
