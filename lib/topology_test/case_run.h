// CaseRun: one case of a test file, from an empty cluster to its last check.
//
// Before anything is looked at the application commits: the clock moves by one commit interval for
// each stage, so that what stages hand on to each other, and what shows at commits only, has come.
// Tests say when else time passes, so the interval is 1 ms unless they give one.
//
// A topic that a case looks at is looked at to the end: what it gets after the last look was not
// expected. Tested by tests/unit/topology_test/topology_test_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_CASE_RUN_H_
#define KSTREAM_TOPOLOGY_TEST_CASE_RUN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kstream/test_driver.h"
#include "kstream/topology.h"
#include "kstream/topology_test.h"
#include "topology_test/check.h"
#include "topology_test/test_file.h"

namespace kstream::topology_test {

// Belongs to one thread; `test` and `file`, the text of its file, outlive it.
class CaseRun {
 public:
  CaseRun(const Case& test, std::string_view file, Topology topology, TestDriverOptions options)
      : test_(test), file_(file), topology_(std::move(topology)), options_(std::move(options)) {}

  TopologyTestResult Run();

 private:
  Status Do(const Action& action);
  Status Put(const Input& input);
  Status CrashOf(const Crash& crash);
  Status Move(const Rebalance& rebalance);

  // Records, as far as it goes: what has ended is as it was when it ended.
  void Commit();
  void Check(const ExpectTopics& expected);
  void Check(const ExpectStores& expected);
  void Check(const ExpectCommits& expected);
  void CheckRest();
  void CheckEnd();
  std::vector<Item> NewRecords(const std::string& topic);

  void Note(const CheckResult& result);
  void Fail(std::vector<std::string> lines) { Note({std::move(lines), {}}); }

  const Case& test_;
  const std::string_view file_;
  const Topology topology_;
  const TestDriverOptions options_;
  std::unique_ptr<TestDriver> driver_;
  Status end_;                             // of the application, if it has ended
  std::map<std::string, Name> looked_at_;  // topics
  TopologyTestResult result_{.passed = true, .edits_help = true};
};

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_CASE_RUN_H_
