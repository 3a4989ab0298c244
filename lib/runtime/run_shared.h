// RunShared: what the threads of one loop share beside RunState.
#ifndef KSTREAM_RUNTIME_RUN_SHARED_H_
#define KSTREAM_RUNTIME_RUN_SHARED_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kstream/status.h"
#include "runtime/admins.h"
#include "runtime/ends.h"
#include "runtime/group_check.h"
#include "runtime/outputs.h"
#include "runtime/planner.h"
#include "runtime/run_state.h"
#include "runtime/state_directory.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "transport/timeouts.h"

namespace kstream::runtime {

class Standbys;

struct RunShared {
  RunShared(RunState* state, OutputFiles* files);
  ~RunShared();

  // Locks the state directory, finds what there is to read, makes what is missing, opens the
  // outputs.
  Status Open();

  // What --instance-id says, or stands for; empty: a dynamic member. After Open.
  std::string instance_id() const;

  // Of a thread's transactions; empty: it makes none. The same at each start on this directory.
  // After Open.
  std::string transactional_id(int thread) const;

  RunState* const state;
  OutputFiles* const files;
  Admins admins;
  Planner planner;
  Ends ends;
  std::unique_ptr<StateDirectory> directory;                       // null: nothing is kept there
  MemberTag tag;                                                   // with a group
  std::unique_ptr<GroupCheck> check;                               // with a group
  std::shared_ptr<store::rocksdb::Memory> memory;                  // of all stores on disk
  int threads = 1;                                                 // that share the work
  std::chrono::milliseconds session = transport::kSessionTimeout;  // of a member of the group
  // Whether the whole process stood still for longer than a session, at a time that ended after
  // `since`.
  std::function<bool(Clock::Instant since)> stood_still = [](Clock::Instant) { return false; };
  // How many threads have nothing left to do in a run that has an end. Static members end together:
  // the group would wait for one that has closed until its session is over.
  std::atomic<int> at_end{0};
  // Called by a thread that has its tasks, or waits for them again.
  std::function<void(int thread, bool ready)> on_ready = [](int, bool) {};
  // Last, as it uses the rest. Null: no stores stand by here.
  std::unique_ptr<Standbys> standbys;
};

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_RUN_SHARED_H_
