// Inspector: a look into the stores of an application from outside: what its state directory on
// this host holds, what its changelogs hold, or the one with the tail of the other laid over it.
//
// Nothing is changed and nobody is kept waiting: a store is read while its owner runs. What is seen
// has a name, the offset of the changelog up to which it is true (As-of).
// share/doc/kstream/inspect.md is the page for users.
#ifndef KSTREAM_INSPECT_H_
#define KSTREAM_INSPECT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kstream/export.h"
#include "kstream/properties.h"
#include "kstream/status.h"

namespace kstream {

struct InspectOptions {
  std::string app = {};        // a name; never empty
  std::string state_dir = {};  // RuntimeOptions::StateDir
  // Without brokers the directory alone is read: as of its owner's last flush. With brokers the
  // tail of the changelogs, as committed, is laid over it.
  ClusterOptions home = {};
  // Nothing of the directory is used but room for a temporary store: all rows are read from the
  // changelogs. Needs brokers.
  bool from_changelog = false;
};

// The instance of a store in one task, as a directory has it.
struct InspectedStore {
  std::string store;
  int32_t task = 0;
  std::string path;
  std::string engine;       // "rocksdb"
  int format = 0;           // of the files
  uint64_t rows = 0;        // an estimate
  uint64_t bytes = 0;       // on disk
  int64_t offset = 0;       // of the first changelog record that is not in it; 0 if it has none
  std::string incarnation;  // of the application that wrote it; empty: of a run on files
  int64_t written = 0;      // wall clock when rows changed last, ms since the epoch
  // Tumbling or hopping windows that have rows: those that are open, and those that are kept on.
  std::optional<uint64_t> windows = {};
  bool standby = false;  // it was kept warm last for a task that ran in another instance
};

// One application of a state directory.
struct AppInstance {
  std::string app;
  size_t instances = 0;               // of stores
  std::optional<std::string> holder;  // "process 12": a live owner
};

// A row, valid during the call that hands it over.
struct InspectedRow {
  std::string_view store;
  int32_t task = 0;
  std::string_view key = {}, value = {};
  int64_t timestamp = 0;  // event time, ms since the epoch
  // Of a store of windows, whose `key` is the group's; ms since the epoch.
  std::optional<int64_t> window_start = {}, window_end = {};
};

// As one line of JSON, without a line end:
//   {"store":"agg","task":0,"key":"u1","value":{"count":3},"timestamp":1700000000000}
// with `key_b64` for a key that is not UTF-8, and `payload` or `payload_b64` for a value that is
// not one line of JSON, as in the envelope. Of a store of windows, "window_start" and "window_end"
// come before the timestamp.
KSTREAM_EXPORT std::string RowToJson(const InspectedRow& row);
// For people: store, time, key, window ("" where there is none) and value, safe for a terminal.
KSTREAM_EXPORT std::vector<std::string> RowToCells(const InspectedRow& row);
// An instant by the clocks of this place (TZ): "2023-11-14T23:13:20.123+01:00".
KSTREAM_EXPORT std::string LocalTime(int64_t ms);

// What a changelog record made of a row; valid during the call that hands it over.
struct RowVersion {
  InspectedRow row;      // of a deletion the value is empty, and a session's end is not known
  bool deleted = false;  // a tombstone
  int64_t offset = 0;    // of the record
  int64_t written = 0;   // the record's own time: the wall clock of who wrote it, ms
};
// {"store":..,"task":0,"offset":17,"written":ms,"key":..,"value":..,"timestamp":ms}; of a deletion
// "payload":null.
KSTREAM_EXPORT std::string VersionToJson(const RowVersion& version);

// A row that two sides have differently; valid during the call that hands it over.
struct RowDifference {
  struct Side {
    std::string_view value;
    int64_t timestamp = 0;
  };
  InspectedRow row = {};                      // store, task, key and window
  std::optional<Side> left = {}, right = {};  // nullopt: that side does not have it
};
// {"store":..,"task":0,"key":..,"LEFT":{"value":..,"timestamp":ms},"RIGHT":null}.
KSTREAM_EXPORT std::string DifferenceToJson(const RowDifference& difference, std::string_view left,
                                            std::string_view right);

// Which rows.
struct KSTREAM_EXPORT RowQuery {
  std::string store = {};                 // empty: the only one there is
  std::optional<int32_t> task = {};       // nullopt: all
  std::optional<int64_t> at_window = {};  // only rows of windows that hold this time, ms
  std::string from = {};                  // the smallest key, in order of unsigned bytes
  std::optional<std::string> to = {};     // the first key that is too large
  // Keys as the store has them, all of them: with windows not told apart, and with what the store
  // knows beside rows. What is read so can be written again (kstream/load.h).
  bool stored = false;
  // from and to become the bounds of the keys that begin so, or of this key alone.
  void Prefix(std::string_view prefix);
  void Only(std::string_view key);
  // ms since the epoch, or RFC 3339. kUsage.
  Status AtWindow(std::string_view time);
};

// What walking over all rows of an instance tells.
struct StoreTotals {
  std::string store;
  int32_t task = 0;
  uint64_t rows = 0, key_bytes = 0, value_bytes = 0;
  std::optional<int64_t> oldest = {}, newest = {};  // event times; nullopt: no rows
  uint64_t largest_value = 0;                       // bytes
  // Windows, or sessions, that have rows; nullopt: the store has none, or sliding ones, of which it
  // keeps moments.
  std::optional<uint64_t> windows = {};
};

// What comparing an instance with its changelog came to.
struct InstanceVerdict {
  std::string store;
  int32_t task = 0;
  int64_t offset = 0;      // of the changelog, as of which both were compared
  uint64_t rows = 0;       // that were compared
  uint64_t differing = 0;  // of them
  // Rows that changed after `offset`, so that their former values may be gone from the changelog,
  // and that differ from what is left of them: nothing can be said of these.
  uint64_t superseded = 0;
};

// Belongs to one thread. Failures: kState (nothing there, damaged, of a newer kstream), kCluster.
class KSTREAM_EXPORT Inspector {
 public:
  // kUsage: a name that is none, from_changelog without brokers.
  static Result<std::unique_ptr<Inspector>> Open(InspectOptions options);
  virtual ~Inspector();

  // What the directory has, by store and task.
  virtual Result<std::vector<InspectedStore>> List() = 0;
  // Who uses the directory now.
  virtual Result<std::optional<std::string>> Holder() = 0;

  // Rows by task and key (of a store of windows: by task, window and key), while `visit` returns
  // true. Each instance is announced to the log first:
  // "% agg[0]: as of changelog offset 17".
  using Visitor = std::function<bool(const InspectedRow& row)>;
  virtual Status Scan(const RowQuery& query, const Visitor& visit) = 0;
  // Of the instances of a store, or of all stores where query.store is empty.
  virtual Result<std::vector<StoreTotals>> Totals(const RowQuery& query) = 0;

  // How many tasks a store has; nullopt: the directory may have but a part of them.
  virtual Result<std::optional<int32_t>> Tasks(const RowQuery& query) = 0;

  // What the changelog of a store still has of the keys asked for, by task, oldest first, as
  // committed. kUsage: without brokers, or of a store without a changelog.
  using VersionVisitor = std::function<bool(const RowVersion& version)>;
  virtual Status History(const RowQuery& query, const VersionVisitor& visit) = 0;

  // Rebuilds each instance of the directory beside it, from its changelog as of its own offset, and
  // compares; `visit` is called for each row that differs (left: the directory). kUsage: without
  // brokers; kState: an instance cannot be compared: nothing of it is here, it is of another
  // incarnation or another log, or has seen more than the changelog has.
  using DifferenceVisitor = std::function<void(const RowDifference& difference)>;
  virtual Result<std::vector<InstanceVerdict>> Verify(const RowQuery& query,
                                                      const DifferenceVisitor& visit) = 0;
};

// One side of a comparison.
struct StateSource {
  InspectOptions state = {};  // an application, where `dump` is empty
  std::string dump = {};      // a file of rows as they are stored; "-": stdin
};

// Compares all stores of two sides, or query.store, query.task; calls `visit` for each row that
// differs, by store, task and key. Gives how many rows were compared. As Inspector::Open and Scan;
// kData: a dump that is none, with its line; kState: query.store is on neither side.
KSTREAM_EXPORT Result<uint64_t> CompareStates(const StateSource& left, const StateSource& right,
                                              const RowQuery& query,
                                              const Inspector::DifferenceVisitor& visit);

// The applications that a state directory has, by name. kState: it cannot be read.
KSTREAM_EXPORT Result<std::vector<AppInstance>> ListApps(const std::string& state_dir);

}  // namespace kstream

#endif  // KSTREAM_INSPECT_H_
