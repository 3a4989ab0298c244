// RecordIds: which record is at hand, told by what it was read from rather than by its arrival: one
// that is read again, after a crash, is found to be what it was. Tested by
// tests/unit/dsl/join_state_test.cc and distinct_test.cc.
#ifndef KSTREAM_DSL_RECORD_IDS_H_
#define KSTREAM_DSL_RECORD_IDS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "kstream/processor.h"

namespace kstream::dsl {

// Which record it is, and its place among those of one time.
struct RecordId {
  int64_t offset = 0;
  uint64_t origin = 0;   // a hash of where offsets count; 0: a processor made it
  uint32_t ordinal = 0;  // among those that were made of one record
  auto operator<=>(const RecordId&) const = default;
};

// Of the records that come one way to a processor. Belongs to one task.
class RecordIds {
 public:
  void Init(const ProcessorContext& context) { made_ = context.wall_clock_time() << 20; }
  // Of the record at hand: each has the next one.
  RecordId Next(const ProcessorContext& context);

 private:
  std::string topic_;
  int32_t partition_ = -1;
  RecordId last_ = {.offset = -1};
  int64_t made_ = 0;  // by processors
};

}  // namespace kstream::dsl

#endif  // KSTREAM_DSL_RECORD_IDS_H_
