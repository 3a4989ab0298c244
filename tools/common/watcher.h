// Watcher: the live line (--progress) and the JSON lines (--stats) of a run, on a thread of its
// own.
#ifndef KSTREAM_TOOLS_COMMON_WATCHER_H_
#define KSTREAM_TOOLS_COMMON_WATCHER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "common/reporter.h"
#include "kstream/runtime.h"

namespace kstream::tools {

// Watches from construction to destruction; the last line of --stats comes at destruction. Starts
// no thread when nothing is asked for.
class Watcher {
 public:
  Watcher(const Runtime& runtime, Reporter* reporter);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Loop();
  std::chrono::milliseconds Elapsed() const;

  const Runtime& runtime_;
  Reporter* const reporter_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace kstream::tools

#endif  // KSTREAM_TOOLS_COMMON_WATCHER_H_
