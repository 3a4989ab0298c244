// The log: what a stage has to say beside its data, one line a message, on stderr.
//
// Text is for people and follows kcat: "% message", and "NAME: error: message" for what went wrong.
// JSON is for collectors: {"ts":..,"level":..,"message":..}. A message may quote hostile data, so
// control characters are escaped: a line of data can never forge a line of the log. spdlog does the
// writing; it does not show here. Tested by tests/unit/base/log_test.cc.
#ifndef KSTREAM_BASE_LOG_H_
#define KSTREAM_BASE_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kstream {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

struct LogOptions {
  std::string name = "kstream";      // of the program, before "error:" and "warning:"
  LogLevel least = LogLevel::kInfo;  // what is below is not written; -q is kError, -v kDebug
  bool json = false;
};

// Sets how the whole process logs. Any thread, any time.
void SetLog(const LogOptions& options);

// Writes one message, in one piece. Any thread.
void Log(LogLevel level, std::string_view message);

// Whether Log would write at this level: asked before a costly message is made.
bool LogEnabled(LogLevel level);

}  // namespace kstream

#endif  // KSTREAM_BASE_LOG_H_
