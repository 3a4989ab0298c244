// Event time out of data: a JSON number in a given unit, or an RFC 3339 string.
//
// A record's time is milliseconds since the epoch and not negative; whatever else the data says
// (null, a word, a number that does not fit, a time before 1970, the -1 that means "none") is a bad
// record and never a guess. Tested by tests/unit/record/timestamp_test.cc.
#ifndef KSTREAM_RECORD_TIMESTAMP_H_
#define KSTREAM_RECORD_TIMESTAMP_H_

#include <cstdint>
#include <string_view>

#include "kstream/status.h"

namespace kstream {

enum class TimeUnit : uint8_t { kMilliseconds, kSeconds, kMicroseconds, kNanoseconds };

// "ms", "s", "us" or "ns"; kUsage otherwise.
Result<TimeUnit> ParseTimeUnit(std::string_view name);

// The milliseconds of one valid JSON value without white space around it. Finer units are rounded
// down. A string is RFC 3339 whatever the unit. kData says what is wrong.
Result<int64_t> ParseTimestamp(std::string_view json, TimeUnit unit);

}  // namespace kstream

#endif  // KSTREAM_RECORD_TIMESTAMP_H_
