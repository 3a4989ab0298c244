// JoinRows: the records of both sides of a join that are kept, in memory.
//
// A key has its records of each side in the order of their times, so that those of a window are
// found by halving. All records of one stretch of time (a bucket) have their bytes in one arena;
// when the last of them has expired, the bucket goes as a whole: its keys drop what they have of
// it, and the memory is given back at once. So a record costs a copy and a look-up when it comes,
// next to nothing when it goes, and memory is flat however long the run.
//
// A record is known by what it was read from, not by its arrival: one that is read again, after a
// crash, is found to be there. Tested by tests/unit/dsl/stream_join_test.cc.
#ifndef KSTREAM_DSL_JOIN_ROWS_H_
#define KSTREAM_DSL_JOIN_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/byte_table.h"
#include "dsl/record_ids.h"
#include "kstream/record.h"

namespace kstream::dsl {

enum class JoinSide : uint8_t { kLeft, kRight };
inline constexpr size_t kJoinSides = 2;
inline JoinSide Other(JoinSide side) {
  return side == JoinSide::kLeft ? JoinSide::kRight : JoinSide::kLeft;
}

struct KeptRecord;

class JoinRows {
 public:
  // A record, with its time at hand: most look-ups need no more of most records.
  struct Place {
    int64_t time;
    KeptRecord* record;
  };
  struct Keyed {
    std::array<std::vector<Place>, kJoinSides> sides = {};  // by time, then by id
    int64_t bucket = INT64_MIN;                             // the last that knows of this key
  };
  using Entry = ByteTable<Keyed>::Entry;

  // `width`: of a bucket, ms.
  explicit JoinRows(int64_t width) : width_(width) {}

  Entry* Find(std::string_view key, uint64_t hash) const { return keys_.Find(key, hash); }
  // The key's entry, and whether it was made now. It lasts as long as there is a record of it.
  std::pair<Entry*, bool> Make(std::string_view key, uint64_t hash);
  void EraseIfEmpty(Entry* entry);

  // Copies a record, all but its key; not one that is there already: false.
  std::pair<KeptRecord*, bool> Add(Entry* entry, const KeptRecord& record);
  // Those of a key from time `from` to `to`, both included.
  static std::span<const Place> Between(const Entry& entry, JoinSide side, int64_t from,
                                        int64_t to);
  // Drops buckets all of whose records are earlier than `time`, if there are any. Entries may go.
  bool Expires(int64_t time) const {
    return !buckets_.empty() && buckets_.begin()->first + width_ <= time;
  }
  void Expire(int64_t time);
  void Clear();

  // `visit(record)` for each; keys come in no order.
  template <typename F>
  void ForEach(F visit) const;

  int64_t BucketOf(int64_t time) const { return time - time % width_; }
  int64_t width() const { return width_; }
  size_t bytes() const { return bytes_; }  // of memory, about
  bool empty() const { return keys_.empty(); }

 private:
  struct Bucket {
    Arena arena;
    std::vector<Entry*> keys;  // each once or more
    size_t bytes = 0;
  };

  Bucket* Of(int64_t time);
  static KeptRecord* Copy(const KeptRecord& record, Arena* arena);
  void Drop(Entry* entry, int64_t end);

  const int64_t width_;
  ByteTable<Keyed> keys_;
  std::map<int64_t, std::unique_ptr<Bucket>> buckets_;  // by start
  std::pair<int64_t, Bucket*> last_{INT64_MIN, nullptr};
  std::unique_ptr<Bucket> spare_;  // an empty one, with its first block
  size_t bytes_ = 0;
};

struct KeptRecord {
  int64_t time = 0;
  RecordId id = {};
  std::string_view value = {};
  std::span<const Header> headers = {};
  JoinRows::Entry* entry = nullptr;
  JoinSide side = JoinSide::kLeft;
  bool matched = false;  // has met another
  bool gone = false;     // came out alone, and meets nothing any more
  bool stored = false;   // the store has it, as it was once
  bool dirty = false;    // it is to be written there

  std::string_view key() const { return entry->key(); }
};

template <typename F>
void JoinRows::ForEach(F visit) const {
  for (const Entry* const entry : keys_.Entries()) {
    for (const auto& side : entry->value.sides) {
      for (const Place& place : side) visit(place.record);
    }
  }
}

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_JOIN_ROWS_H_
