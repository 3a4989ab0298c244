#include "base/log.h"

#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <iterator>
#include <memory>

#include "base/printable.h"
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
      Append(Printable(text, R"("\)"), &out);
      Append("\"}\n", &out);
      return;
    }
    if (message.level >= spdlog::level::warn) {
      fmt::format_to(std::back_inserter(out), "{}: {}: ", name_, Word(message.level));
    } else {
      Append("% ", &out);
    }
    Append(Printable(text), &out);
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
