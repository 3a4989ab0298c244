// SignalCommands: what a running tool does at a signal beside ending: SIGUSR1 prints how the run
// stands, as one line of JSON on stderr; SIGUSR2 pauses it, and resumes it.
//
// A thread waits for them, as what they ask for is no work for a signal handler. PrepareProcess
// (process.h) blocks both in all threads. Tested by tests/system/live.bats.
#ifndef KSTREAM_TOOLS_COMMON_SIGNAL_COMMANDS_H_
#define KSTREAM_TOOLS_COMMON_SIGNAL_COMMANDS_H_

#include <atomic>
#include <thread>

#include "common/reporter.h"
#include "kstream/runtime.h"

namespace kstream::tools {

// From construction to destruction; both outlive it.
class SignalCommands {
 public:
  SignalCommands(Runtime* runtime, Reporter* reporter);
  ~SignalCommands();
  SignalCommands(const SignalCommands&) = delete;
  SignalCommands& operator=(const SignalCommands&) = delete;

 private:
  void Loop();

  Runtime* const runtime_;
  Reporter* const reporter_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_SIGNAL_COMMANDS_H_
