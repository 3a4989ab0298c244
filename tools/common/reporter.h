// Reporter: what a run says on stderr beside the library's log: the live line, --stats, the last
// line. stdout carries data alone. Thread-safe.
#ifndef KSTREAM_TOOLS_COMMON_REPORTER_H_
#define KSTREAM_TOOLS_COMMON_REPORTER_H_

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "kstream/runtime.h"

namespace kstream::tools {

struct ReportOptions {
  bool quiet = false;    // errors only
  bool verbose = false;  // details, too
  bool json = false;
  std::string progress = "auto";       // auto on off
  std::chrono::milliseconds stats{0};  // 0: none
};

class Reporter {
 public:
  explicit Reporter(std::string_view tool);

  // Sets the log of the process, too. Before other threads use this.
  void Configure(const ReportOptions& options);
  const ReportOptions& options() const { return options_; }
  // Whether a live line is wanted: as asked, else when stderr is a terminal.
  bool live() const;

  // The last line of a run. `dead_letters`: whether the stage has a place for them.
  void Totals(const Counts& counts, bool dead_letters);
  // The live line; the next line takes its place.
  void Progress(const Counts& counts, double records_per_second);
  // One JSON object, whatever the form of the rest.
  void Stats(const Counts& counts, std::chrono::milliseconds elapsed);
  // One JSON object: `status` is one (Runtime::StatusJson).
  void Status(std::string_view status);

 private:
  void Write(std::string line);

  const std::string tool_;
  ReportOptions options_;
  std::mutex mutex_;
  bool live_line_ = false;  // guarded by mutex_: a live line is shown, the cursor at its start
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_REPORTER_H_
