// Instants as RFC 3339 writes them, exact: nothing goes through a double. (Durations and sizes are
// in kstream/units.h.)
//
// The calendar is Howard Hinnant's date library, the grammar is ours, because stream parsing skips
// white space and accepts what RFC 3339 does not. Tested by tests/unit/base/time_test.cc.
#ifndef KSTREAM_BASE_TIME_H_
#define KSTREAM_BASE_TIME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kstream/status.h"

namespace kstream {

// Milliseconds since the epoch of "2023-11-14T22:13:20.123Z" or "2023-11-14T23:13:20+01:00"; a
// fraction finer than a millisecond is rounded towards the past. An offset is required, for without
// one the text names no instant. 23:59:60 UTC is the second after it, as in POSIX. Years 0000 to
// 9999; the result may be negative. kData says what is wrong.
Result<int64_t> ParseRfc3339(std::string_view text);

// "2023-11-14T22:13:20.123Z", always with three digits. An instant outside the years 0000 to 9999,
// which RFC 3339 cannot name, is given as its number of milliseconds.
std::string FormatRfc3339(int64_t ms);

}  // namespace kstream

#endif  // KSTREAM_BASE_TIME_H_
