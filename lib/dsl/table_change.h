// TableChange: what happens to a row of a table, as a record that takes it to its group: the new
// value, null if there is none any more, and what was before it in headers: so it goes through
// repartition topics like any record, and kcat reads it there.
//
//   kstream.old            the value that was; missing: there was none
//   kstream.old.timestamp  its time, ms since the epoch; missing: it had none
//
// Headers of the table's own records are not passed on. Tested by
// tests/unit/dsl/table_aggregate_test.cc.
#ifndef KSTREAM_DSL_TABLE_CHANGE_H_
#define KSTREAM_DSL_TABLE_CHANGE_H_

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kstream/record.h"
#include "kstream/store.h"

namespace kstream::dsl {

inline constexpr std::string_view kOldValue = "kstream.old";
inline constexpr std::string_view kOldTime = "kstream.old.timestamp";

// A row as expressions see it: whatever else its record had is not known once the row is old.
inline Record RowOf(Bytes key, Bytes value, int64_t timestamp) {
  Record row;
  row.key = key;
  row.value = value;
  row.timestamp = timestamp;
  if (timestamp >= 0) row.timestamp_type = TimestampType::kCreateTime;
  return row;
}

inline int64_t RowTime(const Record& record) {
  return record.timestamp_type == TimestampType::kNone ? -1 : record.timestamp;
}

// The headers that tell of an old row.
class OldHeaders {
 public:
  // `old` outlives what is made of it here.
  std::span<const Header> Of(const StoredRow& old) {
    headers_[0] = {kOldValue, old.value};
    if (old.timestamp < 0) return std::span(headers_).first(1);
    time_ = std::to_string(old.timestamp);
    headers_[1] = {kOldTime, time_};
    return headers_;
  }

 private:
  std::array<Header, 2> headers_;
  std::string time_;
};

// The old row that a change tells of, under the key of its group; nullopt: there was none.
std::optional<Record> OldRowOf(const Record& change);

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_TABLE_CHANGE_H_
