// Process: the tool's manners towards the shell: standard streams, signals, the end.
//
// Tested by tests/system/manners.bats.
#ifndef KSTREAM_TOOLS_COMMON_PROCESS_H_
#define KSTREAM_TOOLS_COMMON_PROCESS_H_

#include <csignal>
#include <string_view>

#include "kstream/runtime.h"
#include "kstream/status.h"

namespace kstream::tools {

// To be called first: ignores SIGPIPE (a closed stdout then shows as a failed write), and occupies
// standard streams that the caller closed, so that no data file can become one of them; blocks
// CommandSignals for whoever waits for them.
void PrepareProcess();

// Those that a running tool takes for commands (signal_commands.h), and any other for nothing.
sigset_t CommandSignals();

// While alive: the first SIGINT or SIGTERM stops the runtime, the second ends the process at once
// with 130 or 143; one within 200 ms of the first counts as the first. One at a time; outlived by
// the runtime.
class StopOnSignal {
 public:
  explicit StopOnSignal(Runtime& runtime);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
};

// Writes all of `text` to stdout. A reader that has gone away is not a failure.
Status WriteStdout(std::string_view text);
// The same; false: the reader has gone away.
Result<bool> TryWriteStdout(std::string_view text);

// Closes stdout: the last place where a full disk can show (kData).
Status CloseStdout();

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_PROCESS_H_
