// Item: a record of a topic, or a row of a store, as a list of facts about it: names and compact
// JSON. What a test expects says some facts; what came has all of them, some in several forms (a
// value as JSON, as text and in base64), so that each expectation finds the form that it is written
// in. Comparing, showing and rewriting are the same for records and rows thereby.
//
// Tested by tests/unit/topology_test/item_test.cc.
#ifndef KSTREAM_TOPOLOGY_TEST_ITEM_H_
#define KSTREAM_TOPOLOGY_TEST_ITEM_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"
#include "kstream/test_driver.h"
#include "topology_file/file_text.h"

namespace kstream::topology_test {

struct Fact {
  std::string name;
  std::string json;  // compact
};

// What came.
class Item {
 public:
  static Item Of(const TestRecord& record);
  static Item Of(const TestRow& row);

  const std::string* Find(std::string_view name) const;
  int32_t partition() const { return partition_; }
  // One line of JSON: these facts, as far as there are such; or what tells it best.
  std::string Text(const std::vector<std::string>& names) const;
  std::string Text() const { return Text(best_); }

 private:
  void AddBytes(std::string_view name, const std::optional<std::string>& bytes);
  void AddValue(const std::optional<std::string>& value);
  void Add(std::string name, std::string json) {
    facts_.push_back({std::move(name), std::move(json)});
  }

  std::vector<Fact> facts_;
  std::vector<std::string> best_;  // names of facts that tell it
  int32_t partition_ = 0;
};

// What is expected: facts as the file says them, and where.
class WantedItem {
 public:
  enum class What { kRecord, kRow };
  // kExpression: a field that there is not, a value that is none.
  static Result<WantedItem> Parse(topology_file::FileValue value, What what);

  topology_file::FileValue at() const { return at_; }
  // "value.total: expected 5, came 4"; nullopt: it is as expected.
  std::optional<std::string> Difference(const Item& item) const;
  std::string Text() const;
  // What came, told by what is asked here, on one line.
  std::string Like(const Item& item) const;
  // The same as it is to stand in the file: what is as expected stays as it is written.
  std::string Rewritten(const Item& item) const;

 private:
  explicit WantedItem(topology_file::FileValue at) : at_(at) {}

  topology_file::FileValue at_;
  std::vector<Fact> facts_;
  std::vector<topology_file::FileValue> values_;  // of the facts, as written
};

// A record to be put in. kExpression.
Result<TestRecord> ParseRecord(topology_file::FileValue value);

}  // namespace kstream::topology_test

#endif  // KSTREAM_TOPOLOGY_TEST_ITEM_H_
