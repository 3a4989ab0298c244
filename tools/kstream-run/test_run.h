// kstream-run --test: runs test files and reports them, as TAP or as JUnit's XML.
//
// Cases run side by side, and are reported in their order, each as soon as all before it are done.
// Tested by tests/system/topology_test.bats.
#ifndef KSTREAM_TOOLS_KSTREAM_RUN_TEST_RUN_H_
#define KSTREAM_TOOLS_KSTREAM_RUN_TEST_RUN_H_

#include <string>
#include <vector>

#include "common/flag.h"
#include "common/reporter.h"
#include "kstream/status.h"
#include "kstream/topology_test.h"

namespace kstream::tools {

struct TestRunOptions {
  std::vector<std::string> files;  // --test; empty: not asked for
  std::string report;              // --report; empty: TAP
  bool update = false;             // --update
  int jobs = 1;                    // cases at a time
};

FlagGroup TestFlags(TestRunOptions* options);

// kUsage and kExpression before any case runs: a file is not what it should be. kNegative: a case
// failed.
// Of what the application under test has to say only errors are shown, unless all is asked for.
Status RunTests(const TestRunOptions& options, const TopologyTestOptions& test, Reporter* reporter);

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_KSTREAM_RUN_TEST_RUN_H_
