// SeenRecords: the keys that an operator has seen of late, by event time: what is behind Distinct.
//
// A record that is kept is remembered, with its time, until stream time has moved by `within` plus
// `grace` since it came. So all that lie within its time are held against it as long as they are
// out of order by no more than `grace`, and what is remembered is bounded. Records that repeat it
// are not remembered: what is near to them alone is new again.
//
// What is remembered lies in buckets by the stream time at which it came, four to the time that it
// lasts. A look-up asks each of them; the oldest goes as a whole, from memory at once, from the
// store when the stream time that has outlived it is committed. The store is written at commit
// points. When memory does not hold all, it is emptied: from then on a key is read from those
// buckets of the store that were there, until they have gone too.
//
// A record is known by what it was read from. After a crash the store may be ahead of the committed
// positions: a record that finds itself there is as new as it was, and what was read behind it
// counts only once it is read again. So no restart loses a record.
//
// Rows have the form of windowed ones (window_key.h): bucket ++ key, the value an array of
//
//   {"time":ms,"came":ms,"origin":"HEX","offset":n,"ordinal":n}
//
// Tested by tests/unit/dsl/distinct_test.cc and tests/unit/testdriver/distinct_test.cc.
#ifndef KSTREAM_DSL_SEEN_RECORDS_H_
#define KSTREAM_DSL_SEEN_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_table.h"
#include "dsl/record_ids.h"
#include "dsl/store_label.h"
#include "kstream/processor.h"
#include "kstream/store.h"
#include "record/json_document.h"

namespace kstream::dsl {

// Belongs to one task.
class SeenRecords {
 public:
  struct Seen {
    int64_t time = 0;  // of the record
    int64_t came = 0;  // stream time then
    RecordId id = {};
  };
  enum class Answer : uint8_t {
    kNew,
    kItself,  // remembered, and read again
    kRepeat,
  };

  // In ms. `store`: the name of a key-value store of its own; empty: none.
  SeenRecords(int64_t within, int64_t grace, std::string store);

  Status Init(ProcessorContext& context);
  // `record.came` is stream time, that of the record included.
  Result<Answer> Ask(std::string_view key, const Seen& record);
  // One that is kept, and that Ask has just called new.
  void Remember(std::string_view key, const Seen& record);
  // Forgets what is too long ago at this stream time.
  void MoveTo(int64_t stream_time);
  // At a commit point.
  Status Flush();
  void Close();

 private:
  struct Row {
    Seen first;
    std::vector<Seen> others = {};  // rarely any
    bool dirty = false;
  };
  using Rows = ByteTable<Row>;
  struct Bucket {
    Rows rows;
    std::vector<Rows::Entry*> dirty;
    size_t bytes = 0;
    bool whole = true;    // the store has no row of it that is not here too
    bool stored = false;  // it has some
  };

  Status FindBuckets();
  // Null: there is no such row.
  Result<Rows::Entry*> Find(int64_t start, Bucket* bucket, std::string_view key, uint64_t hash);
  static void Add(const Seen& seen, bool fresh, Row* row);
  Status Read(std::string_view key, Row* row);
  void Write(const Row& row);
  void Grow(Bucket* bucket, size_t bytes);
  Status Store();
  Status Spill();
  bool IsPast(int64_t start, int64_t stream_time) const {
    return start + width_ + kept_for_ <= stream_time;
  }

  const int64_t within_, kept_for_, width_;
  const std::string store_name_;
  StoreLabel label_;
  ProcessorContext* context_ = nullptr;
  KeyValueStore* store_ = nullptr;
  std::map<int64_t, Bucket> buckets_;  // by start
  std::deque<int64_t> past_;           // that the store still has
  size_t bytes_ = 0;
  StoredRow stored_;
  json::Reader reader_;
  std::string text_;
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_SEEN_RECORDS_H_
