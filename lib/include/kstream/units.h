// Durations and sizes as the flags write them.
#ifndef KSTREAM_UNITS_H_
#define KSTREAM_UNITS_H_

#include <chrono>
#include <cstdint>
#include <string_view>

#include "kstream/export.h"
#include "kstream/status.h"

namespace kstream {

// "500ms", "10s", "5m", "2h", "7d": a whole number and a unit. kUsage on anything else and on
// overflow.
KSTREAM_EXPORT Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// "64K", "256M", "4G", or a plain number of bytes (K = 1024). kUsage on anything else and on
// overflow.
KSTREAM_EXPORT Result<int64_t> ParseSize(std::string_view text);

}  // namespace kstream

#endif  // KSTREAM_UNITS_H_
