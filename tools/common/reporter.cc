#include "common/reporter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "kstream/log.h"

namespace kstream::tools {
namespace {

constexpr std::string_view kEraseToEnd = "\x1b[K";

int64_t Now() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

Reporter::Reporter(std::string_view tool) : tool_(tool) { Configure({}); }

void Reporter::Configure(const ReportOptions& options) {
  options_ = options;
  LogOptions log{.name = tool_, .least = LogLevel::kInfo, .json = options.json};
  if (options.verbose) log.least = LogLevel::kDebug;
  if (options.quiet) log.least = LogLevel::kError;
  SetLog(log);
}

bool Reporter::live() const {
  if (options_.quiet || options_.json) return false;
  return options_.progress == "on" || (options_.progress == "auto" && isatty(STDERR_FILENO) == 1);
}

void Reporter::Totals(const Counts& counts, bool dead_letters) {
  std::string text = fmt::format("{}: {} read, {} written, {} skipped", tool_, counts.read,
                                 counts.written, counts.skipped);
  if (dead_letters) text += fmt::format(", {} dead letters", counts.dead_letters);
  Write("");
  Log(LogLevel::kInfo, text);
}

void Reporter::Progress(const Counts& counts, double records_per_second) {
  // The cursor goes back, so that whoever writes next writes over this line.
  Write(fmt::format("% {}: {} read, {} written, {:.0f} records/s{}\r", tool_, counts.read,
                    counts.written, records_per_second, kEraseToEnd));
  std::lock_guard lock(mutex_);
  live_line_ = true;
}

void Reporter::Stats(const Counts& counts, std::chrono::milliseconds elapsed) {
  nlohmann::ordered_json json = {{"ts", Now()},
                                 {"stats", tool_},
                                 {"elapsed_ms", elapsed.count()},
                                 {"read", counts.read},
                                 {"written", counts.written},
                                 {"skipped", counts.skipped},
                                 {"dead_letters", counts.dead_letters}};
  Write(json.dump() + "\n");
}

void Reporter::Status(std::string_view status) {
  const nlohmann::ordered_json json = {{"ts", Now()}, {"status", tool_}};
  std::string begin = json.dump();
  begin.back() = ',';
  Write(begin.append(status.substr(1)) + "\n");
}

void Reporter::Write(std::string line) {
  std::lock_guard lock(mutex_);
  if (live_line_) line.insert(0, kEraseToEnd);
  live_line_ = false;
  // Nobody is left to tell when stderr itself fails.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace kstream::tools
