// TopologyTest: cases for a topology in a file, as text (JSON): what goes in, what happens, what is
// to come out. Each case runs on topics in memory by a clock of its own (see
// kstream/test_driver.h).
//
//   Result<TopologyTest> test = TopologyTest::Read("revenue.test.json");
//   for (size_t i = 0; i < test->cases().size(); ++i) {
//     const TopologyTestResult result = test->Run(i);
//     if (!result.passed) Print(result.lines);
//   }
//
// What may stand in a file is told in share/doc/kstream/testing.md. A mistake in it is kExpression,
// with FILE:LINE:COLUMN and what to do.
#ifndef KSTREAM_TOPOLOGY_TEST_H_
#define KSTREAM_TOPOLOGY_TEST_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kstream/export.h"
#include "kstream/status.h"
#include "kstream/topology_file.h"

namespace kstream {

struct TopologyTestOptions {
  // The path of the topology; empty: the one that the test file names, seen from where that lies.
  std::string topology = {};
  TopologyVariables variables = {};  // over those of the test file
  // Options of the run, as RuntimeOptions::Set takes them: over those of the topology, under those
  // of the test file. Those that a test file cannot have are the test's own affair, and pass
  // unheeded.
  std::vector<std::pair<std::string, std::string>> options = {};
  TopologyFileDefaults defaults = {};  // of the topology
};

struct TopologyTestCase {
  std::string name;
  std::string place;  // FILE:LINE:COLUMN
};

// A part of a file, in bytes, and what is to stand there.
struct TextEdit {
  size_t begin = 0, size = 0;
  std::string text;
};

struct TopologyTestResult {
  bool passed = false;
  // What is not as expected, for people: FILE:LINE:COLUMN and what, then the difference, item by
  // item.
  std::vector<std::string> lines = {};
  // What would make the expectations those of what came.
  std::vector<TextEdit> edits = {};
  bool edits_help = false;  // whether they are all that it takes
};

// Immutable and cheap to copy. Threads: any, many at once.
class KSTREAM_EXPORT TopologyTest {
 public:
  // Reads the file and its topology, and holds them against each other. kUsage: a file cannot be
  // read, an option that is none. kExpression: a mistake in one of them.
  static Result<TopologyTest> Read(const std::string& path,
                                   const TopologyTestOptions& options = {});

  const std::string& path() const;
  const std::vector<TopologyTestCase>& cases() const;
  TopologyTestResult Run(size_t number) const;
  // The text of the file, with edits of any of its cases made.
  std::string Edited(std::span<const TopologyTestResult> results) const;

 private:
  struct Rep;
  explicit TopologyTest(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;
};

}  // namespace kstream

#endif  // KSTREAM_TOPOLOGY_TEST_H_
