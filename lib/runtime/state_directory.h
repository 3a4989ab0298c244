// StateDirectory: where an application keeps what must outlive its process on this host:
// <state dir>/<app>/, for one process at a time.
//
//   .lock                 held (flock) as long as the run; says the process id of its holder
//   .instance             a random id, made once: this instance of the application
//   <store>/<task>/       the instance of a store: its engine's files
//
// Names of applications and stores are the user's, and taken as they are: what cannot be the name
// of a file, or begins with a dot as ours do, is refused. Nothing outside of the directory is ever
// touched, so neighbours whose names begin alike are safe. The lock dies with its holder, by
// whatever death. Directories are made for their owner alone: state is data.
//
// A run without an app that wants its stores on disk has a directory of its own,
// <state dir>/.run-<id>/, which goes with it; what a crash left is swept by the next run that makes
// one. Tested by tests/unit/runtime/state_directory_test.cc. share/doc/kstream/state.md is the page
// for users.
#ifndef KSTREAM_RUNTIME_STATE_DIRECTORY_H_
#define KSTREAM_RUNTIME_STATE_DIRECTORY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/status.h"

namespace kstream::runtime {

// The --instance-id that stands for the one kept here.
inline constexpr std::string_view kOwnInstance = "auto";

// How long a start waits for another process to let go: as long as one that was told to stop may
// take to commit, and a supervisor not to give up.
inline constexpr std::chrono::seconds kLockWait{20};

// Whether an application or store can have this name here: kUsage says why not; `what` is "store"
// or "application".
Status CheckFileName(std::string_view what, std::string_view name);

// The instance of a store, found or made.
struct StoreDirectory {
  std::string store;
  int32_t task = 0;
  std::string path;
  bool standby = false;  // see ShowStandby
  bool operator==(const StoreDirectory&) const = default;
};

// Thread-safe: threads make and remove directories of different tasks.
class StateDirectory {
 public:
  // Makes <root>/<app> and locks it; while another holds it, says so once and waits up to `wait`.
  // kState: still in use, not writable, no room, damaged. Gives up early, kStopped, when `stop` is
  // set.
  static Result<std::unique_ptr<StateDirectory>> Open(const std::string& root, std::string_view app,
                                                      const std::atomic<bool>& stop,
                                                      std::chrono::milliseconds wait = kLockWait);
  // One that goes with this object; removes those of dead processes.
  static Result<std::unique_ptr<StateDirectory>> OpenTemporary(const std::string& root);

  // Lets go of the lock.
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  const std::string& path() const { return path_; }
  // 16 hexadecimal digits, the same at each start on this directory.
  const std::string& instance() const { return instance_; }

  // The directory of a store's instance, made if it is missing. kState.
  Result<std::string> Make(std::string_view store, int32_t task);
  // Says of the directory of a store's instance, if it is there, whether the store stands by for a
  // task that runs elsewhere. A help for people: nothing depends on it, so nothing fails.
  void ShowStandby(std::string_view store, int32_t task, bool stands_by);
  // Removes the directory of a store's instance with all that is in it; nothing when there is none.
  Status Remove(std::string_view store, int32_t task);
  // Removes those of all stores.
  Status Clear();

 private:
  StateDirectory(std::string path, int lock, bool temporary);
  Status FindInstance();
  std::string PathOf(std::string_view store, int32_t task) const;

  const std::string path_;
  const int lock_;  // an open file
  const bool temporary_;
  std::string instance_;
};

// For who looks in from outside; nothing is locked, made or changed.
// Applications that have a directory, by name. kState: cannot be read; none when there is no root.
Result<std::vector<std::string>> ListApplications(const std::string& root);
// Instances of stores, by store and task. kState: there is no such application, or it cannot be
// read.
Result<std::vector<StoreDirectory>> ListStores(const std::string& root, std::string_view app);
// Who uses an application's directory now, as "process 12"; nullopt: nobody. The lock is tried for
// a moment, as another reader of it would. kState: it cannot be.
Result<std::optional<std::string>> HolderOf(const std::string& root, std::string_view app);

}  // namespace kstream::runtime

#endif  // KSTREAM_RUNTIME_STATE_DIRECTORY_H_
