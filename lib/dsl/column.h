// Column: one aggregate of a row: what it keeps of a group, how a record changes that, and how it
// is written, as a result and as state.
//
// A record is taken in three steps: Read evaluates the argument, once for all rows that the record
// goes into; Prepare computes what a row would become, of all columns; only then Apply, which
// cannot fail, makes it so. So a bad record changes nothing. Arguments that are null are ignored.
// Tested by tests/unit/dsl/aggregate_test.cc.
#ifndef KSTREAM_DSL_COLUMN_H_
#define KSTREAM_DSL_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "expr/value.h"
#include "kstream/operators.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "record/json_document.h"
#include "record/serde.h"

namespace kstream::dsl {

// A value, as JSON, and how many rows have it.
struct BagItem {
  std::string json;
  int64_t count = 0;
};

// What a column keeps of one group: small for what is a number, since there may be millions.
struct Accumulator {
  struct Texts {
    std::string text;  // a value's JSON, or the items of an array with commas between
    std::unordered_set<std::string> seen;  // canonical, of sets
    bool none = false;                     // a function has made it null
    std::vector<BagItem> bag;              // of tables: see bag_column.h
    std::vector<double> parts;             // of tables: see exact_sum_column.h
  };

  int64_t count = 0;                      // arguments taken, where they are counted
  expr::Value sum = expr::Value::Int(0);  // kInt or kDouble
  std::unique_ptr<Texts> texts;           // null: nothing was taken
};

// Belongs to one task.
class Column {
 public:
  explicit Column(std::string name) : name_(std::move(name)) {}
  virtual ~Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  const std::string& name() const { return name_; }

  // kData, of both: the record is bad.
  virtual Status Read(const Record& record) = 0;
  virtual Status Prepare(const Record& record, const Accumulator& now) = 0;
  // Takes what was prepared. Returns by how many bytes of memory it grew.
  virtual size_t Apply(Accumulator* now) = 0;
  // Of tables: as Prepare and Apply, of taking out what an equal record brought in. False: it was
  // never taken in, or is out already.
  virtual kstream::Result<bool> PrepareOut(const Record& record, const Accumulator& now);
  virtual void ApplyOut(Accumulator* now);
  // Adds what another one took, which counts as later; to an empty one, makes it a copy. kData:
  // they do not go together, and *now is of no use any more.
  virtual Status Merge(const Accumulator& later, Accumulator* now) = 0;

  // As JSON.
  virtual void AppendResult(const Accumulator& now, std::string* json) const = 0;
  virtual void AppendState(const Accumulator& now, std::string* json) const = 0;
  // Reads what AppendState wrote into an empty one. False: that is the state of something else.
  virtual bool Restore(const json::Document& document, json::Node state, Accumulator* now) = 0;

 private:
  const std::string name_;
};

// `function` has its argument, if it needs one. `table`: it can take out again what it took.
std::unique_ptr<Column> NewColumn(const AggregateFunction& function, bool table,
                                  const Serdes& serdes);
std::unique_ptr<Column> NewFold(const FoldSpec& fold, const Serdes& serdes);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_COLUMN_H_
