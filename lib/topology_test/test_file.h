// TestFile: what a test file says, read and checked for itself, with the place of everything in it.
// Whether its topics and stores are those of the topology is another matter (names.h).
//
// Tested by tests/unit/topology_test/topology_test_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_TEST_FILE_H_
#define KSTREAM_TOPOLOGY_TEST_TEST_FILE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kstream/status.h"
#include "kstream/test_driver.h"
#include "topology_file/file_text.h"
#include "topology_test/item.h"
#include "topology_test/settings.h"

namespace kstream::topology_test {

// A name of the topology's, and where the file has it.
struct Name {
  std::string text;
  topology_file::FileValue at;
};

// --- what happens, one thing after the other ---

// All records are in their topics before the first is processed.
struct Input {
  struct Topic {
    Name name;
    std::vector<std::pair<TestRecord, topology_file::FileValue>> records;
  };
  std::vector<Topic> topics;
};

// What a topic got since it was last looked at, or what a store holds.
struct Expectation {
  Name name;
  topology_file::FileValue list;  // the array of items
  bool any_order = false;
  std::vector<WantedItem> items = {};
};
struct ExpectTopics {
  std::vector<Expectation> topics;
};
struct ExpectStores {
  std::vector<Expectation> stores;
};

// Offsets that are committed, by partition; nullopt: none is.
struct ExpectCommits {
  struct Topic {
    Name name;
    topology_file::FileValue at;
    std::vector<std::optional<int64_t>> offsets;
  };
  std::vector<Topic> topics;
};

struct AdvanceClock {
  std::chrono::milliseconds by;
};
struct Restart {};
// Of one thread, whose tasks the others take; nullopt: of the process, which starts again.
struct Crash {
  std::optional<int> thread;
};
// A thread joins, the last one leaves, or the session of one runs out.
struct Rebalance {
  enum class How : uint8_t { kJoin, kLeave, kEvict } how = How::kJoin;
};
struct EndInput {};

struct Action {
  topology_file::FileValue at;
  std::variant<Input, ExpectTopics, ExpectStores, ExpectCommits, AdvanceClock, Restart, Crash,
               Rebalance, EndInput>
      what;
};

// How the application is to end: Ok is 0.
struct ExpectExit {
  int code = 0;
  std::string error = {};  // what its message must hold
  topology_file::FileValue at;
};

struct Case {
  std::string name = {};
  topology_file::FileValue at;
  Settings settings = {};
  std::vector<Action> actions = {};
  std::optional<ExpectExit> exit = {};
};

struct TestFile {
  std::shared_ptr<const topology_file::FileText> text;
  std::optional<Name> topology;  // a path, as written
  std::vector<Case> cases;

  // kUsage: it cannot be read. kExpression: a mistake in it, at its place.
  static Result<TestFile> Read(const std::string& path);
  static Result<TestFile> Parse(std::string text, std::string name);
};

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_TEST_FILE_H_
