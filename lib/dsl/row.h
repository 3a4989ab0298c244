// Row: all that an aggregate knows of one group, and the two ways of writing it.
//
// The aggregates of expressions write a result {"key":..,<columns>} and a state {<columns>} of
// JSON; those of C++ functions are one value of the user's own, which is result and state alike.
// The result of a window has its bounds between key and columns. A state that does not fit the
// columns is never guessed at. Tested by
// tests/unit/dsl/aggregate_test.cc and aggregate_state_test.cc; the format is told in
// share/doc/kstream/aggregates.md.
#ifndef KSTREAM_DSL_ROW_H_
#define KSTREAM_DSL_ROW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/column.h"
#include "kstream/record.h"
#include "kstream/status.h"
#include "kstream/store.h"
#include "record/serde.h"

namespace kstream::dsl {

// Times in ms since the epoch. The end of a session, or of a sliding window, is the last that is
// within; that of tumbling and hopping windows is the first that is not.
struct WindowBounds {
  int64_t start = 0, end = 0;
  bool operator==(const WindowBounds&) const = default;
};

struct Row {
  static constexpr int64_t kNoTime = -1;

  int64_t timestamp = kNoTime;  // the largest of the group's records, ms since the epoch
  bool due = false;             // has changed since it was last forwarded
  bool dirty = false;           // has changed since it was last stored
  bool stored = false;          // the store has it, as it was once
  bool expired = false;         // it is no more, and the next that comes begins anew
  Accumulator first;            // of the first column: most have no other
  std::unique_ptr<Accumulator[]> others;

  Accumulator& At(size_t column) { return column == 0 ? first : others[column - 1]; }
  const Accumulator& At(size_t column) const { return column == 0 ? first : others[column - 1]; }
  // Whether a function has made the row null, which deletes it.
  bool gone() const { return first.texts && first.texts->none; }
};

// Belongs to one task.
class RowFormat {
 public:
  virtual ~RowFormat() = default;

  size_t columns() const { return columns_.size(); }
  Row Empty() const;
  // As Column::Read, Prepare and Apply, of all columns.
  Status Read(const Record& record);
  Status Prepare(const Record& record, const Row& row);
  size_t Apply(Row* row);
  // As Column::PrepareOut and ApplyOut, of all columns. False: one of them never took it, and so
  // none did.
  kstream::Result<bool> PrepareOut(const Record& record, const Row& row);
  void ApplyOut(Row* row);
  // As Column::Merge, of all columns; the time is the larger of both.
  Status Merge(const Row& later, Row* row);

  // What is forwarded; nullopt is a tombstone. `window` null: the row is of none. kData: `key` is
  // not of the serde of keys.
  virtual Status Result(std::string_view key, const WindowBounds* window, const Row& row,
                        std::optional<std::string>* value) = 0;
  // What is stored; nullopt: nothing.
  virtual void State(const Row& row, std::optional<std::string>* value) const = 0;
  // Reads it back. False: *why says what does not fit.
  virtual bool Restore(const StoredRow& stored, Row* row, std::string* why) = 0;

 protected:
  explicit RowFormat(std::vector<std::unique_ptr<Column>> columns) : columns_(std::move(columns)) {}

  std::vector<std::unique_ptr<Column>> columns_;
};

std::unique_ptr<RowFormat> NewJsonRows(std::vector<std::unique_ptr<Column>> columns,
                                       const Serde& key_serde);
std::unique_ptr<RowFormat> NewPlainRows(std::unique_ptr<Column> column);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_ROW_H_
