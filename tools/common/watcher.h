// Watcher: the live line (--progress) and the JSON lines (--stats) of a run, and the end of a run
// that --timeout cannot end, on a thread of its own.
//
// Tested by tests/system/manners.bats.
#ifndef KSTREAM_TOOLS_COMMON_WATCHER_H_
#define KSTREAM_TOOLS_COMMON_WATCHER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "common/reporter.h"
#include "kstream/runtime.h"

namespace kstream::tools {

// Watches from construction to destruction; the last line of --stats comes at destruction. Starts
// no thread when nothing is asked for.
//
// `timeout` is that of the run, which stops by itself when it is over; `grace` is how long its end
// may take. After that the process ends with exit code 124: an expression can be without an end
// (`last(range(1e12))`), and nothing interrupts one.
class Watcher {
 public:
  Watcher(const Runtime& runtime, Reporter* reporter,
          std::optional<std::chrono::milliseconds> timeout, std::chrono::seconds grace);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Loop();
  [[noreturn]] void GiveUp() const;
  std::chrono::milliseconds Elapsed() const;

  const Runtime& runtime_;
  Reporter* const reporter_;
  const std::chrono::seconds grace_;
  const Clock::time_point start_ = Clock::now();
  const Clock::time_point latest_end_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_WATCHER_H_
