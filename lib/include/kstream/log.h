// Log: what a stage has to say beside its data, one line a message, on stderr.
//
// Text is for people and follows kcat: "% message", and "NAME: error: message" for what went wrong.
// JSON is for collectors: {"ts":..,"level":..,"message":..}. A message may quote hostile data, so
// control characters are escaped: a line of data can never forge a line of the log.
#ifndef KSTREAM_LOG_H_
#define KSTREAM_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kstream/export.h"

namespace kstream {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

struct LogOptions {
  std::string name = "kstream";      // of the program, before "error:" and "warning:"
  LogLevel least = LogLevel::kInfo;  // what is below is not written; -q is kError, -v kDebug
  bool json = false;
};

// Sets how the whole process logs. Any thread, any time.
KSTREAM_EXPORT void SetLog(const LogOptions& options);

// Writes one message, in one piece. Any thread.
KSTREAM_EXPORT void Log(LogLevel level, std::string_view message);

}  // namespace kstream

#endif  // KSTREAM_LOG_H_
