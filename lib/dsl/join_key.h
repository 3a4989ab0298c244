// JoinKey: the keys in a store of the records that a join keeps:
//
//   bucket ++ group ++ 00 00 ++ side ++ time ++ offset ++ origin ++ ordinal
//
// A bucket is a stretch of time, told by its start, so that what has expired lies together, before
// all else; in it, those of a key and side lie together, by time. A 00 in a key is written 00 FF,
// so that keys keep the order of their bytes; times are those of ordered_time.h, other numbers
// big-endian; the side is 'l' or 'r'. The form is told in share/doc/kstream/joins.md, and never
// changes. Tested by tests/unit/dsl/join_state_test.cc.
#ifndef KSTREAM_DSL_JOIN_KEY_H_
#define KSTREAM_DSL_JOIN_KEY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dsl/join_rows.h"

namespace kstream::dsl {

struct JoinKey {
  // All records have times of 0 and more, and so do buckets.
  static constexpr char kFirst = '\x80';

  int64_t bucket = 0;
  std::string key = {};
  JoinSide side = JoinSide::kLeft;
  int64_t time = 0;
  RecordId id = {};

  // What the keys of a bucket begin with, and those of a key in it.
  static std::string Prefix(int64_t bucket);
  static std::string Prefix(int64_t bucket, std::string_view key);
  static std::string Of(int64_t bucket, const KeptRecord& record);
  // nullopt: it is no such key.
  static std::optional<JoinKey> Parse(std::string_view stored);
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_JOIN_KEY_H_
