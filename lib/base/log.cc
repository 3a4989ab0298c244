#include "base/log.h"

#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <iterator>
#include <memory>

#include "base/time.h"

namespace kstream {
namespace {

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

std::string_view Word(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::debug:
      return "debug";
    case spdlog::level::info:
      return "info";
    case spdlog::level::warn:
      return "warning";
    default:
      return "error";
  }
}

void Append(std::string_view text, spdlog::memory_buf_t* out) {
  out->append(text.data(), text.data() + text.size());
}

// Bytes of the well-formed UTF-8 sequence at the front of `s`; 0 when there is none.
size_t Utf8Length(std::string_view s) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  unsigned char lead = byte(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogate
  if (lead == 0xF0 && byte(1) < 0x90) return 0;  // overlong
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
  return length;
}

// Control characters as \u00XX, which both forms read as an escape; bytes that are no UTF-8 as the
// replacement character. In JSON quotes and backslashes are escaped too.
void AppendSafe(std::string_view text, bool json, spdlog::memory_buf_t* out) {
  while (!text.empty()) {
    auto c = static_cast<unsigned char>(text.front());
    size_t length = Utf8Length(text);
    if (length == 0) {
      Append("\uFFFD", out);
      length = 1;
    } else if (c < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", c);
    } else {
      if (json && (c == '"' || c == '\\')) Append("\\", out);
      Append(text.substr(0, length), out);
    }
    text.remove_prefix(length);
  }
}

class LineFormatter : public spdlog::formatter {
 public:
  LineFormatter(std::string name, bool json) : name_(std::move(name)), json_(json) {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    std::string_view text(message.payload.data(), message.payload.size());
    if (json_) {
      auto since_epoch =
          std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch());
      fmt::format_to(std::back_inserter(out), R"({{"ts":"{}","level":"{}","message":")",
                     FormatRfc3339(since_epoch.count()), Word(message.level));
      AppendSafe(text, true, &out);
      Append("\"}\n", &out);
      return;
    }
    if (message.level >= spdlog::level::warn) {
      fmt::format_to(std::back_inserter(out), "{}: {}: ", name_, Word(message.level));
    } else {
      Append("% ", &out);
    }
    AppendSafe(text, false, &out);
    Append("\n", &out);
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(name_, json_);
  }

 private:
  const std::string name_;
  const bool json_;
};

// Never destroyed: threads that end after main may still log.
spdlog::logger& Logger() {
  static spdlog::logger* const logger = [] {
    auto* made = new spdlog::logger("kstream", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_formatter(std::make_unique<LineFormatter>(LogOptions().name, false));
    made->set_level(ToSpdlog(LogOptions().least));
    return made;
  }();
  return *logger;
}

}  // namespace

void SetLog(const LogOptions& options) {
  Logger().set_formatter(std::make_unique<LineFormatter>(options.name, options.json));
  Logger().set_level(ToSpdlog(options.least));
}

void Log(LogLevel level, std::string_view message) {
  Logger().log(ToSpdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

bool LogEnabled(LogLevel level) { return Logger().should_log(ToSpdlog(level)); }

}  // namespace kstream
