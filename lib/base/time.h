// Time and size as people write them: RFC 3339 instants, durations, byte counts.
//
// Everything is exact integer arithmetic on the digits given; nothing goes through a double. The
// calendar is Howard Hinnant's date library, the grammar is ours, because stream parsing skips
// white space and accepts what RFC 3339 does not. Tested by tests/unit/base/time_test.cc.
#ifndef KSTREAM_BASE_TIME_H_
#define KSTREAM_BASE_TIME_H_

#include <chrono>
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

// A whole number and one of ms, s, m, h, d: "500ms", "10s", "5m", "2h", "7d". kUsage otherwise, and
// when the milliseconds do not fit 64 bits.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// Bytes: a whole number, alone or with K, M or G (powers of 1024): "64K", "256M", "4G". kUsage
// otherwise, and when the bytes do not fit a signed 64-bit number.
Result<int64_t> ParseSize(std::string_view text);

}  // namespace kstream

#endif  // KSTREAM_BASE_TIME_H_
