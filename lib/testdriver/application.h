// Application: one life of an application under test, from its start to its end: the threads of a
// real run, whose turns are taken one at a time in one thread.
//
// A round lets every thread take a turn in which it may join, leave, commit and look after its
// tasks, but sees no records; once those turns bring nothing new, each task has a turn of its own
// in the order of task names: its thread sees the task's partitions alone, and no other task may
// process or fire. What a task writes is in its topic before the next one's turn. So what happens
// is the same whichever thread has which task. The application is at rest when a round changed
// nothing. Tested by tests/unit/testdriver/.
#ifndef KSTREAM_TESTDRIVER_APPLICATION_H_
#define KSTREAM_TESTDRIVER_APPLICATION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "kstream/runtime.h"
#include "kstream/status.h"
#include "kstream/test_driver.h"
#include "kstream/topology.h"
#include "runtime/outputs.h"
#include "runtime/run_shared.h"
#include "runtime/run_state.h"
#include "runtime/stream_thread.h"
#include "testdriver/clusters.h"

namespace kstream::testdriver {

// Belongs to one thread. `clusters` outlives it.
class Application {
 public:
  Application(Topology topology, const TestDriverOptions& options,
              std::shared_ptr<const ManualClock> clock, Clusters* clusters);
  // Ends it without a commit.
  ~Application();

  // Starts all threads. A failure ends the application.
  Status Open();
  // Lets it run until it is at rest. The error that has ended it, now or before; kTimeLimit when it
  // does not come to rest.
  Status Settle();
  // Ends all threads in good order.
  Status Close();

  // kUsage: it has ended, or there is no such thread. Nobody has a turn meanwhile.
  Status AddThread();
  Status Remove(int thread);
  Status Crash(int thread);
  Status Evict(int thread);
  Status ExpireTransaction(int thread);

  using Threads = std::map<int, std::unique_ptr<runtime::StreamThread>>;
  const Threads& threads() const { return threads_; }
  const runtime::RunState& state() const { return state_; }
  std::map<runtime::TaskId, int> Owners() const;  // the thread of each task
  const runtime::StageTask& TaskOf(runtime::TaskId task, int thread) const;
  bool running() const { return !threads_.empty() && outcome_.ok(); }
  const Status& outcome() const { return outcome_; }
  std::vector<TestFailure> TakeFailures() { return std::exchange(failures_, {}); }
  int64_t turns() const { return turns_; }

 private:
  Status Start(int index);
  Status End(int index, Status why);  // the thread is gone: how it ended
  Status CheckThread(int index) const;
  void Turn(int index, std::optional<runtime::TaskId> task);
  void Failed(int index, Status error);
  void TakeTurns();

  TestDriverOptions options_;
  Clusters* const clusters_;
  runtime::RunState state_;
  runtime::OutputFiles files_;
  runtime::RunShared shared_;
  Threads threads_;
  std::vector<TestFailure> failures_;
  Status outcome_;
  int64_t turns_ = 0;
};

}  // namespace kstream::testdriver

#endif  // KSTREAM_TESTDRIVER_APPLICATION_H_
